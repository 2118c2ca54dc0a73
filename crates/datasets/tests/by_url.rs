//! Parts by URLs, against a server that loses connections and fails as servers do.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use datasets::{Layout, PartsLocation, StoreError, keep, restore};
use evidence::KeptPart;

/// Bytes of a part.
const PART: u64 = 100_000;

/// What the server does to the requests that come next, one after the other; then it does what it is asked.
#[derive(Clone, Copy)]
enum ServerFailure {
    /// 503, as S3 says "slow down".
    Busy,
    /// The connection ends in the middle of a part.
    Lost,
    /// 403.
    Denied,
}

#[derive(Default)]
struct Shared {
    objects: BTreeMap<String, Vec<u8>>,
    failures: Vec<ServerFailure>,
    /// Method and first byte asked for.
    asked: Vec<(String, u64)>,
}

struct Server {
    address: String,
    shared: Arc<Mutex<Shared>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let of_server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // Whoever is lost or refused goes away: that is what is tested.
                let _ = answer(stream.unwrap(), &of_server);
            }
        });
        Self { address, shared }
    }

    fn place(&self, parts: usize) -> PartsLocation {
        let url = |number| format!("http://{}/part-{number}?X-Amz-Signature=secret", self.address);
        PartsLocation::Urls { name: "s3://bucket/key".to_owned(), urls: (0..parts).map(url).collect() }
    }

    /// In the order in which it happens.
    fn makes(&self, failures: &[ServerFailure]) {
        self.shared.lock().unwrap().failures = failures.iter().rev().copied().collect();
    }

    fn asked(&self) -> Vec<(String, u64)> {
        std::mem::take(&mut self.shared.lock().unwrap().asked)
    }
}

/// One request a connection.
fn answer(mut stream: TcpStream, shared: &Mutex<Shared>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_lowercase());
    }
    let Some(first) = head.first() else { return Ok(()) };
    let words: Vec<String> = first.split(' ').map(str::to_owned).collect();
    let header = |name: &str| head.iter().find_map(|line| line.strip_prefix(name));
    let from: u64 = header("range: bytes=").map_or(0, |range| range.trim_end_matches('-').parse().unwrap());
    let trouble = {
        let mut shared = shared.lock().unwrap();
        shared.asked.push((words[0].clone(), from));
        shared.failures.pop()
    };
    let key = words[1].split('?').next().unwrap().to_owned();
    match trouble {
        Some(ServerFailure::Busy) => {
            return stream.write_all(&reported(503, "<Error><Code>SlowDown</Code></Error>".as_bytes()));
        }
        Some(ServerFailure::Denied) => {
            let body = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
            return stream.write_all(&reported(403, body.as_bytes()));
        }
        Some(ServerFailure::Lost) | None => {}
    }
    if words[0] == "put" {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        let length: usize = header("content-length: ").unwrap().parse().unwrap();
        let length = if trouble.is_some() { length / 2 } else { length };
        let mut body = vec![0; length];
        lines.read_exact(&mut body)?;
        if trouble.is_none() {
            shared.lock().unwrap().objects.insert(key, body);
            stream.write_all(&reported(200, b""))?;
        }
        return Ok(());
    }
    let body = shared.lock().unwrap().objects[&key].clone();
    let body = &body[from as usize..];
    let answer = reported(if from == 0 { 200 } else { 206 }, body);
    let sent = if trouble.is_some() { answer.len() - body.len() / 2 } else { answer.len() };
    stream.write_all(&answer[..sent])
}

fn reported(status: u16, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} So\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A data set of two parts and a bit.
fn data_set() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    fs::create_dir(&data).unwrap();
    let bytes: Vec<u8> = (0..60_000_u32).flat_map(u32::to_le_bytes).collect();
    fs::write(data.join("Data.db"), bytes).unwrap();
    (directory, data)
}

fn brought(server: &Server, data: &Path) -> Result<Vec<KeptPart>, StoreError> {
    let layout = Layout::of(data).unwrap();
    keep(&layout, &server.place(layout.parts(PART).len()), "loading", PART, &mut |_| true)
}

#[test]
fn what_is_lost_on_the_way_is_sent_again_and_fetched_from_where_it_was_lost() {
    let ((directory, data), server) = (data_set(), Server::start());
    server.makes(&[ServerFailure::Busy, ServerFailure::Lost]);
    let parts = brought(&server, &data).unwrap();
    assert_eq!(parts.len(), 3);
    let puts = server.asked();
    assert_eq!(puts.len(), 5, "the first part three times: {puts:?}");

    server.makes(&[ServerFailure::Busy, ServerFailure::Lost]);
    let into = directory.path().join("restored");
    restore(&parts, &server.place(parts.len()), &into, &mut |_| true).unwrap();
    assert_eq!(fs::read(into.join("Data.db")).unwrap(), fs::read(data.join("Data.db")).unwrap());
    let gets: Vec<u64> = server.asked().into_iter().map(|(_, from)| from).collect();
    assert_eq!(gets, [0, 0, PART / 2, 0, 0]);
}

#[test]
fn a_refusal_names_part_and_permission_at_once_and_never_the_signature() {
    let ((directory, data), server) = (data_set(), Server::start());
    let parts = brought(&server, &data).unwrap();
    let reported = |refused: &StoreError, permission: &str, part: &str| {
        let StoreError::Refused { permission: reported, .. } = refused else {
            panic!("{refused}");
        };
        assert_eq!(*reported, Some(permission));
        let words = refused.to_string();
        assert!(words.contains(&format!("s3://bucket/key/loading/{part}: AccessDenied: Access Denied")), "{words}");
        assert!(!words.contains("secret"), "{words}");
    };
    server.asked();
    server.makes(&[ServerFailure::Denied]);
    reported(&brought(&server, &data).unwrap_err(), "s3:PutObject", "data-0001.tar");
    assert_eq!(server.asked().len(), 1, "it is not asked again");

    server.makes(&[ServerFailure::Denied]);
    let into = directory.path().join("restored");
    let refused = restore(&parts, &server.place(parts.len()), &into, &mut |_| true).unwrap_err();
    reported(&refused, "s3:GetObject", "data-0001.tar");
}

#[test]
fn a_server_that_stays_away_ends_the_work_after_four_attempts() {
    let ((_directory, data), server) = (data_set(), Server::start());
    server.makes(&[ServerFailure::Busy; 9]);
    let refused = brought(&server, &data).unwrap_err().to_string();
    assert!(refused.contains("data-0001.tar: SlowDown"), "{refused}");
    assert_eq!(server.asked().len(), 4);
}
