//! Machines of the user's that are this one, by an `ssh` that is a script.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
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
database = [{ ssh = "db1", address = "192.0.2.1", work_directory = "WORK", data = "DATA" }]
"#;

/// Writes `hosts.toml` of a database's machine db1, with these directories, and a client's load1. The last word of the
/// script `ssh` is what the machine's shell would be given.
pub fn write(lab: &Laboratory, ssh: &str, work: &Path, data: &Path) {
    let of = |path: &Path| path.to_str().unwrap().to_owned();
    lab.write("hosts.toml", &EXPERIMENT.replace("WORK", &of(work)).replace("DATA", &of(data)));
    std::fs::create_dir(lab.path().join("bin")).unwrap();
    let ssh = lab.write("bin/ssh", ssh);
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The program, for which that script is `ssh`.
pub fn command(lab: &Laboratory, arguments: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut command = lab.iopslab(arguments);
    command
        .env("PATH", format!("{}:{path}", lab.path().join("bin").display()))
        .env("HOME", lab.path())
        .env("XDG_CACHE_HOME", lab.path().join("cache"));
    command
}

/// A run on these machines, with a directory of the laboratory's own for both.
pub fn run(lab: &Laboratory, ssh: &str) -> Command {
    let work = lab.path().join("work-of-db1");
    std::fs::create_dir(&work).unwrap();
    write(lab, ssh, &work, &work);
    command(lab, &["run", "hosts.toml", "--provider", "hosts"])
}
