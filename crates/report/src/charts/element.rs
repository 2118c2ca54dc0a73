//! What charts have in common.

use analysis::Analysis;

use super::placing::width_of;
use crate::document::html::escaped;
use crate::figures::when;

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

/// A name in so many pixels at a size of type: cut where it is longer, and then whole where somebody points at it.
pub fn name(class: &str, at: (f64, f64), name: &str, (room, size): (f64, f64)) -> String {
    let fits = width_of(name, size) <= room;
    let start = |n: usize| -> String { name.chars().take(n).chain(['…']).collect() };
    let all = name.chars().count();
    let most = if fits { all } else { (1..all).take_while(|n| width_of(&start(*n), size) <= room).count() + 1 };
    let title = when(!fits, || format!("<title>{}</title>", escaped(name)));
    words(class, at, format_args!("{title}{}", short(name, most)))
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

    /// A long name ran out of the picture on the left, and into its figures on the right.
    #[test]
    fn a_name_stays_in_its_room_and_is_whole_in_its_title() {
        let long = "r7i-2xlarge-gp3-16000-iops-1000-mib & local";
        let drawn = name("t12", (0.0, 0.0), long, (120.0, 12.0));
        let (title, shown) = drawn.split_once("</title>").unwrap();
        assert!(title.ends_with("<title>r7i-2xlarge-gp3-16000-iops-1000-mib &amp; local"), "{drawn}");
        let shown = shown.strip_suffix("</text>").unwrap();
        assert!(shown.starts_with("r7i-2xlarge") && shown.ends_with('…'), "{drawn}");
        assert!((100.0..=120.0).contains(&width_of(shown, 12.0)), "{drawn}");
        assert_eq!(name("t12", (0.0, 0.0), "gp2", (120.0, 12.0)), words("t12", (0.0, 0.0), "gp2"));
    }
}
