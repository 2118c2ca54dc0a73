//! The report as plain text: `report.md`, and what a terminal shows at the end of a run.

use analysis::{Analysis, Charts, Status};

use crate::answer::answer;
use crate::document::section::Section;
use crate::document::table::Form;
use crate::document::terminal::TerminalOptions;
use crate::document::text::{Text, code, strong};
use crate::document::{markdown as in_markdown, terminal as in_terminal};
use crate::neutral::{neutral, one_line};
use crate::sections::sections;
use crate::summary;
use crate::wrap::wrapped;

/// `report.md`: the same answer as in the terminal, with what is needed to judge it later.
pub fn markdown(analysis: &Analysis) -> String {
    let question = analysis.question.iter().map(|question| format!("> {}\n\n", one_line(question)));
    let question: String = question.collect();
    let charts = Charts::default();
    let all = answered(analysis).into_iter().chain(sections(analysis, &charts));
    let text: String = all.map(|section| in_markdown::section(&section)).collect();
    neutral(format!("# {}\n\n{question}{text}", one_line(&analysis.experiment)).trim_end()) + "\n"
}

/// The answer, what the money buys, one table for each workload, then the findings; ends with a newline.
pub fn terminal(analysis: &Analysis, options: TerminalOptions) -> String {
    let asked = Section::new("asked", "").paragraph(strong(&*analysis.experiment));
    let asked = asked.paragraphs(analysis.question.clone());
    let evidence =
        format!("Every figure: analysis.json; its evidence: trials/<cell>/<block>/ (both in {}).", analysis.run);
    let evidence = Section::new("evidence", "").paragraph(evidence);
    let charts = Charts::default();
    let all = [asked].into_iter().chain(answered(analysis)).chain(sections(analysis, &charts)).chain([evidence]);
    let text: String = all.map(|section| in_terminal::section(&section, options)).collect();
    text.trim_start().to_owned()
}

/// The answer alone, under the name of its run, for several runs after each other.
pub fn headline(analysis: &Analysis, width: usize) -> String {
    let answer = answer(analysis);
    let mut text = wrapped(&analysis.run, width, "");
    for line in answer.banner.map(str::to_owned).into_iter().chain([answer.headline()]) {
        text.push_str(&wrapped(&line, width, "  "));
    }
    text
}

/// Banner, headline, sentences; then what ran. Only a decided answer leads with a winner in bold.
fn answered(analysis: &Analysis) -> [Section<'_>; 3] {
    let answer = answer(analysis);
    let verdict = match analysis.recommendation.status {
        Status::Decided => strong(&*answer.verdict),
        Status::NotDecided | Status::NoAnswerYet => Text::from(&*answer.verdict),
    };
    let banner =
        answer.banner.into_iter().fold(Section::new("banner", ""), |section, banner| section.paragraph(strong(banner)));
    let first = Section::new("answer", "")
        .paragraph(verdict.then(format!(": {}.", answer.because)))
        .list(answer.details().map(|sentence| &**sentence));
    let run = Section::new("run", "")
        .paragraph(Text::from("Run ").then(code(&*analysis.run)).then("."))
        .on(Form::MARKDOWN)
        .paragraphs(summary::of_run(analysis));
    [banner, first, run]
}
