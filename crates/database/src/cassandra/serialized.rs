//! Values in the serialization format of Java, as far as a JVM answers with them ([`super::jmx`]).
//!
//! The format is chapter 6 of the Java Object Serialization Specification, "Object Serialization Stream Protocol". A
//! stream describes each class before its first object and refers to what it has said by number; so it can be read
//! without knowing a class: an object becomes its fields by name, and whatever its class has written besides.

use std::collections::BTreeMap;
use std::io::Read;
use std::rc::Rc;

/// The first bytes of a stream: magic number and version.
pub(super) const HEADER: [u8; 4] = [0xac, 0xed, 0x00, 0x05];
pub(super) const NULL: u8 = 0x70;
const REFERENCE: u8 = 0x71;
pub(super) const CLASS: u8 = 0x72;
pub(super) const OBJECT: u8 = 0x73;
pub(super) const TEXT: u8 = 0x74;
pub(super) const ARRAY: u8 = 0x75;
const CLASS_ITSELF: u8 = 0x76;
pub(super) const BLOCK: u8 = 0x77;
pub(super) const END: u8 = 0x78;
const RESET: u8 = 0x79;
const LONG_BLOCK: u8 = 0x7a;
const LONG_TEXT: u8 = 0x7c;
const PROXY: u8 = 0x7d;
const CONSTANT: u8 = 0x7e;
/// What was said first has this number.
const FIRST: u32 = 0x7e_0000;

/// How a class writes its objects.
pub(super) const WRITES_ITSELF: u8 = 1;
pub(super) const SERIALIZABLE: u8 = 2;
const EXTERNALIZABLE: u8 = 4;
const IN_BLOCKS: u8 = 8;

/// Most values inside of each other; an answer of Cassandra's has about ten.
const DEEPEST: u32 = 64;
/// Most bytes of an answer, and of one piece of it; the largest (all attributes of a table's metrics) has some ten
/// thousand.
const MOST_BYTES: u64 = 16 << 20;
/// Most values of an answer, those counted again that are referred to: a few bytes could otherwise stand for any number
/// of them.
const MOST_VALUES: u64 = 1 << 20;

/// What is not as the format says, or did not arrive.
#[derive(Debug, thiserror::Error)]
pub(super) enum StreamError {
    /// The connection.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("unexpected bytes from the JVM: {0}")]
    Malformed(String),
}

fn malformed(what: impl Into<String>) -> StreamError {
    StreamError::Malformed(what.into())
}

/// A value of Java's.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `null`, a class, or an object inside itself.
    Null,
    /// Any whole number, `true` and `false` among them.
    Whole(i64),
    /// Any other number.
    Float(f64),
    /// A string, or the name of a constant of an enumeration.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// Bytes that a class has written of its own.
    Bytes(Vec<u8>),
    /// Anything else.
    Object(Object),
}

/// An object as its stream describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Object {
    pub class: String,
    /// Its fields, those of its parents' classes among them.
    pub fields: BTreeMap<String, Value>,
    /// What its classes have written besides, the parents' first.
    pub written: Vec<Value>,
}

