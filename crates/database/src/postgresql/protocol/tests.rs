//! Connections to a server that says what a test has it say, and messages that make no sense.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::*;

/// What a client has sent: messages by their tags, the first of which has none.
type Asked = Vec<(u8, Vec<u8>)>;
/// What a server says next to a client that has sent all this, in pieces.
type Answer = Box<dyn FnOnce(&Asked) -> Vec<Vec<u8>> + Send>;

fn says(pieces: Vec<Vec<u8>>) -> Answer {
    Box::new(|_: &Asked| pieces)
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

fn login(kind: u32, data: &[u8]) -> Vec<u8> {
    message(tag::AUTHENTICATION, &[&kind.to_be_bytes()[..], data].concat())
}

fn ready(status: u8) -> Vec<u8> {
    message(tag::READY, &[status])
}

fn complete(text: &str) -> Vec<u8> {
    message(tag::COMPLETE, format!("{text}\0").as_bytes())
}

fn error(code: &str, text: &str) -> Vec<u8> {
    message(tag::ERROR, format!("SERROR\0C{code}\0M{text}\0HLook at it.\0P7\0\0").as_bytes())
}

fn row(columns: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = (columns.len() as u16).to_be_bytes().to_vec();
    for column in columns {
        body.extend(column.map_or(-1, |column| column.len() as i32).to_be_bytes());
        body.extend(column.unwrap_or_default());
    }
    message(tag::ROW, &body)
}

/// What follows a login that was accepted, with what may come at any time.
fn welcome() -> Vec<u8> {
    let parameter = message(b'S', b"server_version\x0018.3\0");
    [login(login::DONE, b""), parameter, message(tag::KEY_DATA, &[7; 8]), message(b'N', b"SNOTICE\0\0"), ready(b'I')]
        .concat()
}

fn body(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// Sends one answer to each request of one connection, and then closes it.
fn serve(stream: &mut TcpStream, answers: Vec<Answer>, asked: &mut Asked) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    asked.push((0, body(stream)?));
    for (number, answer) in answers.into_iter().enumerate() {
        // A password, Sync, a simple query, the end of a COPY or of all: then an answer is waited for.
        let mut is_asked = number == 0;
        while !is_asked {
            let mut tag = [0];
            stream.read_exact(&mut tag)?;
            asked.push((tag[0], body(stream)?));
            is_asked = b"pSQcX".contains(&tag[0]);
        }
        for piece in answer(asked) {
            stream.write_all(&piece)?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

fn server(answers: Vec<Answer>) -> (SocketAddr, JoinHandle<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Asked::new();
        // A client that leaves early has asked what it has asked.
        let _ = serve(&mut stream, answers, &mut asked);
        asked
    });
    (address, served)
}

/// Logs in, with this password, at a server with these answers, and goes on; gives what the server was asked, too.
fn with_password<R>(
    password: Option<&str>,
    answers: Vec<Answer>,
    work: impl AsyncFnOnce(Result<Wire, Error>) -> R,
) -> (R, Asked) {
    let (address, served) = server(answers);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runtime.block_on(async {
        let stream = Box::new(tokio::net::TcpStream::connect(address).await.unwrap());
        let parameters = [("database", "ycsb"), ("options", "-c synchronous_commit=off")];
        work(Wire::open(stream, ("md5_user", password.map(str::as_bytes)), &parameters).await).await
    });
    (done, served.join().unwrap())
}

/// The same once somebody is let in: these are the answers to what follows.
fn let_in<R>(answers: Vec<Vec<Vec<u8>>>, work: impl AsyncFnOnce(&mut Wire) -> R) -> (R, Asked) {
    let all = [vec![welcome()]].into_iter().chain(answers).map(says).collect();
    with_password(None, all, async |wire: Result<Wire, Error>| work(&mut wire.unwrap()).await)
}

fn tags(asked: &[(u8, Vec<u8>)]) -> String {
    asked.iter().skip(1).map(|(tag, _)| char::from(*tag)).collect()
}

/// What somebody is refused for: message and cause.
fn why(opened: Result<Wire, Error>) -> String {
    match opened.err() {
        Some(Error::Broken { what, cause: Some(cause) }) => format!("{what}: {cause}"),
        Some(other) => other.to_string(),
        None => "let in".to_owned(),
    }
}

#[test]
fn a_session_begins_with_its_parameters_is_idle_then_and_takes_leave() {
    let (is_idle, asked) = let_in(vec![Vec::new()], async |wire: &mut Wire| wire.is_idle());
    assert!(is_idle);
    let words =
        ["client_encoding", "UTF8", "user", "md5_user", "database", "ycsb", "options", "-c synchronous_commit=off"];
    // Version 3.0, then each word with its end, then that of all.
    let expected = [&b"\0\x03\0\0"[..], words.join("\0").as_bytes(), b"\0\0"].concat();
    assert_eq!((&asked[0].1, tags(&asked).as_str()), (&expected, "X"));
}

/// The hash is that of postgres-protocol's own test.
#[test]
fn a_password_is_shown_as_the_server_asks_for_it() {
    let salt = [0x2a, 0x3d, 0x8f, 0xe0];
    for (asks, shown) in [
        (login(login::CLEARTEXT, b""), "password\0"),
        (login(login::MD5, &salt), "md562af4dd09bbb41884907a838a3233294\0"),
    ] {
        let answers = || vec![says(vec![asks.clone()]), says(vec![welcome()])];
        let (opened, asked) =
            with_password(Some("password"), answers(), async |opened: Result<Wire, Error>| why(opened));
        assert_eq!((opened.as_str(), asked[1].clone()), ("let in", (b'p', shown.into())));
        let (opened, _) = with_password(None, answers(), async |opened: Result<Wire, Error>| why(opened));
        assert_eq!(opened, "invalid configuration: password missing");
    }
}

#[test]
fn who_is_not_let_in_hears_why() {
    let unknown = "authentication error: unsupported authentication method";
    let unexpected = "unexpected message from server";
    let cut = "error parsing response from server: the request for a password has no salt";
    for (said, expected) in [
        (vec![error("28P01", "wrong password")], "wrong password (Look at it.)"),
        (vec![login(7, b"")], unknown),
        (vec![login(login::MD5, b"abc")], cut),
        (vec![login(login::SASL, b"OAUTHBEARER\0\0")], "authentication error: unsupported SASL mechanism"),
        // Whoever does not prove that it knows the password is not taken for the server.
        (vec![login(login::SASL, b"SCRAM-SHA-256\0\0"), welcome()], unexpected),
        (vec![[login(login::DONE, b""), message(b'v', b"")].concat()], unexpected),
        (vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()], "error parsing response from server"),
        (vec![[login(login::DONE, b""), message(tag::READY, b"")].concat()], "error parsing response from server"),
    ] {
        let answers = said.into_iter().map(|piece| says(vec![piece])).collect();
        let (opened, _) = with_password(Some("password"), answers, async |opened: Result<Wire, Error>| why(opened));
        assert!(opened.starts_with(expected), "{opened} instead of {expected}");
    }
}

fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let pad = |with: u8| (0..64_usize).map(|at| key.get(at).unwrap_or(&0) ^ with).collect::<Vec<u8>>();
    let inner = Sha256::digest([&pad(0x36)[..], text].concat()).to_vec();
    Sha256::digest([pad(0x5c), inner].concat()).to_vec()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let of = |three: &[u8]| {
        let bits = (0..3_usize).fold(0_u32, |bits, at| (bits << 8) | u32::from(*three.get(at).unwrap_or(&0)));
        let digit = |at: usize| match at <= three.len() {
            true => char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]),
            false => '=',
        };
        [digit(0), digit(1), digit(2), digit(3)]
    };
    bytes.chunks(3).flat_map(of).collect()
}

