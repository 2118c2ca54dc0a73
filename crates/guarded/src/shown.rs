//! Text that somebody else may have written, as a terminal, or a shell, may be given it.
//!
//! A terminal obeys control characters: a name can set the title, write to the clipboard (OSC 52) or move the cursor
//! over what was said before. Characters that turn the direction of writing, or that have no width, make text look like
//! another one. They are shown as JSON would have them, so that a document of JSON stays what it was.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// The text with every character that a terminal would obey, or that nobody sees, as `\u001b`. Line breaks and tabs
/// stay, and the colours that this program uses itself; one that hides what is written (black, concealed) is none of
/// them.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(colour) = colour(rest) {
            out.push_str(&rest[..colour]);
            rest = &rest[colour..];
            continue;
        }
        match is_obeyed(first) {
            true => {
                for unit in first.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            false => out.push(first),
        }
        rest = &rest[first.len_utf8()..];
    }
    Cow::Owned(out)
}

/// The same on one line.
pub fn shown_line(text: &str) -> String {
    shown(text).replace(['\n', '\t'], " ")
}

/// The text as one word of a POSIX shell, whatever is in it; one of letters, digits and `/._-` as it is.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The same of a path.
pub fn shell_path(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// Controls (C0, DEL, C1) and what changes how text around it looks: marks, embeddings, overrides and isolates of
/// direction, separators of lines, characters without width, and tags.
fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(
            c,
            '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The length of a colour that the text begins with: `ESC [ 1;33 m`.
fn colour(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find('m')?;
    let is_ours = |code: &str| matches!(code.parse::<u8>(), Ok(0..=4 | 22..=24 | 31..=36 | 39 | 91..=97));
    let codes = &codes[..end];
    (codes.is_empty() || codes.split(';').all(is_ours)).then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_and_not_sent() {
        for (sent, seen) in [
            ("plain \u{e4} \u{1f600}\n\ttext", "plain \u{e4} \u{1f600}\n\ttext"),
            // OSC 52 writes to the clipboard.
            ("a\u{1b}]52;c;cm0gLXJm\u{7}b", "a\\u001b]52;c;cm0gLXJm\\u0007b"),
            ("\u{9b}2J", "\\u009b2J"),
            ("50%\rdone", "50%\\u000ddone"),
            ("b\u{202e}txt.exe", "b\\u202etxt.exe"),
            ("a\u{200b}b\u{e0041}", "a\\u200bb\\udb40\\udc41"),
            ("\u{1b}[1;33mwarning\u{1b}[0m", "\u{1b}[1;33mwarning\u{1b}[0m"),
            // Concealed, black, and a cursor that moves.
            ("\u{1b}[8mx", "\\u001b[8mx"),
            ("\u{1b}[30mx", "\\u001b[30mx"),
            ("\u{1b}[2Ax", "\\u001b[2Ax"),
        ] {
            assert_eq!(shown(sent), seen);
        }
        assert_eq!(shown_line("two\nlines"), "two lines");
    }

    #[test]
    fn a_word_of_a_shell_is_quoted_where_it_has_to_be() {
        for (text, word) in [
            ("/var/lib/iopslab-2/db_1.0", "/var/lib/iopslab-2/db_1.0"),
            ("my runs/a", "'my runs/a'"),
            ("it's", r"'it'\''s'"),
            ("~", "'~'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
