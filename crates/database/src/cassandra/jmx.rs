//! The management interface of a JVM on this machine (JMX), asked without a second JVM.
//!
//! `nodetool` costs a JVM's start of a second or two of CPU for every question, which would be measured as load where
//! it is asked in the middle of a trial. What it says over the wire is little: the calls of RMI (Java Remote Method
//! Invocation Specification, chapter 10, "RMI Wire Protocol") to three objects, one after the other. The registry gives
//! the connector, the connector a connection, and that one reads attributes of metrics. Objects are addressed by
//! number, methods by the first eight bytes of the SHA-1 of their signature.
//!
//! User and password go over the loopback interface as they are, which root alone can listen to.

use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::management::Management;
use super::serialized::{
    ARRAY, BLOCK, CLASS, END, HEADER, NULL, OBJECT, SERIALIZABLE, Stream, StreamError, TEXT, Value, WRITES_ITSELF,
};

/// Begins a connection: magic number, version 2, calls one after the other on it.
const HELLO: [u8; 7] = [b'J', b'R', b'M', b'I', 0, 2, 0x4b];
const WELCOME: u8 = 0x4e;
const CALL: u8 = 0x50;
const RETURN: u8 = 0x51;
/// A return that is none: the exception follows.
const THROWN: u8 = 2;
/// A return says what it is, and then by whom it may be acknowledged.
const RETURN_HEAD: usize = 15;
/// Number of an object: its own number, and the process, time and count of the space of numbers.
const OBJECT_BYTES: usize = 22;
/// The registry has the number zero everywhere.
const REGISTRY: [u8; OBJECT_BYTES] = [0; OBJECT_BYTES];
/// `lookup` is the third of the registry's operations, which are numbered as those of no other object are.
const LOOKUP: (i32, i64) = (2, 0x4415_4dc9_d4e6_3bdf);
/// `newClient(Object) -> RMIConnection`.
const NEW_CLIENT: (i32, i64) = (-1, -1_089_742_558_549_201_240);
/// `getAttribute(ObjectName, String, Subject) -> Object`.
const GET_ATTRIBUTE: (i32, i64) = (-1, -1_089_783_104_982_388_203);
/// `invoke(ObjectName, String, MarshalledObject, String[], Subject) -> Object`.
const INVOKE: (i32, i64) = (-1, 1_434_350_937_885_235_744);
/// `close()`.
const CLOSE: (i32, i64) = (-1, -4_742_752_445_160_157_748);
/// Classes of arguments by name, with their `serialVersionUID`.
const OBJECT_NAME: (&str, i64) = ("javax.management.ObjectName", 1_081_892_073_854_801_359);
const MARSHALLED: (&str, i64) = ("java.rmi.MarshalledObject", 8_988_374_069_173_025_854);
const BOOLEAN: (&str, i64) = ("java.lang.Boolean", -3_665_804_199_014_368_530);
const HASH_SET: (&str, i64) = ("java.util.HashSet", -5_024_744_406_713_321_676);
const OBJECTS: (&str, i64) = ("[Ljava.lang.Object;", -8_012_369_246_846_506_644);
const TEXTS: (&str, i64) = ("[Ljava.lang.String;", -5_921_575_005_990_323_385);
const BYTES: (&str, i64) = ("[B", -5_984_413_125_824_719_648);
/// The server forgets a connection that nobody acknowledges after five minutes (`sun.rmi.dgc.ackTimeout`), and then as
/// soon as its collector comes by.
const FRESH: Duration = Duration::from_secs(240);

/// Why nothing was learnt.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum JmxError {
    /// Nobody answers, or in another language.
    #[error("the management interface on port {port}: {reason}")]
    Connection { port: u16, reason: String },
    #[error("the JVM refuses: {class}: {message}")]
    Refused { class: String, message: String },
}

/// An argument of a bean's operation.
pub(super) enum Argument<'a> {
    /// A `boolean`.
    Flag(bool),
    /// A `String`.
    Text(&'a str),
    /// Strings, one after the other: `String...`.
    Texts(&'a [&'a str]),
    /// A `Set<String>`.
    Set(&'a [&'a str]),
}

impl Argument<'_> {
    /// The name of its class in the signature of an operation.
    fn class(&self) -> &'static str {
        match self {
            Self::Flag(_) => "boolean",
            Self::Text(_) => "java.lang.String",
            Self::Texts(_) => TEXTS.0,
            Self::Set(_) => "java.util.Set",
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Flag(flag) => {
                let field = [&[b'Z'][..], &text("value")[1..]].concat();
                let class = class(BOOLEAN, SERIALIZABLE, &[&field], CodebasePosition::Apart);
                [&[OBJECT][..], &class, &[u8::from(*flag)]].concat()
            }
            Self::Text(one) => text(one),
            Self::Texts(several) => texts(several, CodebasePosition::Apart),
            Self::Set(several) => hash_set(several),
        }
    }
}

