//! Requests in frames of iopslab's own against a server that does what a real one does not do on demand. The driver is
//! the reference: the same requests go through it, and the answers are the same.

mod scripted;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use database::{CqlConnect, CqlDriver, OwnWork, TableAt};
use engine::{Connect as _, Driver as _, ErrorKind};
use experiment::{Access, Own};
use scripted::{Server, Welcome};
use statements::{Data, Script, TableData};

fn connect_to(server: &Server, request_timeout: Duration, driver_only: bool) -> CqlConnect {
    CqlConnect::new(TableAt { request_timeout, driver_only, ..TableAt::ycsb(format!("127.0.0.1:{}", server.port), 10) })
}

/// As a load thread has it.
fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap()
        .block_on(work)
}

/// What a request came to.
type RequestResult = Result<(), ErrorKind>;

const PATIENCE: Duration = Duration::from_secs(5);

async fn own_frames(server: &Server, request_timeout: Duration) -> CqlDriver {
    let connect = connect_to(server, request_timeout, false);
    let driver = connect.connect().await.unwrap();
    assert_eq!(connect.notes(), Vec::<String>::new());
    driver
}

async fn driver_only(server: &Server, request_timeout: Duration) -> CqlDriver {
    connect_to(server, request_timeout, true).connect().await.unwrap()
}

