//! A server that speaks enough CQL (native protocol 4) for the driver to connect and prepare, and then answers every
//! request at once, without a database: what is left is what the client costs.
//!
//! It is one node that owns the whole ring, with YCSB's table. Reads find one record of ten fields of 100 B; writes are
//! acknowledged. A marker has the name of the column before its `=`, as statements of the user's own need it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, RwLock};

const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const READY: u8 = 0x02;
const OPTIONS: u8 = 0x05;
const SUPPORTED: u8 = 0x06;
const QUERY: u8 = 0x07;
const RESULT: u8 = 0x08;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0A;
const REGISTER: u8 = 0x0B;

const HEADER: usize = 9;
const KEY: &str = "y_id";
const FIELDS: usize = 10;
const FIELD_BYTES: usize = 100;

/// A statement that somebody has prepared, and the body of every answer to it.
struct Prepared {
    statement: String,
    answer: Vec<u8>,
}

type Statements = Arc<RwLock<Vec<Prepared>>>;

/// Serves on this listener for ever, one thread for each connection. Errors: the listener accepts nobody any more.
pub fn serve(listener: &TcpListener) -> std::io::Result<()> {
    let statements = Statements::default();
    loop {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let statements = Arc::clone(&statements);
        // A client that leaves ends its thread.
        std::thread::spawn(move || answer_all(stream, &statements));
    }
}

/// Answers what one connection asks: all that one read brings is answered with one write.
fn answer_all(mut stream: TcpStream, statements: &Statements) -> std::io::Result<()> {
    let mut asked = vec![0; 1 << 20];
    let mut held = 0;
    let mut answers = Vec::with_capacity(1 << 20);
    loop {
        let got = stream.read(&mut asked[held..])?;
        if got == 0 {
            return Ok(());
        }
        held += got;
        let mut at = 0;
        while held - at >= HEADER {
            let frame = &asked[at..held];
            let length = u32::from_be_bytes([frame[5], frame[6], frame[7], frame[8]]) as usize;
            let Some(body) = frame.get(HEADER..HEADER + length) else { break };
            answer(frame[4], [frame[2], frame[3]], body, statements, &mut answers);
            at += HEADER + length;
        }
        asked.copy_within(at..held, 0);
        held -= at;
        stream.write_all(&answers)?;
        answers.clear();
    }
}

fn answer(opcode: u8, stream: [u8; 2], body: &[u8], statements: &Statements, answers: &mut Vec<u8>) {
    if opcode == EXECUTE {
        // The identifier is a short length, then the number of the statement.
        let number = body.get(2..6).map_or(usize::MAX, |id| int(id) as usize);
        let statements = statements.read().expect("nobody panics with the lock");
        match statements.get(number) {
            Some(prepared) => frame(answers, RESULT, stream, &prepared.answer),
            None => frame(answers, ERROR, stream, &error(0x0000, "no such statement")),
        }
        return;
    }
    let (opcode, body) = match opcode {
        OPTIONS => {
            let mut body = vec![0, 2];
            string(&mut body, "CQL_VERSION");
            body.extend([0, 1]);
            string(&mut body, "3.4.5");
            string(&mut body, "COMPRESSION");
            body.extend([0, 0]);
            (SUPPORTED, body)
        }
        STARTUP | REGISTER => (READY, Vec::new()),
        QUERY | PREPARE => {
            let statement = long_string(body);
            // The driver asks for tables that ScyllaDB alone has, and takes this error for their absence.
            match (opcode, statement.contains("scylla_")) {
                (_, true) => (ERROR, error(0x2200, "unconfigured table")),
                (QUERY, false) => (RESULT, rows(&statement, true)),
                (_, false) => (RESULT, prepare(&statement, statements)),
            }
        }
        _ => (ERROR, error(0x000A, "this server knows no such request")),
    };
    frame(answers, opcode, stream, &body);
}

fn prepare(statement: &str, statements: &Statements) -> Vec<u8> {
    let mut statements = statements.write().expect("nobody panics with the lock");
    let number = statements.iter().position(|one| one.statement == statement);
    let number = number.unwrap_or_else(|| {
        let is_read = statement.starts_with("SELECT");
        // What the driver prepares to learn of nodes and tables it executes without leave to skip metadata.
        let with_metadata = statement.contains(" FROM system");
        statements.push(Prepared {
            statement: statement.to_owned(),
            answer: if is_read { rows(statement, with_metadata) } else { vec![0, 0, 0, 1] },
        });
        statements.len() - 1
    });

    let mut body = vec![0, 0, 0, 4, 0, 16];
    body.extend((number as u32).to_be_bytes());
    body.extend([0; 12]);
    // What is bound: every marker a varchar, but for the number of records of a scan and a timestamp.
    let words: Vec<&str> = statement.split_whitespace().collect();
    let markers = words.iter().enumerate().filter(|(_, word)| word.contains('?'));
    let bound: Vec<(&str, Vec<u8>)> = markers
        .flat_map(|(at, word)| {
            let name = if words[at - 1] == "=" { words[at - 2] } else { "marker" };
            let kind = match words[at - 1] {
                "LIMIT" => vec![0, 9],
                "TIMESTAMP" => vec![0, 2],
                // A list of keyspaces.
                "in" => vec![0, 0x20, 0, 0x0D],
                _ => vec![0, 0x0D],
            };
            vec![(name, kind); word.matches('?').count()]
        })
        .collect();
    body.extend(1u32.to_be_bytes());
    body.extend((bound.len() as u32).to_be_bytes());
    // The partition key is the last marker of reads and updates, the first of inserts; without markers there is none.
    let key = if statement.starts_with("UPDATE") { bound.len().checked_sub(1) } else { bound.first().map(|_| 0) };
    body.extend(u32::from(key.is_some()).to_be_bytes());
    body.extend(key.into_iter().flat_map(|key| (key as u16).to_be_bytes()));
    string(&mut body, "ycsb");
    string(&mut body, "usertable");
    for (name, kind) in &bound {
        string(&mut body, name);
        body.extend(kind);
    }
    // What it returns.
    if statement.starts_with("SELECT") {
        metadata(&mut body, &columns(statement));
    } else {
        body.extend([0, 0, 0, 4, 0, 0, 0, 0]);
    }
    body
}

