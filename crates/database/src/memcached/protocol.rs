//! A connection to one node, and memcached's text protocol over it (doc/protocol.txt of memcached), as far as it is
//! needed.
//!
//! Each request waits for its answer: a deletion that nobody has confirmed would leave an old record there unseen.
//! After an error, or where an answer was not waited for, the connection is of no use any more: what comes later would
//! be taken for the answer to another request.
//!
//! Where a node is away, every user of its machine can listen at its address: no length is believed before it is held
//! to what memcached itself sends.

use std::collections::BTreeMap;
use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// Most bytes of an item: memcached's own bound, where no `-I` states another.
const ITEM_MOST_BYTES: usize = 1 << 20;
/// Most bytes of a line: a key has 250 at the most ("Keys" of doc/protocol.txt), statistics are shorter.
const LINE_MOST_BYTES: u64 = 1 << 10;
/// Most lines of statistics: memcached 1.6 has about a hundred.
const MOST_STATS: usize = 1_000;

/// A connection to a node: one request at a time.
pub struct Connection<S = TcpStream>(BufReader<S>);

impl Connection {
    /// To the node at this address (`host:port`).
    pub async fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Over a stream at whose other end a node is.
    pub fn over(stream: S) -> Self {
        Self(BufReader::new(stream))
    }

    /// The item of a key, if there is one.
    pub async fn get(&mut self, key: &str) -> io::Result<Option<Vec<u8>>> {
        self.send(format!("get {key}\r\n").as_bytes()).await?;
        let line = self.line().await?;
        if line == "END" {
            return Ok(None);
        }
        let length = line.strip_prefix("VALUE ").and_then(|value| {
            let (of, flags_and_length) = value.split_once(' ')?;
            let (_, length) = flags_and_length.split_once(' ')?;
            let length = (of == key).then_some(length)?.parse::<usize>().ok()?;
            (length <= ITEM_MOST_BYTES).then_some(length)
        });
        let mut item = vec![0; length.ok_or_else(|| unexpected(&line))?];
        self.0.read_exact(&mut item).await?;
        self.expect("").await?;
        self.expect("END").await?;
        Ok(Some(item))
    }

    /// Puts an item there, which is gone after so many seconds (0: never by itself).
    pub async fn set(&mut self, key: &str, item: &[u8], ttl_s: u32) -> io::Result<()> {
        let mut request = format!("set {key} 0 {ttl_s} {}\r\n", item.len()).into_bytes();
        request.extend_from_slice(item);
        request.extend_from_slice(b"\r\n");
        self.send(&request).await?;
        self.expect("STORED").await
    }

    /// Takes an item away, if there is one.
    pub async fn delete(&mut self, key: &str) -> io::Result<()> {
        self.send(format!("delete {key}\r\n").as_bytes()).await?;
        match self.line().await?.as_str() {
            "DELETED" | "NOT_FOUND" => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// What the node reports of itself ("General-purpose statistics"), by name.
    pub async fn stats(&mut self) -> io::Result<BTreeMap<String, String>> {
        self.send(b"stats\r\n").await?;
        let mut stats = BTreeMap::new();
        for _ in 0..MOST_STATS {
            let line = self.line().await?;
            if line == "END" {
                return Ok(stats);
            }
            let stat = line.strip_prefix("STAT ").and_then(|stat| stat.split_once(' '));
            let (name, value) = stat.ok_or_else(|| unexpected(&line))?;
            stats.insert(name.to_owned(), value.to_owned());
        }
        Err(invalid(format!("memcached answered with more than {MOST_STATS} statistics")))
    }

    async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.0.write_all(request).await
    }

    /// The next line of an answer, without its end.
    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.0).take(LINE_MOST_BYTES).read_line(&mut line).await?;
        match line.strip_suffix("\r\n") {
            Some(whole) => Ok(whole.to_owned()),
            None if line.len() as u64 == LINE_MOST_BYTES => {
                Err(invalid(format!("memcached answered with a line of more than {LINE_MOST_BYTES} bytes")))
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    async fn expect(&mut self, expected: &str) -> io::Result<()> {
        let line = self.line().await?;
        if line == expected { Ok(()) } else { Err(unexpected(&line)) }
    }
}

/// An answer that is none to what was asked, such as `SERVER_ERROR out of memory storing object`.
fn unexpected(line: &str) -> io::Error {
    invalid(format!("memcached answered {line:?}"))
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::runtime::Builder;

    use super::*;

    /// What becomes of a request where the node answers with this.
    fn answered<R>(with: &str, request: impl AsyncFnOnce(&mut Connection) -> io::Result<R>) -> io::Result<R> {
        Builder::new_current_thread().enable_all().build()?.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let mut connection = Connection::open(&listener.local_addr()?.to_string()).await?;
            let (mut node, _) = listener.accept().await?;
            node.write_all(with.as_bytes()).await?;
            request(&mut connection).await
        })
    }

