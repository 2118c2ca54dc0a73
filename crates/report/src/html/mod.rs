//! `report.html`: one self-contained page. It opens offline, asks nothing of any network, needs no script, follows
//! light and dark, prints, and can be read with a keyboard. The question and the answer come first, the evidence last.

mod axis;
mod bars;
mod card;
mod curves;
mod decision;
mod element;
mod findings;
mod footer;
mod frontier;
mod limits;
mod method;
mod money;
mod multiples;
mod placing;
mod rates;
mod tables;
mod timeline;

use analysis::{Analysis, Charts};

use element::{section, text};

const STYLE: &str = include_str!("style.css");

/// Sections: identity, name in the navigation.
const SECTIONS: [(&str, &str); 12] = [
    ("money", "Cost and performance"),
    ("limits", "What limited it"),
    ("rates", "Latency by rate"),
    ("time", "Over time"),
    ("decision", "Decision"),
    ("throughput", "Throughput"),
    ("latency", "Latency by percentile"),
    ("results", "All results"),
    ("findings", "Findings"),
    ("trials", "Each trial"),
    ("configurations", "Configurations"),
    ("method", "How to read this"),
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
    out.push_str(&navigation());
    out.push_str("<main>\n");
    for (id, title) in SECTIONS {
        let body = match id {
            "money" => money::money(analysis),
            "limits" => limits::limits(analysis),
            "rates" => rates::rates(analysis),
            "time" => multiples::multiples(analysis, charts),
            "decision" => decision::matrix(analysis),
            "throughput" => bars::bars(analysis),
            "latency" => curves::curves(analysis, charts),
            "results" => tables::results(analysis, charts),
            "findings" => findings::findings(analysis, charts),
            "trials" => timeline::timelines(analysis, charts),
            "configurations" => format!("{}{}", tables::configurations(analysis), tables::environment(analysis)),
            _ => method::method(analysis),
        };
        out.push_str(&section(id, title, &body));
    }
    out.push_str("</main>\n");
    out.push_str(&footer::footer(analysis));
    out.push_str("</body>\n</html>\n");
    out
}

fn navigation() -> String {
    let links: String = SECTIONS
        .iter()
        .map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    format!("<nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n")
}
