//! The page: whole, safe, self-contained, and small enough.

use crate::page;
use std::collections::BTreeSet;

use analysis::{Analysis, Charts, Line, Panel, TrialCharts};
use report::{html, summary_csv};

fn story() -> Analysis {
    page::run(&["gp2-320", "io1-10000"], &["read-heavy"], 3).0
}

/// Charts of `trials` trials with as many panels and points as a real trial has.
fn charts(analysis: &Analysis, trials: u32) -> Charts {
    let noise = |seed: u32, i: u32| f64::from((seed.wrapping_mul(2_654_435_761) ^ i.wrapping_mul(40_503)) % 1000);
    let line = |name: &str, seed: u32| Line {
        name: name.into(),
        points: (0..240).map(|i| (f64::from(i) - 40.0, (i != 100).then(|| noise(seed, i)))).collect(),
    };
    let panel = |title: &str, seed: u32| Panel {
        title: title.into(),
        unit: "requests/s".into(),
        lines: vec![line("one", seed), line("two", seed + 1)],
        limits: vec![("limit".into(), 900.0)],
    };
    Charts {
        trials: (0..trials)
            .map(|i| TrialCharts {
                cell: analysis.cells[i as usize % analysis.cells.len()].id.clone(),
                block: 1 + i / analysis.cells.len() as u32,
                valid: i % 5 != 0,
                warmup_s: 40.0,
                measured_s: 200.0,
                steady_from_s: 15.0,
                fault_spans: Vec::new(),
                background: Vec::new(),
                panels: (0..10).map(|p| panel("Data volume IOPS", i * 20 + 2 * p)).collect(),
            })
            .collect(),
        ..Charts::default()
    }
}

fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let opening = format!(" {name}=\"");
    page.match_indices(&opening).map(|(at, _)| page[at + opening.len()..].split('"').next().unwrap()).collect()
}

/// Dollars are those of full scale, operations those of the model: a head that does not say so has readers divide them.
#[test]
fn heads_say_which_figures_are_those_of_the_model() {
    let mut analysis = story();
    let of = |analysis: &Analysis| html(analysis, &Charts::default());
    let page = of(&analysis);
    for head in ["Op/s in the 1:16 model, geo. mean", "Op/s at full scale, est.", "Op/$ at full scale"] {
        assert!(page.contains(head), "{head}");
    }
    assert!(page.contains(": operations/s in the 1:16 model</figcaption>"), "the bars");
    analysis.scale = 1.0;
    assert!(!of(&analysis).contains("in the 1:"));
}

