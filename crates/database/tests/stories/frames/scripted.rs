//! A CQL server that does on demand what a real one does not: it stands before the null server, passes on what is
//! asked, and answers requests for keys that begin with `do:` as these say.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const HEADER: usize = 9;
const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const RESULT: u8 = 0x08;
const EXECUTE: u8 = 0x0A;
const AUTHENTICATE: u8 = 0x03;
const AUTH_CHALLENGE: u8 = 0x0E;
const AUTH_RESPONSE: u8 = 0x0F;
const AUTH_SUCCESS: u8 = 0x10;

/// How connections of iopslab's own frames are received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Welcome {
    /// As any other.
    Open,
    /// "Unsupported protocol version", in the words and the version of a server that is newer.
    OtherVersion,
    /// An error in version 4.
    Refused,
    /// The login of `bench` with the password `secret` is asked for.
    Login,
    /// The same, and then more than a name and a password.
    Challenge,
    /// A frame that is none.
    Nonsense,
    /// The connection is closed.
    Closed,
}

/// What the tests ask of the server, and set.
pub struct Server {
    pub port: u16,
    state: Arc<State>,
}

struct State {
    null_port: u16,
    welcome: Mutex<Welcome>,
    /// Requests for records by connections of iopslab's own frames, and by those of the driver.
    own: AtomicU32,
    driver: AtomicU32,
}

impl Server {
    pub fn start(welcome: Welcome) -> Self {
        let null = TcpListener::bind("127.0.0.1:0").unwrap();
        let null_port = null.local_addr().unwrap().port();
        std::thread::spawn(move || database::null_server::serve(&null));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            null_port,
            welcome: Mutex::new(welcome),
            own: AtomicU32::new(0),
            driver: AtomicU32::new(0),
        });
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&served);
                std::thread::spawn(move || serve(client, &state));
            }
        });
        Self { port, state }
    }

    pub fn welcome(&self, welcome: Welcome) {
        *self.state.welcome.lock().unwrap() = welcome;
    }

    /// Requests for records so far: in frames of our own, and through the driver.
    pub fn asked(&self) -> (u32, u32) {
        (self.state.own.load(Relaxed), self.state.driver.load(Relaxed))
    }
}

struct Frame {
    header: [u8; HEADER],
    body: Vec<u8>,
}

impl Frame {
    fn read(from: &mut TcpStream) -> io::Result<Self> {
        let mut header = [0; HEADER];
        from.read_exact(&mut header)?;
        let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let mut body = vec![0; length as usize];
        from.read_exact(&mut body)?;
        Ok(Self { header, body })
    }

    fn write(&self, to: &mut TcpStream) -> io::Result<()> {
        to.write_all(&[self.header.as_slice(), &self.body].concat())
    }

    fn opcode(&self) -> u8 {
        self.header[4]
    }