/// The server's part of RFC 5802, with one iteration; `password` is what the server takes for the user's.
fn scram_server(password: &'static str) -> Vec<Answer> {
    let first = |asked: &Asked| {
        let client_first = String::from_utf8(asked[1].1.clone()).unwrap();
        let (_, bare) = client_first.split_once("n,,").unwrap();
        let nonce = bare.strip_prefix("n=,r=").unwrap();
        (bare.to_owned(), format!("r={nonce}server,s={},i=1", base64(b"salt")))
    };
    let challenge = move |asked: &Asked| vec![login(login::SASL_CONTINUE, first(asked).1.as_bytes())];
    let proof = move |asked: &Asked| {
        let (bare, challenge) = first(asked);
        let last = String::from_utf8(asked[2].1.clone()).unwrap();
        let (without_proof, _) = last.split_once(",p=").unwrap();
        let salted = hmac(password.as_bytes(), b"salt\0\0\0\x01");
        let server_key = hmac(&salted, b"Server Key");
        let signature = hmac(&server_key, format!("{bare},{challenge},{without_proof}").as_bytes());
        let signature = format!("v={}", base64(&signature));
        vec![[login(login::SASL_FINAL, signature.as_bytes()), welcome()].concat()]
    };
    vec![says(vec![login(login::SASL, b"SCRAM-SHA-256\0\0")]), Box::new(challenge), Box::new(proof)]
}

#[test]
fn by_scram_both_sides_prove_that_they_know_the_password() {
    for (password, expected) in [("password", "let in"), ("another", "authentication error: SCRAM verification error")]
    {
        let answers = scram_server(password);
        let (opened, asked) = with_password(Some("password"), answers, async |opened: Result<Wire, Error>| why(opened));
        assert_eq!(opened, expected);
        assert!(asked[1].1.starts_with(b"SCRAM-SHA-256\0"), "{:?}", asked[1]);
    }
}

