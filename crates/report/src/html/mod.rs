//! `report.html`: one self-contained page. It opens offline, asks nothing of any network, needs no script, follows
//! light and dark, prints, and can be read with a keyboard. The question and the answer come first, the evidence last.

mod axis;
mod bars;
mod cache;
mod cache_curve;
mod capacity;
mod card;
mod curves;
mod decision;
mod element;
mod faults;
mod findings;
mod footer;
mod frontier;
mod limits;
mod method;
mod money;
mod multiples;
mod placing;
mod rates;
mod scaling;
mod small;
mod tables;
mod timeline;
mod work;

use analysis::{Analysis, Charts};

use element::{section, text};

const STYLE: &str = include_str!("style.css");

/// A part of the page.
struct Section {
    /// Identity.
    id: &'static str,
    /// Name in the navigation.
    title: &'static str,
    body: fn(&Analysis, &Charts) -> String,
}

/// The title of a section that is called by what happened ([`crate::faults::title`]).
const NAMED_BY_FAULTS: &str = "";

const fn part(id: &'static str, title: &'static str, body: fn(&Analysis, &Charts) -> String) -> Section {
    Section { id, title, body }
}

/// In the order of the page.
const SECTIONS: [Section; 18] = [
    part("capacity", crate::capacity::TITLE, |a, _| capacity::capacity(a)),
    part("money", "Cost and performance", |a, _| money::money(a)),
    part("limits", "What limited it", |a, _| limits::limits(a)),
    part("work", crate::work::TITLE, |a, _| work::work(a)),
    part("away", NAMED_BY_FAULTS, faults::section),
    part("rates", "Latency by rate", |a, _| rates::rates(a)),
    part("scaling", "Scaling over nodes", |a, _| scaling::scaling(a)),
    part("cache", crate::cache::TITLE, |a, _| cache::cache(a)),
    part("cache-ratio", crate::cache_curve::TITLE, |a, _| {
        cache_curve::cache_curve(a)
    }),
    part("time", "Over time", multiples::multiples),
    part("decision", "Decision", |a, _| decision::matrix(a)),
    part("throughput", "Throughput", |a, _| bars::bars(a)),
    part("latency", "Latency by percentile", curves::curves),
    part("results", "All results", tables::results),
    part("findings", "Findings", findings::findings),
    part("trials", "Each trial", timeline::timelines),
    part("configurations", "Configurations", |a, _| {
        format!("{}{}", tables::configurations(a), tables::environment(a))
    }),
    part("method", "How to read this", |a, _| method::method(a)),
];

/// The whole page.
pub fn html(analysis: &Analysis, charts: &Charts) -> String {
    let title = analysis.question.as_ref().unwrap_or(&analysis.experiment);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{} - iopslab</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#answer\">To the answer</a>\n",
        text(title)
    );
    out.push_str(&card::header(analysis));
    // A part that has nothing to say about this run is left out.
    let parts: Vec<(&Section, String)> = SECTIONS
        .iter()
        .map(|part| (part, (part.body)(analysis, charts)))
        .collect();
    let parts: Vec<_> = parts.into_iter().filter(|(_, body)| !body.is_empty()).collect();
    let named = |part: &Section| match part.title {
        NAMED_BY_FAULTS => crate::faults::title(analysis),
        title => title,
    };
    out.push_str(&navigation(parts.iter().map(|(part, _)| (part.id, named(part)))));
    out.push_str("<main>\n");
    for (part, body) in &parts {
        out.push_str(&section(part.id, named(part), body));
    }
    out.push_str("</main>\n");
    out.push_str(&footer::footer(analysis));
    out.push_str("</body>\n</html>\n");
    out
}

fn navigation(parts: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    let links: String = parts
        .map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    format!("<nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n")
}
