//! The head of the page, one screen: the question, the answer, what the money buys, one picture, at most three doubts.
//! The rest of the answer is folded below.

use analysis::{Analysis, Status};

use crate::answer::{Answer, Exchange, answer};
use crate::capacity::any;
use crate::charts::{capacity, frontier};
use crate::document::html::{escaped, list, open};
use crate::document::text::Text;
use crate::figures::{several, when};
use crate::labels;
use crate::sections::findings_summary;
use crate::summary;

/// Doubts of the first screen.
const DOUBTS: usize = 3;

/// The question as the headline; the experiment's name where none was asked.
pub fn header(analysis: &Analysis) -> String {
    let when = labels::begun(&analysis.run).map_or_else(String::new, |when| format!(", {when}"));
    let (kicker, headline) = match &analysis.question {
        Some(question) => (format!("{}{when}", escaped(&analysis.experiment)), escaped(question)),
        None => (when.trim_start_matches(", ").to_owned(), escaped(&analysis.experiment)),
    };
    let answer = answer(analysis);
    let banner =
        answer.banner.map_or_else(String::new, |b| format!("<p class=\"banner\" role=\"note\">{}</p>\n", escaped(b)));
    format!(
        "<header>\n<p class=\"kicker\">iopslab report: {kicker}</p>\n<h1>{headline}</h1>\n{banner}{}</header>\n",
        card(analysis, &answer)
    )
}

/// The recommendation. Only a decided one leads with a winner in bold.
fn card(analysis: &Analysis, answer: &Answer) -> String {
    let (class, verdict) = match analysis.recommendation.status {
        Status::Decided => ("decided", format!("<b>{}</b>", escaped(&answer.verdict))),
        Status::NotDecided => ("open", escaped(&answer.verdict)),
        Status::NoAnswerYet => ("none", escaped(&answer.verdict)),
    };
    let (doubts, more) = answer.doubts.split_at(answer.doubts.len().min(DOUBTS));
    let doubts = match doubts {
        [] => "<p>None is known to the analysis; what no run can know is in the method.</p>".to_owned(),
        doubts => sentences(doubts),
    };
    format!(
        "<div class=\"answer {class}\" id=\"answer\" role=\"region\" aria-label=\"The answer\">\n{}<p \
         class=\"verdict\">{verdict}: {}.</p>\n<div class=\"sides\">\n{}<div><h2>Doubts</h2>{doubts}</div>\n</div>\n\
         {}</div>\n",
        answer.exchange.as_ref().map_or_else(String::new, large),
        escaped(&answer.because),
        picture(analysis),
        rest(analysis, answer, more)
    )
}

/// What the money buys, large.
fn large(exchange: &Exchange) -> String {
    format!(
        "<p class=\"exchange\">{} <span role=\"img\" aria-label=\"gives\">&rarr;</span> {}<small>{}</small></p>\n",
        escaped(&exchange.cost),
        escaped(&exchange.gain),
        escaped(&exchange.of)
    )
}

/// Cost against performance in the first place that has both, or what each carries; empty where there is neither.
fn picture(analysis: &Analysis) -> String {
    let drawn = if any(analysis) { capacity::chart(analysis) } else { frontier::first(analysis) };
    when(!drawn.is_empty(), || format!("<div class=\"picture\">{drawn}</div>\n"))
}

/// What else the answer says; unfolded where nothing is decided, because it says what would.
fn rest(analysis: &Analysis, answer: &Answer, more_doubts: &[String]) -> String {
    let basis = basis(analysis, answer);
    let doubts = match more_doubts.len() as u64 {
        0 => String::new(),
        n => format!("<h2>{} more</h2>{}", several(n, "doubt"), sentences(more_doubts)),
    };
    format!(
        "<details{}><summary>More of the answer, and what it rests \
         on</summary>\n{}{doubts}<h2>Basis</h2>{}</details>\n",
        open(analysis.recommendation.status == Status::NotDecided),
        sentences(&answer.sentences),
        sentences(&basis)
    )
}

/// What the answer rests on.
fn basis(analysis: &Analysis, answer: &Answer) -> Vec<String> {
    let findings = format!("Findings: {}.", findings_summary(analysis));
    answer.basis.iter().cloned().chain(summary::of_run(analysis)).chain([findings]).collect()
}

fn sentences(all: &[String]) -> String {
    list(&all.iter().map(|words| Text::from(&**words)).collect::<Vec<_>>())
}
