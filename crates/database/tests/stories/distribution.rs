//! Fetching Cassandra from a mirror that works, lies, or is not there.

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
    DistributionError, Fetched, distribution::ensure_distribution_from, ensure_distribution,
    lock_maker::make_lock_list, versions,
};
use sha1::{Digest as _, Sha1};
use sha2::{Digest as _, Sha256};

use crate::shared;

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
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn an_unknown_version_is_refused_before_anything_is_touched() {
    let error = ensure_distribution("4.1.0", Path::new("/nonexistent"), &mut |_| {}, &|| false).unwrap_err();
    assert!(error.to_string().contains("4.1.0") && error.to_string().contains(versions()[0]), "{error}");
}

/// Each jar would be two that are not there.
#[test]
fn a_cache_whose_path_no_jvm_can_take_is_refused_before_anything_is_touched() {
    let place = tempfile::tempdir().unwrap();
    for (name, sign) in [("mine: all", "`:`"), ("a=b", "`=`")] {
        let cache = place.path().join(name);
        let error = ensure_distribution(versions()[0], &cache, &mut |_| {}, &|| false).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(sign) && error.contains("IOPSLAB_CACHE"), "{error}");
        assert!(!cache.exists());
    }
}

/// A dependency of a POM; `more` are its further elements.
fn needs(artifact: &str, more: &str) -> String {
    format!("<dependency><groupId>org.example</groupId><artifactId>{artifact}</artifactId>{more}</dependency>")
}

/// A POM of `org.example`, which needs these.
fn pom(artifact: &str, version: &str, dependencies: &[String]) -> (String, String) {
    let text = format!(
        "<?xml version=\"1.0\"?><project xmlns=\"http://maven.apache.org/POM/4.0.0\"><groupId>org.example</groupId>\
         <artifactId>{artifact}</artifactId><version>{version}</version><dependencies>{}</dependencies></project>",
        dependencies.concat()
    );
    (format!("org/example/{artifact}/{version}/{artifact}-{version}.pom"), text)
}

/// A Cassandra of three POMs and what they need: versions come from the parent, one jar from a classifier; what is
/// optional, for tests or excluded stays away, and the nearer of two versions wins.
fn small_repository() -> Vec<(String, String)> {
    let of_cassandra = |artifact: &str, body: &str| {
        let text = format!("<project><artifactId>{artifact}</artifactId>{body}</project>");
        (format!("org/apache/cassandra/{artifact}/9.9.9/{artifact}-9.9.9.pom"), text)
    };
    let version = |version: &str| format!("<version>{version}</version>");
    let excluding = "<exclusions><exclusion><groupId>org.example</groupId><artifactId>unwanted</artifactId></exclusion>\
                     </exclusions>";
    let parent = format!(
        "<groupId>org.apache.cassandra</groupId><version>9.9.9</version><packaging>pom</packaging>\
         <properties><near.version>1.2</near.version></properties>\
         <dependencyManagement><dependencies>{}{}</dependencies></dependencyManagement>",
        needs("near", &(version("${near.version}") + excluding)),
        needs("both", &version("1")),
    );
    let main = format!(
        "<parent><groupId>org.apache.cassandra</groupId><artifactId>cassandra-parent</artifactId>\
         <version>9.9.9</version></parent><dependencies>{}{}{}{}</dependencies>",
        needs("near", ""),
        needs("both", ""),
        needs("for-tests", &(version("1") + "<scope>test</scope>")),
        needs("maybe", &(version("1") + "<optional>true</optional>")),
    );
    let of_near = [
        needs("far", &(version("2") + "<scope>runtime</scope>")),
        needs("far", &(version("2") + "<classifier>linux</classifier>")),
        needs("both", &version("7")),
        needs("unwanted", &version("1")),
    ];
    vec![
        of_cassandra("cassandra-parent", &parent),
        of_cassandra("cassandra-all", &main),
        pom("near", "1.2", &of_near),
        pom("far", "2", &[needs("unwanted", &version("1"))]),
        pom("both", "1", &[]),
    ]
}

