//! `iopslab run --watch`: a page that shows a run while it is under way, on a loopback address.
//!
//! Whoever has the address that was printed may look, and control: it has a token, which nobody else knows. Other users
//! of this machine reach the port and get nothing; pages of other sites cannot read an answer (no cross-origin headers,
//! the host is checked) nor send a command (its token is in a header, its origin is checked). What is wished is obeyed
//! by the trial loop, between trials. How the page looks is none of this module's business.

mod state;

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use process::failure::Failure;

use super::http::{self, Request, respond, write_within};
use super::live::{Live, LiveRun};

/// Random bytes of the token, and of the nonce of a page.
const RANDOM_BYTES: usize = 16;
/// Browsers that may watch at the same time.
const MOST_WATCHERS: usize = 8;
/// Between two states of the run that a browser gets.
const AT_MOST_EVERY: Duration = Duration::from_millis(250);
/// A browser hears something after so long, whether or not anything has changed: so one that is gone is noticed.
const AT_LEAST_EVERY: Duration = Duration::from_secs(5);
/// How long a browser may take to take an event, ...
const EVENT_PATIENCE: Duration = Duration::from_secs(10);
/// ... and so much longer that evidence of many megabytes gets through a slow ssh, too: bytes per second.
const SLOWEST: usize = 64 << 10;
/// How long those who watch may take to get the end of the run.
const END_PATIENCE: Duration = Duration::from_secs(3);

/// The page, with the nonce that its style and its script are allowed by.
pub type Page = fn(&str) -> String;

/// A run that can be watched.
#[derive(Debug, Clone)]
pub struct Watch {
    live: LiveRun,
    address: SocketAddr,
    token: Arc<str>,
}

impl Watch {
    /// Serves a run until the program ends; port 0 takes any free one. Errors: bad input for an address of the network,
    /// failed work when it is taken.
    pub fn serve(address: SocketAddr, live: &LiveRun, page: Page) -> Result<Self, Failure> {
        let token: Arc<str> = random()?.into();
        let served = Served { live: live.clone(), token: Arc::clone(&token), page };
        let address = http::serve("--watch", address, move |stream, request| served.answer(stream, request))?;
        Ok(Self { live: live.clone(), address, token })
    }

    /// Where to watch it.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    /// What the run has shown so far, as HTML.
    pub fn show(&self, report: String) {
        self.live.update(|live| live.report = Some(report.into()));
    }

    /// The run has ended like this. Those who watch it hear that, as far as they listen.
    pub fn end(&self, how: &str) {
        self.live.update(|live| live.ended = Some(how.to_owned()));
        self.live.await_that(|live| live.watchers == 0, END_PATIENCE);
    }
}

struct Served {
    live: LiveRun,
    token: Arc<str>,
    page: Page,
}

impl Served {
    fn answer(&self, stream: &TcpStream, request: &Request) -> io::Result<()> {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/" | "/events") if !self.knows(request.query("token")) => refuse(stream),
            ("GET", "/") => self.page(stream),
            ("GET", "/events") if !has_own_origin(request, true) => refuse_site(stream),
            ("GET", "/events") => self.watched(stream),
            ("POST", _) if !has_own_origin(request, false) => refuse_site(stream),
            ("POST", _) if !self.knows(request.header("x-iopslab-token")) => refuse(stream),
            ("POST", command) => match self.live.update(|live| wish(live, command, request.query("cell"))) {
                Ok(()) => respond(stream, "200 OK", &[], ""),
                Err(why) => respond(stream, "404 Not Found", &[], why),
            },
            _ => respond(stream, "404 Not Found", &[], "there is nothing here\n"),
        }
    }

    /// Whether it is the token. Every byte is compared, so that the time that this takes says nothing about it.
    fn knows(&self, given: Option<&str>) -> bool {
        let (own, given) = (self.token.as_bytes(), given.unwrap_or_default().as_bytes());
        let differ = own.iter().zip(given).fold(0, |differ, (a, b)| std::hint::black_box(differ | (a ^ b)));
        own.len() == given.len() && differ == 0
    }

    fn page(&self, stream: &TcpStream) -> io::Result<()> {
        let nonce = guarded::random_word(RANDOM_BYTES)?;
        let policy = format!(
            "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src \
             data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let headers = [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Security-Policy", policy.as_str()),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ];
        respond(stream, "200 OK", &headers, &(self.page)(&nonce))
    }

    /// Server-sent events until the run has ended or nobody takes them any more.
    fn watched(&self, stream: &TcpStream) -> io::Result<()> {
        let is_let_in = self.live.update(|live| {
            let is_let_in = live.watchers < MOST_WATCHERS;
            live.watchers += usize::from(is_let_in);
            is_let_in
        });
        if !is_let_in {
            return respond(stream, "503 Service Unavailable", &[], "as many browsers watch as may\n");
        }
        let outcome = self.stream(stream);
        self.live.update(|live| live.watchers -= 1);
        outcome
    }

    fn stream(&self, stream: &TcpStream) -> io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
                    X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\
                    Connection: close\r\n\r\n";
        write_within(stream, head.as_bytes(), http::PATIENCE)?;
        let mut shown: Option<Arc<str>> = None;
        let mut version = u64::MAX;
        loop {
            version = self.live.await_change(version, AT_LEAST_EVERY);
            let look = |live: &Live| (state::of(live, Instant::now()), live.report.clone(), live.ended.is_some());
            let (state, report, is_over) = self.live.read(look);
            let is_new = match (&report, &shown) {
                (Some(report), Some(shown)) => !Arc::ptr_eq(report, shown),
                (report, _) => report.is_some(),
            };
            if let Some(report) = report.filter(|_| is_new) {
                let html = serde_json::json!({ "html": &*report });
                send(stream, &format!("event: report\ndata: {html}\n\n"))?;
                shown = Some(report);
            }
            send(stream, &format!("event: state\ndata: {state}\n\n"))?;
            if is_over {
                return Ok(());
            }
            std::thread::sleep(AT_MOST_EVERY);
        }
    }
}

