//! JSON Lines: length-free, readable in a terminal, one message per line.

use std::io::{BufRead, Write};

use serde::{Serialize, de::DeserializeOwned};

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The pipe failed.
    #[error("the connection to the agent failed: {0}")]
    Io(#[from] std::io::Error),
    /// The line is no message of this protocol.
    #[error("not a message of protocol {protocol}: {source}; the line began {line:?}", protocol = crate::PROTOCOL)]
    Malformed {
        /// Start of the line.
        line: String,
        /// What the parser said.
        source: serde_json::Error,
    },
}

/// Writes one message and flushes, so that the other side sees it now.
pub fn write<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), WireError> {
    let mut line = serde_json::to_vec(message).map_err(|source| WireError::Malformed {
        line: "(while writing)".to_owned(),
        source,
    })?;
    line.push(b'\n');
    to.write_all(&line)?;
    Ok(to.flush()?)
}

/// Reads one message; `None` at the end of the stream. Empty lines are skipped.
pub fn read<T: DeserializeOwned>(from: &mut impl BufRead) -> Result<Option<T>, WireError> {
    let mut line = String::new();
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let text = line.trim_end();
        if !text.is_empty() {
            return serde_json::from_str(text)
                .map(Some)
                .map_err(|source| WireError::Malformed {
                    line: text.chars().take(120).collect(),
                    source,
                });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Event, Progress, Request};

    #[test]
    fn messages_survive_the_pipe_and_the_end_of_stream_is_not_an_error() {
        let mut pipe = Vec::new();
        super::write(&mut pipe, &Request::Hello { protocol: 1 }).unwrap();
        super::write(&mut pipe, &Request::Cancel).unwrap();
        let mut from = pipe.as_slice();
        assert!(matches!(
            super::read(&mut from).unwrap(),
            Some(Request::Hello { protocol: 1 })
        ));
        assert!(matches!(super::read(&mut from).unwrap(), Some(Request::Cancel)));
        assert!(super::read::<Request>(&mut from).unwrap().is_none());
    }

    #[test]
    fn a_stray_line_is_shown_in_the_error() {
        let error = super::read::<Event>(&mut "Segmentation fault\n".as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.contains("Segmentation fault"), "{error}");
    }

    #[test]
    fn one_message_is_one_line_even_with_line_breaks_inside() {
        let mut pipe = Vec::new();
        let progress = Event::Progress(Progress {
            doing: "two\nlines".to_owned(),
            share: None,
        });
        super::write(&mut pipe, &progress).unwrap();
        assert_eq!(pipe.iter().filter(|b| **b == b'\n').count(), 1);
    }
}
