//! The handle to a server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use volume::{Model, VolumeFault};

use crate::error::{Result, ServedError, io_error};
use crate::orders::{Counts, Hardening, Order, Reply};

/// How long a server may take to leave once nothing is mounted.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server that was started here. Dropping it closes its stdin: it takes away all limits, and ends as soon as nothing
/// of it is mounted any more.
#[derive(Debug)]
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    hardening: Hardening,
}

impl Server {
    /// Starts `argv`, which calls [`crate::run()`]. It is in a process group of its own, so that an interrupt of the
    /// terminal leaves it to whoever started it.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn start(argv: &[String]) -> Result<Self> {
        let (program, arguments) = argv.split_first().expect("a command has a program");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .current_dir("/")
            .process_group(0)
            .spawn()
            .map_err(io_error("start", Path::new(program)))?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut server = Self { child, stdin, stdout, hardening: Hardening::default() };
        match server.hear()? {
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
    ///
    /// When it cannot be mounted.
    pub fn serve(&mut self, name: &str, image: &Path, at: &Path, model: &Model) -> Result<u32> {
        let order = Order::Serve {
            name: name.to_owned(),
            image: image.to_owned(),
            at: at.to_owned(),
            model: Box::new(model.clone()),
        };
        match self.ask(&order)? {
            Reply::Serving { connection } => Ok(connection),
            other => Err(self.lost(format!("it answered {other:?}"))),
        }
    }

    /// A volume behaves like this from now on, and shares with no other.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn change(&mut self, name: &str, model: &Model) -> Result<()> {
        self.done(&Order::Change { name: name.to_owned(), model: Box::new(model.clone()) })
    }

    /// These volumes share what their instance lets through to all of them, until they change.
    ///
    /// # Errors
    ///
    /// When one of them is not served.
    pub fn share(&mut self, names: &[String], model: &Model) -> Result<()> {
        self.done(&Order::Share { names: names.to_vec(), model: Box::new(model.clone()) })
    }

    /// So long is an answer on its way, seconds: service times are shorter by it from now on.
    ///
    /// # Errors
    ///
    /// When the server is lost.
    pub fn take_off(&mut self, seconds: f64) -> Result<()> {
        self.done(&Order::TakeOff { seconds })
    }

    /// A volume has these faults from now on, their times counted from now.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn set_faults(&mut self, name: &str, faults: &[VolumeFault]) -> Result<()> {
        self.done(&Order::SetFaults { name: name.to_owned(), faults: faults.to_vec() })
    }

    /// What a volume did since it is served.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn count(&mut self, name: &str) -> Result<Counts> {
        match self.ask(&Order::Count { name: name.to_owned() })? {
            Reply::Counted(counts) => Ok(counts),
            other => Err(self.lost(format!("it answered {other:?}"))),
        }
    }

    /// Ends it; nothing of it is mounted any more.
    ///
    /// # Errors
    ///
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
        let mut line = serde_json::to_string(order).expect("an order has string keys only");
        line.push('\n');
        let stdin = self.stdin.as_mut().expect("it is there as long as the handle");
        let sent = stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush());
        sent.map_err(|error| self.lost(error.to_string()))?;
        match self.hear()? {
            Reply::Refused { reason } => Err(ServedError::Refused { reason }),
            reply => Ok(reply),
        }
    }

    fn hear(&mut self) -> Result<Reply> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line) {
            Ok(0) => Err(self.lost("it has ended".to_owned())),
            Ok(_) => serde_json::from_str(&line).map_err(|error| self.lost(error.to_string())),
            Err(error) => Err(self.lost(error.to_string())),
        }
    }

    fn lost(&self, reason: String) -> ServedError {
        ServedError::Lost { pid: self.child.id(), reason }
    }
}
