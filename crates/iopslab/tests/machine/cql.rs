//! As much of CQL as a story needs to change a cluster behind iopslab's back.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Requests of CQL v4 (native_protocol_v4.spec, section 2.4), and what answers them.
const STARTUP: u8 = 1;
const QUERY: u8 = 7;
const READY: u8 = 2;
const RESULT: u8 = 8;

/// Sends a request (sections 2 and 4.1) and gives the answer's opcode and body.
fn ask(stream: &mut TcpStream, opcode: u8, body: &[u8]) -> (u8, Vec<u8>) {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    stream.write_all(&[&[4, 0, 0, 0, opcode][..], &length, body].concat()).unwrap();
    let mut header = [0; 9];
    stream.read_exact(&mut header).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(header[5..9].try_into().unwrap()) as usize];
    stream.read_exact(&mut answer).unwrap();
    (header[4], answer)
}

/// Has a node that asks for no user carry out a statement.
pub fn execute(address: &str, statement: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    let text = |text: &str| [&u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat();
    let options = [&[0, 1][..], &text("CQL_VERSION"), &text("3.0.0")].concat();
    assert_eq!(ask(&mut stream, STARTUP, &options).0, READY);
    let length = u32::try_from(statement.len()).unwrap().to_be_bytes();
    // At ONE, without flags.
    let body = [&length[..], statement.as_bytes(), &[0, 1, 0]].concat();
    let (opcode, answer) = ask(&mut stream, QUERY, &body);
    assert_eq!(opcode, RESULT, "{statement}: {}", String::from_utf8_lossy(&answer));
}
