//! The handle to a server.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use volume::{Model, VolumeFault};

use crate::error::{Result, ServedError, io_error};
use crate::orders::{Counts, Hardening, Order, Reply};

/// How long a server may take to leave once nothing is mounted.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long its first word may take, and how long the mount of a volume, whose image lies on what may be a busy disk.
const FIRST_PATIENCE: Duration = Duration::from_secs(60);
/// How long any other answer may take: it is given between two requests, and needs nothing but memory that is locked.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// From the end of its stdout to that of its stderr.
const WORDS_PATIENCE: Duration = Duration::from_millis(500);
/// Most bytes of its stderr that are kept, the first ones.
const WORDS_MOST_BYTES: u64 = 2 << 10;

/// A server that was started here. Dropping it closes its stdin: it takes away all limits, and ends as soon as nothing
/// of it is mounted any more, or after some seconds. It holds no pipe but those to this handle.
///
/// One that does not answer in time stands still, and with it whoever waits for its volumes, without end: it is killed,
/// so that they get errors, and counts as lost.
#[derive(Debug)]
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// What was heard after the last whole answer.
    heard: Vec<u8>,
    /// What it has written to stderr, once it has closed that.
    words: Receiver<String>,
    /// How long an answer may take.
    patience: Duration,
    /// Why nothing is asked of it any more.
    given_up: Option<String>,
    hardening: Hardening,
}

