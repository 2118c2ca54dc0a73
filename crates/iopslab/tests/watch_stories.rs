//! `run --watch`: a run is watched, paused, stopped, and a cell of it skipped; nobody else may. The runs are simulated:
//! a story has many short trials, and ends before them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::support::browser::{self, Browser};
use crate::support::{Laboratory, two_equal, wait_for};
use serde_json::Value;

/// Longest wait for something that takes milliseconds on a quiet machine.
const LONG: Duration = Duration::from_secs(60);

const EXPERIMENT: &str = two_equal!(
    "question = \"Is b faster?\"\n",
    "duration_s = 45\nrepetitions = 4\n[provider.simulated]\nrun_noise = 0.02\nspeed = { b = 1.3 }\n"
);

/// A run that does not outlive its story: one that is paused would wait for ever.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Over already, or its story has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run that is watched.
struct Watched {
    run: Running,
    lab: Laboratory,
    /// `127.0.0.1:PORT`.
    address: String,
    token: String,
}

impl Watched {
    fn begin(repetitions: u32) -> Self {
        let lab = Laboratory::new();
        lab.write("x.toml", &EXPERIMENT.replace("repetitions = 4", &format!("repetitions = {repetitions}")));
        let mut run = Running(lab.spawn(&["run", "x.toml", "--provider", "simulated", "--watch"]));
        lab.wait_in(&mut run.0, "address", LONG, || lab.stderr_so_far().contains("/?token="));
        let said = lab.stderr_so_far();
        let url = said.split("Watch: http://").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        let (address, token) = url.split_once("/?token=").unwrap();
        let (address, token) = (address.to_owned(), token.to_owned());
        Self { run, lab, address, token }
    }

