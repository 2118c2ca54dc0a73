//! The least that a client can be: one connection, one prepared read, frames made beforehand, no keys, no driver, no
//! tasks, no statistics but how late it sent. What it costs is what the operating system asks of any client.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use engine::Load;
use experiment::Arrivals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::Result;

const HEADER: usize = 9;
const STARTUP: u8 = 0x01;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0A;
/// The next time to send lies at least this far ahead, as in the engine.
const TOGETHER: Duration = Duration::from_micros(50);

/// What a run of it came to.
pub struct Run {
    pub operations_per_s: f64,
    pub cpu_us_per_operation: f64,
    /// How late requests were sent, microseconds, ascending; none in a closed loop.
    pub lags: Vec<f64>,
}

impl Run {
    pub fn lag(&self, share: f64) -> Option<f64> {
        let last = self.lags.len().checked_sub(1)?;
        Some(self.lags[(share * last as f64) as usize])
    }
}

struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    /// What came, whose first bytes are the rest of a frame.
    came: Vec<u8>,
    held: usize,
    outgoing: Vec<u8>,
    sent: u16,
}

/// Reads one record again and again.
pub fn run(port: u16, load: Load, duration: Duration) -> Result<Run> {
    let mut client = Client::connect(port)?;
    let cpu_s = || {
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9
    };
    let (before, began) = (cpu_s(), Instant::now());
    let (completed, lags) = match load {
        Load::Closed { concurrency } => (client.closed(concurrency, began + duration)?, Vec::new()),
        Load::Open { operations_per_s, arrivals } => client.open(operations_per_s, arrivals, began, duration)?,
    };
    let (cpu, seconds) = (cpu_s() - before, began.elapsed().as_secs_f64());
    let mut lags = lags;
    lags.sort_by(f64::total_cmp);
    Ok(Run { operations_per_s: completed as f64 / seconds, cpu_us_per_operation: cpu * 1e6 / completed as f64, lags })
}

impl Client {
    fn connect(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        let mut client =
            Self { stream, request: Vec::new(), came: vec![0; 1 << 20], held: 0, outgoing: Vec::new(), sent: 0 };
        client.ask(STARTUP, b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0")?;
        let statement = "SELECT * FROM ycsb.usertable WHERE y_id = ?";
        let prepared = client.ask(PREPARE, &long(statement.as_bytes()))?;
        // Kind of result, then the identifier with its length.
        let length = usize::from(u16::from_be_bytes([prepared[4], prepared[5]]));
        let mut body = prepared[4..6 + length].to_vec();
        // Consistency ONE; values, and no description of rows; one value.
        body.extend([0, 1, 0x03, 0, 1]);
        body.extend(long(b"user1234567890123"));
        client.request = frame(EXECUTE, &body);
        Ok(client)
    }

    /// One request and the body of its answer.
    fn ask(&mut self, opcode: u8, body: &[u8]) -> Result<Vec<u8>> {
        self.stream.write_all(&frame(opcode, body))?;
        let mut header = [0; HEADER];
        self.stream.read_exact(&mut header)?;
        if header[4] == 0 {
            return Err("the server answered with an error".into());
        }
        let mut answer = vec![0; u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize];
        self.stream.read_exact(&mut answer)?;
        Ok(answer)
    }

    /// Puts another request beside what goes out next.
    fn put(&mut self) {
        self.request[2..4].copy_from_slice(&(self.sent & 0x7FFF).to_be_bytes());
        self.sent = self.sent.wrapping_add(1);
        self.outgoing.extend_from_slice(&self.request);
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.write_all(&self.outgoing)?;
        self.outgoing.clear();
        Ok(())
    }

    /// One system call's worth of answers.
    fn answers(&mut self) -> Result<u64> {
        let got = self.stream.read(&mut self.came[self.held..])?;
        if got == 0 {
            return Err("the server is gone".into());
        }
        self.held += got;
        let (mut at, mut answers) = (0, 0);
        while let Some(header) = self.came[at..self.held].get(..HEADER) {
            let length = u32::from_be_bytes([header[5], header[6], header[7], header[8]]) as usize;
            if self.held - at < HEADER + length {
                break;
            }
            if header[4] == 0 {
                return Err("the server answered with an error".into());
            }
            at += HEADER + length;
            answers += 1;
        }
        self.came.copy_within(at..self.held, 0);
        self.held -= at;
        Ok(answers)
    }

    fn closed(&mut self, concurrency: u32, until: Instant) -> Result<u64> {
        (0..concurrency).for_each(|_| self.put());
        self.flush()?;
        let mut completed = 0;
        while Instant::now() < until {
            let answers = self.answers()?;
            completed += answers;
            (0..answers).for_each(|_| self.put());
            self.flush()?;
        }
        Ok(completed)
    }

    fn open(
        &mut self,
        operations_per_s: f64,
        arrivals: Arrivals,
        began: Instant,
        duration: Duration,
    ) -> Result<(u64, Vec<f64>)> {
        let (mut due_s, mut random) = (0.0, 0x9E37_79B9_7F4A_7C15_u64);
        let mut gap = || {
            // Marsaglia's xorshift64.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let uniform = ((random >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            match arrivals {
                Arrivals::Poisson => -uniform.ln(),
                Arrivals::Constant | Arrivals::Recorded => 1.0,
            }
        };
        let (mut lags, mut completed) = (Vec::new(), 0);
        while due_s < duration.as_secs_f64() || completed < lags.len() as u64 {
            let now_s = began.elapsed().as_secs_f64();
            while due_s <= now_s && due_s < duration.as_secs_f64() {
                lags.push((now_s - due_s) * 1e6);
                self.put();
                due_s += gap() / operations_per_s;
            }
            if !self.outgoing.is_empty() {
                self.flush()?;
            }
            let wait_s = (due_s - began.elapsed().as_secs_f64()).clamp(TOGETHER.as_secs_f64(), 1.0);
            let timeout = Timespec { tv_sec: wait_s as i64, tv_nsec: (wait_s.fract() * 1e9) as i64 };
            let is_readable = poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], Some(&timeout))? > 0;
            if is_readable {
                completed += self.answers()?;
            }
        }
        Ok((completed, lags))
    }
}

fn frame(opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![4, 0, 0, 0, opcode];
    bytes.extend(long(body));
    bytes
}

fn long(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}