/// A connection to the management interface.
pub(super) struct Jmx {
    peer: Peer,
    /// The connection's object in the server.
    object: [u8; OBJECT_BYTES],
    opened: Instant,
}

impl Jmx {
    /// Connects to a JVM on this machine; each answer may take `patience`.
    pub fn connect(to: &Management, patience: Duration) -> Result<Self, JmxError> {
        let mut registry = Peer::connect(to.port, patience)?;
        let connector = registry.call(&REGISTRY, LOOKUP, &text("jmxrmi"))?;
        let (connector_port, connector) = remote(&connector).ok_or_else(|| registry.no_object("the registry"))?;
        let mut peer = Peer::connect(connector_port, patience)?;
        let credentials = to.credentials();
        let credentials = credentials.map_or_else(|| vec![NULL], |known| texts(&known, CodebasePosition::Inside));
        let client = peer.call(&connector, NEW_CLIENT, &credentials)?;
        let (client_port, object) = remote(&client).ok_or_else(|| peer.no_object("the connector"))?;
        if client_port != connector_port {
            peer = Peer::connect(client_port, patience)?;
        }
        Ok(Self { peer, object, opened: Instant::now() })
    }

    /// Whether the server still keeps it.
    pub fn is_fresh(&self) -> bool {
        self.opened.elapsed() < FRESH
    }

    pub fn attribute(&mut self, bean: &str, name: &str) -> Result<Value, JmxError> {
        let arguments = [object_name(bean), text(name), vec![NULL]].concat();
        self.peer.call(&self.object, GET_ATTRIBUTE, &arguments)
    }

    /// The result of a bean's operation.
    pub fn invoke(&mut self, bean: &str, operation: &str, with: &[Argument<'_>]) -> Result<Value, JmxError> {
        let (values, signature) = match with {
            [] => (vec![NULL], vec![NULL]),
            with => {
                let classes: Vec<&str> = with.iter().map(Argument::class).collect();
                (marshalled(with), texts(&classes, CodebasePosition::Inside))
            }
        };
        let arguments = [object_name(bean), text(operation), values, signature, vec![NULL]].concat();
        self.peer.call(&self.object, INVOKE, &arguments)
    }
}

impl Drop for Jmx {
    fn drop(&mut self) {
        // Otherwise the server keeps what it has of it for some minutes.
        let _ = self.peer.send(&self.object, CLOSE, &[]);
    }
}

/// One socket of the JVM.
struct Peer {
    port: u16,
    stream: BufReader<TcpStream>,
}

impl Peer {
    fn connect(port: u16, patience: Duration) -> Result<Self, JmxError> {
        let failed = |reason: StreamError| JmxError::Connection { port, reason: reason.to_string() };
        Self::greet(port, patience).map_err(failed)
    }

    fn greet(port: u16, patience: Duration) -> Result<Self, StreamError> {
        let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), patience)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        stream.get_mut().write_all(&HELLO)?;
        let mut welcome = [0; 3];
        stream.read_exact(&mut welcome)?;
        let [kind, length @ ..] = welcome;
        if kind != WELCOME {
            return Err(StreamError::Malformed(format!("{kind:#04x} instead of a welcome")));
        }
        // Where it sees this end: a name and a port, which are answered with what this end calls itself.
        let mut seen = vec![0; usize::from(u16::from_be_bytes(length)) + 4];
        stream.read_exact(&mut seen)?;
        stream.get_mut().write_all(&[0, 0, 0, 0, 0, 0])?;
        Ok(Self { port, stream })
    }

    fn send(&mut self, object: &[u8], (operation, method): (i32, i64), arguments: &[u8]) -> std::io::Result<()> {
        let mut call = vec![CALL];
        call.extend(HEADER);
        call.extend([BLOCK, 34]);
        call.extend(object);
        call.extend(operation.to_be_bytes());
        call.extend(method.to_be_bytes());
        call.extend(arguments);
        self.stream.get_mut().write_all(&call)
    }

    fn call(&mut self, object: &[u8], method: (i32, i64), arguments: &[u8]) -> Result<Value, JmxError> {
        let port = self.port;
        let answered = self.send(object, method, arguments).map_err(StreamError::from);
        let answer = answered.and_then(|()| self.answer());
        let (is_thrown, value) = answer.map_err(|reason| JmxError::Connection { port, reason: reason.to_string() })?;
        match value {
            Value::Object(thrown) if is_thrown => Err(JmxError::Refused {
                message: thrown.fields.get("detailMessage").and_then(Value::text).unwrap_or_default().to_owned(),
                class: thrown.class,
            }),
            value => Ok(value),
        }
    }

    /// What comes back, and whether it was thrown.
    fn answer(&mut self) -> Result<(bool, Value), StreamError> {
        let mut kind = [0];
        self.stream.read_exact(&mut kind)?;
        if kind != [RETURN] {
            return Err(StreamError::Malformed(format!("{kind:02x?} instead of a return")));
        }
        let mut stream = Stream::open(&mut self.stream)?;
        match stream.value()? {
            Value::Bytes(head) if head.len() == RETURN_HEAD => Ok((head[0] == THROWN, stream.value()?)),
            other => Err(StreamError::Malformed(format!("{other:?} at the head of a return"))),
        }
    }

    fn no_object(&self, who: &str) -> JmxError {
        JmxError::Connection { port: self.port, reason: format!("{who} answers with no object of its own") }
    }
}