impl Value {
    /// A number, boxed or not.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            // java.lang.Long and its like have one field.
            Self::Object(object) if object.class.starts_with("java.lang.") => object.fields.get("value")?.number(),
            _ => None,
        }
    }

    /// How many values it is.
    fn size(&self) -> u64 {
        let of = |values: &mut dyn Iterator<Item = &Self>| values.map(Self::size).sum::<u64>();
        1 + match self {
            Self::List(values) => of(&mut values.iter()),
            Self::Object(object) => of(&mut object.fields.values().chain(&object.written)),
            // Bytes are copied, too.
            Self::Text(text) => text.len() as u64 / 64,
            Self::Bytes(bytes) => bytes.len() as u64 / 64,
            Self::Null | Self::Whole(_) | Self::Float(_) => 0,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Class {
    name: String,
    how: u8,
    /// Type code and name.
    fields: Vec<(u8, String)>,
    parent: Option<Rc<Class>>,
}

/// What the stream refers to by number.
enum Said {
    Class(Rc<Class>),
    Value(Value),
}

/// A stream that is read.
pub(super) struct Stream<R> {
    from: R,
    said: Vec<Said>,
    depth: u32,
    bytes: u64,
    values: u64,
}

impl<R: Read> Stream<R> {
    /// Reads the header.
    pub fn open(mut from: R) -> Result<Self, StreamError> {
        let mut header = [0; 4];
        from.read_exact(&mut header)?;
        match header == HEADER {
            true => Ok(Self { from, said: Vec::new(), depth: 0, bytes: 0, values: 0 }),
            false => Err(malformed(format!("{header:02x?} where a stream begins"))),
        }
    }

    /// The next value.
    pub fn value(&mut self) -> Result<Value, StreamError> {
        let tag = self.byte()?;
        self.tagged(tag)
    }

    fn tagged(&mut self, tag: u8) -> Result<Value, StreamError> {
        self.count(1)?;
        self.inside(|stream| stream.tagged_inside(tag))
    }

    /// Goes one level down, as far as there is one.
    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, StreamError>) -> Result<T, StreamError> {
        if self.depth == DEEPEST {
            return Err(malformed(format!("more than {DEEPEST} values inside of each other")));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// So many more values are in memory.
    fn count(&mut self, values: u64) -> Result<(), StreamError> {
        self.values = self.values.saturating_add(values);
        if self.values > MOST_VALUES { Err(malformed(format!("more than {MOST_VALUES} values"))) } else { Ok(()) }
    }

    fn tagged_inside(&mut self, tag: u8) -> Result<Value, StreamError> {
        match tag {
            NULL => Ok(Value::Null),
            REFERENCE => {
                let at = self.referred()?;
                let Said::Value(value) = &self.said[at] else { return Ok(Value::Null) };
                // Counted before it is copied.
                let size = value.size();
                self.count(size)?;
                match &self.said[at] {
                    Said::Value(value) => Ok(value.clone()),
                    Said::Class(_) => Ok(Value::Null),
                }
            }
            TEXT => {
                let length = self.array()?;
                self.string(u64::from(u16::from_be_bytes(length)))
            }
            LONG_TEXT => {
                let length = self.array()?;
                self.string(u64::from_be_bytes(length))
            }
            BLOCK => {
                let length = self.byte()?;
                self.bytes(u64::from(length)).map(Value::Bytes)
            }
            LONG_BLOCK => {
                let length = self.array()?;
                self.bytes(u64::from(u32::from_be_bytes(length))).map(Value::Bytes)
            }
            OBJECT => self.object(),
            ARRAY => self.list(),
            CONSTANT => {
                self.class()?;
                let at = self.reserve();
                let name = self.value()?;
                self.remember(at, name)
            }
            CLASS_ITSELF => {
                self.class()?;
                self.reserve();
                Ok(Value::Null)
            }
            RESET => {
                self.said.clear();
                self.value()
            }
            other => Err(malformed(format!("{other:#04x} where a value begins"))),
        }
    }

    fn string(&mut self, bytes: u64) -> Result<Value, StreamError> {
        let text = self.bytes(bytes)?;
        let at = self.reserve();
        // Java's own UTF-8 differs in characters that no name of a metric has.
        self.remember(at, Value::Text(String::from_utf8_lossy(&text).into_owned()))
    }

    fn list(&mut self) -> Result<Value, StreamError> {
        let class = self.class()?.ok_or_else(|| malformed("an array without a class"))?;
        let at = self.reserve();
        let of = *class.name.as_bytes().get(1).ok_or_else(|| malformed("an array of nothing"))?;
        let length = u32::from_be_bytes(self.array()?);
        let values: Result<Vec<Value>, StreamError> = (0..length).map(|_| self.field(of)).collect();
        self.remember(at, Value::List(values?))
    }

    fn object(&mut self) -> Result<Value, StreamError> {
        let class = self.class()?.ok_or_else(|| malformed("an object without a class"))?;
        let at = self.reserve();
        let mut object = Object { class: class.name.clone(), ..Object::default() };
        let mut classes = vec![class];
        // A chain may be put together from references, so that it is longer than what is read inside of each other.
        while let Some(parent) = classes.last().and_then(|class| class.parent.clone()) {
            if classes.len() as u32 == DEEPEST {
                return Err(malformed(format!("a class with more than {DEEPEST} parents")));
            }
            classes.push(parent);
        }
        for class in classes.iter().rev() {
            if class.how & SERIALIZABLE != 0 {
                for (of, name) in &class.fields {
                    let value = self.field(*of)?;
                    object.fields.insert(name.clone(), value);
                }
                if class.how & WRITES_ITSELF != 0 {
                    object.written.extend(self.written()?);
                }
            } else if class.how & EXTERNALIZABLE != 0 && class.how & IN_BLOCKS != 0 {
                object.written.extend(self.written()?);
            } else {
                return Err(malformed(format!("objects of {} say nothing of their shape", class.name)));
            }
        }
        self.remember(at, Value::Object(object))
    }

    /// What a class has written of its own, up to its end.
    fn written(&mut self) -> Result<Vec<Value>, StreamError> {
        let mut values = Vec::new();
        loop {
            match self.byte()? {
                END => return Ok(values),
                tag => values.push(self.tagged(tag)?),
            }
        }
    }

    fn field(&mut self, of: u8) -> Result<Value, StreamError> {
        self.count(1)?;
        Ok(match of {
            b'B' => Value::Whole(i64::from(i8::from_be_bytes(self.array()?))),
            b'Z' => Value::Whole(i64::from(self.byte()?)),
            b'C' => Value::Whole(i64::from(u16::from_be_bytes(self.array()?))),
            b'S' => Value::Whole(i64::from(i16::from_be_bytes(self.array()?))),
            b'I' => Value::Whole(i64::from(i32::from_be_bytes(self.array()?))),
            b'J' => Value::Whole(i64::from_be_bytes(self.array()?)),
            b'F' => Value::Float(f64::from(f32::from_be_bytes(self.array()?))),
            b'D' => Value::Float(f64::from_be_bytes(self.array()?)),
            b'L' | b'[' => self.value()?,
            other => return Err(malformed(format!("a field of type {other:#04x}"))),
        })
    }

    /// The description of a class; `None` where a chain of parents ends.
    fn class(&mut self) -> Result<Option<Rc<Class>>, StreamError> {
        self.inside(Self::class_inside)
    }

    fn class_inside(&mut self) -> Result<Option<Rc<Class>>, StreamError> {
        let tag = self.byte()?;
        let at = match tag {
            NULL => return Ok(None),
            REFERENCE => {
                let at = self.referred()?;
                return match &self.said[at] {
                    Said::Class(class) => Ok(Some(Rc::clone(class))),
                    Said::Value(_) => Err(malformed("a value where a class is referred to")),
                };
            }
            CLASS | PROXY => tag,
            other => return Err(malformed(format!("{other:#04x} where a class begins"))),
        };
        let (mut name, mut how, mut fields) = ("proxy".to_owned(), SERIALIZABLE, Vec::new());
        let place;
        if at == CLASS {
            name = self.short_text()?;
            let _version: [u8; 8] = self.array()?;
            place = self.reserve();
            how = self.byte()?;
            for _ in 0..u16::from_be_bytes(self.array()?) {
                let of = self.byte()?;
                fields.push((of, self.short_text()?));
                if matches!(of, b'L' | b'[') {
                    // The name of the field's class.
                    self.value()?;
                }
            }
        } else {
            place = self.reserve();
            for _ in 0..u32::from_be_bytes(self.array()?) {
                self.short_text()?;
            }
        }
        self.written()?;
        let parent = self.class()?;
        let class = Rc::new(Class { name, how, fields, parent });
        // A reset inside of it has forgotten its place.
        if let Some(place) = self.said.get_mut(place) {
            *place = Said::Class(Rc::clone(&class));
        }
        Ok(Some(class))
    }

    /// Where it was said.
    fn referred(&mut self) -> Result<usize, StreamError> {
        let number = u32::from_be_bytes(self.array()?);
        let at = number.checked_sub(FIRST).map(|at| at as usize);
        let said = at.filter(|at| *at < self.said.len());
        said.ok_or_else(|| malformed(format!("a reference to {number:#x}, which was not said")))
    }

    /// The number of what comes next.
    fn reserve(&mut self) -> usize {
        self.said.push(Said::Value(Value::Null));
        self.said.len() - 1
    }

    fn remember(&mut self, at: usize, value: Value) -> Result<Value, StreamError> {
        self.count(value.size())?;
        // A reset inside of it has forgotten its place.
        if let Some(place) = self.said.get_mut(at) {
            *place = Said::Value(value.clone());
        }
        Ok(value)
    }

    fn short_text(&mut self) -> Result<String, StreamError> {
        let length = u16::from_be_bytes(self.array()?);
        let text = self.bytes(u64::from(length))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, StreamError> {
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > MOST_BYTES {
            return Err(malformed(format!("{length} bytes announced, and an answer has at most {MOST_BYTES}")));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.from).take(length).read_to_end(&mut bytes)?;
        if read as u64 == length { Ok(bytes) } else { Err(malformed(format!("{length} bytes announced, {read} sent"))) }
    }

    fn byte(&mut self) -> Result<u8, StreamError> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], StreamError> {
        self.bytes = self.bytes.saturating_add(N as u64);
        if self.bytes > MOST_BYTES {
            return Err(malformed(format!("an answer of more than {MOST_BYTES} bytes")));
        }
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
