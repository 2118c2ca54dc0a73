//! Writes what Cassandra writes: the documents of Chronicle Queue, and in them the records of a full query log.
//!
//! Made by the sources of `FullQueryLogger`, `QueryOptions.Codec`, `BinaryWire` and `AbstractWire`, not by Cassandra.

#![allow(dead_code, reason = "each test file uses its part")]

/// Whose Chronicle Wire writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cassandra {
    /// 2.20.117: a number up to 127 has no code before it.
    V4_1,
    /// 2.23.39: each number has one.
    V5_0,
}

/// A file that is being written.
pub struct Queue {
    bytes: Vec<u8>,
    is_aligned: bool,
}

impl Queue {
    /// With the header of 4.1 and 5.0 (`dataFormat: 1`), or without that field.
    pub fn new(of: Cassandra, is_aligned: bool) -> Self {
        let mut header = vec![0xB9, 6];
        header.extend(b"header");
        header.extend([0xB6, 8]);
        header.extend(b"SCQStore");
        let mut fields = field("writePosition");
        fields.extend([0x8F, 0x8D]);
        fields.extend([0; 32]);
        if is_aligned {
            fields.extend(field("dataFormat"));
            fields.extend(of.integer(1));
        }
        header.push(0x82);
        header.extend((fields.len() as u32).to_le_bytes());
        header.extend(fields);
        let mut queue = Self { bytes: Vec::new(), is_aligned };
        queue.document(0x4000_0000, &header);
        queue
    }

    /// A document whose header has these bits besides its length.
    pub fn document(&mut self, bits: u32, body: &[u8]) {
        while self.is_aligned && !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self.bytes.extend((bits | body.len() as u32).to_le_bytes());
        self.bytes.extend(body);
    }

    /// An index: meta-data between the records.
    pub fn index(&mut self) {
        self.document(0x4000_0000, b"\xC5index\x8D and numbers");
    }

    pub fn record(&mut self, record: &[u8]) {
        self.document(0, record);
    }

    /// The file as long as it was made, empty behind the last record.
    pub fn file(mut self) -> Vec<u8> {
        self.bytes.extend([0; 4096]);
        self.bytes
    }

    /// The file after it was ended for the next one.
    pub fn ended(mut self) -> Vec<u8> {
        self.document(0xC000_0000, &[]);
        self.file()
    }
}

pub fn field(name: &str) -> Vec<u8> {
    let mut bytes = vec![0xC0 + name.len() as u8];
    bytes.extend(name.as_bytes());
    bytes
}

pub fn text(text: Option<&str>) -> Vec<u8> {
    let Some(text) = text else { return vec![0xBB] };
    let mut bytes = if text.len() < 32 {
        vec![0xE0 + text.len() as u8]
    } else {
        let mut bytes = vec![0xB8];
        let mut length = text.len();
        while length >= 0x80 {
            bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes
    };
    bytes.extend(text.as_bytes());
    bytes
}

pub fn array(content: &[u8]) -> Vec<u8> {
    let length = content.len() + 1;
    let mut bytes = match length {
        0..256 => vec![0x80, length as u8],
        256..65_536 => [&[0x81_u8][..], &(length as u16).to_le_bytes()].concat(),
        _ => [&[0x82_u8][..], &(length as u32).to_le_bytes()].concat(),
    };
    bytes.push(0x8A);
    bytes.extend(content);
    bytes
}

/// Query options: a level by its code, and values (`None`: null).
pub fn options(protocol: i64, level: u16, serial: Option<u16>, values: &[Option<&[u8]>]) -> Vec<u8> {
    // Values, page size, the level of conditions, timestamp.
    let with_serial = if serial.is_some() { 0x10 } else { 0 };
    let flags = u32::from(!values.is_empty()) | 0x04 | with_serial | 0x20;
    let mut bytes = level.to_be_bytes().to_vec();
    match protocol {
        5.. => bytes.extend(flags.to_be_bytes()),
        _ => bytes.push(flags as u8),
    }
    if !values.is_empty() {
        bytes.extend((values.len() as u16).to_be_bytes());
        for value in values {
            bytes.extend(value.map_or(-1, |value| value.len() as i32).to_be_bytes());
            bytes.extend(value.unwrap_or_default());
        }
    }
    bytes.extend(5_000_i32.to_be_bytes());
    bytes.extend(serial.map(u16::to_be_bytes).into_iter().flatten());
    bytes.extend(1_764_000_000_000_000_i64.to_be_bytes());
    bytes
}

impl Cassandra {
    /// A number, in the form that `BinaryValueOut.writeNumber` takes for it.
    pub fn integer(self, number: i64) -> Vec<u8> {
        let with = |code: u8, bytes: &[u8]| [&[code], bytes].concat();
        match number {
            0..=0x7F if self == Self::V4_1 => vec![number as u8],
            0..=0xFF => with(0xA1, &[number as u8]),
            0x100..=0x7FFF => with(0xA5, &(number as i16).to_le_bytes()),
            0x8000..=0xFFFF => with(0xA2, &(number as u16).to_le_bytes()),
            0x1_0000..=0x7FFF_FFFF => with(0xA6, &(number as i32).to_le_bytes()),
            0x8000_0000..=0xFFFF_FFFF => with(0xA3, &(number as u32).to_le_bytes()),
            -0x80..=-1 => with(0xA4, &(number as i8).to_le_bytes()),
            -0x8000..=-0x81 => with(0xA5, &(number as i16).to_le_bytes()),
            -0x8000_0000..=-0x8001 => with(0xA6, &(number as i32).to_le_bytes()),
            _ if (number as f32) as i64 == number => with(0x90, &(number as f32).to_le_bytes()),
            _ => with(0xA7, &number.to_le_bytes()),
        }
    }

    /// What all records begin with.
    fn begin(self, kind: &str, at_ms: i64, protocol: i64, options: &[u8], keyspace: Option<&str>) -> Vec<u8> {
        [
            field("version"),
            self.integer(0),
            field("type"),
            text(Some(kind)),
            field("query-start-time"),
            self.integer(at_ms),
            field("protocol-version"),
            self.integer(protocol),
            field("query-options"),
            array(options),
            field("generated-timestamp"),
            self.integer(i64::MIN),
            field("generated-now-in-seconds"),
            self.integer(at_ms / 1_000),
            field("keyspace"),
            text(keyspace),
        ]
        .concat()
    }

    pub fn single(self, at_ms: i64, protocol: i64, options: &[u8], keyspace: Option<&str>, query: &str) -> Vec<u8> {
        [self.begin("single-query", at_ms, protocol, options, keyspace), field("query"), text(Some(query))].concat()
    }

    pub fn batch(self, at_ms: i64, options: &[u8], kind: &str, queries: &[(&str, &[&[u8]])]) -> Vec<u8> {
        let mut bytes = self.begin("batch", at_ms, 5, options, None);
        bytes.extend(
            [field("batch-type"), text(Some(kind)), field("queries"), self.integer(queries.len() as i64)].concat(),
        );
        queries.iter().for_each(|(query, _)| bytes.extend(text(Some(query))));
        bytes.extend([field("values"), self.integer(queries.len() as i64)].concat());
        for (_, values) in queries {
            bytes.extend(self.integer(values.len() as i64));
            values.iter().for_each(|value| bytes.extend(array(value)));
        }
        bytes
    }
}
