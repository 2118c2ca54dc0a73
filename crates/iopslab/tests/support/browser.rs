//! A real Chromium, led through its debugging pipe: the Chrome DevTools Protocol as JSON, a zero byte after each
//! message (<https://chromedevtools.github.io/devtools-protocol/>). A page that is never done loading, because it
//! listens to a run, is looked at while it is open; nothing here waits without a bound, and no browser is left.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for an answer of the browser, and for its end.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// The one that this machine has.
pub fn installed() -> Option<&'static str> {
    let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there)
}

/// One with a page.
pub struct Browser {
    process: Child,
    to: Option<ChildStdin>,
    answers: Receiver<Value>,
    asked: u64,
    /// Of its page.
    session: Option<String>,
    directory: PathBuf,
}

impl Browser {
    /// Starts it with a page of this address. Its files are in this directory.
    pub fn open(program: &str, directory: &Path, url: &str) -> Self {
        let log = std::fs::File::create(directory.join("browser.txt")).unwrap();
        let mut process = Command::new("sh")
            // Commands come by descriptor 3, answers go by 4.
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", program])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-default-apps", "--enable-logging=stderr", "--remote-debugging-pipe"])
            .arg("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
            .arg(format!("--user-data-dir={}", directory.join("profile").display()))
            .arg(format!("--log-net-log={}", directory.join("net.json").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let from = BufReader::new(process.stdout.take().unwrap());
        let (sender, answers) = channel();
        // Ends with the browser, which has the other end of the pipe.
        std::thread::spawn(move || {
            for message in from.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice::<Value>(&message).unwrap_or_default();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let to = process.stdin.take();
        let mut browser = Self { process, to, answers, asked: 0, session: None, directory: directory.to_owned() };
        let made = browser.ask("Target.createTarget", json!({ "url": url })).unwrap();
        let target = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", target).unwrap();
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        assert!(browser.session.is_some(), "{attached}");
        browser
    }

    /// What comes of a command.
    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let to = self.to.as_mut().ok_or("the browser was ended")?;
        to.write_all(format!("{message}\0").as_bytes()).map_err(|error| format!("{method}: {error}"))?;
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let mut answer =
                self.answers.recv_timeout(left).map_err(|why| format!("{method}: {why}: {}", self.log()))?;
            if answer["id"] == json!(self.asked) {
                return match answer["error"].is_null() {
                    true => Ok(answer["result"].take()),
                    false => Err(format!("{method}: {answer}")),
                };
            }
        }
    }

    /// What an expression comes to in the page; nothing while it is on its way there.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true });
        self.ask("Runtime.evaluate", parameters).map_or(Value::Null, |mut answer| answer["result"]["value"].take())
    }

    /// The page once it has all of these words.
    #[track_caller]
    pub fn shows(&mut self, words: &[&str]) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let shown = self.evaluate("document.documentElement.outerHTML");
            let shown = shown.as_str().unwrap_or_default();
            let missing: Vec<&&str> = words.iter().filter(|words| !shown.contains(**words)).collect();
            if missing.is_empty() {
                return shown.to_owned();
            }
            assert!(Instant::now() < until, "the page has no {missing:?}: {shown}\n{}", self.log());
            std::thread::sleep(LOOK);
        }
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("browser.txt")).unwrap_or_default()
    }

    /// Ends it in order, so that `net.json` is whole: what was asked of the network.
    pub fn end(mut self) -> Value {
        self.session = None;
        // Whether it answers or not, it ends, or is ended.
        let _ = self.ask("Browser.close", json!({}));
        drop(self.to.take());
        let until = Instant::now() + PATIENCE;
        while self.process.try_wait().unwrap().is_none() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        super::json(&self.directory.join("net.json"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Gone already, or in the way of the story.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
