//! Markdown in which text of somebody else is nothing but text.
//!
//! A report shows names, questions and messages of an experiment, of agents and of databases, and is put into web
//! pages: a job's summary, a wiki. What would be an element of HTML there, an image or a link is made plain, and what
//! such pages make a link, or a message to somebody, by themselves: `https://`, `www.`, `@name`. Reports have none of
//! their own, so that this is done to the whole document, once, at its end: nothing that is added to it later can be
//! forgotten.

/// A character without width, as a reference: what stands on its two sides is one word neither for who looks before
/// references are resolved nor for who looks after that.
const APART: &str = "&#8203;";

/// The document without HTML, images and links. A reader sees the same characters.
pub fn neutral(markdown: &str) -> String {
    without_tags(markdown)
        // `[text](place)`, `[text][name]` and the `[name]: place` that it refers to.
        .replace("](", "]&#40;")
        .replace("][", "]&#91;")
        .replace("]:", "]&#58;")
        // What becomes a link without brackets (GitHub Flavored Markdown 0.29, "Autolinks (extension)"), and who would
        // be notified.
        .replace("://", &format!(":{APART}//"))
        .replace("www.", &format!("www{APART}."))
        .replace('@', &format!("@{APART}"))
}

/// A tag, a comment or a link in angle brackets begins with one of these behind `<` (CommonMark 0.31, "Raw HTML" and
/// "Autolinks"); what is less than a number stays as it is.
fn without_tags(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find('<') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        let begins = behind.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        out.push_str(before);
        out.push_str(if begins { "&lt;" } else { "<" });
        rest = behind;
    }
    out + rest
}

/// Somebody else's text on one line, where a second one would begin a heading or a list.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_document_is_html_an_image_or_a_link() {
        for (written, plain) in [
            ("p99 < 10 ms, p50<5", "p99 < 10 ms, p50<5"),
            ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
            ("![x](https://example.org/spy.png)", "![x]&#40;https:&#8203;//example.org/spy.png)"),
            ("[x][y]\n\n[y]: javascript:0", "[x]&#91;y]\n\n[y]&#58; javascript:0"),
            ("<https://example.org> <!-- -->", "&lt;https:&#8203;//example.org> &lt;!-- -->"),
            ("see http://x.org or www.x.org", "see http:&#8203;//x.org or www&#8203;.x.org"),
            ("ask @octocat, me@example.org", "ask @&#8203;octocat, me@&#8203;example.org"),
            ("raise [load] duration_s", "raise [load] duration_s"),
        ] {
            assert_eq!(neutral(written), plain);
        }
        assert_eq!(one_line("worth it?\n\n# Yes"), "worth it? # Yes");
    }
}
