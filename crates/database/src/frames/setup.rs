//! A connection of our own, up to the moment in which it takes requests.

use std::net::SocketAddr;
use std::time::Duration;

use experiment::Access;
use rustix::net::sockopt;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::decode::{Broken, Header};
use super::encode;
use super::protocol::{HEADER, opcode};

/// Longest time for all of it.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer that is taken here.
const LONGEST: usize = 1 << 20;
/// A server of which nothing is seen for this long is gone: the operating system asks meanwhile whether it is there.
const SILENCE: Duration = Duration::from_secs(60);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum SetupError {
    /// Nobody is there now; later there may be.
    #[error("{0}")]
    Away(#[from] std::io::Error),
    /// It is there and wants to be spoken to in another way.
    #[error("{0}")]
    Refused(String),
}

impl From<Broken> for SetupError {
    fn from(broken: Broken) -> Self {
        Self::Refused(broken.to_string())
    }
}

/// Connects, and gets so far that requests can be sent.
pub(super) async fn open(address: SocketAddr, access: &Access) -> Result<TcpStream, SetupError> {
    match tokio::time::timeout(PATIENCE, open_now(address, access)).await {
        Ok(result) => result,
        Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
    }
}

async fn open_now(address: SocketAddr, access: &Access) -> Result<TcpStream, SetupError> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    watch_peer(&stream)?;
    match ask(&mut stream, &encode::options()).await? {
        (opcode::SUPPORTED, body) if names_shards(&body) => {
            return Err(SetupError::Refused("its nodes have shards, which the driver finds".to_owned()));
        }
        (opcode::SUPPORTED, _) => {}
        (other, _) => return Err(out_of_turn("OPTIONS", other)),
    }
    match ask(&mut stream, &encode::startup()).await? {
        (opcode::READY, _) => return Ok(stream),
        (opcode::AUTHENTICATE, _) => {}
        (other, _) => return Err(out_of_turn("STARTUP", other)),
    }
    let Some(login) = &access.login else { return Err(SetupError::Refused("it asks for a login".to_owned())) };
    match ask(&mut stream, &encode::login(&login.user, &login.password)).await? {
        (opcode::AUTH_SUCCESS, _) => Ok(stream),
        (opcode::AUTH_CHALLENGE, _) => {
            Err(SetupError::Refused("it wants more of a login than a name and a password".to_owned()))
        }
        (other, _) => Err(out_of_turn("AUTH_RESPONSE", other)),
    }
}

/// Lets the operating system find out about a peer that is gone without a word.
fn watch_peer(stream: &TcpStream) -> std::io::Result<()> {
    let probes = 3;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, SILENCE / 2)?;
    sockopt::set_tcp_keepintvl(stream, SILENCE / 2 / probes)?;
    sockopt::set_tcp_keepcnt(stream, probes)?;
    sockopt::set_tcp_user_timeout(stream, SILENCE.as_millis() as u32)?;
    Ok(())
}

/// Sends a frame and waits for what is answered: its kind and its body.
async fn ask(stream: &mut TcpStream, frame: &[u8]) -> Result<(u8, Vec<u8>), SetupError> {
    stream.write_all(frame).await?;
    let mut bytes = [0; HEADER];
    stream.read_exact(&mut bytes).await?;
    let Some(header) = Header::parse(&bytes)? else {
        return Err(SetupError::Refused("it answers with half a header".to_owned()));
    };
    if header.length > LONGEST {
        return Err(Broken::Length(header.length).into());
    }
    let mut body = vec![0; header.length];
    stream.read_exact(&mut body).await?;
    if header.opcode == opcode::ERROR {
        let message = header.message(&body).unwrap_or_default();
        return Err(SetupError::Refused(format!("it says: {message}")));
    }
    Ok((header.opcode, body))
}

/// `SUPPORTED` lists what a server has by name; ScyllaDB lists its shards there.
fn names_shards(body: &[u8]) -> bool {
    const NAME: &[u8] = b"SCYLLA_NR_SHARDS";
    body.windows(NAME.len()).any(|window| window == NAME)
}

fn out_of_turn(asked: &str, opcode: u8) -> SetupError {
    SetupError::Refused(format!("it answers {asked} with a frame of kind 0x{opcode:02x}"))
}
