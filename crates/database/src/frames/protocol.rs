//! Names of numbers of the CQL binary protocol, version 4 (native_protocol_v4.spec).

/// The version byte of what a client sends; a server's answer has the highest bit set too.
pub(super) const VERSION: u8 = 0x04;
pub(super) const ANSWER: u8 = 0x80;

/// Version, flags, stream id (2), opcode, length of the body (4).
pub(super) const HEADER: usize = 9;
/// The longest body (section 2.5).
pub(super) const LONGEST_BODY: usize = 256 << 20;

pub(super) const COMPRESSED: u8 = 0x01;
pub(super) const TRACED: u8 = 0x02;
pub(super) const PAYLOAD: u8 = 0x04;
pub(super) const WARNED: u8 = 0x08;

pub(super) mod opcode {
    pub(crate) const ERROR: u8 = 0x00;
    pub(crate) const STARTUP: u8 = 0x01;
    pub(crate) const READY: u8 = 0x02;
    pub(crate) const AUTHENTICATE: u8 = 0x03;
    pub(crate) const OPTIONS: u8 = 0x05;
    pub(crate) const SUPPORTED: u8 = 0x06;
    pub(crate) const RESULT: u8 = 0x08;
    pub(crate) const EXECUTE: u8 = 0x0A;
    pub(crate) const EVENT: u8 = 0x0C;
    pub(crate) const AUTH_CHALLENGE: u8 = 0x0E;
    pub(crate) const AUTH_RESPONSE: u8 = 0x0F;
    pub(crate) const AUTH_SUCCESS: u8 = 0x10;
}

/// Kinds of errors (section 9) that are counted under a name of their own.
pub(super) mod code {
    pub(crate) const UNAVAILABLE: i32 = 0x1000;
    pub(crate) const OVERLOADED: i32 = 0x1001;
    pub(crate) const WRITE_TIMEOUT: i32 = 0x1100;
    pub(crate) const READ_TIMEOUT: i32 = 0x1200;
    pub(crate) const UNPREPARED: i32 = 0x2500;
}
