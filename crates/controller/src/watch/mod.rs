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

    use super::super::http::tests::ask;
    use super::super::live::{Standing, Wishes};
    use super::*;

    fn served() -> (Watch, LiveRun) {
        let live = LiveRun::default();
        live.update(|live| {
            let cell = |cell: &str| Standing { cell: cell.to_owned(), planned: 3, ..Standing::default() };
            live.cells = vec![cell("a.w.c2"), cell("b.w.c2")];
        });
        let page: Page = |nonce| format!("<script nonce=\"{nonce}\"></script>");
        let watch = Watch::serve("127.0.0.1:0".parse().unwrap(), &live, page).unwrap();
        (watch, live)
    }

    /// The status of what is answered.
    fn status(watch: &Watch, request: &str, headers: &str) -> String {
        let answer = ask(watch.address, &format!("{request} HTTP/1.1\r\n{headers}\r\n"));
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    #[test]
    fn the_page_is_for_who_has_the_token_and_asks_nobody_else() {
        let (watch, _) = served();
        let (token, address) = (&watch.token, watch.address);
        assert_eq!((token.len(), watch.url()), (32, format!("http://{address}/?token={token}")));
        let page = ask(address, &format!("GET /?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
        let nonce = page.split("script-src 'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
        assert!(page.starts_with("HTTP/1.1 200") && page.ends_with(&format!("<script nonce=\"{nonce}\"></script>")));
        for held in ["default-src 'none'", "frame-ancestors 'none'", "Referrer-Policy: no-referrer"] {
            assert!(page.contains(held), "{held}: {page}");
        }
        assert!(!page.contains("unsafe-inline") && !page.contains("Access-Control-Allow"), "{page}");
        let last = if token.ends_with('0') { '1' } else { '0' };
        for given in
            [String::new(), "?token=".to_owned(), format!("?token={}{last}", &token[..31]), format!("?token={token}0")]
        {
            for path in ["/", "/events"] {
                assert_eq!(status(&watch, &format!("GET {path}{given}"), ""), "403", "{path}{given}");
            }
        }
        assert_eq!(status(&watch, &format!("GET /?token={token}"), "Host: rebound.example.org\r\n"), "403");
        assert_eq!(status(&watch, &format!("GET /runs?token={token}"), ""), "404");
    }

    #[test]
    fn a_command_needs_the_token_in_a_header_and_our_own_origin() {
        let (watch, live) = served();
        let (token, address) = (&watch.token, watch.address);
        let own = format!("Host: {address}\r\nOrigin: http://{address}\r\n");
        let with = format!("{own}X-Iopslab-Token: {token}\r\n");
        for (request, headers) in [
            (format!("POST /stop?token={token}"), own.clone()),
            ("POST /stop".to_owned(), format!("{own}X-Iopslab-Token: {}\r\n", "0".repeat(32))),
            ("POST /stop".to_owned(), with.replace("Origin: http://", "Origin: https://")),
            ("POST /stop".to_owned(), with.replace(&format!("Origin: http://{address}"), "Origin: http://example.org")),
            ("POST /stop".to_owned(), with.replace(&format!("Origin: http://{address}"), "Origin: null")),
            ("POST /stop".to_owned(), format!("Host: {address}\r\nX-Iopslab-Token: {token}\r\n")),
        ] {
            assert_eq!(status(&watch, &request, &headers), "403", "{request} {headers}");
        }
        assert_eq!(status(&watch, "GET /stop", &with), "404");
        assert_eq!(live.read(|live| live.wishes.clone()), Wishes::default());

        for command in ["/pause", "/stop", "/skip?cell=1", "/skip?cell=0", "/take-up?cell=0"] {
            assert_eq!(status(&watch, &format!("POST {command}"), &with), "200", "{command}");
        }
        for command in ["/skip", "/skip?cell=2", "/skip?cell=-1", "/leave"] {
            assert_eq!(status(&watch, &format!("POST {command}"), &with), "404", "{command}");
        }
        let wishes = live.read(|live| live.wishes.clone());
        assert!(wishes.is_paused && wishes.is_stopping);
        assert_eq!(
            wishes.skips.into_iter().collect::<Vec<_>>(),
            [("a.w.c2".to_owned(), false), ("b.w.c2".to_owned(), true)]
        );
        // Through ssh -L the port is another one, at both ends of the comparison.
        let forwarded = "Host: localhost:9000\r\nOrigin: http://localhost:9000\r\n";
        assert_eq!(status(&watch, "POST /resume", &format!("{forwarded}X-Iopslab-Token: {token}\r\n")), "200");
        assert!(live.read(|live| !live.wishes.is_paused && !live.wishes.is_stopping));
    }

    /// A browser that watches.
    fn watcher(watch: &Watch) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(watch.address).unwrap();
        let request = format!("GET /events?token={} HTTP/1.1\r\nHost: localhost\r\n\r\n", watch.token);
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// What comes next that begins like this.
    fn heard(from: &mut BufReader<TcpStream>, begins: &str) -> String {
        let mut lines = from.lines().map_while(Result::ok);
        lines.find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("nothing begins with {begins}"))
    }

    #[test]
    fn who_watches_gets_the_state_at_once_each_change_and_the_end() {
        let (watch, live) = served();
        let mut browser = watcher(&watch);
        assert_eq!(heard(&mut browser, "HTTP/1.1"), "HTTP/1.1 200 OK");
        assert!(heard(&mut browser, "data: ").contains("a.w.c2"));
        watch.show("<p>so\nfar</p>".to_owned());
        assert_eq!(heard(&mut browser, "data: {\"html\""), "data: {\"html\":\"<p>so\\nfar</p>\"}");
        live.update(|live| live.wishes.is_paused = true);
        while !heard(&mut browser, "data: ").contains("\"paused\":true") {}
        watch.end("it has ended");
        assert_eq!(live.read(|live| live.watchers), 0, "the end waits until it is heard");
        let rest: Vec<String> = browser.lines().map_while(Result::ok).collect();
        assert!(rest.iter().any(|line| line.contains("it has ended")), "{rest:?}");
    }

    /// Ten seconds for all of it were too few for a large run through a slow ssh: it was sent again and again.
    #[test]
    fn evidence_of_many_megabytes_has_the_time_that_a_slow_line_needs() {
        assert_eq!(patience(1 << 10), EVENT_PATIENCE);
        let slow_line = 100 << 10;
        assert!(patience(20 << 20) > Duration::from_secs((20 << 20) / slow_line));
    }

    /// One that opens connection after connection would hold a thread for each.
    #[test]
    fn as_many_watch_as_may_and_one_that_goes_makes_room() {
        let (watch, live) = served();
        let mut all: Vec<_> = (0..MOST_WATCHERS).map(|_| watcher(&watch)).collect();
        for browser in &mut all {
            assert_eq!(heard(browser, "HTTP/1.1"), "HTTP/1.1 200 OK");
        }
        assert!(heard(&mut watcher(&watch), "HTTP/1.1").contains("503"));
        all.pop();
        // It is noticed when something is to be written.
        let until = Instant::now() + Duration::from_secs(30);
        while live.read(|live| live.watchers) == MOST_WATCHERS && Instant::now() < until {
            live.update(|_| ());
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(heard(&mut watcher(&watch), "HTTP/1.1"), "HTTP/1.1 200 OK");
    }
}
