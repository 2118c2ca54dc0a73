//! A small server on a loopback address: who asks in time is answered, and who drips keeps nobody out.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use process::failure::Failure;

/// Longest time that a request may take to be there, and an answer to be gone.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Connections of which the request is awaited at the same time.
const MOST_AT_A_TIME: usize = 8;
/// Longest head of a request that is read.
const LARGEST_REQUEST: usize = 8 << 10;

/// The head of a request; what may come after it is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// Such as `/metrics`.
    pub path: String,
    query: String,
    headers: Vec<(String, String)>,
}

impl Request {
    fn parse(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines();
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?, first.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = lines.filter_map(|line| line.split_once(':'));
        Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect(),
        })
    }

    /// The first header of this name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What the query says of this, as it is written there.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name).map(|(_, v)| v)
    }

    /// Whether it is for this machine by a name that nobody else can have. A request without a host is none of a
    /// browser.
    fn is_for_loopback(&self) -> bool {
        let Some(host) = self.header("host") else { return true };
        let is_port = |port: &str| port.parse::<u16>().is_ok();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if is_port(port) && !name.is_empty() => name,
            _ => host,
        };
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }
}

/// Answers on a loopback address until the program ends; port 0 takes any free one. The address that was taken. Errors:
/// Bad input for an address of the network, failed work when it is taken.
pub fn serve(
    flag: &str,
    address: SocketAddr,
    answer: impl Fn(&TcpStream, &Request) -> io::Result<()> + Send + Sync + 'static,
) -> Result<SocketAddr, Failure> {
    if !address.ip().is_loopback() {
        return Err(Failure::input(format!("{flag} {address} would be open to the network")).help(
            "use a loopback address such as 127.0.0.1:9464, and reach it from elsewhere with: ssh -L \
             9464:127.0.0.1:9464 HOST",
        ));
    }
    let listener = TcpListener::bind(address)
        .map_err(|error| Failure::work(format!("cannot listen on {address} for {flag}: {error}")))?;
    let address = listener.local_addr().map_err(Failure::work)?;
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        let asking = Arc::new(Asking::default());
        for (number, stream) in (0..).zip(listener.incoming().flatten()) {
            // Each has a thread, so that one who asks slowly keeps nobody else waiting.
            let (answer, asking) = (Arc::clone(&answer), Arc::clone(&asking));
            if asking.enter(number, &stream).is_err() {
                continue;
            }
            std::thread::spawn(move || {
                let head = read_head(&stream);
                // Who has asked is answered, however many come after.
                asking.leave(number);
                if let Ok(head) = head {
                    // Whoever went away is their own business.
                    let _ = answered(&stream, &head, &*answer);
                }
            });
        }
    });
    Ok(address)
}

fn answered(
    stream: &TcpStream,
    head: &[u8],
    answer: &dyn Fn(&TcpStream, &Request) -> io::Result<()>,
) -> io::Result<()> {
    match Request::parse(head) {
        None => respond(stream, "400 Bad Request", &[], "this is no request\n"),
        // A page of the web that has its own name resolve to this address would read it otherwise (DNS rebinding).
        Some(request) if !request.is_for_loopback() => {
            respond(stream, "403 Forbidden", &[], "ask by a loopback address or as localhost\n")
        }
        Some(request) => answer(stream, &request),
    }
}

/// The whole answer to a request; plain text unless the headers say otherwise.
pub fn respond(stream: &TcpStream, status: &str, headers: &[(&str, &str)], body: &str) -> io::Result<()> {
    let mut text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "Content-Type") {
        text.push_str("Content-Type: text/plain; charset=utf-8\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    write_within(stream, text.as_bytes(), PATIENCE)
}

/// Writes all of this, or gives up: however slowly the other side takes it, it has so long for all of it.
pub fn write_within(mut stream: &TcpStream, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
    let until = Instant::now() + patience;
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => bytes = &bytes[n..],
        }
    }
    Ok(())
}

/// Connections of which the request is awaited, by number, the oldest first.
#[derive(Debug, Default)]
struct Asking(Mutex<VecDeque<(u64, TcpStream)>>);