    /// What is answered to this head of a request.
    fn ask(&self, request: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(format!("{request} HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// As the page does it.
    fn command(&self, command: &str) {
        let Self { address, token, .. } = self;
        let headers = format!("Host: {address}\r\nOrigin: http://{address}\r\nX-Iopslab-Token: {token}\r\n");
        let answer = self.ask(&format!("POST {command}"), &headers);
        assert!(answer.starts_with("HTTP/1.1 200"), "{command}: {answer}");
    }

    fn events(&self) -> Events {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let request = format!("GET /events?token={} HTTP/1.1\r\nHost: {}\r\n\r\n", self.token, self.address);
        stream.write_all(request.as_bytes()).unwrap();
        Events { lines: BufReader::new(stream), report: String::new() }
    }

    fn said(&self) -> String {
        self.lab.stderr_so_far()
    }

    /// How it ended, with what it printed.
    fn end(self) -> (Option<i32>, Laboratory) {
        let Self { mut run, lab, .. } = self;
        let mut printed = String::new();
        run.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (run.0.wait().unwrap().code(), lab)
    }
}

/// What a browser hears.
struct Events {
    lines: BufReader<TcpStream>,
    /// The last report.
    report: String,
}

impl Events {
    /// The next state.
    fn next(&mut self) -> Value {
        let mut is_report = false;
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the events have ended");
            match line.trim_end().split_once(": ") {
                Some(("event", name)) => is_report = name == "report",
                Some(("data", data)) => {
                    let data: Value = serde_json::from_str(data).unwrap();
                    if !is_report {
                        return data;
                    }
                    data["html"].as_str().unwrap().clone_into(&mut self.report);
                }
                _ => {}
            }
        }
    }

    /// The first state of which this holds.
    fn until(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let state = self.next();
            if holds(&state) {
                return state;
            }
            assert!(began.elapsed() < LONG, "waited for {what}: {state:#}");
        }
    }
}

fn done(state: &Value) -> u64 {
    state["done"].as_u64().unwrap()
}

fn done_of(state: &Value, cell: usize) -> u64 {
    state["cells"][cell]["done"].as_u64().unwrap()
}

#[test]
fn a_run_is_watched_paused_a_cell_of_it_skipped_and_it_is_stopped_and_goes_on_later() {
    let watched = Watched::begin(120);
    let mut events = watched.events();
    events.until("a few trials", |state| done(state) >= 3);
    watched.command("/pause");
    let paused = events.until("a pause", |state| state["sites"][0]["doing"] == "paused");
    let of_trial = &paused["sites"][0]["trial"];
    let seconds = of_trial["seconds"].as_array().unwrap();
    assert!(of_trial["over"] == true && seconds.len() >= 45, "{of_trial:#}");
    assert!(seconds.iter().all(|second| second[1].as_u64().unwrap() > 100), "operations of each second");
    assert!(seconds.iter().any(|second| second[3].as_u64().unwrap() > 0), "p99 in microseconds");
    assert!(seconds.iter().skip(3).any(|second| second[4].is_number()), "I/Os of the volume");
    // The answer so far is the report's own.
    let report = events.report.clone();
    for words in ["<h1>Is b faster?</h1>", "SIMULATED", "id=\"answer\"", "<h2>Doubts</h2>"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(!report.contains("<script"), "{report}");

    // Nothing goes on in a pause.
    std::thread::sleep(Duration::from_millis(500));
    let still = events.next();
    assert_eq!((done(&still), watched.lab.trials().len() as u64), (done(&paused), done(&paused)));
    assert!(watched.said().contains("paused after a trial"), "{}", watched.said());

    watched.command("/skip?cell=0");
    let skipped = events.until("a skipped cell", |state| state["cells"][0]["skipped"] == true);
    watched.command("/resume");
    let later = events.until("more trials", |state| done(state) >= done(&skipped) + 4);
    assert_eq!(done_of(&later, 0), done_of(&skipped, 0), "the skipped one gets no further trial");
    assert!(done_of(&later, 1) >= done_of(&skipped, 1) + 4);

    watched.command("/stop");
    let end = events.until("the end", |state| !state["ended"].is_null());
    assert!(end["ended"].as_str().unwrap().contains("stopped after a trial, as wished on the page"), "{end:#}");
    let (code, lab) = watched.end();
    let said = lab.stderr_so_far();
    assert_eq!(code, Some(130), "{said}");
    let run = lab.run_directory();
    assert!(
        said.contains(&format!("continue with: iopslab run --resume runs/{}", run.file_name().unwrap().display())),
        "{said}"
    );
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    for event in ["\"event\":\"cell_skipped\",\"cell\":\"a.reads.c32\"", "\"event\":\"interrupted\""] {
        assert!(journal.contains(event), "{event}: {journal}");
    }
    let skipped_words = "Skipped by the user while the run was under way: a.reads.c32 after";
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains(skipped_words), "who stops after a trial gets the report: {report}");

    // What is left is measured later; what was skipped stays so until it is asked for.
    let of_a = || lab.trials().iter().filter(|(cell, _)| cell.starts_with("a.")).count() as u64;
    let before = of_a();
    let done = lab.trials().len();
    let said = lab.exits(0, &["run", "--resume", run.to_str().unwrap()]).stderr;
    let far = format!("{done} of 240 trials are done, {} are skipped", 120 - before);
    assert!(said.contains(&far), "{far}: {said}");
    assert_eq!((of_a(), lab.trials().len() as u64), (before, before + 120));
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains(skipped_words) && !report.contains("planned are missing"), "{report}");
    let said = lab.exits(0, &["run", "--resume", run.to_str().unwrap(), "--retry-skipped"]).stderr;
    assert!(said.contains("a.reads.c32 was skipped, and is measured again"), "{said}");
    assert_eq!(lab.trials().len(), 240);
}

#[test]
fn who_watches_hears_the_end_and_the_run_is_as_any_other() {
    let watched = Watched::begin(60);
    let mut events = watched.events();
    let end = events.until("the end", |state| !state["ended"].is_null());
    assert!(end["ended"].as_str().unwrap().starts_with("The run is done; its report is "), "{end:#}");
    assert_eq!((done(&end), &end["cells"][1]["stands"]), (120, &Value::from("done")));
    let shown = events.report.clone();
    let (code, lab) = watched.end();
    assert_eq!(code, Some(0), "{}", lab.stderr_so_far());
    let report = std::fs::read_to_string(lab.run_directory().join("report.html")).unwrap();
    assert!(report.contains(&shown), "the last answer so far is the answer");
    assert_eq!(lab.stderr_so_far().matches("Watch: http").count(), 1);
}

