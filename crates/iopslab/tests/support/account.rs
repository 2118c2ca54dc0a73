//! moto's server with what its accounts have: asked over a Unix socket, which every network namespace reaches.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::{Laboratory, wait_for};

/// Servers of this process so far.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// The access key of iopslab's user, of the form that the server distinguishes.
pub const IOPSLAB: &str = "IOPSLAB0000000000000";

/// An AWS of its own, and who asks it.
pub struct Aws {
    pub account: Account,
    pub lab: Laboratory,
    address: String,
}

impl Aws {
    pub fn start() -> Self {
        let lab = Laboratory::new();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { account: Account::start(lab.path(), port, &[]), lab, address: format!("127.0.0.1:{port}") }
    }

    /// `iopslab` as a user of this AWS.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.iopslab(arguments);
        command
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.address))
            .env("AWS_ACCESS_KEY_ID", IOPSLAB)
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_CONFIG_FILE", "/nonexistent")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env_remove("AWS_PROFILE")
            .env_remove("AWS_DEFAULT_REGION")
            .env_remove("AWS_REGION");
        command
    }
}

/// The server, ended when it is dropped.
pub struct Account {
    directory: PathBuf,
    /// In the short directory of the machine: the path of a socket has 107 bytes at most.
    socket: PathBuf,
    server: Child,
}

impl Account {
    /// Starts it at this port; `within` may be a way into another network, before which the server's own words come.
    pub fn start(directory: &Path, port: u16, within: &[&str]) -> Self {
        let home = || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache");
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
        let python = cache.join("iopslab/moto-5.2/bin/python");
        assert!(python.exists(), "{} is missing; run scripts/setup.sh --tests", python.display());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/moto_server.py");
        let words = within.iter().map(Into::into).chain([python, script]);
        let words: Vec<PathBuf> = words.collect();
        let log = std::fs::File::create(directory.join("moto.log")).unwrap();
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let socket = PathBuf::from(format!("/tmp/iopslab-account-{}-{number}", std::process::id()));
        let server = Command::new(&words[0])
            .args(&words[1..])
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .env("IOPSLAB_MOTO_LOG", directory.join("requests.jsonl"))
            .env("IOPSLAB_MOTO_SOCKET", &socket)
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let account = Self { directory: directory.to_owned(), socket, server };
        // It says so when it listens to both.
        wait_for("moto's server", Duration::from_secs(300), || {
            let log = std::fs::read_to_string(account.directory.join("moto.log")).unwrap_or_default();
            log.contains("Running on")
        });
        account
    }

    /// Asks what `account.py` answers.
    pub fn ask(&self, question: &Value) -> Value {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        stream.write_all(format!("{question}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["error"].is_null(), "{question}: {answer}");
        answer
    }

    /// What was asked of the API by others, line by line.
    pub fn requests(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.directory.join("requests.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
        let _ = std::fs::remove_file(&self.socket);
    }
}
