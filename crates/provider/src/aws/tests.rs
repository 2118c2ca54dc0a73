//! The way to machines that were made, with an sshd of this machine in the place of one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::process::Child;

use super::planned::{MACHINE as NAME, planned};
use super::terraform::Made;
use super::*;

const SSHD: &str = "/usr/sbin/sshd";

/// At a port of its own, for whoever has the run's key.
struct Sshd {
    process: Child,
    log: PathBuf,
    port: u16,
}

impl Sshd {
    /// Shows this host key.
    fn showing(key: &Path, authorized: &Path) -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey \"{}\"\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n",
            key.display(),
            config_word(authorized)
        );
        let (file, log) = (key.with_extension("sshd_config"), key.with_extension("log"));
        fs::write(&file, config).unwrap();
        let to = File::create(&log).unwrap();
        let process = Command::new(SSHD).args(["-D", "-e", "-f"]).arg(&file).stderr(to).spawn().unwrap();
        let sshd = Self { process, log, port };
        let began = Instant::now();
        while !sshd.said().contains("Server listening") {
            assert!(began.elapsed() < Duration::from_secs(20), "{}", sshd.said());
            thread::sleep(Duration::from_millis(20));
        }
        sshd
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A run with one machine, which waits for nobody.
fn aws(directory: &Path, ssh_user: &str) -> Aws {
    let (settings, batch, site) = planned();
    let settings = AwsSettings { public_address: false, ssh_user: ssh_user.to_owned(), ready_timeout_s: 0, ..settings };
    Aws::new("r-1", "2026-11-26T12:00:00Z", directory, &settings, (&batch, &site), Path::new("iopslab"))
}

/// Whoever answers at the address of a machine, and has not got the host key of the run, learns nothing: not who asks,
/// nor what.
#[test]
fn a_machine_that_shows_another_host_key_is_named_and_nobody_logs_in() {
    if !Path::new(SSHD).exists() || fs::create_dir_all("/run/sshd").is_err() {
        println!("skipped: needs {SSHD}, and the right to start it");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    // As some people's directories are called; to ssh `%h` is a host, and a space the end of a word.
    let directory = place.path().join("my runs, 100 %h");
    fs::create_dir(&directory).unwrap();
    let user = Command::new("id").arg("-un").output().unwrap();
    let aws = aws(&directory, String::from_utf8(user.stdout).unwrap().trim());
    aws.key(KEY).unwrap();
    aws.host_key().unwrap();
    // By the same way as the run's own: another pair.
    aws.key("other").unwrap();
    let made = Made { private_address: "127.0.0.1".to_owned(), public_address: None, volumes: BTreeMap::new() };
    aws.write_ssh_config(&Outputs { machines: BTreeMap::from([(NAME.to_owned(), made)]) }).unwrap();
    let config = fs::read_to_string(aws.path(SSH_CONFIG)).unwrap();
    let start = |key: &str| {
        let sshd = Sshd::showing(&aws.path(key), &aws.path("id_ed25519.pub"));
        fs::write(aws.path(SSH_CONFIG), format!("{config}  Port {}\n", sshd.port)).unwrap();
        sshd
    };

    let machine = start(HOST_KEY);
    let output = aws.ssh().first_command(NAME, "echo here").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "here\n", "{output:?}");
    assert!(machine.said().contains("Accepted publickey"), "{}", machine.said());

    let impostor = start("other");
    let refused = aws.wait_until_ready(&[NAME.to_owned()], &|| Ok(())).unwrap_err().to_string();
    for part in [NAME, "Host key verification failed", "does not show the host key of the run"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let output = aws.ssh().command(NAME, "echo here").output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(!impostor.said().contains("Accepted"), "{}", impostor.said());
}
