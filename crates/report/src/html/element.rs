//! Small pieces of HTML. Everything that comes from a file of the user goes through [`text`].

/// Text as HTML: the five characters that mean something are escaped.
pub fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// An identity that can stand in `id` and after `#`: letters, digits, dot, dash; anything else becomes its number.
pub fn id(parts: &[&str]) -> String {
    let mut out = String::new();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            out.push('_');
        }
        for c in part.chars() {
            if c.is_ascii_alphanumeric() || c == '.' || c == '-' {
                out.push(c);
            } else {
                out.push_str(&format!("~{:x}", u32::from(c)));
            }
        }
    }
    out
}

/// A section with its heading; `id` is what the navigation links to.
pub fn section(id: &str, title: &str, body: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"h-{id}\"><h2 id=\"h-{id}\">{}</h2>\n{body}</section>\n",
        text(title)
    )
}

/// A table in a box of its own that scrolls where the page is narrow.
pub struct Table {
    label: String,
    class: &'static str,
    html: String,
    left: usize,
    has_rows: bool,
}

impl Table {
    /// The first `left` columns are text. `label` says what it shows, to those who do not see it.
    pub fn new(label: &str, head: &[&str], left: usize) -> Self {
        let mut html = String::from("<thead><tr>");
        for (i, name) in head.iter().enumerate() {
            let class = if i < left { " class=\"t\"" } else { "" };
            html.push_str(&format!("<th scope=\"col\"{class}>{}</th>", text(name)));
        }
        html.push_str("</tr></thead><tbody>\n");
        Self {
            label: label.to_owned(),
            class: "",
            html,
            left,
            has_rows: false,
        }
    }

    /// The same with a class of the style.
    pub fn class(self, class: &'static str) -> Self {
        Self { class, ..self }
    }

    /// A row of cells that are HTML already; the first is its heading.
    pub fn row(&mut self, cells: &[String]) {
        self.row_with("", cells);
    }

    /// The same with attributes on the row.
    pub fn row_with(&mut self, attributes: &str, cells: &[String]) {
        self.has_rows = true;
        self.html.push_str(&format!("<tr{attributes}>"));
        for (i, cell) in cells.iter().enumerate() {
            let class = if i < self.left { "t" } else { "num" };
            if cell.starts_with("<td") {
                self.html.push_str(cell);
            } else if i == 0 {
                self.html
                    .push_str(&format!("<th scope=\"row\" class=\"{class}\">{cell}</th>"));
            } else {
                self.html.push_str(&format!("<td class=\"{class}\">{cell}</td>"));
            }
        }
        self.html.push_str("</tr>\n");
    }

    /// The finished table; without rows a sentence instead of a head over nothing.
    pub fn html(self) -> String {
        if !self.has_rows {
            return format!("<p class=\"soft\">{}: nothing to show.</p>\n", text(&self.label));
        }
        let class = match self.class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        format!(
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table{class}><caption><span>{0}</span></caption>{1}</tbody></table></div>\n",
            text(&self.label),
            self.html
        )
    }
}

/// At most `most` characters of a name, for places of a fixed width; the whole name stands in the tables.
pub fn short(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return text(name);
    }
    let kept: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", text(&kept))
}

/// Colour class of a configuration, the same in all charts.
pub fn colour(index: usize) -> usize {
    index % 8
}

/// A legend of lines.
pub fn legend<'a>(names: impl Iterator<Item = (usize, &'a str)>) -> String {
    let mut out = String::from("<ul class=\"legend\">");
    for (index, name) in names {
        out.push_str(&format!(
            "<li><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><path class=\"l s{}\" d=\"M0 5h26\"/></svg>{}</li>",
            colour(index),
            text(name)
        ));
    }
    out.push_str("</ul>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_users_becomes_markup() {
        assert_eq!(text("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
        assert_eq!(id(&["a b", "c\"d"]), "a~20b_c~22d");
        assert_eq!(short("gp2 & nvme", 6), "gp2 &amp;…");
    }
}
