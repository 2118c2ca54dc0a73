//! `report.html`: one self-contained page. It opens offline, asks nothing of any network, needs no script, follows
//! light and dark, prints, and can be read with a keyboard. The first screen is for who pays: the question, the answer,
//! the money, one picture, at most three doubts. Then follows what decides; the evidence is folded.

mod card;
mod footer;
mod style;
mod watch;

use analysis::{Analysis, Charts};

use crate::document::html::{escaped, inside, section};
use crate::document::section::Section;
use crate::document::table::Form;
use crate::sections::sections;
use style::STYLE;

pub use watch::watch_page;

/// Sections that are unfolded at first: what decides. A page has one of them.
const OPEN: [&str; 2] = ["capacity", "decision"];

/// The whole page.
pub fn html(analysis: &Analysis, charts: &Charts) -> String {
    let title = analysis.question.as_ref().unwrap_or(&analysis.experiment);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{} - iopslab</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#answer\">To the answer</a>\n{}{}</body>\n</html>\n",
        escaped(title),
        answer_and_evidence(analysis, charts),
        footer::footer(analysis)
    )
}

/// The page without its head and foot: the answer in a `header`, then the evidence. So a run under way is shown.
pub fn answer_and_evidence(analysis: &Analysis, charts: &Charts) -> String {
    let sections = sections(analysis, charts);
    // What has nothing to say about this run is left out.
    let shown: Vec<&Section<'_>> = sections.iter().filter(|s| s.shown(Form::Html).next().is_some()).collect();
    let link = |of: &&Section<'_>| format!("<li><a href=\"#{}\">{}</a></li>", inside(of.id), escaped(&of.title));
    let links: String = shown.iter().map(link).collect();
    let main: String = shown.into_iter().map(|of| section(of, OPEN.contains(&of.id))).collect();
    format!("{}<nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n<main>\n{main}</main>\n", card::header(analysis))
}