/// Sends an event to who takes it in time.
fn send(stream: &TcpStream, event: &str) -> io::Result<()> {
    write_within(stream, event.as_bytes(), patience(event.len()))
}

/// How long a browser may take to take so many bytes.
fn patience(bytes: usize) -> Duration {
    EVENT_PATIENCE + Duration::from_secs((bytes / SLOWEST) as u64)
}

fn random() -> Result<String, Failure> {
    guarded::random_word(RANDOM_BYTES)
        .map_err(|error| Failure::work(format!("cannot make the token of --watch: {error}")))
}

fn refuse(stream: &TcpStream) -> io::Result<()> {
    respond(stream, "403 Forbidden", &[], "open the address that iopslab printed: it has the token that is asked for\n")
}

fn refuse_site(stream: &TcpStream) -> io::Result<()> {
    respond(stream, "403 Forbidden", &[], "a page of another site may not do this\n")
}

/// Whether a browser says that our own page asks. A request to read may be without an origin: browsers leave it out
/// there, and no other site can read the answer.
fn has_own_origin(request: &Request, may_be_missing: bool) -> bool {
    match (request.header("origin"), request.header("host")) {
        (None, _) => may_be_missing,
        (Some(origin), Some(host)) => origin == format!("http://{host}"),
        (Some(_), None) => false,
    }
}

/// Takes a command; the trial loop obeys it.
fn wish(live: &mut Live, command: &str, cell: Option<&str>) -> Result<(), &'static str> {
    match command {
        "/pause" => live.wishes.is_paused = true,
        "/stop" => live.wishes.is_stopping = true,
        "/resume" => (live.wishes.is_paused, live.wishes.is_stopping) = (false, false),
        "/skip" | "/take-up" => {
            let number = cell.and_then(|number| number.parse::<usize>().ok());
            let cell = number.and_then(|number| live.cells.get(number)).ok_or("the run has no such cell\n")?;
            live.wishes.skips.insert(cell.cell.clone(), command == "/skip");
        }
        _ => return Err("there is no such command\n"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};

    use super::*;

    /// Ten seconds for all of it were too few for a large run through a slow ssh: it was sent again and again.
    #[test]
    fn evidence_of_many_megabytes_has_the_time_that_a_slow_line_needs() {
        assert_eq!(patience(1 << 10), EVENT_PATIENCE);
        let slow_line = 100 << 10;
        assert!(patience(20 << 20) > Duration::from_secs((20 << 20) / slow_line));
    }

    /// A browser that watches, and the status that it is answered.
    fn watcher(watch: &Watch) -> (BufReader<TcpStream>, String) {
        let mut stream = TcpStream::connect(watch.address).unwrap();
        let request = format!("GET /events?token={} HTTP/1.1\r\nHost: localhost\r\n\r\n", watch.token);
        stream.write_all(request.as_bytes()).unwrap();
        let (mut browser, mut status) = (BufReader::new(stream), String::new());
        browser.read_line(&mut status).unwrap();
        (browser, status)
    }

    /// One that opens connection after connection would hold a thread for each.
    #[test]
    fn as_many_watch_as_may_and_one_that_goes_makes_room() {
        let live = LiveRun::default();
        let watch = Watch::serve("127.0.0.1:0".parse().unwrap(), &live, |_| String::new()).unwrap();
        let mut all: Vec<_> = (0..MOST_WATCHERS).map(|_| watcher(&watch)).collect();
        assert!(all.iter().all(|(_, status)| status.contains("200 OK")), "{all:?}");
        assert!(watcher(&watch).1.contains("503"));
        all.pop();
        // It is noticed when something is to be written.
        let until = Instant::now() + Duration::from_secs(30);
        while live.read(|live| live.watchers) == MOST_WATCHERS && Instant::now() < until {
            live.update(|_| ());
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(watcher(&watch).1.contains("200 OK"));
    }
}