/// Port and number of a remote object: its stub has written them as `UnicastRef2` (a byte for the format, name, port,
/// number) or as `UnicastRef`, without that byte.
fn remote(stub: &Value) -> Option<(u16, [u8; OBJECT_BYTES])> {
    let Value::Object(stub) = stub else { return None };
    let bytes: Vec<u8> = stub
        .written
        .iter()
        .filter_map(|value| match value {
            Value::Bytes(bytes) => Some(bytes.as_slice()),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    let (kind, rest) = short_text(&bytes)?;
    let rest = match kind {
        b"UnicastRef" => rest,
        // Another format than 0 names a factory of sockets, such as TLS.
        b"UnicastRef2" => rest.strip_prefix(&[0])?,
        _ => return None,
    };
    let (_host, rest) = short_text(rest)?;
    let (port, rest) = rest.split_first_chunk::<4>()?;
    let port = u16::try_from(u32::from_be_bytes(*port)).ok()?;
    Some((port, *rest.first_chunk()?))
}

fn short_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

/// A string as an argument. Names of beans are short; a longer one would be cut, and refused by the JVM.
fn text(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut bytes = vec![TEXT];
    bytes.extend(length.to_be_bytes());
    bytes.extend(&text.as_bytes()[..usize::from(length)]);
    bytes
}

/// Where a class may be fetched from (nowhere) is said inside of its description, or, of a marshalled object, apart.
#[derive(Clone, Copy)]
enum CodebasePosition {
    Inside,
    Apart,
}

/// The description of a class without a parent; `fields` are described already.
fn class((name, version): (&str, i64), how: u8, fields: &[&[u8]], place: CodebasePosition) -> Vec<u8> {
    let mut bytes = vec![CLASS];
    bytes.extend(&text(name)[1..]);
    bytes.extend(version.to_be_bytes());
    bytes.extend([how, 0, fields.len() as u8]);
    bytes.extend(fields.concat());
    match place {
        CodebasePosition::Inside => bytes.extend([NULL, END, NULL]),
        CodebasePosition::Apart => bytes.extend([END, NULL]),
    }
    bytes
}

fn array(of: (&str, i64), elements: &[Vec<u8>], place: CodebasePosition) -> Vec<u8> {
    let length = u32::try_from(elements.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&[ARRAY][..], &class(of, SERIALIZABLE, &[], place), &length, &elements.concat()].concat()
}

fn texts(several: &[&str], place: CodebasePosition) -> Vec<u8> {
    let elements: Vec<Vec<u8>> = several.iter().map(|one| text(one)).collect();
    array(TEXTS, &elements, place)
}

/// A `java.util.HashSet` of strings as an argument: it writes its buckets, load factor and size, then its elements.
fn hash_set(several: &[&str]) -> Vec<u8> {
    const LOAD_FACTOR: f32 = 0.75;
    let class = class(HASH_SET, SERIALIZABLE | WRITES_ITSELF, &[], CodebasePosition::Apart);
    let size = i32::try_from(several.len()).unwrap_or(i32::MAX);
    let buckets = (2 * size).max(16);
    let elements: Vec<Vec<u8>> = several.iter().map(|one| text(one)).collect();
    [
        &[OBJECT][..],
        &class,
        &[BLOCK, 12],
        &buckets.to_be_bytes(),
        &LOAD_FACTOR.to_be_bytes(),
        &size.to_be_bytes(),
        &elements.concat(),
        &[END],
    ]
    .concat()
}

/// A `javax.management.ObjectName` as an argument: it has no fields, and writes its name as a string.
fn object_name(bean: &str) -> Vec<u8> {
    let class = class(OBJECT_NAME, SERIALIZABLE | WRITES_ITSELF, &[], CodebasePosition::Inside);
    [&[OBJECT][..], &class, &text(bean), &[END]].concat()
}

/// Arguments as a `java.rmi.MarshalledObject`: a stream of its own as an array of bytes, with a checksum of these. The
/// bean's loader reads it, not that of the connection.
fn marshalled(arguments: &[Argument<'_>]) -> Vec<u8> {
    let values: Vec<Vec<u8>> = arguments.iter().map(Argument::bytes).collect();
    let stream = [&HEADER[..], &array(OBJECTS, &values, CodebasePosition::Apart)].concat();
    let add = |sum: i32, byte: &u8| sum.wrapping_mul(31).wrapping_add(i32::from(*byte as i8));
    let sum = stream.iter().fold(0, add);
    let bytes_field = |name: &str| [&[b'['][..], &text(name)[1..], &text(BYTES.0)].concat();
    let fields = [[&[b'I'][..], &text("hash")[1..]].concat(), bytes_field("locBytes"), bytes_field("objBytes")];
    let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
    let class = class(MARSHALLED, SERIALIZABLE, &fields, CodebasePosition::Inside);
    let elements: Vec<Vec<u8>> = stream.iter().map(|byte| vec![*byte]).collect();
    let stream = array(BYTES, &elements, CodebasePosition::Inside);
    [&[OBJECT][..], &class, &sum.to_be_bytes(), &[NULL], &stream].concat()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::cassandra::serialized::Object;

    fn stub(bytes: &[u8]) -> Value {
        Value::Object(Object { written: vec![Value::Bytes(bytes.to_vec())], ..Object::default() })
    }

    #[test]
    fn a_stub_tells_port_and_number_of_its_object_in_both_formats() {
        let number: [u8; OBJECT_BYTES] = std::array::from_fn(|i| i as u8);
        let place = [&[0, 9][..], b"127.0.0.1", &[0, 0, 0x1b, 0x58], &number, &[1]].concat();
        let old = [&[0, 10][..], b"UnicastRef", &place].concat();
        assert_eq!(remote(&stub(&old)), Some((7_000, number)));
        let new = [&[0, 11][..], b"UnicastRef2", &[0], &place].concat();
        assert_eq!(remote(&stub(&new)), Some((7_000, number)));
        // Encrypted, or cut.
        let encrypted = [&[0, 11][..], b"UnicastRef2", &[1], &place].concat();
        assert_eq!(remote(&stub(&encrypted)), None);
        assert_eq!(remote(&stub(&old[..old.len() - 5])), None);
        assert_eq!(remote(&Value::Null), None);
    }

    /// What the other end would read.
    #[test]
    fn arguments_are_a_stream_of_their_own_inside_of_the_call() {
        let arguments = [
            Argument::Flag(true),
            Argument::Text("ycsb"),
            Argument::Texts(&["usertable"]),
            Argument::Set(&["/a", "/b"]),
        ];
        let bytes = [HEADER.to_vec(), marshalled(&arguments)].concat();
        let Value::Object(marshalled) = Stream::open(bytes.as_slice()).unwrap().value().unwrap() else {
            panic!("no object")
        };
        assert_eq!(marshalled.class, "java.rmi.MarshalledObject");
        let Value::List(inner) = &marshalled.fields["objBytes"] else { panic!("{marshalled:?}") };
        let inner: Vec<u8> = inner.iter().map(|byte| byte.number().unwrap() as i8 as u8).collect();
        let Value::List(values) = Stream::open(inner.as_slice()).unwrap().value().unwrap() else { panic!("no array") };
        assert_eq!(values[0].number(), Some(1.0));
        assert_eq!(values[1].text(), Some("ycsb"));
        assert_eq!(values[2], Value::List(vec![Value::Text("usertable".to_owned())]));
        let Value::Object(set) = &values[3] else { panic!("{:?}", values[3]) };
        let written: Vec<&str> = set.written.iter().filter_map(Value::text).collect();
        assert_eq!((set.class.as_str(), written), ("java.util.HashSet", vec!["/a", "/b"]));
    }

    #[test]
    fn who_does_not_answer_in_this_language_is_named_by_its_port() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let other = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n").unwrap();
        });
        let error =
            Jmx::connect(&Management::without_password(port), Duration::from_secs(5)).err().unwrap().to_string();
        other.join().unwrap();
        assert!(error.contains(&port.to_string()) && error.contains("instead of a welcome"), "{error}");
        // Nobody listens there any more.
        let error = Jmx::connect(&Management::without_password(port), Duration::from_secs(5)).err().unwrap();
        assert!(matches!(error, JmxError::Connection { .. }), "{error}");
    }
}