#[test]
fn a_transaction_begins_with_its_first_statement_and_can_be_rolled_back_after_an_error() {
    let bound = || message(tag::BOUND, b"");
    let refused = [bound(), complete("BEGIN"), error("23505", "duplicate key"), ready(b'E')].concat();
    let answers = vec![
        vec![message(tag::PARSED, b""), ready(b'I')],
        vec![refused],
        vec![[complete("ROLLBACK"), ready(b'I')].concat()],
        vec![[bound(), complete("UPDATE 3"), ready(b'I')].concat()],
    ];
    let ((), asked) = let_in(answers, async |wire: &mut Wire| {
        wire.prepare("own0", "UPDATE t SET a = $1").await.unwrap();
        wire.bind("begin", []).unwrap();
        wire.bind("own0", [Value::text("x")]).unwrap();
        let failed = wire.run(|_| {}).await.unwrap_err();
        assert_eq!((failed.code(), failed.to_string().as_str()), (Some("23505"), "duplicate key (Look at it.)"));
        assert!(!wire.is_idle(), "a transaction is open");
        wire.simple("ROLLBACK").await.unwrap();
        assert!(wire.is_idle());
        wire.bind("own0", [Value::text("y")]).unwrap();
        assert_eq!(wire.run(|_| {}).await.unwrap(), 3);
    });
    assert_eq!(tags(&asked), "PSBEBESQBES");
    // Portal, statement, one form for all, one value with its length, one form of all columns.
    assert_eq!(asked[5].1, b"\0own0\0\0\x01\0\x01\0\x01\0\0\0\x01x\0\x01\0\x01");
}

#[test]
fn rows_are_those_that_were_sent_however_they_are_cut() {
    let long = vec![b'l'; 20_000];
    let sent = [row(&[Some(b"a"), None]), row(&[Some(&long), Some(b"")]), row(&[])].concat();
    let all = [message(tag::BOUND, b""), sent, complete("SELECT 3"), ready(b'I')].concat();
    for of_bytes in [500, 9_000, 30_000] {
        let pieces = all.chunks(of_bytes).map(<[u8]>::to_vec).collect();
        let ((rows, found), _) = let_in(vec![pieces], async |wire: &mut Wire| {
            let mut found = Vec::new();
            wire.bind("s", []).unwrap();
            let rows = wire.run(|row| found.push(row.to_vec())).await.unwrap();
            (rows, found)
        });
        assert_eq!(rows, 3);
        assert_eq!(columns(&found[0]), Ok(vec![Some(&b"a"[..]), None]));
        assert_eq!(columns(&found[1]), Ok(vec![Some(&long[..]), Some(&b""[..])]));
        assert_eq!(columns(&found[2]), Ok(Vec::new()));
    }
}

/// What comes late would be taken for the answer to another request.
#[test]
fn a_connection_without_a_whole_answer_is_of_no_use_any_more() {
    let copy_in = message(tag::COPY_IN, b"\0\0\0");
    for (answer, expected) in [
        (b"D\x7f\xff\xff\xff\0\x01".to_vec(), "error parsing response from server"),
        (b"C\0\0\0\x03".to_vec(), "error parsing response from server"),
        (message(tag::COMPLETE, b"SELECT"), "error parsing response from server"),
        (message(tag::ERROR, b"C23505\0"), "error parsing response from server"),
        (copy_in, "unexpected message from server"),
        (complete("SELECT 1"), "connection closed"),
        // A server that ends a connection has said why.
        (error("57P01", "terminating connection"), "terminating connection (Look at it.)"),
    ] {
        let (said, _) = let_in(vec![vec![answer]], async |wire: &mut Wire| {
            wire.bind("s", []).unwrap();
            let said = wire.run(|_| {}).await.unwrap_err().to_string();
            assert!(!wire.is_idle(), "{said}");
            assert_eq!(wire.simple("ROLLBACK").await.unwrap_err().to_string(), "connection closed");
            said
        });
        assert_eq!(said, expected);
    }
}

#[test]
fn neither_is_one_with_more_than_was_asked_for() {
    let done = [message(tag::BOUND, b""), complete("SELECT 1"), ready(b'I')].concat();
    for more in [complete("SELECT 1"), error("57P01", "terminating connection"), ready(b'I')] {
        let ((), _) = let_in(vec![vec![[done.clone(), more].concat()]], async |wire: &mut Wire| {
            wire.bind("s", []).unwrap();
            assert_eq!(wire.run(|_| {}).await.unwrap(), 1);
            assert!(!wire.is_idle());
        });
    }
}

