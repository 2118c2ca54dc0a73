//! One connection to one node, for the requests of one load thread.
//!
//! Everything lives on that thread. A request is appended to the outgoing bytes and wakes the *pump*, a task that is
//! then polled after all others that are ready: so requests that are made in the same turn of the runtime leave with
//! one system call, and what one read brings is understood before anybody is woken by it.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use engine::ErrorKind;
use experiment::Access;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

use super::decode::{Answer, Broken, Incoming};
use super::encode::{self, Head, Values};
use super::setup::{self, SetupError};
use super::streams::Streams;

/// Pauses between attempts to connect again: doubled from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// Outgoing bytes for which memory is kept.
const KEPT_BYTES: usize = 1 << 20;
/// Reads in a row that fill the buffer, before others have their turn.
const READS: u32 = 8;

/// How a connection came to be, for those that have to be made again.
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) access: Access,
    pub(super) request_timeout: Duration,
    /// Called when a node refuses us later.
    pub(super) on_refused: Box<dyn Fn(String)>,
}

/// A node as requests see it.
pub(super) struct Connection {
    target: Target,
    is_up: Cell<bool>,
    /// Nobody will ask any more.
    is_dropped: Cell<bool>,
    streams: RefCell<Streams>,
    out: RefCell<Vec<u8>>,
    /// When the first of the requests was made that leave together, nanoseconds since `epoch`; `None`: there is none
    /// yet.
    turn_ns: Cell<Option<u64>>,
    epoch: Instant,
    pump: RefCell<Option<Waker>>,
}

impl Connection {
    /// Connects in the background; says how the first attempt ended. Must be called in a `LocalRuntime`.
    pub(super) fn begin(target: Target) -> (Rc<Self>, oneshot::Receiver<Result<(), SetupError>>) {
        let connection = Rc::new(Self {
            target,
            is_up: Cell::new(false),
            is_dropped: Cell::new(false),
            streams: RefCell::new(Streams::new()),
            out: RefCell::default(),
            turn_ns: Cell::new(None),
            epoch: Instant::now(),
            pump: RefCell::new(None),
        });
        let (first, on_first) = oneshot::channel();
        tokio::task::spawn_local(keep_up(Rc::clone(&connection), first));
        (connection, on_first)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.target.address
    }

    pub(super) fn is_up(&self) -> bool {
        self.is_up.get()
    }

    /// Ends it for good.
    pub(super) fn end(&self) {
        self.is_dropped.set(true);
        self.wake_pump();
    }

    fn wake_pump(&self) {
        if let Some(waker) = self.pump.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }

    /// Sends a request; the future is its answer.
    pub(super) fn send(&self, head: &Head, values: &impl Values) -> Result<Request<'_>, ErrorKind> {
        if !self.is_up.get() {
            return Err(ErrorKind::Connection);
        }
        // Where the pump cannot write it is woken too: it ends the turn.
        let turn_ns = self.turn_ns.get().unwrap_or_else(|| {
            self.wake_pump();
            let now_ns = self.now_ns();
            self.turn_ns.set(Some(now_ns));
            now_ns
        });
        let deadline_ns = turn_ns + self.target.request_timeout.as_nanos() as u64;
        // As many as can be in flight are: the driver calls it the same.
        let taken = self.streams.borrow_mut().take(deadline_ns);
        let id = taken.ok_or(ErrorKind::Overloaded)?;
        encode::execute(&mut self.out.borrow_mut(), id, head, values);
        Ok(Request { connection: self, id: Some(id) })
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// All that has been asked and not answered is lost.
    fn go_down(&self) {
        self.is_up.set(false);
        self.turn_ns.set(None);
        self.out.borrow_mut().clear();
        self.streams.borrow_mut().close();
    }
}

/// A request that was sent.
pub(super) struct Request<'a> {
    connection: &'a Connection,
    /// `None`: it has ended.
    id: Option<u16>,
}

impl Future for Request<'_> {
    type Output = Result<Answer, ErrorKind>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let id = self.id.expect("nobody polls a future that has ended");
        let result = ready!(self.connection.streams.borrow_mut().poll(id, context));
        self.id = None;
        Poll::Ready(result)
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.connection.streams.borrow_mut().abandon(id);
        }
    }
}

