//! JSON Lines: length-free, readable in a terminal, one message per line.

use std::io::{BufRead, Read as _, Write};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Event, Request};

/// What goes over the wire, in lines of bounded length: nobody can fill memory by one that does not end, or by what is
/// made of it (parsed, samples take up to 70 times their bytes).
pub trait Message: DeserializeOwned {
    /// Most bytes of a line.
    const MOST_BYTES: usize;
}

/// The longest are pieces of a log ([`crate::LOG_PIECE_BYTES`], in base64 a third more: 1.4 MB), pieces of what a
/// client measured ([`crate::TrialPiece`]: 1.4 MB of latencies, and samples of 1.5 MB), and the parts of a data set of
/// which a node has 16 TiB (a GiB and 170 bytes each: 2.8 MB).
impl Message for Event {
    const MOST_BYTES: usize = 4 << 20;
}

/// The longest has signed URLs for the parts of a data set: those of 16 TiB, of 2 KB each.
impl Message for Request {
    const MOST_BYTES: usize = 36 << 20;
}

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum WireError {
    #[error("the connection to the agent failed: {0}")]
    Io(#[from] std::io::Error),
    #[error("a message is longer than {} MiB, which none is", most_bytes >> 20)]
    TooLong { most_bytes: usize },
    #[error("not a message of protocol {protocol}: {source}; the line began {line:?}", protocol = crate::PROTOCOL)]
    Malformed { line: String, source: serde_json::Error },
}

/// Writes one message and flushes, so that the other side sees it now.
pub fn write<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), WireError> {
    let mut line = serde_json::to_vec(message)
        .map_err(|source| WireError::Malformed { line: "(while writing)".to_owned(), source })?;
    line.push(b'\n');
    to.write_all(&line)?;
    Ok(to.flush()?)
}

/// Reads one message; `None` at the end of the stream. Empty lines are skipped.
pub fn read<T: Message>(from: &mut impl BufRead) -> Result<Option<T>, WireError> {
    Ok(read_sized(from)?.map(|(message, _)| message))
}

/// The same, with the bytes of its line.
pub fn read_sized<T: Message>(from: &mut impl BufRead) -> Result<Option<(T, usize)>, WireError> {
    loop {
        let most_bytes = T::MOST_BYTES;
        let (line, is_whole) = line(from, most_bytes)?;
        if line.is_empty() && !is_whole {
            return Ok(None);
        }
        if line.len() > most_bytes {
            return Err(WireError::TooLong { most_bytes });
        }
        let text = line.trim_ascii();
        if !text.is_empty() {
            return serde_json::from_slice(text).map(|message| Some((message, line.len()))).map_err(|source| {
                WireError::Malformed {
                    line: String::from_utf8_lossy(&text[..text.len().min(480)]).chars().take(120).collect(),
                    source,
                }
            });
        }
    }
}

/// The next line, its end included where it has one, and whether it has; of one that is longer than `most_bytes`, one
/// byte more than those. Nobody can fill memory by a line that does not end.
pub fn line(from: &mut impl BufRead, most_bytes: usize) -> std::io::Result<(Vec<u8>, bool)> {
    let mut line = Vec::new();
    from.by_ref().take(most_bytes as u64 + 1).read_until(b'\n', &mut line)?;
    let is_whole = line.ends_with(b"\n");
    Ok((line, is_whole))
}

#[cfg(test)]
mod tests {
    use super::{Message as _, WireError};
    use crate::{Event, Progress, Request};

    #[test]
    fn messages_survive_the_pipe_and_the_end_of_stream_is_not_an_error() {
        let mut pipe = Vec::new();
        super::write(&mut pipe, &Request::Hello { protocol: 1 }).unwrap();
        super::write(&mut pipe, &Request::Cancel).unwrap();
        let mut from = pipe.as_slice();
        assert!(matches!(super::read(&mut from).unwrap(), Some(Request::Hello { protocol: 1 })));
        assert!(matches!(super::read(&mut from).unwrap(), Some(Request::Cancel)));
        assert!(super::read::<Request>(&mut from).unwrap().is_none());
    }

    #[test]
    fn a_stray_line_is_shown_in_the_error() {
        let error = super::read::<Event>(&mut "Segmentation fault\n".as_bytes()).unwrap_err().to_string();
        assert!(error.contains("Segmentation fault"), "{error}");
    }

    #[test]
    fn a_line_without_an_end_is_cut_where_no_message_is_longer() {
        let mut endless = std::io::BufReader::new(std::io::repeat(b'x'));
        let (line, is_whole) = super::line(&mut endless, 1_000).unwrap();
        assert_eq!((line.len(), is_whole), (1_001, false));
        let (line, is_whole) = super::line(&mut "short\nrest".as_bytes(), 1_000).unwrap();
        assert_eq!((line.as_slice(), is_whole), (b"short\n".as_slice(), true));
    }

    #[test]
    fn a_message_that_is_longer_than_any_is_none() {
        let mut endless = std::io::BufReader::new(std::io::repeat(b'['));
        let refused = super::read::<Event>(&mut endless).unwrap_err();
        assert!(matches!(refused, WireError::TooLong { most_bytes } if most_bytes == Event::MOST_BYTES), "{refused}");
        assert_eq!(refused.to_string(), "a message is longer than 4 MiB, which none is");
    }

    #[test]
    fn one_message_is_one_line_even_with_line_breaks_inside() {
        let mut pipe = Vec::new();
        let progress = Event::Progress(Progress { doing: "two\nlines".to_owned(), share: None });
        super::write(&mut pipe, &progress).unwrap();
        assert_eq!(pipe.iter().filter(|b| **b == b'\n').count(), 1);
    }
}