/// What a repository with these POMs gives; a jar is its own path, and each has its SHA-1 beside it.
fn given(poms: &[(String, String)], path: &str) -> Option<Vec<u8>> {
    if let Some(jar) = path.strip_suffix(".jar.sha1") {
        let hash = Sha1::digest(format!("{jar}.jar"));
        return Some(hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes());
    }
    if path.ends_with("maven-metadata.xml") {
        let versions = ["4.1.9", "4.1.10", "5.0.9", "6.0-alpha2"].map(|v| format!("<version>{v}</version>")).concat();
        return Some(format!("<metadata><versioning><versions>{versions}</versions></versioning></metadata>").into());
    }
    if path.ends_with(".jar") {
        return Some(path.into());
    }
    poms.iter().find(|(known, _)| known == path).map(|(_, text)| text.clone().into_bytes())
}

#[test]
fn a_lock_list_has_each_jar_that_the_poms_ask_for_and_no_other() {
    let poms = small_repository();
    let mirror = mirror(move |path| given(&poms, path));
    let cache = tempfile::tempdir().unwrap();
    let list = make_lock_list(&mirror, "9.9.9", cache.path(), &mut |_| {}).unwrap();
    let paths = [
        "org/apache/cassandra/cassandra-all/9.9.9/cassandra-all-9.9.9.jar",
        "org/example/both/1/both-1.jar",
        "org/example/far/2/far-2-linux.jar",
        "org/example/far/2/far-2.jar",
        "org/example/near/1.2/near-1.2.jar",
    ];
    let hash = |path: &str| Sha256::digest(path).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let expected: String = paths.iter().map(|path| format!("{}  {}  {path}\n", hash(path), path.len())).collect();
    let text = list.to_string();
    let (head, lines) = text.split_once('\n').unwrap();
    assert_eq!(lines, expected);
    assert!(head.starts_with("# org.apache.cassandra:cassandra-all:9.9.9, runtime scope."), "{head}");
    assert_eq!(files_below(cache.path()).len(), paths.len(), "the jars are in the cache");

    // A start archive belongs to jars as they were written.
    let jar = cache.path().join("cassandra").join(paths[1]);
    let written = || fs::metadata(&jar).unwrap().modified().unwrap();
    let long_ago = written() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&jar).unwrap().set_modified(long_ago).unwrap();
    make_lock_list(&mirror, "9.9.9", cache.path(), &mut |_| {}).unwrap();
    assert_eq!(written(), long_ago, "what is there is not written anew");
    fs::write(&jar, "of somebody else").unwrap();
    make_lock_list(&mirror, "9.9.9", cache.path(), &mut |_| {}).unwrap();
    assert_eq!(fs::read_to_string(&jar).unwrap(), paths[1], "and what is another is");
}

#[test]
fn a_repository_that_lacks_a_pom_or_gives_another_jar_makes_no_list() {
    let cache = tempfile::tempdir().unwrap();
    let refused = |mirror: &str, version: &str| {
        make_lock_list(mirror, version, cache.path(), &mut |_| {}).unwrap_err().to_string()
    };
    let poms = small_repository();
    let damaged = mirror(move |path| match path.ends_with("far-2.jar") {
        true => Some(b"another".to_vec()),
        false => given(&poms, path),
    });
    let error = refused(&damaged, "9.9.9");
    assert!(error.contains("far-2.jar has SHA-1") && error.contains("far-2.jar.sha1 says"), "{error}");

    let poms: Vec<_> = small_repository().into_iter().filter(|(path, _)| !path.contains("/near/")).collect();
    let incomplete = mirror(move |path| given(&poms, path));
    let error = refused(&incomplete, "9.9.9");
    assert!(error.contains("near-1.2.pom") && error.contains("IOPSLAB_MAVEN_MIRROR"), "{error}");

    // A line stands for its newest version, of which this repository has no POM.
    let error = refused(&incomplete, "4.1");
    assert!(error.contains("cassandra-all-4.1.10.pom"), "{error}");
    let error = refused(&incomplete, "../etc");
    assert!(error.contains("`../etc` is no plain name or version"), "{error}");
}
