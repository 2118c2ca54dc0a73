//! Fetching Cassandra from a mirror that works, lies, or is not there.

#![allow(clippy::unwrap_used, reason = "helpers of a test are test code too")]

mod shared;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use database::cassandra::{
    DistributionError, Fetched, distribution::ensure_distribution_from, ensure_distribution, versions,
};

/// A Maven repository on loopback: `answer` maps the path asked for to a body, or to 404.
fn mirror(answer: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.41.9:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || serve(stream, &*answer));
        }
    });
    format!("http://{address}/maven2")
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(&str) -> Option<Vec<u8>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut request = String::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        request.push_str(&line);
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches("/maven2/").to_owned();
    let (status, body) = answer(&path).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    // The client may have gone away, as it should after a fault.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() { files.extend(files_below(&entry.path())) } else { files.push(entry.path()) }
    }
    files
}

#[test]
fn a_mirror_fills_an_empty_cache_and_only_what_is_damaged_is_fetched_again() {
    let source = ensure_distribution(versions()[0], &shared::cache(), &mut |_| {}, &|| false).unwrap().cache;
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = requests.clone();
    let mirror = mirror(move |path| {
        counter.fetch_add(1, Ordering::Relaxed);
        fs::read(source.join(path)).ok()
    });
    let cache = tempfile::tempdir().unwrap();
    let mut last = None;
    let mut on_progress = |fetched: Fetched| last = Some(fetched);
    let fetch = |on_progress: &mut dyn FnMut(Fetched)| {
        ensure_distribution_from(&mirror, versions()[0], cache.path(), on_progress, &|| false).unwrap()
    };
    let distribution = fetch(&mut on_progress);
    let last: Fetched = last.unwrap();
    assert_eq!((last.files_done, last.bytes_done), (last.files_total, last.bytes_total));
    assert_eq!(requests.swap(0, Ordering::Relaxed), distribution.jars.len());

    fetch(&mut |_| {});
    assert_eq!(requests.load(Ordering::Relaxed), 0, "a full cache asks for nothing");

    // One bit of one jar, the size kept: found by its hash, and mended.
    let damaged = &distribution.jars[3];
    let mut bytes = fs::read(damaged).unwrap();
    bytes[100] ^= 1;
    fs::write(damaged, &bytes).unwrap();
    fs::remove_file(&distribution.jars[7]).unwrap();
    fetch(&mut |_| {});
    assert_eq!(requests.load(Ordering::Relaxed), 2);
    assert_ne!(fs::read(damaged).unwrap(), bytes);
    assert!(files_below(cache.path()).iter().all(|file| !file.to_string_lossy().contains(".part-")));
}

#[test]
fn a_wrong_jar_is_named_with_both_hashes_and_removed() {
    for body in [b"not a jar".to_vec(), vec![7; 4 << 20]] {
        let mirror = mirror(move |_| Some(body.clone()));
        let cache = tempfile::tempdir().unwrap();
        let error = ensure_distribution_from(&mirror, versions()[0], cache.path(), &mut |_| {}, &|| false).unwrap_err();
        let DistributionError::WrongHash { url, expected, actual } = &error else { panic!("{error:?}") };
        assert!(url.starts_with(&mirror) && url.ends_with(".jar"), "{url}");
        assert!(expected.len() == 64 && actual.len() == 64 && expected != actual);
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains(actual) && text.contains("IOPSLAB_MAVEN_MIRROR"), "{text}");
        assert_eq!(files_below(cache.path()), [] as [PathBuf; 0], "nothing wrong stays");
    }
}

#[test]
fn an_unreachable_mirror_and_a_missing_jar_name_the_variable_to_set() {
    // A port that was free a moment ago: refused at once.
    let closed = TcpListener::bind("127.0.41.9:0").unwrap().local_addr().unwrap();
    for mirror in [format!("http://{closed}"), mirror(|_| None)] {
        let cache = tempfile::tempdir().unwrap();
        let error = ensure_distribution_from(&mirror, versions()[0], cache.path(), &mut |_| {}, &|| false).unwrap_err();
        assert!(matches!(error, DistributionError::Unreachable { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&mirror) && text.contains("IOPSLAB_MAVEN_MIRROR"), "{text}");
    }
}

#[test]
fn cancelling_does_not_wait_for_a_mirror_that_has_gone_silent() {
    let mirror = mirror(|_| {
        std::thread::sleep(Duration::from_secs(60));
        None
    });
    let cache = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let cancelled = || started.elapsed() > Duration::from_millis(300);
    let outcome = ensure_distribution_from(&mirror, versions()[0], cache.path(), &mut |_| {}, &cancelled);
    assert!(matches!(outcome, Err(DistributionError::Cancelled)), "{outcome:?}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_unknown_version_is_refused_before_anything_is_touched() {
    let error = ensure_distribution("4.1.0", Path::new("/nonexistent"), &mut |_| {}, &|| false).unwrap_err();
    assert!(error.to_string().contains("4.1.0") && error.to_string().contains(versions()[0]), "{error}");
}