    /// The word after `do:` of the value that begins so.
    fn order(&self) -> Option<String> {
        let body = String::from_utf8_lossy(&self.body);
        let order = body.split_once("do:")?.1;
        Some(order.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
    }

    /// The identifier of the statement of an `EXECUTE`, with its length.
    fn statement(&self) -> &[u8] {
        &self.body[..18]
    }
}

fn serve(mut client: TcpStream, state: &State) -> io::Result<()> {
    client.set_nodelay(true)?;
    let mut null = TcpStream::connect(("127.0.0.1", state.null_port))?;
    null.set_nodelay(true)?;
    let mut is_own = false;
    let mut late = Vec::new();
    loop {
        let asked = Frame::read(&mut client)?;
        match asked.opcode() {
            STARTUP if contains(&asked.body, b"DRIVER_NAME\0\x07iopslab") => {
                is_own = true;
                let welcome = *state.welcome.lock().unwrap();
                if !receive(&mut client, welcome)? {
                    continue;
                }
            }
            AUTH_RESPONSE => {
                let (opcode, body) = match *state.welcome.lock().unwrap() {
                    Welcome::Challenge => (AUTH_CHALLENGE, vec![0, 0, 0, 0]),
                    _ if asked.body == *b"\0\0\0\x0D\0bench\0secret" => (AUTH_SUCCESS, vec![0xFF; 4]),
                    _ => (ERROR, error(0x0100, "Provided username bench and/or password are incorrect", &[])),
                };
                frame(&mut client, 0x84, 0, [0, 0], opcode, &body)?;
                continue;
            }
            EXECUTE => {
                let count = if is_own { &state.own } else { &state.driver };
                // The driver's own questions are of other statements; these have a key in them.
                if contains(&asked.body, b"key") || asked.order().is_some() {
                    count.fetch_add(1, Relaxed);
                }
                if let Some(order) = asked.order()
                    && obey(&order, &asked, &mut client, is_own, &mut late)?
                {
                    continue;
                }
            }
            _ => {}
        }
        asked.write(&mut null)?;
        Frame::read(&mut null)?.write(&mut client)?;
    }
}

fn contains(body: &[u8], what: &[u8]) -> bool {
    body.windows(what.len()).any(|window| window == what)
}

/// Whether the connection is set up by the null server.
fn receive(client: &mut TcpStream, welcome: Welcome) -> io::Result<bool> {
    let refusal = error(0x000A, "Invalid or unsupported protocol version (4); supported versions are (5/v5)", &[]);
    match welcome {
        Welcome::Open => return Ok(true),
        Welcome::OtherVersion => frame(client, 0x85, 0, [0, 0], ERROR, &refusal)?,
        Welcome::Refused => frame(client, 0x84, 0, [0, 0], ERROR, &refusal)?,
        Welcome::Login | Welcome::Challenge => {
            let authenticator = string("org.apache.cassandra.auth.PasswordAuthenticator");
            frame(client, 0x84, 0, [0, 0], AUTHENTICATE, &authenticator)?;
        }
        Welcome::Nonsense => client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")?,
        Welcome::Closed => client.shutdown(std::net::Shutdown::Both)?,
    }
    Ok(false)
}

fn frame(to: &mut TcpStream, version: u8, flags: u8, stream: [u8; 2], opcode: u8, body: &[u8]) -> io::Result<()> {
    to.write_all(&bytes(version, flags, stream, opcode, body))
}

fn bytes(version: u8, flags: u8, stream: [u8; 2], opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![version, flags, stream[0], stream[1], opcode];
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    bytes
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat()
}

fn error(code: u32, message: &str, rest: &[u8]) -> Vec<u8> {
    [&code.to_be_bytes(), string(message).as_slice(), rest].concat()
}

/// What follows the message of an error of this code (native_protocol_v4.spec, section 9).
fn details(code: u32) -> Vec<u8> {
    let one: &[u8] = &[0, 1];
    let number: &[u8] = &[0, 0, 0, 1];
    match code {
        0x1000 => [one, number, number].concat(),
        0x1100 => [one, number, number, &string("SIMPLE")].concat(),
        0x1200 => [one, number, number, &[0]].concat(),
        0x1300 => [one, number, number, number, &[0]].concat(),
        0x1400 => [&string("k"), &string("f"), [0, 0].as_slice()].concat(),
        0x1500 => [one, number, number, number, &string("SIMPLE")].concat(),
        0x2400 => [string("k"), string("t")].concat(),
        _ => Vec::new(),
    }
}

/// Rows of one column, without its description.
fn rows(cells: &[&[u8]]) -> Vec<u8> {
    let mut body = [2u32, 4, 1, cells.len() as u32].map(u32::to_be_bytes).concat();
    for cell in cells {
        body.extend((cell.len() as u32).to_be_bytes());
        body.extend(*cell);
    }
    body
}

/// A row with the description of its columns, of every shape of type, although none was asked for.
fn described_row() -> Vec<u8> {
    let kinds: [&[u8]; 6] = [
        &[0, 0x0D],
        &[0, 0x20, 0, 0x09],
        &[0, 0x21, 0, 0x0D, 0, 0x22, 0, 0x09],
        &[0, 0x31, 0, 2, 0, 0x0D, 0, 0x09],
        &[0, 0x30, 0, 1, b'k', 0, 1, b'u', 0, 1, 0, 1, b'f', 0, 0x0D],
        &[0, 0x0C],
    ];
    let mut body = [2u32, 0, kinds.len() as u32].map(u32::to_be_bytes).concat();
    for kind in kinds {
        body.extend([string("ycsb"), string("usertable"), string("field0")].concat());
        body.extend(kind);
    }
    body.extend(1u32.to_be_bytes());
    kinds.iter().for_each(|_| body.extend([0xFF; 4]));
    body
}

/// Carries an order out. `false`: the null server answers.
fn obey(order: &str, asked: &Frame, client: &mut TcpStream, is_own: bool, late: &mut Vec<Vec<u8>>) -> io::Result<bool> {
    let stream = [asked.header[2], asked.header[3]];
    let mut say = |flags, opcode, body: &[u8]| frame(client, 0x84, flags, stream, opcode, body);
    let trace = [7; 16];
    let warnings = [[0, 2].as_slice(), &string("slow"), &string("large")].concat();
    let payload = [[0, 1].as_slice(), &string("what"), &[0, 0, 0, 2, 1, 2]].concat();
    let row = rows(&[b"x"]);
    let (word, number) = order.split_once('_').unwrap_or((order, ""));
    match word {
        "error" => {
            let code = u32::from_str_radix(number, 16).unwrap();
            say(0, ERROR, &error(code, "as ordered", &details(code)))?;
        }
        "warned" => say(0x08, RESULT, &[warnings, row].concat())?,
        "traced" => say(0x02, RESULT, &[trace.as_slice(), &row].concat())?,
        "payload" => say(0x04, RESULT, &[payload, row].concat())?,
        "everything" => say(0x0E, RESULT, &[trace.to_vec(), warnings, payload, row].concat())?,
        "warnederror" => say(0x08, ERROR, &[warnings, error(0x1001, "busy", &[])].concat())?,
        "described" => say(0, RESULT, &described_row())?,
        "rows" => say(0, RESULT, &rows(&vec![b"x".as_slice(); number.parse().unwrap()]))?,
        "void" => say(0, RESULT, &[0, 0, 0, 1])?,
        "unknownkind" => say(0, RESULT, &[0, 0, 0, 99])?,
        "ready" => say(0, READY, &[])?,
        "truncated" => say(0, RESULT, &row[..9])?,
        "huge" => say(0, RESULT, &rows(&[&vec![b'x'; number.parse().unwrap()]]))?,
        "hugewarning" => {
            let long = "w".repeat(60_000);
            let warnings = [[0, 4].as_slice(), &string(&long).repeat(4)].concat();
            say(0x08, RESULT, &[warnings, row].concat())?;
        }
        "bytewise" => {
            for byte in bytes(0x84, 0x08, stream, RESULT, &[warnings, row].concat()) {
                client.write_all(&[byte])?;
                // Long enough that each is read by itself, as a rule.
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        "silent" => {}
        "deaf" => std::thread::sleep(Duration::from_millis(number.parse().unwrap())),
        "keep" => late.push(bytes(0x84, 0, stream, RESULT, &row)),
        "release" => {
            say(0, RESULT, &row)?;
            // In another order than they were asked in.
            let all: Vec<u8> = late.drain(..).rev().flatten().collect();
            client.write_all(&all)?;
        }
        "close" => {
            let answer = bytes(0x84, 0, stream, RESULT, &row);
            client.write_all(&answer[..answer.len() - number.parse::<usize>().unwrap()])?;
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        "stray" => frame(client, 0x84, 0, [0x7F, 0xFE], RESULT, &row)?,
        "event" => {
            frame(client, 0x84, 0, [0xFF, 0xFF], 0x0C, &[string("STATUS_CHANGE"), string("UP")].concat())?;
            frame(client, 0x84, 0, stream, RESULT, &row)?;
        }
        "version" => frame(client, 0x85, 0, stream, RESULT, &row)?,
        "opcode" => frame(client, 0x84, 0, stream, 0x77, &row)?,
        "compressed" => frame(client, 0x84, 0x01, stream, RESULT, &row)?,
        "long" => client.write_all(&[0x84, 0, stream[0], stream[1], RESULT, 0x7F, 0xFF, 0xFF, 0xFF])?,
        // Once for each connection of ours: the driver's is answered.
        "unprepared" if is_own => say(0, ERROR, &error(0x2500, "unknown", asked.statement()))?,
        "unprepared" => return Ok(false),
        other => panic!("no such order: {other}"),
    }
    Ok(true)
}
