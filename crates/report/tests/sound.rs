//! What must be true of any page, whatever is in it: sound markup, links that lead somewhere, nothing of the user's as
//! markup, no number that is none, no table over nothing. Held for a full run, a hostile one, an empty one, one without
//! charts, and one trial alone.

use crate::page;
use std::collections::BTreeSet;

use crate::page::HOSTILE;
use analysis::rules::trial_invalid::TrialInvalid;
use analysis::{Charts, Finding};
use report::{html, summary_csv};

/// The values of an attribute, in the order of the page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let opening = format!(" {name}=\"");
    page.split(opening.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

fn is_sound(page: &str) {
    let ids = attributes(page, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an identity stands twice");
    for reference in attributes(page, "href").iter().filter_map(|h| h.strip_prefix('#')) {
        assert!(unique.contains(reference), "#{reference} leads nowhere");
    }
    for reference in attributes(page, "aria-labelledby") {
        assert!(unique.contains(reference), "{reference} names nothing");
    }
    for id in &unique {
        assert!(!id.contains(char::is_whitespace), "{id}");
    }
    let lower = page.to_lowercase();
    for outside in ["<script", "http:", "https:", "url(", "@import", "src=\"", "javascript:"] {
        assert!(!lower.contains(outside), "not self-contained: {outside}");
    }
    assert!(page.contains("default-src 'none'"), "no content security policy");
    for no_figure in ["NaN", "inf ", "inf<", "Some(", "None<"] {
        assert!(!page.contains(no_figure), "{no_figure} is no figure");
    }
    for nothing in ["<tbody>\n</tbody>", "<ul></ul>", "<ul class=\"facts\"></ul>"] {
        assert!(!page.contains(nothing), "a head over nothing: {nothing}");
    }
    is_balanced(page);
}

/// Every element that is opened is closed, in order; `<li>` may be left open, as HTML allows.
fn is_balanced(page: &str) {
    const VOID: [&str; 4] = ["meta", "link", "br", "img"];
    let (head, body) = page.split_once("</style>").unwrap();
    let page = format!("{}{body}", head.split_once("<style>").unwrap().0);
    let mut open: Vec<String> = Vec::new();
    for tag in page.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap();
        let name: String = inside.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        let implied = open.last().is_some_and(|o| o == "li");
        if inside.starts_with('/') {
            if implied && name != "li" {
                open.pop();
            }
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "closes something else");
        } else if !inside.ends_with('/') && !inside.starts_with('!') && !VOID.contains(&name.as_str()) {
            if implied && name == "li" {
                open.pop();
            }
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

fn has(page: &str, text: &str) {
    assert!(page.contains(text), "not on the page: {text}");
}

#[test]
fn a_full_run() {
    let (analysis, charts) = page::run(&["gp2-320", "gp2-1000", "io1"], &["read-heavy", "scan"], 3);
    let page = html(&analysis, &charts);
    is_sound(&page);
    has(&page, "<html lang=\"en\">");
    has(&page, "1:16 model");
    let answer = page.find("<b>Run io1</b>: 3.00 times (2.85 to 3.15) the throughput of gp2-320").unwrap();
    assert!(answer < page.find("<main>").unwrap(), "the answer comes first");
    let trials = attributes(&page, "id").into_iter().filter(|id| id.starts_with("trial_"));
    assert_eq!(trials.count(), 36);
    // A number with its interval in cells of their own, a limit with its numbers, the verdict and the knee in words.
    has(&page, "<td class=\"num\">1,000</td><td class=\"num\">970</td><td class=\"num\">1,040</td>");
    has(&page, "data volume: 990 of 1,000 IOPS (99 %).");
    has(&page, "Statistically indistinguishable");
    has(&page, ">knee<");
    // From a number to its file.
    has(&page, "analysis.json");
    has(&page, "trials/&lt;cell&gt;/&lt;block&gt;/");
    // The question is the headline, when and on what it was answered stands at the foot.
    has(&page, "<h1>Is it worth paying for more IOPS?</h1>");
    for fact in [
        "2026-01-02 03:04 UTC",
        "Example &lt;CPU&gt;, 2 CPUs, 8.00 GiB of memory",
        "<dt>Kernel</dt><dd>6.18.5</dd>",
        "<dt>iopslab</dt><dd>0.1.0</dd>",
        "<dt>Database</dt><dd>Apache Cassandra 5.0.9</dd>",
        "<dt>Seed</dt><dd>2018</dd>",
    ] {
        has(&page, fact);
    }
    assert_eq!(page, html(&analysis, &charts), "the same analysis gives the same bytes");
}

/// `<use>` repeats the axis of time in a tree of its own, where a selector such as `svg text` finds no `svg`: its
/// numbers grew to twice their size.
#[test]
fn no_rule_of_the_style_depends_on_being_inside_an_svg() {
    let (analysis, charts) = page::run(&["a"], &["w"], 1);
    let page = html(&analysis, &charts);
    has(&page, "<use href=");
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    for rule in style.split('}').filter_map(|r| r.split_once('{')).map(|(selector, _)| selector) {
        let selector = rule.rsplit("*/").next().unwrap().trim();
        assert!(!selector.starts_with("svg "), "{selector}");
    }
}

#[test]
fn a_run_of_which_a_node_was_away() {
    let (mut analysis, mut charts) = page::run(&["gp2-320", HOSTILE], &["read-heavy", "update-heavy"], 3);
    for cell in &mut analysis.cells {
        cell.faults = Some(page::faults::killed());
    }
    for trial in &mut charts.trials {
        trial.fault_spans = vec![(100.0, 160.0), (200.0, 300.0)];
    }
    is_sound(&html(&analysis, &charts));
    is_sound(&html(&analysis, &Charts::default()));
}

#[test]
fn a_run_whose_charts_are_missing() {
    let (analysis, _) = page::run(&["a", "b"], &["w"], 2);
    is_sound(&html(&analysis, &Charts::default()));
}

#[test]
fn a_run_of_hostile_names() {
    let (mut analysis, charts) = page::run(&[HOSTILE, "b"], &[HOSTILE], 2);
    for place in [
        &mut analysis.run,
        &mut analysis.experiment,
        &mut analysis.database,
        &mut analysis.basis.region,
        &mut analysis.workloads[0].description,
    ] {
        *place = HOSTILE.to_owned();
    }
    (analysis.question, analysis.stopped) = (Some(HOSTILE.to_owned()), Some(HOSTILE.to_owned()));
    analysis.environment = serde_json::json!({ HOSTILE: HOSTILE });
    analysis.configurations[0].cost_missing = Some(HOSTILE.to_owned());
    analysis.configurations[0].usd_per_month = None;
    for finding in &mut analysis.findings {
        let reason = HOSTILE.to_owned();
        *finding = Finding::new(finding.scope.clone(), TrialInvalid { reason });
    }
    let page = html(&analysis, &charts);
    is_sound(&page);
    assert!(!page.contains("<img"), "an image of the user's own");
    has(&page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;so&#39;");
}

#[test]
fn a_run_of_which_nothing_is_known() {
    let page = html(&page::empty(""), &Charts::default());
    is_sound(&page);
    has(&page, "0 of 0 trials done, 0 valid.");
    has(&page, "No answer yet: no trial has been measured.");
    has(&page, "No cell has been planned");
}

#[test]
fn a_run_without_a_valid_trial() {
    let (mut analysis, _) = page::run(&["a", "b"], &["w"], 2);
    analysis.decision.clear();
    analysis.value_of_money.clear();
    for cell in &mut analysis.cells {
        (cell.trials, cell.valid_trials) = (0, 0);
        (cell.throughput_ops_per_s, cell.runtime_s, cell.ratio_to_baseline) = (None, None, None);
        cell.latency_us.clear();
    }
    let page = html(&analysis, &Charts::default());
    is_sound(&page);
    has(&page, ">not measured</td>");
}

#[test]
fn one_repetition_of_one_configuration_without_a_price() {
    let (analysis, charts) = page::alone();
    let page = html(&analysis, &charts);
    is_sound(&page);
    has(&page, "no catalog type");
    assert!(!page.contains("1,000 (1,000-1,000)"), "an interval where there is none");
    // Two loads stand beside each other where the cost of an operation is stated.
    let results = page.split("<section id=\"results\"").nth(1).unwrap();
    assert!(
        !results.contains("<td class=\"num\">1,000</td><td class=\"num\">1,000</td>"),
        "an interval where there is none"
    );
    assert!(!page.contains("class=\"halo\""), "a whisker without an interval");
}

#[test]
fn a_missing_figure_is_an_empty_field_of_summary_csv() {
    let (mut analysis, _) = page::run(&["gp2-320", "io1"], &["read-heavy"], 3);
    analysis.cells[1].throughput_ops_per_s = None;
    let text = summary_csv(&analysis);
    let rows: Vec<Vec<&str>> = text.split_terminator("\r\n").map(|l| l.split(',').collect()).collect();
    let at = |row: usize, name: &str| rows[row][rows[0].iter().position(|c| *c == name).unwrap()];
    assert_eq!(at(1, "throughput_ops_per_s"), "1000");
    assert_eq!(at(1, "read_p99_us"), "5000");
    assert_eq!(at(2, "throughput_ops_per_s"), "", "missing is not zero");
    assert_eq!(at(2, "rate_ops_per_s"), "5000");
}

/// A figure of a table is nothing but its digits, so that a spreadsheet takes it as a number: units stand in the head.
#[test]
fn tables_paste_as_numbers() {
    let (mut analysis, charts) = page::run(&["gp2-320", "io1"], &["read-heavy", "scan"], 3);
    for cell in &mut analysis.cells {
        // So few that p99.9 is marked.
        let latency = cell.latency_us.values_mut().next().unwrap();
        latency.samples = 20_000;
    }
    let page = html(&analysis, &charts);
    let mut numbers = 0;
    for cell in page.split("<td class=\"num").skip(1).chain(page.split("<td class=\"heat").skip(1)) {
        let figure = cell.split_once('>').unwrap().1.split("</td>").next().unwrap();
        let is_number = figure.replace(',', "").parse::<f64>().is_ok();
        assert!(is_number || figure == "-", "{figure:?} is no number");
        numbers += usize::from(is_number);
    }
    assert!(numbers > 100, "{numbers}");
    has(&page, "<td class=\"num few\">20.0</td>");
}
