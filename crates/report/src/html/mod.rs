//! `report.html`: one self-contained page. It opens offline, asks nothing of any network, needs no script, follows light and dark, prints,
//! and can be read with a keyboard. The answer comes first, the evidence last.

mod axis;
mod bars;
mod curves;
mod decision;
mod element;
mod findings;
mod money;
mod tables;
mod timeline;

use analysis::{Analysis, Charts, Status};

use crate::answer::{self, answer};
use crate::figures::{count, duration, given};
use element::{section, text};

const STYLE: &str = include_str!("style.css");

/// Sections: identity, name in the navigation.
const SECTIONS: [(&str, &str); 10] = [
    ("decision", "Decision"),
    ("money", "What the money buys"),
    ("limits", "Limits"),
    ("throughput", "Throughput"),
    ("latency", "Latency"),
    ("results", "All results"),
    ("findings", "Findings"),
    ("time", "Trials over time"),
    ("configurations", "Configurations"),
    ("method", "How to read this"),
];

/// The whole page.
pub fn html(analysis: &Analysis, charts: &Charts) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{} - iopslab</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#answer\">To the answer</a>\n",
        text(&analysis.experiment)
    );
    out.push_str(&header(analysis));
    out.push_str("<main>\n");
    for (id, title) in SECTIONS {
        let body = match id {
            "decision" => decision::matrix(analysis),
            "money" => money::money(analysis),
            "limits" => tables::limits(analysis),
            "throughput" => bars::bars(analysis),
            "latency" => curves::curves(analysis, charts),
            "results" => tables::results(analysis, charts),
            "findings" => findings::findings(analysis, charts),
            "time" => timeline::timelines(analysis, charts),
            "configurations" => format!("{}{}", tables::configurations(analysis), tables::environment(analysis)),
            _ => method(analysis),
        };
        out.push_str(&section(id, title, &body));
    }
    out.push_str("</main>\n");
    out.push_str(&format!(
        "<footer>Run <code>{0}</code>. Every number of this page is in <code>analysis.json</code>; its evidence is in <code>trials/&lt;cell&gt;/&lt;block&gt;/</code>. \
         Made again by: <code>iopslab report {0}</code></footer>\n</body>\n</html>\n",
        text(&analysis.run)
    ));
    out
}

fn header(analysis: &Analysis) -> String {
    let question = analysis
        .question
        .as_ref()
        .map_or_else(String::new, |q| format!("<p class=\"question\">{}</p>\n", text(q)));
    let answer = card(analysis);
    let trials = analysis.trials;
    let model = if analysis.scale == 1.0 {
        "1:1".to_owned()
    } else {
        format!("1:{} model", given(analysis.scale))
    };
    let facts = [
        (
            "Trials",
            format!(
                "{} valid of {} done, {} planned",
                trials.valid, trials.done, trials.planned
            ),
        ),
        ("Provider", format!("{}, {model}", text(&analysis.provider))),
        ("Database", text(&analysis.database)),
        (
            "Data set",
            format!(
                "{} records x {} x {} B",
                count(analysis.dataset.records),
                analysis.dataset.fields,
                analysis.dataset.field_length
            ),
        ),
        (
            "Each trial",
            format!(
                "{} warm-up, {} measured",
                duration(analysis.shape.warmup_s),
                duration(analysis.shape.duration_s)
            ),
        ),
        (
            "Findings",
            format!("<a href=\"#findings\">{}</a>", findings::summary(analysis)),
        ),
    ];
    let facts: String = facts
        .iter()
        .map(|(name, value)| format!("<li><b>{name}:</b> {value}</li>"))
        .collect();
    let links: String = SECTIONS
        .iter()
        .map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"))
        .collect();
    format!(
        "<header>\n<h1>{}</h1>\n{question}{answer}<ul class=\"facts\">{facts}</ul>\n</header>\n\
         <nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n",
        text(&analysis.experiment)
    )
}

/// The recommendation. Only a decided one leads with a winner in bold.
fn card(analysis: &Analysis) -> String {
    let answer = answer(analysis);
    let banner = answer.banner.map_or_else(String::new, |b| {
        format!("<p class=\"banner\" role=\"note\">{}</p>\n", text(b))
    });
    let (class, verdict) = match analysis.recommendation.status {
        Status::Decided => ("decided", format!("<b>{}</b>", text(&answer.verdict))),
        Status::NotDecided => ("open", text(&answer.verdict)),
        Status::NoAnswerYet => ("none", text(&answer.verdict)),
    };
    let sentences: String = answer
        .sentences
        .iter()
        .map(|s| format!("<li>{}</li>\n", text(s)))
        .collect();
    let sentences = match sentences.is_empty() {
        true => sentences,
        false => format!("<ul>\n{sentences}</ul>\n"),
    };
    format!(
        "{banner}<div class=\"answer {class}\" id=\"answer\" role=\"region\" aria-label=\"The answer\">\n<p>{verdict}: {}.</p>\n{sentences}</div>\n",
        text(&answer.because)
    )
}

fn method(analysis: &Analysis) -> String {
    let emulated = if analysis.provider == "local" {
        "<li>Volumes are emulated by kernel I/O limits on a loop device. Reads and writes are limited apart, EBS counts them together; the throttle releases I/O in slices of \
         about 100 ms, which shows as steps in the tail of a saturated volume.</li>\n"
    } else {
        ""
    };
    let scaled = if analysis.scale > 1.0 {
        "<li>In a 1:N model IOPS, MB/s, CPUs, page cache and data set are divided by N: ratios between configurations carry over, absolute figures do not. The smallest heap, the \
         latency of one I/O and background CPU do not scale.</li>\n"
    } else {
        ""
    };
    format!(
        "<ul>\n<li>{}</li>\n\
         <li><b>faster</b>, <b>slower</b>: the difference is shown. <b>the same</b>: shown to lie within the margin of practical importance. <b>no difference shown</b>: there may be one, smaller than these repetitions can show. \
         <b>too few to test</b>: fewer than three pairs of valid trials; brackets hold the observed range. <b>Would have been shown</b>: the smallest true difference that this many \
         repetitions, spread as they are, show four times out of five at the level of the verdict.</li>\n\
         <li>The unit is the trial. Its figures come from its steady window; percentiles from the merged histograms of all its seconds, never averaged.</li>\n\
         <li>Closed loop (requests in flight) finds throughput; its latencies depend on the throughput each configuration allowed. Open loop (a rate) measures from the moment a request was due.</li>\n\
         {emulated}{scaled}\
         <li>Where a number comes from: <code>trials/&lt;cell&gt;/&lt;block&gt;/</code> holds <code>trial.json</code>, <code>latency.hlog</code> (HdrHistogram log), <code>host-database.parquet</code>, \
         <code>host-client.parquet</code> and the logs.</li>\n</ul>\n",
        text(&answer::spread(analysis))
    )
}
