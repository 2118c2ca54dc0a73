//! What charts have in common.

use analysis::Analysis;

use crate::document::html::escaped;

/// At most `most` characters of a name, for places of a fixed width; the whole name stands in the tables.
pub fn short(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return escaped(name);
    }
    let kept: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", escaped(&kept))
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
            escaped(name)
        ));
    }
    out.push_str("</ul>\n");
    out
}

/// The place of a configuration among all, which is its colour.
pub fn index(analysis: &Analysis, configuration: &str) -> usize {
    let mut all = analysis.configurations.iter();
    all.position(|c| c.name == configuration).unwrap_or(0)
}

/// Words (HTML) at a place of a chart.
pub fn words(class: &str, (x, y): (f64, f64), words: impl std::fmt::Display) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>")
}

/// A line along the steps of a path.
pub fn line(class: &str, path: impl std::fmt::Display) -> String {
    format!("<path class=\"{class}\" d=\"{path}\"/>")
}

/// A point, with what is said (HTML) where somebody points at it.
pub fn dot(class: &str, (x, y): (f64, f64), title: impl std::fmt::Display) -> String {
    format!("<circle class=\"dot {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"><title>{title}</title></circle>")
}

/// A drawing of so many pixels under its caption (HTML), with a label for who cannot see it.
pub fn figure(caption: &str, label: &str, (width, height): (f64, f64), svg: &str) -> String {
    format!(
        "<figure><figcaption>{caption}</figcaption><svg viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">\
         {svg}</svg></figure>\n",
        escaped(label)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_markup_no_more_than_a_long_one() {
        assert_eq!(short("gp2 & nvme", 6), "gp2 &amp;…");
    }
}
