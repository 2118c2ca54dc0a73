//! `iopslab run --metrics ADDRESS`: what a run is doing now, as OpenMetrics text for Prometheus, on a loopback address.
//!
//! The finished figures are those of `iopslab report --format openmetrics`; these are the seconds as they pass. There
//! is no authentication, so only loopback addresses are served; from elsewhere: `ssh -L`.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use process::failure::Failure;

/// Longest time that a request may take to be there, and an answer to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// Connections of which the request is awaited at the same time.
const MOST_AT_A_TIME: usize = 8;
/// Longest head of a request that is read.
const LARGEST_REQUEST: usize = 8 << 10;
/// Media type of OpenMetrics 1.0.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a run is doing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Live {
    /// Name of the run's directory.
    pub run: String,
    /// Trials planned.
    pub planned: usize,
    /// Trials stored, in this and earlier sittings.
    pub done: usize,
    /// Of the trials stored in this sitting, those that are invalid.
    pub invalid: usize,
    /// Cell and block of the trial under way.
    pub trial: Option<(String, u32)>,
    /// Its latest second.
    pub second: Option<LiveSecond>,
    /// I/Os of the data volume in its latest second.
    pub device_iops: Option<f64>,
}

impl Live {
    /// A run begins or goes on.
    pub fn begin(&mut self, run: String, planned: usize, done: usize) {
        *self = Self { run, planned, done, ..Self::default() };
    }

    /// The trial under way is over and stored.
    pub fn stored(&mut self, valid: bool) {
        self.done += 1;
        self.invalid += usize::from(!valid);
        (self.trial, self.second, self.device_iops) = (None, None, None);
    }
}

/// One second of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveSecond {
    /// `warmup` or `measurement`.
    pub phase: &'static str,
    /// Completed operations.
    pub operations: u64,
    /// Failed operations.
    pub errors: u64,
    /// Median latency, microseconds.
    pub p50_us: u64,
    /// 99th percentile, microseconds.
    pub p99_us: u64,
}

/// An endpoint that answers until the program ends.
#[derive(Debug, Clone)]
pub struct LiveMetrics {
    live: Arc<Mutex<Live>>,
    /// Where it listens.
    pub address: SocketAddr,
}

impl LiveMetrics {
    /// Listens on `address`; port 0 takes any free one.
    ///
    /// # Errors
    /// Bad input for an address of the network, failed work when it is taken.
    pub fn serve(address: SocketAddr) -> Result<Self, Failure> {
        if !address.ip().is_loopback() {
            return Err(Failure::input(format!("--metrics {address} would be open to the network")).help(
                "use a loopback address such as 127.0.0.1:9464, and reach it from elsewhere with: ssh -L \
                 9464:127.0.0.1:9464 HOST",
            ));
        }
        let listener = TcpListener::bind(address)
            .map_err(|error| Failure::work(format!("cannot listen on {address} for --metrics: {error}")))?;
        let address = listener.local_addr().map_err(Failure::work)?;
        let live = Arc::new(Mutex::new(Live::default()));
        let shared = Arc::clone(&live);
        std::thread::spawn(move || {
            let asking = Arc::new(Asking::default());
            for (number, stream) in (0..).zip(listener.incoming().flatten()) {
                // Each has a thread, so that one who asks slowly keeps nobody else waiting.
                let (shared, asking) = (Arc::clone(&shared), Arc::clone(&asking));
                if asking.enter(number, &stream).is_err() {
                    continue;
                }
                std::thread::spawn(move || {
                    let head = read_head(&stream);
                    // Who has asked is answered, however many come after.
                    asking.leave(number);
                    if let Ok(head) = head {
                        let text = openmetrics(&shared.lock().unwrap_or_else(PoisonError::into_inner));
                        // A scraper that went away is its own business.
                        let _ = answer(stream, &head, &text);
                    }
                });
            }
        });
        Ok(Self { live, address })
    }

    /// Changes what is served.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Live)) {
        change(&mut self.live.lock().unwrap_or_else(PoisonError::into_inner));
    }
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