#[test]
fn who_has_no_token_or_comes_from_another_site_gets_nothing_and_those_who_drip_hold_nothing_up() {
    let watched = Watched::begin(60);
    watched.command("/pause");
    let Watched { address, token, .. } = &watched;
    assert_eq!(token.len(), 32);
    let own = format!("Host: {address}\r\nOrigin: http://{address}\r\n");
    let with = format!("{own}X-Iopslab-Token: {token}\r\n");
    let none = "0".repeat(32);
    let mut refused = vec![
        (format!("GET /?token={token}"), "Host: rebound.example.org\r\n".to_owned()),
        (format!("GET /events?token={token}"), format!("Host: {address}\r\nOrigin: http://example.org\r\n")),
        ("POST /resume".to_owned(), own.clone()),
        (format!("POST /resume?token={token}"), own.clone()),
        ("POST /resume".to_owned(), format!("{own}X-Iopslab-Token: {none}\r\n")),
        ("POST /resume".to_owned(), format!("Host: {address}\r\nX-Iopslab-Token: {token}\r\n")),
    ];
    let last = if token.ends_with('0') { '1' } else { '0' };
    let (nearly, longer) = (format!("{}{last}", &token[..31]), format!("{token}0"));
    for path in ["/", "/events"] {
        refused.push((format!("GET {path}"), String::new()));
        let given = ["", &none, &nearly, &longer];
        refused.extend(given.map(|given| (format!("GET {path}?token={given}"), String::new())));
    }
    for origin in [format!("https://{address}"), "http://example.org".to_owned(), "null".to_owned()] {
        refused.push(("POST /resume".to_owned(), with.replace(&format!("http://{address}"), &origin)));
    }
    for (request, headers) in refused {
        let answer = watched.ask(&request, &headers);
        assert!(answer.starts_with("HTTP/1.1 403"), "{request} {headers}: {answer}");
        assert!(!answer.contains(token.as_str()) && !answer.contains("reads"), "{answer}");
    }
    // Connections that ask nothing, some that drip, and as many watchers as may: one of them reads nothing.
    let silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    for mut stream in silent.iter().take(20) {
        // It may have been given up already.
        let _ = stream.write_all(b"GET /?tok");
    }
    let watchers: Vec<Events> = (0..12).map(|_| watched.events()).collect();
    let page = watched.ask(&format!("GET /?token={token}"), &format!("Host: {address}\r\n"));
    let nonce = page.split("script-src 'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
    let held =
        ["Content-Security-Policy: default-src 'none'", "frame-ancestors 'none'", "Referrer-Policy: no-referrer"];
    for held in held.map(str::to_owned).into_iter().chain([format!("<script nonce=\"{nonce}\"")]) {
        assert!(page.contains(&held), "{held}: {page}");
    }
    for other in ["unsafe-inline", "src=\"http", "Access-Control-Allow"] {
        assert!(!page.contains(other), "it asks nobody else, and nobody else may read it: {page}");
    }
    for request in ["GET /stop", "POST /skip", "POST /skip?cell=2", "POST /skip?cell=-1", "POST /leave"] {
        let answer = watched.ask(request, &with);
        assert!(answer.starts_with("HTTP/1.1 404"), "{request}: {answer}");
    }
    watched.command("/skip?cell=0");
    watched.command("/take-up?cell=0");
    // Through ssh -L the port is another one, at both ends of the comparison.
    let forwarded = with.replace(address.as_str(), "localhost:9000");
    let resumed = watched.ask("POST /resume", &forwarded);
    assert!(resumed.starts_with("HTTP/1.1 200"), "{resumed}");
    let (code, lab) = watched.end();
    assert_eq!(code, Some(0), "{}", lab.stderr_so_far());
    assert_eq!(lab.trials().len(), 120);
    drop((silent, watchers));
}

#[test]
fn an_address_of_the_network_is_refused_and_what_is_for_resume_is_not_for_a_new_run() {
    let lab = Laboratory::new();
    lab.write("x.toml", EXPERIMENT);
    for (argument, said) in [
        ("--watch=0.0.0.0:0", "--watch 0.0.0.0:0 would be open to the network"),
        ("--retry-skipped", "--retry-skipped is for --resume RUN"),
    ] {
        let stderr = lab.exits(2, &["run", "x.toml", "--provider", "simulated", argument]).stderr;
        assert!(stderr.contains(said), "{stderr}");
        assert!(!lab.path().join("runs").exists());
    }
}

/// The page's own policy would show on the console whatever it does not allow.
#[test]
fn a_browser_shows_the_run_finds_nothing_to_complain_about_and_asks_nobody_else() {
    let Some(program) = browser::installed() else {
        assert!(std::env::var_os("CI").is_none(), "no Chromium: scripts/setup.sh installs it");
        eprintln!("skipped: no Chromium on this machine");
        return;
    };
    let watched = Watched::begin(120);
    let mut events = watched.events();
    events.until("a few trials", |state| done(state) >= 3);
    watched.command("/pause");
    events.until("a pause", |state| state["sites"][0]["doing"] == "paused");
    let url = format!("http://{}/?token={}", watched.address, watched.token);
    let mut browser = Browser::open(program, watched.lab.path(), &url);
    browser.shows(&[
        "<h1>Is b faster?</h1>",
        "a.reads.c32",
        "Skip: b.reads.c32",
        "No further trial begins until Resume.",
        "<polyline",
    ]);
    // Its buttons are those of somebody who may press them.
    browser.evaluate("document.getElementById('stop').click()");
    browser.shows(&["stopped after a trial, as wished on the page"]);
    let complaints = |log: &str| -> Vec<String> {
        log.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect()
    };
    let none = complaints(&browser.log());
    assert!(none.is_empty(), "{none:?}");
    // One would have been seen.
    browser.evaluate("setTimeout(() => console.error('a complaint'))");
    wait_for("a complaint", LONG, || !complaints(&browser.log()).is_empty());
    let net = browser.end();
    let of_page = net["events"].as_array().unwrap().iter().filter(|event| {
        let initiator = event["params"]["initiator"].as_str();
        initiator.is_some_and(|from| from != "not an origin")
    });
    let own = format!("http://{}/", watched.address);
    let asked: Vec<&str> = of_page.filter_map(|event| event["params"]["url"].as_str()).collect();
    assert!(asked.iter().any(|url| url.starts_with(&own)), "what it asked would have been seen");
    assert!(asked.iter().all(|url| url.starts_with(&own) || url.starts_with("data:")), "{asked:?}");
    let (code, lab) = watched.end();
    assert_eq!(code, Some(130), "{}", lab.stderr_so_far());
}

/// The report of a run in a browser of its own; `IOPSLAB_PAINT` names another one, such as that of a long run.
#[test]
fn a_report_is_painted_soon_after_it_was_opened() {
    const PAINTED: &str = "(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime";
    let Some(program) = browser::installed() else {
        assert!(std::env::var_os("CI").is_none(), "no Chromium: scripts/setup.sh installs it");
        eprintln!("skipped: no Chromium on this machine");
        return;
    };
    let lab = Laboratory::new();
    let report = std::env::var_os("IOPSLAB_PAINT").map_or_else(
        || {
            lab.write("x.toml", EXPERIMENT);
            lab.exits(0, &["run", "x.toml", "--provider", "simulated"]);
            lab.run_directory().join("report.html")
        },
        PathBuf::from,
    );
    let report = std::fs::canonicalize(report).unwrap();
    let mut browser = Browser::open(program, lab.path(), &format!("file://{}", report.display()));
    let mut painted_ms = None;
    wait_for("the first paint", LONG, || {
        painted_ms = browser.evaluate(PAINTED).as_f64();
        painted_ms.is_some()
    });
    let painted_ms = painted_ms.unwrap();
    println!("first paint of {} bytes: {painted_ms:.0} ms", std::fs::metadata(&report).unwrap().len());
    // A second is the goal on a quiet machine; a busy one has other work.
    assert!(painted_ms < 10_000.0, "{painted_ms} ms");
}