impl Server {
    /// Starts `argv`, which calls [`crate::run()`]. It is in a process group of its own, so that an interrupt of the
    /// terminal leaves it to whoever started it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(argv: &[String]) -> Result<Self> {
        Self::start_within(argv, FIRST_PATIENCE)
    }

    fn start_within(argv: &[String], patience: Duration) -> Result<Self> {
        let (program, arguments) = argv.split_first().expect("a command has a program");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .current_dir("/")
            .process_group(0)
            .spawn()
            .map_err(io_error("start", Path::new(program)))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let words = last_words(child.stderr.take().expect("stderr is a pipe"));
        let mut server = Self {
            child,
            stdin,
            stdout,
            heard: Vec::new(),
            words,
            patience: ANSWER_PATIENCE,
            given_up: None,
            hardening: Hardening::default(),
        };
        match server.hear(patience)? {
            Reply::Ready(hardening) => server.hardening = hardening,
            other => return Err(server.lost(format!("it began with {other:?}"))),
        }
        Ok(server)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether its process has ended. What it served answers with errors then, until it is unmounted.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// How far it could protect itself.
    pub fn hardening(&self) -> &Hardening {
        &self.hardening
    }

    /// Serves an image as the file `at`, which exists and is empty; returns the connection's number.
    ///
    /// # Errors
    /// When it cannot be mounted.
    pub fn serve(&mut self, name: &str, image: &Path, at: &Path, model: &Model) -> Result<u32> {
        let order = Order::Serve {
            name: name.to_owned(),
            image: image.to_owned(),
            at: at.to_owned(),
            model: Box::new(model.clone()),
        };
        match self.ask_within(&order, FIRST_PATIENCE)? {
            Reply::Serving { connection } => Ok(connection),
            other => Err(self.lost(format!("it answered {other:?}"))),
        }
    }

    /// A volume behaves like this from now on, and shares with no other.
    ///
    /// # Errors
    /// When it is not served.
    pub fn change(&mut self, name: &str, model: &Model) -> Result<()> {
        self.done(&Order::Change { name: name.to_owned(), model: Box::new(model.clone()) })
    }

    /// These volumes share what their instance lets through to all of them, until they change.
    ///
    /// # Errors
    /// When one of them is not served.
    pub fn share(&mut self, names: &[String], model: &Model) -> Result<()> {
        self.done(&Order::Share { names: names.to_vec(), model: Box::new(model.clone()) })
    }

    /// So long is an answer on its way, seconds: service times are shorter by it from now on.
    ///
    /// # Errors
    /// When the server is lost.
    pub fn take_off(&mut self, seconds: f64) -> Result<()> {
        self.done(&Order::TakeOff { seconds })
    }

    /// A volume has these faults from now on, their times counted from now.
    ///
    /// # Errors
    /// When it is not served.
    pub fn set_faults(&mut self, name: &str, faults: &[VolumeFault]) -> Result<()> {
        self.done(&Order::SetFaults { name: name.to_owned(), faults: faults.to_vec() })
    }

    /// What a volume did since it is served.
    ///
    /// # Errors
    /// When it is not served.
    pub fn count(&mut self, name: &str) -> Result<Counts> {
        match self.ask(&Order::Count { name: name.to_owned() })? {
            Reply::Counted(counts) => Ok(counts),
            other => Err(self.lost(format!("it answered {other:?}"))),
        }
    }

    /// What a volume did since it is served, and what it counts of itself: 4,096 bytes in the form of the log page 0xD0
    /// of EBS.
    ///
    /// # Errors
    /// When it is not served.
    pub fn sample(&mut self, name: &str) -> Result<(Counts, Vec<u8>)> {
        match self.ask(&Order::Sample { name: name.to_owned() })? {
            Reply::Sampled { counts, words } => Ok((counts, words.into_iter().flat_map(u64::to_le_bytes).collect())),
            other => Err(self.lost(format!("it answered {other:?}"))),
        }
    }

    /// That it answers at all, whatever it serves.
    ///
    /// # Errors
    /// When the server is lost.
    pub fn is_there(&mut self) -> Result<()> {
        // There is no volume without a name, which it says.
        match self.ask(&Order::Count { name: String::new() }) {
            Err(error @ ServedError::Lost { .. }) => Err(error),
            _ => Ok(()),
        }
    }

    /// Ends it; nothing of it is mounted any more.
    ///
    /// # Errors
    /// When it does not leave; it is killed then.
    pub fn end(mut self) -> Result<()> {
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => return Err(self.lost(error.to_string())),
            }
        }
        let error = self.lost("it did not end, and was killed".to_owned());
        let _ = self.child.kill();
        let _ = self.child.wait();
        Err(error)
    }

    fn done(&mut self, order: &Order) -> Result<()> {
        match self.ask(order)? {
            Reply::Done => Ok(()),
            other => Err(self.lost(format!("it answered {other:?}"))),
        }
    }

    fn ask(&mut self, order: &Order) -> Result<Reply> {
        self.ask_within(order, self.patience)
    }

    fn ask_within(&mut self, order: &Order, patience: Duration) -> Result<Reply> {
        if let Some(reason) = &self.given_up {
            return Err(self.lost(reason.clone()));
        }
        let mut line = serde_json::to_string(order).expect("an order has string keys only");
        line.push('\n');
        let stdin = self.stdin.as_mut().expect("it is there as long as the handle");
        let sent = stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush());
        sent.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => self.ended(),
            _ => self.lost(error.to_string()),
        })?;
        match self.hear(patience)? {
            Reply::Refused { reason } => Err(ServedError::Refused { reason }),
            reply => Ok(reply),
        }
    }

    /// Its next answer, which has to be there in time.
    fn hear(&mut self, patience: Duration) -> Result<Reply> {
        let until = Instant::now() + patience;
        let mut bytes = [0; 4096];
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return serde_json::from_slice(&line).map_err(|error| self.lost(error.to_string()));
            }
            if !self.has_more(until)? {
                return Err(self.give_up(patience));
            }
            match self.stdout.read(&mut bytes) {
                Ok(0) => return Err(self.ended()),
                Ok(length) => self.heard.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.lost(error.to_string())),
            }
        }
    }

    /// Whether it says more before then. What is there already counts, however late it is looked for.
    fn has_more(&self, until: Instant) -> Result<bool> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            let mut polled = [PollFd::new(&self.stdout, PollFlags::IN)];
            match poll(&mut polled, Some(&timeout)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.lost(error.to_string())),
            }
        }
    }

    /// It stands still. Killed, its volumes answer with errors.
    fn give_up(&mut self, patience: Duration) -> ServedError {
        let reason = format!("it has said nothing for {} s, and was killed", patience.as_secs_f64());
        // One that cannot be killed is lost all the same.
        let _ = self.child.kill();
        let error = self.lost(reason.clone());
        self.given_up = Some(reason);
        error
    }

    /// It has gone by itself, with these last words.
    fn ended(&self) -> ServedError {
        let words = self.words.recv_timeout(WORDS_PATIENCE).unwrap_or_default();
        self.lost(if words.is_empty() { "it has ended".to_owned() } else { format!("it has ended: {words}") })
    }

    fn lost(&self, reason: String) -> ServedError {
        ServedError::Lost { pid: self.child.id(), reason }
    }
}