    #[test]
    fn an_item_comes_whole_whatever_it_contains_and_a_missing_one_is_none() {
        let get = |with| answered(with, async |node: &mut Connection| node.get("user1").await).ok();
        assert_eq!(get("VALUE user1 0 7\r\na\r\nEND\r\nEND\r\n"), None, "seven bytes end within the last line");
        assert_eq!(get("VALUE user1 0 8\r\na\r\nEND\r\n\r\nEND\r\n"), Some(Some(b"a\r\nEND\r\n".to_vec())));
        assert_eq!(get("END\r\n"), Some(None));
        assert_eq!(get("VALUE user2 0 1\r\na\r\nEND\r\n"), None, "of another key");
        assert_eq!(get("SERVER_ERROR out of memory\r\n"), None);
    }

    /// Whoever listens where a node was ended the client by the length of an item, and had it keep lines without end.
    #[test]
    fn no_answer_takes_more_memory_than_one_of_memcached() {
        let get = |with: &str| {
            let answer = answered(with, async |node: &mut Connection| node.get("user1").await);
            answer.map_err(|error| error.to_string())
        };
        for length in ["1048577", "18446744073709551615"] {
            let line = format!("VALUE user1 0 {length}");
            assert_eq!(get(&format!("{line}\r\n")), Err(format!("memcached answered {line:?}")));
        }
        let endless = "x".repeat(2 * LINE_MOST_BYTES as usize);
        assert_eq!(get(&endless), Err("memcached answered with a line of more than 1024 bytes".to_owned()));
        let stats = "STAT a 1\r\n".repeat(MOST_STATS + 1);
        let stats = answered(&stats, async |node: &mut Connection| node.stats().await);
        let said = stats.map_err(|error| error.to_string());
        assert_eq!(said, Err("memcached answered with more than 1000 statistics".to_owned()));
    }

    #[test]
    fn an_answer_says_whether_it_was_done() {
        let set = |with| answered(with, async |node: &mut Connection| node.set("user1", b"a", 0).await);
        assert!(set("STORED\r\n").is_ok());
        let error = set("SERVER_ERROR object too large for cache\r\n").map_err(|error| error.to_string());
        assert_eq!(error, Err("memcached answered \"SERVER_ERROR object too large for cache\"".to_owned()));
        let delete = |with| answered(with, async |node: &mut Connection| node.delete("user1").await);
        assert!(delete("DELETED\r\n").is_ok() && delete("NOT_FOUND\r\n").is_ok());
        assert!(delete("ERROR\r\n").is_err());
        let stats = answered("STAT get_hits 3\r\nSTAT version 1.6.38\r\nEND\r\n", async |node: &mut Connection| {
            node.stats().await
        });
        assert_eq!(stats.ok().and_then(|stats| stats.get("get_hits").cloned()), Some("3".to_owned()));
    }
}
