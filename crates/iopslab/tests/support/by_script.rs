//! Machines of the user's that are this one, by an `ssh` that is a script.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::Laboratory;

const EXPERIMENT: &str = r#"
name = "by-script"
[dataset]
records = 1000
[[configuration]]
name = "one"
instance = "i4i.xlarge"
data_volume = "local"
[[workload]]
name = "reads"
read = 1
[load]
concurrency = [1]
duration_s = 30
[provider.hosts]
client = ["load1"]
database = [{ ssh = "db1", address = "192.0.2.1", work_directory = "WORK", data = "WORK" }]
"#;

/// A run on a database's machine db1 and a client's load1. The last word of the script `ssh` is what the machine's shell
/// would be given.
pub fn run(lab: &Laboratory, ssh: &str) -> Command {
    let work = lab.path().join("work-of-db1");
    std::fs::create_dir(&work).unwrap();
    lab.write("hosts.toml", &EXPERIMENT.replace("WORK", work.to_str().unwrap()));
    let programs = lab.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    let ssh = lab.write("bin/ssh", ssh);
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut run = lab.iopslab(&["run", "hosts.toml", "--provider", "hosts"]);
    run.env("PATH", format!("{}:{path}", programs.display()))
        .env("HOME", lab.path())
        .env("XDG_CACHE_HOME", lab.path().join("cache"));
    run
}