#[test]
fn neither_is_one_whose_request_was_given_up() {
    let late = vec![[message(tag::BOUND, b""), complete("SELECT 1"), ready(b'I')].concat()];
    let slow: Answer = Box::new(move |_: &Asked| {
        std::thread::sleep(Duration::from_millis(300));
        late
    });
    let answers = vec![says(vec![welcome()]), slow];
    let ((), _) = with_password(None, answers, async |wire: Result<Wire, Error>| {
        let mut wire = wire.unwrap();
        wire.bind("s", []).unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(20), wire.run(|_| {})).await.is_err());
        assert!(!wire.is_idle());
        assert_eq!(wire.simple("COMMIT").await.unwrap_err().to_string(), "connection closed");
    });
}

#[test]
fn rows_of_a_copy_go_out_with_it_and_are_passed_over_where_it_is_refused() {
    let copy_in = || vec![message(tag::COPY_IN, b"\0\0\0")];
    let refused = vec![[error("42P01", "no such table"), ready(b'I')].concat()];
    let answers = vec![copy_in(), vec![[complete("COPY 2"), ready(b'I')].concat()], refused, Vec::new()];
    let ((), asked) = let_in(answers, async |wire: &mut Wire| {
        wire.copy("COPY t FROM STDIN", b"a\nb\n").await.unwrap();
        assert!(wire.is_idle());
        let refused = wire.copy("COPY u FROM STDIN", b"a\n").await.unwrap_err();
        assert_eq!(refused.code(), Some("42P01"));
        assert!(wire.is_idle(), "it is as it was");
    });
    assert_eq!(tags(&asked), "QdcQdc");
    assert_eq!(asked[2].1, b"a\nb\n");
}

/// What cannot be written spoils the buffer that others would use.
#[test]
fn a_text_that_cannot_be_written_is_an_error() {
    let ((), _) = let_in(Vec::new(), async |wire: &mut Wire| {
        let failed = wire.simple("SELECT '\0'").await.unwrap_err();
        assert_eq!((failed.to_string().as_str(), failed.code()), ("error encoding message to server", None));
        assert!(!wire.is_idle());
    });
}

#[test]
fn bodies_that_are_cut_or_make_no_sense_are_errors() {
    for body in [&b""[..], b"C", b"C1", b"\0", b"C23505\0\0", b"Mtext\0\0", b"C23505\0Mtext\0", b"C23505\0Mtext\0H"] {
        assert!(answers::refused(body).is_err(), "{body:?}");
    }
    for body in
        [&b""[..], b"\0", b"\0\x01", b"\0\x01\0\0\0", b"\0\x01\0\0\0\x02a", b"\0\x01\x7f\xff\xff\xffa", b"\0\0a"]
    {
        assert!(columns(body).is_err(), "{body:?}");
    }
    for (body, rows) in [
        (&b"SELECT 3\0"[..], Ok(3)),
        (b"INSERT 0 1\0", Ok(1)),
        (b"BEGIN\0", Ok(0)),
        (b"UPDATE 99999999999999999999\0", Ok(0)),
        (b"UPDATE 1", Err(())),
        (b"\xff\0", Err(())),
        (b"", Err(())),
    ] {
        assert_eq!(answers::rows(body).map_err(drop), rows, "{body:?}");
    }
    assert!(answers::authentication(b"\0\0\0").is_err());
}

proptest! {
    /// However messages are cut, and whatever they are, they are the same ones.
    #[test]
    fn messages_come_whole(
        all in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..20_000)), 1..8),
        sizes in prop::collection::vec(1_usize..9_000, 1..20),
    ) {
        let bytes: Vec<u8> = all.iter().flat_map(|(tag, body)| message(*tag, body)).collect();
        let (mut incoming, mut found, mut rest) = (Incoming::new(), Vec::new(), &bytes[..]);
        for size in sizes.iter().cycle() {
            while let Some(message) = incoming.next().unwrap() {
                found.push((message.tag, incoming.body(message).to_vec()));
            }
            if rest.is_empty() {
                break;
            }
            let space = incoming.space();
            let taken = space.len().min(rest.len()).min(*size);
            space[..taken].copy_from_slice(&rest[..taken]);
            incoming.filled(taken);
            rest = &rest[taken..];
        }
        let awaited: Vec<_> = all.into_iter().filter(|(tag, _)| !tag::AT_ANY_TIME.contains(tag)).collect();
        prop_assert_eq!(found, awaited);
    }

    #[test]
    fn bytes_of_any_kind_are_messages_or_errors(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut incoming = Incoming::new();
        incoming.space()[..bytes.len()].copy_from_slice(&bytes);
        incoming.filled(bytes.len());
        while let Ok(Some(message)) = incoming.next() {
            let body = incoming.body(message);
            let _ = (answers::refused(body), answers::rows(body), columns(body), answers::authentication(body));
        }
    }
}
