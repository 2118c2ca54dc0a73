//! The page in a real browser: no complaint on its console, no request to anywhere.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a browser needs a file and a process")]
#![allow(clippy::print_stderr, reason = "a test that cannot run says so")]

use crate::page;
use std::path::Path;
use std::process::Command;

use analysis::{Analysis, Charts, LatencyCurve, Line, OperationKind, Panel, TrialCharts};

fn story() -> (Analysis, Charts) {
    let (analysis, _) = page::run(&["gp2-320", "io1-10000"], &["read-heavy"], 3);
    let cell = analysis.cells[0].id.clone();
    let charts = Charts {
        trials: vec![TrialCharts {
            cell: cell.clone(),
            block: 1,
            valid: true,
            warmup_s: 10.0,
            measured_s: 60.0,
            steady_from_s: 5.0,
            fault_spans: Vec::new(),
            background: Vec::new(),
            panels: vec![Panel {
                title: "Throughput".into(),
                unit: "operations/s".into(),
                lines: vec![Line {
                    name: "completed".into(),
                    points: (0..70).map(|t| (f64::from(t) - 10.0, Some(f64::from(t % 7)))).collect(),
                }],
                limits: vec![("limit".into(), 5.0)],
            }]
            .into(),
        }],
        curves: vec![LatencyCurve {
            cell,
            operation: OperationKind::Read,
            points: vec![(0.5, 1000.0), (0.9, 2000.0), (0.99, 9000.0)],
        }],
    };
    (analysis, charts)
}

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()))
}

#[test]
fn a_browser_finds_nothing_to_complain_about_and_asks_nobody() {
    let Some(browser) = browser() else {
        // `make test` installs one; without it, on somebody's own machine, the other tests of the page still hold.
        assert!(std::env::var_os("CI").is_none(), "no Chromium: scripts/setup.sh installs it");
        eprintln!("skipped: no Chromium on this machine");
        return;
    };
    let (analysis, charts) = story();
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let page = directory.path().join("report.html");
    std::fs::write(&page, report::html(&analysis, &charts)).unwrap();
    let (dom, log) = visit(browser, directory.path(), &page);
    assert!(dom.contains("<b>Run io1-10000</b>: 2.00 times"), "the page was not shown: {log}");
    let complaints: Vec<&str> = log.lines().filter(|l| l.contains(":CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");

    let asked = asked_by_the_page(directory.path());
    assert!(asked.is_empty(), "{asked:?}");

    // The same check must be able to fail: a page that asks for something and complains.
    let bad = directory.path().join("bad.html");
    std::fs::write(&bad, "<img src=\"http://127.0.0.1:9/x.png\"><script>console.error('oh')</script>").unwrap();
    let (_, log) = visit(browser, directory.path(), &bad);
    assert!(log.lines().any(|l| l.contains(":CONSOLE")), "a complaint would not have been seen: {log}");
    let asked = asked_by_the_page(directory.path());
    assert!(asked.iter().any(|url| url.contains("127.0.0.1:9/x.png")), "a request would not have been seen: {asked:?}");
}

/// On a telephone wide tables were cut at the edge without a word: scroll bars are shown there only while one scrolls.
#[test]
fn a_table_that_goes_on_beyond_the_edge_says_so() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium on this machine");
        return;
    };
    let (analysis, charts) = story();
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // For each table that can be seen (not in a closed fold) whether it is cut, and whether it says so.
    // What a busy machine has not drawn yet is asked for again.
    let ask = "<script>addEventListener('load', () => {
        const seen = [...document.querySelectorAll('.wide')].filter(wide => wide.checkVisibility());
        const isCut = wide => wide.scrollWidth > wide.clientWidth;
        const saysSo = wide => parseFloat(getComputedStyle(wide, '::before').height) > 0;
        const look = () => { document.title = seen.map(wide => isCut(wide) + '-' + saysSo(wide)).join(' '); };
        const eachFrame = () => { look(); requestAnimationFrame(eachFrame); };
        eachFrame();
    })</script>";
    for (width, some_are_cut) in [("400px", true), ("4000px", false)] {
        let page = directory.path().join(format!("{width}.html"));
        let style = format!("<style>body, main {{ width: {width}; max-width: none !important; }}</style>");
        let policy = "default-src 'none'";
        // Everything that can be unfolded is.
        let html = report::html(&analysis, &charts).replace("<details", "<details open");
        assert!(html.contains(policy), "no script runs in the page as it is");
        let html = html.replacen(policy, "default-src 'none'; script-src 'unsafe-inline'", 1);
        std::fs::write(&page, html + &style + ask).unwrap();
        let honest = |table: &String| ["true-true", "false-false"].contains(&table.as_str());
        // A browser whose machine is busy ends before it has drawn anything.
        let mut tables = Vec::new();
        for _ in 0..5 {
            let (dom, log) = visit(browser, directory.path(), &page);
            let title = dom.split("<title>").nth(1).and_then(|rest| rest.split('<').next());
            tables = title.unwrap_or_default().split(' ').map(str::to_owned).collect();
            assert!(tables.len() > 3, "{tables:?}: {log}");
            if tables.iter().all(honest) {
                break;
            }
        }
        assert!(tables.iter().all(honest), "{width}: {tables:?}");
        let some = tables.iter().any(|table| table == "true-true");
        assert_eq!(some, some_are_cut, "{width}: {tables:?}");
    }
}

/// What the page asked the network for. The browser asks its maker for this and that by itself; such requests come from
/// no page, and the name of no host is looked up in these tests.
fn asked_by_the_page(directory: &Path) -> Vec<String> {
    let log = std::fs::read_to_string(directory.join("net.json")).unwrap();
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    log["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["params"]["initiator"].as_str().is_some_and(|from| from != "not an origin"))
        .filter_map(|event| event["params"]["url"].as_str())
        .filter(|url| !url.starts_with("file:") && !url.starts_with("data:"))
        .map(str::to_owned)
        .collect()
}

/// (document, log) after the page has loaded; what was asked of the network is in `net.json`.
fn visit(browser: &str, directory: &Path, page: &Path) -> (String, String) {
    let profile = tempfile::tempdir_in(directory).unwrap();
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-default-apps",
        ])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
        .args(["--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--log-net-log={}", directory.join("net.json").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}