#[test]
fn every_link_leads_somewhere_on_the_page_and_none_leaves_it() {
    let analysis = story();
    let page = html(&analysis, &charts(&analysis, 4));
    let ids = attributes(&page, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "identities are unique");
    for target in attributes(&page, "href") {
        match target.strip_prefix('#') {
            Some(id) => assert!(unique.contains(id), "#{id} is nowhere"),
            // The files of the run lie beside the page.
            None => assert!(
                ["data:,", "summary.csv", "analysis.json", "report.md", "trials/"].contains(&target),
                "{target} leaves the run"
            ),
        }
    }
    for forbidden in ["<script", "http:", "https:", "src=", "url(", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn names_from_the_users_file_stay_text() {
    let mut analysis = story();
    let name = "<script>alert(\"1\")</script>&'";
    analysis.experiment = name.into();
    analysis.question = Some(name.into());
    analysis.recommendation.run = Some(name.into());
    for cell in &mut analysis.cells {
        cell.workload = name.into();
        cell.id = format!("{name}{}", cell.configuration);
    }
    analysis.workloads[0].name = name.into();
    let page = html(&analysis, &charts(&analysis, 4));
    assert!(!page.contains("<script") && !page.contains("alert(\"1\")"));
    assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;"));
}

#[test]
fn the_answer_comes_first_and_every_section_is_there() {
    let analysis = story();
    let page = html(&analysis, &charts(&analysis, 4));
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is missing"));
    assert!(place("<h1>Is it worth") < place("<b>Run io1-10000</b>: 2.00 times"));
    let mut before = place("<b>Run io1-10000</b>: 2.00 times");
    for section in [
        "decision",
        "money",
        "limits",
        "work",
        "rates",
        "time",
        "throughput",
        "latency",
        "results",
        "findings",
        "trials",
        "configurations",
        "method",
    ] {
        let at = place(&format!("<section id=\"{section}\""));
        assert!(before < at, "{section} stands too early");
        before = at;
    }
    place("<h3 id=\"finding_suspect_");
    place("volume IOPS");
}

/// For somebody who pays: what it costs, what that gives, one picture, three doubts; then what decides.
#[test]
fn the_first_screen_is_short_and_the_evidence_is_folded() {
    let mut analysis = story();
    let doubts = [1, 2, 3, 4].map(|trials| analysis::Doubt::Missing { trials, planned: 12 });
    analysis.recommendation.doubts = doubts.to_vec();
    let page = html(&analysis, &charts(&analysis, 4));
    let header = page.split("<header>").nth(1).unwrap().split("</header>").next().unwrap();
    // What is below the verdict, up to the fold that holds the rest of the answer.
    let (screen, rest) = header.split_once("<details><summary>More of the answer").unwrap();
    assert!(screen.contains("<p class=\"exchange\">+50 % cost <span"), "{screen}");
    assert!(screen.contains(
        "2.00 times the throughput<small>io1-10000 instead of gp2-320 at 100 in flight, $250.00 more a month: worth it"
    ));
    assert_eq!(screen.matches("<figure").count(), 1, "{screen}");
    assert_eq!(screen.matches("of 12 planned").count(), 3, "{screen}");
    assert!(rest.contains("4 trials of 12 planned are missing"), "{rest}");
    // Money is that of full scale, and so is what the picture sets against it: 16 times 2,000 on a 1:16 model.
    assert!(screen.contains("operations/s, estimated for full scale, against $ a month"), "{screen}");
    assert!(screen.contains("32,000/s, $750.00"), "{screen}");
    let main = page.split("<main>").nth(1).unwrap();
    let unfolded: Vec<&str> = main
        .split("<section id=\"")
        .skip(1)
        .filter(|s| s.contains("\"><details open><summary><h2"))
        .map(|s| s.split('"').next().unwrap())
        .collect();
    assert_eq!(unfolded, ["decision"]);
}

#[test]
fn a_thousand_trials_stay_below_ten_megabytes() {
    let analysis = story();
    let page = html(&analysis, &charts(&analysis, 1000));
    println!("1,000 trials: {:.1} MB", page.len() as f64 / 1e6);
    assert!(page.len() < 10_000_000, "{}", page.len());
}

#[test]
fn a_run_without_trials_has_a_page_too() {
    let mut analysis = story();
    analysis.cells.iter_mut().for_each(|c| {
        c.throughput_ops_per_s = None;
        c.latency_us.clear();
        (c.trials, c.valid_trials) = (0, 0);
    });
    analysis.decision.clear();
    analysis.value_of_money.clear();
    analysis.findings.clear();
    let page = html(&analysis, &Charts::default());
    for sentence in ["there is nothing to decide", "No cell has a valid trial", "No trial has been measured"] {
        assert!(page.contains(sentence), "{sentence}");
    }
}

#[test]
fn summary_has_one_row_a_cell_with_the_same_columns() {
    let mut analysis = story();
    analysis.cells[0].configuration = "a, \"b\"".into();
    let csv = summary_csv(&analysis);
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 1 + analysis.cells.len());
    assert!(lines[0].starts_with("cell,configuration,workload,concurrency,rate_ops_per_s"));
    assert!(lines[1].contains("\"a, \"\"b\"\"\""), "{}", lines[1]);
    // Throughput is that of the model, money that of full scale: the factor between them stands in every row.
    let scale = lines[0].split(',').position(|column| column == "scale").unwrap();
    assert_eq!(lines[2].split(',').nth(scale), Some("16"));
    assert_eq!(lines[0].matches(',').count(), lines[2].matches(',').count());
}