/// The body of a result of rows.
fn rows(statement: &str, with_metadata: bool) -> Vec<u8> {
    let columns = columns(statement);
    let mut body = vec![0, 0, 0, 2];
    if with_metadata {
        metadata(&mut body, &columns);
    } else {
        body.extend(4u32.to_be_bytes());
        body.extend((columns.len() as u32).to_be_bytes());
    }
    let found = found(statement, &columns);
    body.extend((found.len() as u32).to_be_bytes());
    for value in found.iter().flatten() {
        body.extend((value.len() as u32).to_be_bytes());
        body.extend(value);
    }
    body
}

/// The values of these columns in each row that a statement finds.
fn found(statement: &str, columns: &[String]) -> Vec<Vec<Vec<u8>>> {
    let empty = ["system.peers", "system_schema.types", "system_schema.views"];
    if empty.iter().any(|table| statement.contains(table)) {
        return Vec::new();
    }
    let row = |of: &dyn Fn(&str) -> Vec<u8>| -> Vec<Vec<u8>> { columns.iter().map(|column| of(column)).collect() };
    if !statement.contains("system_schema.columns") {
        return vec![row(&value)];
    }
    let described = |name: String| {
        let (kind, position) = if name == KEY { ("partition_key", 0_i32) } else { ("regular", -1) };
        row(&|asked: &str| match asked {
            "column_name" => name.clone().into_bytes(),
            "kind" => kind.as_bytes().to_vec(),
            "position" => position.to_be_bytes().to_vec(),
            "type" => b"text".to_vec(),
            other => value(other),
        })
    };
    record().map(described).collect()
}

/// The columns of YCSB's table.
fn record() -> impl Iterator<Item = String> {
    let fields = (0..FIELDS).map(|field| format!("field{field}"));
    std::iter::once(KEY.to_owned()).chain(fields)
}

fn columns(statement: &str) -> Vec<String> {
    let selected = statement.strip_prefix("SELECT ").and_then(|rest| rest.split(" FROM ").next()).unwrap_or_default();
    if selected == "*" {
        return record().collect();
    }
    selected.split(", ").map(str::to_owned).collect()
}

fn metadata(body: &mut Vec<u8>, columns: &[String]) {
    body.extend(1u32.to_be_bytes());
    body.extend((columns.len() as u32).to_be_bytes());
    string(body, "ycsb");
    string(body, "usertable");
    for column in columns {
        string(body, column);
        let kind: &[u8] = match column.as_str() {
            "host_id" => &[0, 0x0C],
            "rpc_address" => &[0, 0x10],
            "durable_writes" => &[0, 4],
            "position" => &[0, 9],
            "field_names" | "field_types" => &[0, 0x20, 0, 0x0D],
            "tokens" => &[0, 0x22, 0, 0x0D],
            "replication" => &[0, 0x21, 0, 0x0D, 0, 0x0D],
            _ => &[0, 0x0D],
        };
        body.extend(kind);
    }
}

fn value(column: &str) -> Vec<u8> {
    match column {
        "host_id" => vec![7; 16],
        "rpc_address" => vec![127, 0, 0, 1],
        "durable_writes" => vec![1],
        "tokens" => texts(1, &["0"]),
        "replication" => texts(2, &["class", "org.apache.cassandra.locator.SimpleStrategy", "replication_factor", "1"]),
        "keyspace_name" => b"ycsb".to_vec(),
        "table_name" => b"usertable".to_vec(),
        _ if column.starts_with("field") => vec![b'x'; FIELD_BYTES],
        _ => b"null".to_vec(),
    }
}

/// A set or (`each` = 2) a map of texts.
fn texts(each: usize, texts: &[&str]) -> Vec<u8> {
    let mut value = ((texts.len() / each) as u32).to_be_bytes().to_vec();
    for text in texts {
        value.extend((text.len() as u32).to_be_bytes());
        value.extend(text.as_bytes());
    }
    value
}

fn frame(answers: &mut Vec<u8>, opcode: u8, stream: [u8; 2], body: &[u8]) {
    answers.extend([0x84, 0, stream[0], stream[1], opcode]);
    answers.extend((body.len() as u32).to_be_bytes());
    answers.extend(body);
}

fn error(code: u32, text: &str) -> Vec<u8> {
    let mut body = code.to_be_bytes().to_vec();
    string(&mut body, text);
    body
}

fn string(body: &mut Vec<u8>, text: &str) {
    body.extend((text.len() as u16).to_be_bytes());
    body.extend(text.as_bytes());
}

fn long_string(body: &[u8]) -> String {
    let length = body.get(..4).map_or(0, int) as usize;
    String::from_utf8_lossy(body.get(4..4 + length).unwrap_or_default()).into_owned()
}

fn int(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
