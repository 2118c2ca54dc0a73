//! Prose in lines no wider than a terminal.

/// Breaks a paragraph between words; the first line starts with `indent`, the others two columns deeper. Ends with a
/// line feed. A word wider than the terminal stays whole: a path must stay findable.
pub fn wrapped(paragraph: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut line = String::from(indent);
    for word in paragraph.split_whitespace() {
        let has_words = line.trim_start() != "";
        if has_words && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = format!("{indent}  ");
        }
        if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn no_line_is_wider_and_no_word_is_lost() {
        let long = "word ".repeat(60);
        let text = wrapped(&long, 40, "  ");
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.split_whitespace().count(), 60);
        assert!(text.starts_with("  word") && text.contains("\n    word"), "{text}");
    }

    #[test]
    fn a_word_that_is_too_wide_stands_alone() {
        let path = "x".repeat(50);
        assert_eq!(wrapped(&format!("see {path} there"), 20, ""), format!("see\n  {path}\n  there\n"));
    }
}