/// What is written to a stderr until it is closed, once it is.
fn last_words(mut stderr: ChildStderr) -> Receiver<String> {
    let (say, words) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read was not written; what is too much is read all the same, so that nobody waits.
        let _ = stderr.by_ref().take(WORDS_MOST_BYTES).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        say.send(String::from_utf8_lossy(&bytes).trim().to_owned())
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands for a server: a script of the shell.
    fn script(text: &str) -> Vec<String> {
        ["sh", "-c", text].map(str::to_owned).to_vec()
    }

    const READY: &str = r#"echo '{"ready":{"missing":[]}}'"#;

    #[test]
    fn one_that_stands_still_is_killed_and_asked_nothing_more() {
        let mut server = Server::start(&script(&format!("{READY}; exec sleep 600"))).unwrap();
        server.patience = Duration::from_millis(300);
        let began = Instant::now();
        let first = server.count("data").unwrap_err();
        assert!(matches!(first, ServedError::Lost { .. }), "{first}");
        assert!(first.to_string().contains("said nothing for 0.3 s, and was killed"), "{first}");
        for _ in 0..100 {
            let again = server.set_faults("data", &[]).unwrap_err().to_string();
            assert!(again.contains("was killed"), "{again}");
        }
        assert!(server.is_there().is_err());
        assert!(began.elapsed() < Duration::from_secs(10), "one time-out for all: {:?}", began.elapsed());
        let ended = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            server.has_ended()
        });
        assert!(ended);
    }

    #[test]
    fn half_an_answer_is_none() {
        let began = Instant::now();
        let half = script("printf '{\"ready\"'; exec sleep 600");
        let error = Server::start_within(&half, Duration::from_millis(300)).unwrap_err().to_string();
        assert!(error.contains("was killed") && began.elapsed() < Duration::from_secs(10), "{error}");
    }

    #[test]
    fn an_answer_in_pieces_is_heard_and_a_refusal_is_an_answer() {
        let pieces = "printf '{\"ready\":'; sleep 0.2; echo '{\"missing\":[\"x\"]}}'
            while read -r order; do echo '{\"refused\":{\"reason\":\"no\"}}'; done";
        let mut server = Server::start(&script(pieces)).unwrap();
        assert_eq!(server.hardening().missing, ["x"]);
        server.is_there().unwrap();
        let refused = server.count("data").unwrap_err().to_string();
        assert_eq!(refused, "the volume server refused: no");
        server.end().unwrap();
    }

    /// It is asked once a second beside a load.
    #[test]
    fn figures_and_log_page_are_one_question() {
        let (counts, words) = (Counts { reads: 7, ..Counts::default() }, vec![1, 256]);
        let answer = serde_json::to_string(&Reply::Sampled { counts, words }).unwrap();
        let once = script(&format!("{READY}; read -r order; echo \"$order\" >&2; echo '{answer}'; exit"));
        let mut server = Server::start(&once).unwrap();
        let (sampled, page) = server.sample("data").unwrap();
        assert_eq!((sampled, page.len(), page[0], page[9]), (counts, 16, 1, 1));
        let error = server.sample("data").unwrap_err().to_string();
        let heard = r#"it has ended: {"sample":{"name":"data"}};"#;
        assert!(error.contains(heard), "one order alone: {error}");
    }

    /// Whoever waits for the end of a pipe of ours must not wait for a server that is left.
    #[test]
    fn it_holds_no_pipe_of_whoever_starts_it_and_its_last_words_are_kept() {
        let shows = script(&format!("{READY}; read -r order; readlink /proc/self/fd/2 /proc/$PPID/fd/2 >&2; exit 3"));
        let mut server = Server::start(&shows).unwrap();
        let error = server.is_there().unwrap_err().to_string();
        let words = error.split_once("it has ended: ").unwrap_or_else(|| panic!("{error}")).1;
        let links: Vec<&str> = words.split(';').next().unwrap().lines().collect();
        assert!(links.len() == 2 && links[0].starts_with("pipe:") && links[0] != links[1], "{links:?}");
    }
}