impl Asking {
    /// Takes one in. Where that is one too many, the one that has taken the longest to ask is given up: whoever drips
    /// keeps nobody out.
    fn enter(&self, number: u64, stream: &TcpStream) -> io::Result<()> {
        let stream = stream.try_clone()?;
        let mut all = self.all();
        if all.len() >= MOST_AT_A_TIME
            && let Some((_, oldest)) = all.pop_front()
        {
            // Who waits for it finds it at its end.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        all.push_back((number, stream));
        Ok(())
    }

    /// It has asked, or never will.
    fn leave(&self, number: u64) {
        self.all().retain(|(other, _)| *other != number);
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The head of a request, which has to be there in time, however slowly it drips.
fn read_head(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < LARGEST_REQUEST {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer)? {
            0 => break,
            n => head.extend_from_slice(&buffer[..n]),
        }
    }
    Ok(head)
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// What is answered to this.
    pub fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    fn server() -> SocketAddr {
        let answer = |stream: &TcpStream, request: &Request| {
            respond(stream, "200 OK", &[], &format!("{} {:?}\n", request.path, request.query("a")))
        };
        serve("--metrics", "127.0.0.1:0".parse().unwrap(), answer).unwrap()
    }

    #[test]
    fn one_who_asks_slowly_keeps_nobody_waiting_and_a_strangers_name_is_refused() {
        let address = server();
        let mut slow = TcpStream::connect(address).unwrap();
        slow.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
        for (host, status) in [
            ("Host: localhost:9464\r\n", "200"),
            ("host: 127.0.0.1\r\n", "200"),
            ("Host: [::1]:9464\r\n", "200"),
            ("", "200"),
            ("Host: rebound.example.org\r\n", "403"),
            ("Host: 192.0.2.1:9464\r\n", "403"),
        ] {
            let answer = ask(address, &format!("GET /metrics HTTP/1.1\r\n{host}\r\n"));
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
        }
        drop(slow);
    }

    #[test]
    fn a_query_is_read_by_its_names_and_what_is_no_request_is_refused() {
        let address = server();
        assert!(ask(address, "GET /x?b=1&a=2 HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n/x Some(\"2\")\n"));
        assert!(ask(address, "GET /x?ab=1 HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n/x None\n"));
        assert!(ask(address, "\r\n\r\n").starts_with("HTTP/1.1 400"));
    }

    /// Writes a byte now and then until it is given up, or nobody wants it to go on; for how long that was.
    fn drip(address: SocketAddr, is_over: &AtomicBool) -> Duration {
        let began = Instant::now();
        let mut stream = TcpStream::connect(address).unwrap();
        while !is_over.load(Ordering::Relaxed) && stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
        began.elapsed()
    }

    fn is_answered(address: SocketAddr) -> bool {
        let began = Instant::now();
        let ask = || {
            let mut stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
            io::read_to_string(stream)
        };
        ask().is_ok_and(|answer: String| answer.starts_with("HTTP/1.1 200")) && began.elapsed() < PATIENCE / 2
    }

    #[test]
    fn those_who_drip_are_given_up_and_keep_nobody_out() {
        let address = server();
        let is_over = AtomicBool::new(false);
        let alone = drip(address, &is_over);
        assert!((PATIENCE / 2..PATIENCE * 4).contains(&alone), "it was given up after {alone:?}");

        let answered = std::thread::scope(|scope| {
            for _ in 0..MOST_AT_A_TIME {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        drip(address, &is_over);
                        std::thread::sleep(Duration::from_millis(20));
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(200));
            // One that is not scheduled for long between its connection and its request may lose its place.
            let answered = (0..10).filter(|_| (0..3).any(|_| is_answered(address))).count();
            is_over.store(true, Ordering::Relaxed);
            answered
        });
        assert_eq!(answered, 10, "of ten who ask at once");
    }

    /// One that reads nothing would hold a thread for as long as it likes.
    #[test]
    fn who_does_not_take_its_answer_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let began = Instant::now();
        let refused = write_within(&stream, &vec![b'x'; 64 << 20], Duration::from_millis(300)).unwrap_err();
        assert!(matches!(refused.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{refused:?}");
        assert!(began.elapsed() < Duration::from_secs(10));
        drop(silent);
    }
}