fn answer(mut stream: TcpStream, head: &[u8], metrics: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let is_metrics = [&b"GET /metrics "[..], b"GET /metrics?"].iter().any(|request| head.starts_with(request));
    let (status, kind, body) = if !is_for_loopback(head) {
        // A page of the web that has its own name resolve to this address would read the figures otherwise (DNS
        // rebinding).
        ("403 Forbidden", "text/plain", "ask by a loopback address or as localhost\n")
    } else if is_metrics {
        ("200 OK", CONTENT_TYPE, metrics)
    } else {
        ("404 Not Found", "text/plain", "only GET /metrics is served\n")
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Whether the request is for this machine by a name that nobody else can have. A request without a host is none of a
/// browser.
fn is_for_loopback(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let host = head.lines().skip(1).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let Some(host) = host else { return true };
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && !name.is_empty() => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// The text of OpenMetrics 1.0: base units, one family after the other, `# EOF` at the end.
fn openmetrics(live: &Live) -> String {
    let mut text = String::new();
    let run = escaped(&live.run);
    let mut family = |name: &str, unit: &str, help: &str, samples: &[(String, f64)]| {
        if samples.is_empty() {
            return;
        }
        let _ = writeln!(text, "# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {help}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    };
    let of_run = format!("run=\"{run}\"");
    let one = |value: f64| vec![(of_run.clone(), value)];
    family("iopslab_live_trials_planned", "", "Trials of the run.", &one(live.planned as f64));
    family("iopslab_live_trials_done", "", "Trials that are stored.", &one(live.done as f64));
    family(
        "iopslab_live_trials_invalid",
        "",
        "Invalid ones of the trials stored since the start or the last resume.",
        &one(live.invalid as f64),
    );
    let Some((cell, block)) = &live.trial else { return text + "# EOF\n" };
    let of_trial = format!("{of_run},cell=\"{}\",block=\"{block}\"", escaped(cell));
    if let Some(second) = &live.second {
        let labels = format!("{of_trial},phase=\"{}\"", second.phase);
        let gauge = |value: f64| vec![(labels.clone(), value)];
        family(
            "iopslab_live_operations_per_second",
            "",
            "Operations completed in the latest second.",
            &gauge(second.operations as f64),
        );
        family(
            "iopslab_live_errors_per_second",
            "",
            "Operations that failed in the latest second.",
            &gauge(second.errors as f64),
        );
        let quantile = |q: &str, us: u64| (format!("{labels},quantile=\"{q}\""), us as f64 / 1e6);
        family(
            "iopslab_live_latency_seconds",
            "seconds",
            "Latency of the operations of the latest second.",
            &[quantile("0.5", second.p50_us), quantile("0.99", second.p99_us)],
        );
    }
    if let Some(iops) = live.device_iops {
        family(
            "iopslab_live_data_volume_iops",
            "",
            "I/Os of the data volume in the latest second.",
            &[(of_trial, iops)],
        );
    }
    text + "# EOF\n"
}

/// A label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn scrape(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn one_who_asks_slowly_keeps_nobody_waiting_and_a_strangers_name_is_refused() {
        let metrics = LiveMetrics::serve("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut slow = TcpStream::connect(metrics.address).unwrap();
        slow.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
        for (host, status) in [
            ("Host: localhost:9464\r\n", "200"),
            ("host: 127.0.0.1\r\n", "200"),
            ("Host: [::1]:9464\r\n", "200"),
            ("", "200"),
            ("Host: rebound.example.org\r\n", "403"),
            ("Host: 192.0.2.1:9464\r\n", "403"),
        ] {
            let answer = scrape(metrics.address, &format!("GET /metrics HTTP/1.1\r\n{host}\r\n"));
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
        }
        drop(slow);
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
        let metrics = LiveMetrics::serve("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = metrics.address;
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

    #[test]
    fn a_scrape_tells_the_second_that_passed_last() {
        let metrics = LiveMetrics::serve("127.0.0.1:0".parse().unwrap()).unwrap();
        metrics.update(|live| {
            live.run = "a \"run\"".to_owned();
            live.planned = 9;
            live.trial = Some(("gp3.read.c64".to_owned(), 2));
            live.second =
                Some(LiveSecond { phase: "warmup", operations: 1200, errors: 1, p50_us: 2_500, p99_us: 90_000 });
        });
        let text = scrape(metrics.address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("# EOF\n"), "{text}");
        for expected in [
            "iopslab_live_trials_planned{run=\"a \\\"run\\\"\"} 9\n",
            "iopslab_live_operations_per_second{run=\"a \\\"run\\\"\",cell=\"gp3.read.c64\",block=\"2\",\
             phase=\"warmup\"} 1200\n",
            ",quantile=\"0.99\"} 0.09\n",
        ] {
            assert!(text.contains(expected), "{expected} is missing in\n{text}");
        }
        assert!(!text.contains("data_volume_iops"), "what is not known is left out");
        assert!(scrape(metrics.address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    }

    #[test]
    fn only_loopback_is_served() {
        let refused = LiveMetrics::serve("0.0.0.0:0".parse().unwrap()).unwrap_err();
        assert!(refused.code() == 2 && refused.message.contains("open to the network"), "{refused:?}");
    }
}