/// Connects, carries requests until the connection breaks, and connects again.
async fn keep_up(connection: Rc<Connection>, first: oneshot::Sender<Result<(), SetupError>>) {
    let mut first = Some(first);
    let mut pause = FIRST_PAUSE;
    let target = &connection.target;
    while !connection.is_dropped.get() {
        let opened = setup::open(target.address, &target.access).await;
        let (stream, said) = match opened {
            Ok(stream) => (Some(stream), Ok(())),
            Err(error) => (None, Err(error)),
        };
        if let (None, Err(SetupError::Refused(reason))) = (&first, &said) {
            (target.on_refused)(format!("{}: {reason}", target.address));
        }
        connection.is_up.set(stream.is_some());
        if let Some(first) = first.take() {
            // Who has called off does not want to know.
            let _ = first.send(said);
        }
        if let Some(stream) = stream {
            pause = FIRST_PAUSE;
            if let Err(error) = pump(&connection, stream).await {
                tracing::info!("connection to {}: {error}", target.address);
            }
            connection.go_down();
        }
        if !connection.is_dropped.get() {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }
}

/// What ends a connection.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the server has closed it")]
    Closed,
    #[error("it makes no sense: {0}")]
    Broken(#[from] Broken),
}

/// Writes requests and reads answers. Ends without an error when nobody asks any more.
async fn pump(connection: &Connection, stream: TcpStream) -> Result<(), Lost> {
    let mut pump = Pump { connection, stream, written: 0, incoming: Incoming::new(), is_armed: false };
    let mut timer = pin!(tokio::time::sleep_until(connection.epoch));
    poll_fn(|context| {
        if connection.is_dropped.get() {
            return Poll::Ready(Ok(()));
        }
        pump.keep_waker(context.waker());
        pump.write(context)?;
        pump.read(context)?;
        pump.time_out(context, timer.as_mut());
        Poll::Pending
    })
    .await
}

struct Pump<'a> {
    connection: &'a Connection,
    stream: TcpStream,
    /// Bytes of `out` that the operating system has.
    written: usize,
    incoming: Incoming,
    /// The timer runs.
    is_armed: bool,
}

impl Pump<'_> {
    fn keep_waker(&self, waker: &Waker) {
        let mut kept = self.connection.pump.borrow_mut();
        if !kept.as_ref().is_some_and(|kept| kept.will_wake(waker)) {
            *kept = Some(waker.clone());
        }
    }

    fn write(&mut self, context: &mut Context<'_>) -> Result<(), Lost> {
        self.connection.turn_ns.set(None);
        let mut out = self.connection.out.borrow_mut();
        while self.written < out.len() {
            match Pin::new(&mut self.stream).poll_write(context, &out[self.written..])? {
                Poll::Ready(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Poll::Ready(written) => self.written += written,
                Poll::Pending => return Ok(()),
            }
        }
        out.clear();
        self.written = 0;
        if out.capacity() > KEPT_BYTES {
            out.shrink_to(KEPT_BYTES);
        }
        Ok(())
    }

    fn read(&mut self, context: &mut Context<'_>) -> Result<(), Lost> {
        for _ in 0..READS {
            let mut space = ReadBuf::new(self.incoming.space());
            let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, &mut space) else { return Ok(()) };
            read?;
            let (got, is_full) = (space.filled().len(), space.remaining() == 0);
            if got == 0 {
                return Err(Lost::Closed);
            }
            self.incoming.filled(got);
            self.understand()?;
            if !is_full {
                // As a rule that was all, and tokio knows: the next poll waits without a system call.
                continue;
            }
        }
        context.waker().wake_by_ref();
        Ok(())
    }

    fn understand(&mut self) -> Result<(), Lost> {
        let mut streams = self.connection.streams.borrow_mut();
        while let Some((stream, answer)) = self.incoming.next()? {
            // Below zero: something that the server says by itself. Nobody has asked for it, and it does no harm.
            if let Ok(id) = u16::try_from(stream)
                && !streams.answered(id, answer)
            {
                return Err(Broken::Stream(stream).into());
            }
        }
        Ok(())
    }

    /// The timer runs to the deadline of a request that waited when it was set: one wake-up for many requests.
    fn time_out(&mut self, context: &mut Context<'_>, mut timer: Pin<&mut Sleep>) {
        let mut streams = self.connection.streams.borrow_mut();
        loop {
            if !self.is_armed {
                let Some(deadline_ns) = streams.next_deadline_ns() else { return };
                let deadline = self.connection.epoch + Duration::from_nanos(deadline_ns);
                timer.as_mut().reset(deadline);
                self.is_armed = true;
            }
            if timer.as_mut().poll(context).is_pending() {
                return;
            }
            self.is_armed = false;
            streams.expire(self.connection.now_ns());
        }
    }
}
