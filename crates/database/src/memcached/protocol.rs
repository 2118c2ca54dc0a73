//! A connection to one node, and memcached's text protocol over it (doc/protocol.txt of memcached), as far as it is
//! needed.
//!
//! Each request waits for its answer: a deletion that nobody has confirmed would leave an old record there unseen.
//! After an error, or where an answer was not waited for, the connection is of no use any more: what comes later would
//! be taken for the answer to another request.

use std::collections::BTreeMap;
use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection to a node: one request at a time.
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    /// To the node at this address (`host:port`).
    pub async fn open(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
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
            (of == key).then_some(length)?.parse::<usize>().ok()
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
        loop {
            let line = self.line().await?;
            if line == "END" {
                return Ok(stats);
            }
            let stat = line.strip_prefix("STAT ").and_then(|stat| stat.split_once(' '));
            let (name, value) = stat.ok_or_else(|| unexpected(&line))?;
            stats.insert(name.to_owned(), value.to_owned());
        }
    }

    async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.0.write_all(request).await
    }

    /// The next line of an answer, without its end.
    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).await?;
        line.strip_suffix("\r\n").map(str::to_owned).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    async fn expect(&mut self, expected: &str) -> io::Result<()> {
        let line = self.line().await?;
        if line == expected { Ok(()) } else { Err(unexpected(&line)) }
    }
}

/// An answer that is none to what was asked, such as `SERVER_ERROR out of memory storing object`.
fn unexpected(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("memcached answered {line:?}"))
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