/// Waits until a connection is there again.
async fn until_up(driver: &CqlDriver) {
    let began = Instant::now();
    while driver.read("key", None).await == Err(ErrorKind::Connection) {
        assert!(began.elapsed() < Duration::from_secs(20), "no connection again");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The driver learns the null server's table: without it no statement of the user's own can be prepared.
#[test]
fn a_statement_of_the_users_own_is_prepared_by_the_null_server() {
    let script = "CREATE TABLE usertable (y_id text PRIMARY KEY, field0 text);\n-- statement look weight 1\n\
                  SELECT * FROM usertable WHERE y_id = ?;\n";
    let own = Own {
        file: "look.cql".to_owned(),
        script: Script::parse(script, &[]).unwrap(),
        data: Data { tables: vec![TableData::new("usertable", 100)], ..Data::default() },
        row_bytes: BTreeMap::new(),
        replay: None,
        snapshot: None,
    };
    let server = Server::start(Welcome::Open);
    let plain = connect_to(&server, PATIENCE, false);
    let connect = CqlConnect { own: Some(Arc::new(OwnWork::requests(own, 0, 1))), ..plain };
    let connected = on_a_runtime(async { connect.connect().await.map(drop) });
    assert_eq!((connected, connect.notes()), (Ok(()), Vec::new()));
}

#[test]
fn every_answer_of_a_server_means_what_the_driver_says_it_means() {
    let codes = [
        (0x0000, ErrorKind::Other),
        (0x000A, ErrorKind::Other),
        (0x0100, ErrorKind::Other),
        (0x1000, ErrorKind::Unavailable),
        (0x1001, ErrorKind::Overloaded),
        (0x1002, ErrorKind::Other),
        (0x1003, ErrorKind::Other),
        (0x1100, ErrorKind::WriteTimeout),
        (0x1200, ErrorKind::ReadTimeout),
        (0x1300, ErrorKind::Other),
        (0x1400, ErrorKind::Other),
        (0x1500, ErrorKind::Other),
        (0x2000, ErrorKind::Other),
        (0x2100, ErrorKind::Other),
        (0x2200, ErrorKind::Other),
        (0x2300, ErrorKind::Other),
        (0x2400, ErrorKind::Other),
        (0x7777, ErrorKind::Other),
    ];
    let mut orders: Vec<(String, RequestResult, RequestResult)> =
        codes.into_iter().map(|(code, kind)| (format!("error_{code:x}"), Err(kind), Err(kind))).collect();
    // What a read of it means, and what a write.
    let others = [
        ("warned", Ok(()), Ok(())),
        ("traced", Ok(()), Ok(())),
        ("payload", Ok(()), Ok(())),
        ("everything", Ok(()), Ok(())),
        ("warnederror", Err(ErrorKind::Overloaded), Err(ErrorKind::Overloaded)),
        ("described", Ok(()), Ok(())),
        ("rows_0", Err(ErrorKind::NotFound), Ok(())),
        ("rows_3", Ok(()), Ok(())),
        ("void", Err(ErrorKind::Other), Ok(())),
        ("unknownkind", Err(ErrorKind::Other), Err(ErrorKind::Other)),
        ("ready", Err(ErrorKind::Other), Err(ErrorKind::Other)),
        ("truncated", Err(ErrorKind::Other), Err(ErrorKind::Other)),
        ("huge_200000", Ok(()), Ok(())),
        ("huge_3000000", Ok(()), Ok(())),
        ("bytewise", Ok(()), Ok(())),
        ("event", Ok(()), Ok(())),
        ("unprepared", Ok(()), Ok(())),
    ];
    orders.extend(others.map(|(order, read, write)| (order.to_owned(), read, write)));

    let server = Server::start(Welcome::Open);
    on_a_runtime(async {
        let paths =
            [("own frames", own_frames(&server, PATIENCE).await), ("driver", driver_only(&server, PATIENCE).await)];
        for (path, driver) in &paths {
            for (order, read, write) in &orders {
                let key = format!("do:{order}");
                assert_eq!(driver.read(&key, None).await, *read, "read, {path}: {order}");
                assert_eq!(driver.update(&key, &[(3, "x")]).await, *write, "update, {path}: {order}");
                assert_eq!(driver.insert(&key, &["x"; 10]).await, *write, "insert, {path}: {order}");
            }
            assert_eq!(driver.read("key", Some(7)).await, Ok(()), "{path}");
        }
    });
    let requests = 3 * orders.len() as u32 + 1;
    // The driver sends those again that the server did not know.
    assert_eq!(server.asked(), (requests, requests + 3));
}

#[test]
fn an_answer_with_more_warnings_than_anybody_reads_is_an_error_and_the_next_is_understood() {
    let server = Server::start(Welcome::Open);
    on_a_runtime(async {
        let own = own_frames(&server, PATIENCE).await;
        assert_eq!(own.read("do:hugewarning", None).await, Err(ErrorKind::Other));
        assert_eq!(own.read("key", None).await, Ok(()));
    });
}

#[test]
fn a_connection_that_breaks_or_makes_no_sense_ends_its_requests_and_is_made_again() {
    let server = Server::start(Welcome::Open);
    on_a_runtime(async {
        let own = own_frames(&server, PATIENCE).await;
        // In the middle of a body, after a header, in the middle of one.
        for order in ["close_1", "close_17", "close_20", "stray", "version", "opcode", "compressed", "long"] {
            let broken = format!("do:{order}");
            let (waits, breaks) = tokio::join!(own.read("do:silent", None), own.read(&broken, None));
            assert_eq!((waits, breaks), (Err(ErrorKind::Connection), Err(ErrorKind::Connection)), "{order}");
            until_up(&own).await;
        }
        let before = server.asked();
        assert_eq!(own.read("key", None).await, Ok(()));
        assert_eq!(server.asked(), (before.0 + 1, before.1), "in frames of our own again");

        let driver = driver_only(&server, PATIENCE).await;
        for order in ["close_1", "close_20", "stray", "opcode"] {
            assert_eq!(driver.read(&format!("do:{order}"), None).await, Err(ErrorKind::Connection), "{order}");
            until_up(&driver).await;
        }
    });
}

#[test]
fn a_request_without_an_answer_times_out_and_a_late_answer_is_not_taken_for_another() {
    let server = Server::start(Welcome::Open);
    let timeout = Duration::from_millis(150);
    on_a_runtime(async {
        for driver in [own_frames(&server, timeout).await, driver_only(&server, timeout).await] {
            let began = Instant::now();
            assert_eq!(driver.read("do:silent", None).await, Err(ErrorKind::ClientTimeout));
            let waited = began.elapsed();
            assert!(waited >= timeout && waited < Duration::from_secs(30), "{waited:?}");
            // Kept until they have timed out; their answers come later, before that of a request that finds nothing.
            let (one, other) = tokio::join!(driver.read("do:keep", None), driver.read("do:keep", None));
            assert_eq!([one, other], [Err(ErrorKind::ClientTimeout); 2]);
            assert_eq!(driver.read("do:release", None).await, Ok(()));
            assert_eq!(driver.read("do:rows_0", None).await, Err(ErrorKind::NotFound));
        }
    });
}

/// The server reads nothing for a while, and the operating system takes no more: what is asked meanwhile has its whole
/// time all the same.
#[test]
fn a_request_that_cannot_be_written_waits_as_long_as_any_other() {
    let timeout = Duration::from_secs(1);
    let server = Server::start(Welcome::Open);
    on_a_runtime(async {
        let own = std::rc::Rc::new(own_frames(&server, timeout).await);
        let long = "x".repeat(100_000);
        let mut earlier = Vec::new();
        for number in 0..41 {
            let (own, long) = (std::rc::Rc::clone(&own), long.clone());
            earlier.push(tokio::task::spawn_local(async move {
                match number {
                    0 => own.read("do:deaf_10000", None).await,
                    _ => own.insert("key", &[long.as_str(); 10]).await,
                }
            }));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let (began, mut waits) = (Instant::now(), Vec::new());
        for _ in 0..5 {
            let own = std::rc::Rc::clone(&own);
            waits.push(tokio::task::spawn_local(async move {
                let asked = Instant::now();
                (own.read("key", None).await, asked.elapsed())
            }));
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        for wait in waits {
            let (answer, waited) = wait.await.unwrap();
            assert_eq!(answer, Err(ErrorKind::ClientTimeout));
            assert!(waited >= timeout, "{waited:?}");
        }
        assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
        for one in earlier {
            assert_eq!(one.await.unwrap(), Err(ErrorKind::ClientTimeout));
        }
        // What was late is answered, and thrown away; how long that takes is the machine's business.
        let mut answer = own.read("key", None).await;
        for _ in 0..60 {
            if answer.is_ok() {
                break;
            }
            answer = own.read("key", None).await;
        }
        assert_eq!(answer, Ok(()));
    });
}

#[test]
fn answers_in_another_order_go_to_their_requests() {
    let server = Server::start(Welcome::Open);
    on_a_runtime(async {
        let own = own_frames(&server, PATIENCE).await;
        let (found, none, also, release) = tokio::join!(
            own.read("do:keep", None),
            own.read("do:rows_0", None),
            own.read("do:keep", Some(1)),
            own.read("do:release", None)
        );
        assert_eq!([found, also, release], [Ok(()); 3]);
        assert_eq!(none, Err(ErrorKind::NotFound));
    });
}

/// 32,768 requests can wait on a connection; the rest is refused by the client itself, at once.
#[test]
fn a_request_beyond_the_last_stream_id_is_refused() {
    let asked = 33_000;
    let server = Server::start(Welcome::Open);
    for is_driver in [false, true] {
        let refused = on_a_runtime(async {
            // All are sent before the first has waited this long, on a busy machine too.
            let timeout = Duration::from_secs(10);
            let driver = match is_driver {
                true => driver_only(&server, timeout).await,
                false => own_frames(&server, timeout).await,
            };
            let driver = std::rc::Rc::new(driver);
            let requests: Vec<_> = (0..asked)
                .map(|_| {
                    let driver = std::rc::Rc::clone(&driver);
                    tokio::task::spawn_local(async move { driver.read("do:silent", None).await })
                })
                .collect();
            let mut refused = 0;
            for request in requests {
                match request.await.unwrap() {
                    Err(ErrorKind::Overloaded) => refused += 1,
                    Err(ErrorKind::ClientTimeout) => {}
                    // The driver gives a connection up where 1,024 requests are without an answer a second after their
                    // time-out: those that a busy machine sent last, in time.
                    Err(ErrorKind::Connection) if is_driver => {}
                    other => panic!("{other:?}"),
                }
            }
            refused
        });
        assert_eq!(refused, asked - 32_768, "driver: {is_driver}");
    }
}

#[test]
fn a_server_that_refuses_is_spoken_to_by_the_driver_and_that_is_said() {
    let refusals = [
        (Welcome::OtherVersion, "another version of the protocol"),
        (Welcome::Refused, "Invalid or unsupported protocol version (4)"),
        (Welcome::Login, "it asks for a login"),
        (Welcome::Nonsense, "another version of the protocol"),
        (Welcome::Closed, "early eof"),
    ];
    for (welcome, reason) in refusals {
        let server = Server::start(welcome);
        let connect = connect_to(&server, PATIENCE, false);
        on_a_runtime(async {
            let driver = connect.connect().await.unwrap();
            assert_eq!(driver.read("key", None).await, Ok(()));
            assert_eq!(driver.insert("key", &["x"; 10]).await, Ok(()));
        });
        assert_eq!(server.asked(), (0, 2), "{welcome:?}");
        let notes = connect.notes();
        let [note] = notes.as_slice() else { panic!("{welcome:?}: {notes:?}") };
        assert!(note.starts_with("requests go through the CQL driver"), "{note}");
        assert!(note.contains(reason), "{note}");
    }
}

fn login(password: &str) -> Access {
    Access {
        login: Some(experiment::Login {
            user: "bench".to_owned(),
            password: password.to_owned(),
            source: experiment::PasswordSource::Environment("IOPSLAB_PASSWORD".to_owned()),
        }),
        ..Access::default()
    }
}

#[test]
fn a_login_is_given_where_it_is_asked_for() {
    for (welcome, password, reason) in [
        (Welcome::Login, "secret", None),
        (Welcome::Login, "wrong", Some("password are incorrect")),
        (Welcome::Challenge, "secret", Some("more of a login than a name and a password")),
    ] {
        let server = Server::start(welcome);
        let connect = CqlConnect::new(TableAt { access: login(password), ..connect_to(&server, PATIENCE, false).at });
        on_a_runtime(async {
            let driver = connect.connect().await.unwrap();
            assert_eq!(driver.read("key", None).await, Ok(()));
        });
        let notes = connect.notes().concat();
        assert_eq!(server.asked(), if reason.is_some() { (0, 1) } else { (1, 0) }, "{notes}");
        assert_eq!(notes.is_empty(), reason.is_none(), "{notes}");
        assert!(notes.contains(reason.unwrap_or_default()) && !notes.contains("secret"), "{notes}");
    }
}

#[test]
fn who_wants_the_driver_gets_it_and_that_is_said() {
    let server = Server::start(Welcome::Open);
    let connect = connect_to(&server, PATIENCE, true);
    on_a_runtime(async {
        let driver = connect.connect().await.unwrap();
        assert_eq!(driver.read("key", None).await, Ok(()));
    });
    assert_eq!(server.asked(), (0, 1));
    assert!(connect.notes()[0].contains("IOPSLAB_CQL_DRIVER is set"), "{:?}", connect.notes());
}

#[test]
fn a_node_that_refuses_later_is_named() {
    let server = Server::start(Welcome::Open);
    let connect = connect_to(&server, PATIENCE, false);
    on_a_runtime(async {
        let driver = connect.connect().await.unwrap();
        server.welcome(Welcome::Refused);
        assert_eq!(driver.read("do:close_1", None).await, Err(ErrorKind::Connection));
        let began = Instant::now();
        while connect.notes().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(20));
            assert_eq!(driver.read("key", None).await, Err(ErrorKind::Connection));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let note = connect.notes().remove(0);
        assert!(note.contains(&format!("127.0.0.1:{}", server.port)) && note.contains("unsupported"), "{note}");
        server.welcome(Welcome::Open);
        until_up(&driver).await;
    });
}
