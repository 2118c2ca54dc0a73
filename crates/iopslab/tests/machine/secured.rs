//! Stories of a cluster that asks who is there and takes encrypted connections alone.
//!
//! One real Cassandra for all of it: `iopslab db` makes it and its role, and its Java is started again with the same
//! command line after `cassandra.yaml` got a `PasswordAuthenticator` and `client_encryption_options`.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::Value;

use super::existing::THEIRS;
use crate::cql;
use crate::support::{Laboratory, lane::Share, wait_for};

const ADDRESS: &str = "127.0.0.1:9042";
const USER: &str = "lab";
const PASSWORD: &str = "correct-horse-7";
/// The password as Cassandra keeps it: `BCrypt.hashpw(PASSWORD, gensalt(4))` of its jBCrypt 0.4.
const SALTED_HASH: &str = "$2a$04$zDm9LcTMBc7PfJ8oDR5t6esE9T2UQPRMufV9g3kBi5xN594.cLJ7O";

const BY_DRIVER: &str = "note: requests go through the CQL driver, which costs the client more CPU than frames of its \
                         own: connections are encrypted";

/// An experiment of a cluster that exists, in whose `[target]` this stands too.
fn experiment(entry: &str) -> String {
    let text = THEIRS.replace("5_000", "2_000").replace("repetitions = 2", "repetitions = 1");
    text.replace("keyspace = \"lab\"\n", &format!("keyspace = \"lab\"\n{entry}\n"))
}

/// Who signs, the cluster and the client, as PEM files in a directory.
fn make_certificates(directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    let authority = |name: &str| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        write(&format!("{name}.pem"), &params.self_signed(&key).unwrap().pem());
        Issuer::new(params, key)
    };
    let (ours, other) = (authority("ca"), authority("other-ca"));
    for (name, called, by) in
        [("server", "127.0.0.1", &ours), ("client", "bench.example", &ours), ("stranger", "bench.example", &other)]
    {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![called.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, by).unwrap();
        write(&format!("{name}.pem"), &certificate.pem());
        write(&format!("{name}.key"), &key.serialize_pem());
        // As Cassandra wants them: in one file.
        write(&format!("{name}-both.pem"), &(key.serialize_pem() + &certificate.pem()));
    }
    let key = directory.join("client.key");
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Makes a role in a cluster that does not yet ask for one: an anonymous user may write its row, but not CREATE ROLE.
fn make_role() {
    let statement = format!(
        "INSERT INTO system_auth.roles (role, can_login, is_superuser, salted_hash) \
         VALUES ('{USER}', true, true, '{SALTED_HASH}')"
    );
    cql::execute(ADDRESS, &statement);
}

/// The cluster, killed at the end.
struct Secured(Child);

impl Secured {
    fn start(lab: &Laboratory, certificates: &Path) -> Self {
        let directory = lab.path().join("db");
        let db = |arguments: &[&str]| {
            let place = directory.display().to_string();
            let output = lab.output(&[&["db", "--directory", &place], arguments].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        db(&["start"]);
        make_role();
        let status: Value = serde_json::from_slice(&db(&["status", "--format", "json"])).unwrap();
        let line = std::fs::read(format!("/proc/{}/cmdline", status["nodes"][0]["pid"])).unwrap();
        db(&["stop", "--keep-data"]);

        let line = String::from_utf8(line).unwrap();
        let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
        let yaml = words.iter().find_map(|word| word.strip_prefix("-Dcassandra.config=file://"));
        let yaml = PathBuf::from(yaml.unwrap());
        let text = std::fs::read_to_string(&yaml).unwrap();
        let file = |name: &str| certificates.join(name).display().to_string();
        let encryption = format!(
            "client_encryption_options: {{enabled: true, optional: false, require_client_auth: true, \
             ssl_context_factory: {{class_name: org.apache.cassandra.security.PEMBasedSslContextFactory}}, \
             keystore: '{}', truststore: '{}'}}\n",
            file("server-both.pem"),
            file("ca.pem")
        );
        let text = text.replace("AllowAllAuthenticator", "PasswordAuthenticator") + &encryption;
        assert!(text.contains("PasswordAuthenticator"), "{text}");
        std::fs::write(&yaml, text).unwrap();

        let log = lab.path().join("secured.log");
        let output = std::fs::File::create(&log).unwrap();
        let child = Command::new(words[0])
            .args(&words[1..])
            .current_dir(directory.join("node1"))
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let mut secured = Self(child);
        wait_for("a secured Cassandra", Duration::from_secs(120), || {
            let ended = secured.0.try_wait().unwrap();
            assert!(ended.is_none(), "{}", std::fs::read_to_string(&log).unwrap());
            TcpStream::connect(ADDRESS).is_ok()
        });
        secured
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Files below a directory that contain one of these texts, but for those that are named.
fn files_with(directory: &Path, texts: &[&str], but: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if but.contains(&path) {
            continue;
        }
        if path.is_dir() {
            found.extend(files_with(&path, texts, but));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let has = |text: &&&str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            if texts.iter().any(|text| has(&text)) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_cluster_with_login_and_tls_is_measured_and_no_file_has_the_password() {
    let lab = Laboratory::on_machine(Share::Half);
    let certificates = lab.path().join("certificates");
    make_certificates(&certificates);
    let _secured = Secured::start(&lab, &certificates);
    // Files are relative to the experiment, which is not where the story runs.
    std::fs::create_dir(lab.path().join("experiments")).unwrap();
    let run = |entry: &str, password: Option<&str>| {
        lab.write("experiments/secured.toml", &experiment(entry));
        let mut command = lab.iopslab(&["run", "experiments/secured.toml", "--format", "json"]);
        command.env_remove("IOPSLAB_PASSWORD");
        command.envs(password.map(|password| ("IOPSLAB_PASSWORD", password)));
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), output.stdout, stderr)
    };
    let refused = |entry: &str, password: Option<&str>, code: i32, said: &[&str]| {
        let (status, _, stderr) = run(entry, password);
        assert_eq!(status, Some(code), "{entry}: {stderr}");
        for text in said {
            assert!(stderr.contains(text), "{entry}: {stderr}\nlacks: {text}");
        }
        assert!(!stderr.contains(PASSWORD) && !stderr.contains("wrong-horse"), "{stderr}");
    };
    let user = "user = \"lab\"";
    let tls = |files: &str| format!("tls = {{ {files} }}");
    let me = "client_cert = \"../certificates/client.pem\", client_key = \"../certificates/client.key\"";
    let trusted = tls(&format!("ca_file = \"../certificates/ca.pem\", {me}"));

    refused(
        user,
        Some(PASSWORD),
        1,
        &["cannot connect to 127.0.0.1:9042: it closes the connection without an answer", "state tls in [target]"],
    );
    let other = tls(&format!("ca_file = \"../certificates/other-ca.pem\", {me}"));
    refused(
        &other,
        None,
        1,
        &["its certificate is not signed by an authority in ", "/certificates/other-ca.pem", "ca_file = "],
    );
    let nobody = tls("ca_file = \"../certificates/ca.pem\"");
    refused(&nobody, None, 1, &["it may ask for a client certificate", "client_cert = "]);
    refused(
        &tls("ca_file = \"../certificates/none.pem\""),
        None,
        2,
        &["`ca_file`: cannot find experiments/../certificates/none.pem"],
    );
    refused(&trusted, None, 1, &["it asks for a user and a password", "name the user: `user` in [target]"]);
    let both = format!("{user}\n{trusted}");
    refused(
        &both,
        None,
        2,
        &["no password for user lab: IOPSLAB_PASSWORD is not set, and no file is named", "password_file in [target]"],
    );
    refused(
        &both,
        Some("wrong-horse"),
        1,
        &["it refuses user lab with the password from IOPSLAB_PASSWORD: ", "cqlsh -u lab"],
    );
    let from_file = format!("{both}\npassword_file = \"password\"");
    lab.write("experiments/password", "wrong-horse\n");
    refused(&from_file, None, 1, &["it refuses user lab with the password from /", "/experiments/password: "]);

    // The right one, which others can read.
    let password_file = lab.write("experiments/password", &format!("{PASSWORD}\n"));
    std::fs::set_permissions(&password_file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (status, stdout, stderr) = run(&from_file, None);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stderr.contains("note: others on this machine can read /"), "{stderr}");
    assert!(stderr.contains("/experiments/password; chmod 600 /"), "{stderr}");
    assert!(!stderr.contains("client.key; chmod"), "{stderr}");
    // Frames of its own are not encrypted: the driver has to do it, and that is said.
    assert!(stderr.contains(BY_DRIVER), "{stderr}");
    assert!(!stderr.contains(PASSWORD), "{stderr}");
    let analysis: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(analysis["database"], "existing CQL cluster at 127.0.0.1:9042, over TLS");
    assert_eq!(analysis["cells"][0]["valid_trials"], 1, "{:#}", analysis["cells"][0]);

    // The same by hand, and what was not tried yet.
    let file = |name: &str| certificates.join(name).display().to_string();
    let by_hand = |entry: &[&str], trusted_by_system: &str| {
        let arguments = ["load", "--hosts", "localhost", "--keyspace", "lab", "--records", "2000"];
        let load = ["--workload", "read=1", "--warmup", "0s", "--duration", "1s", "--format", "json"];
        let mut command = lab.iopslab(&[&arguments[..], entry, &load].concat());
        let command = command.env("IOPSLAB_PASSWORD", PASSWORD);
        let output = command.env("SSL_CERT_FILE", file(trusted_by_system)).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (ca, key) = (file("ca.pem"), file("client.key"));
    let me = ["--tls-cert", &file("client.pem"), "--tls-key", &key];
    let reported = |entry: &[&str], trusted_by_system: &str, code: i32, said: &str| {
        let (status, stderr) = by_hand(entry, trusted_by_system);
        assert_eq!(status, Some(code), "{entry:?}: {stderr}");
        assert!(stderr.contains(said), "{entry:?}: {stderr}\nlacks: {said}");
    };
    let user = ["--user", "lab"];
    reported(&[&["--tls-ca", &ca][..], &me, &user].concat(), "other-ca.pem", 0, BY_DRIVER);
    reported(&[&me[..], &user].concat(), "ca.pem", 0, "");
    let of_system = "its certificate is not signed by an authority in the list of the operating system";
    reported(&["--tls"], "other-ca.pem", 1, of_system);
    reported(&[&["--tls-ca", &ca][..], &me].concat(), "ca.pem", 1, "it asks for a user and a password");
    let stranger = ["--tls-ca", &ca, "--tls-cert", &file("stranger.pem"), "--tls-key", &file("stranger.key")];
    reported(&stranger, "ca.pem", 1, "it may not trust the client certificate in /");
    reported(
        &[&["--load-data", "--tls-ca", &ca][..], &me].concat(),
        "ca.pem",
        1,
        "name the user: `user` in [target], or --user",
    );

    // What was handed over stands where the user put it, and nowhere else.
    let key_text = std::fs::read_to_string(&key).unwrap();
    let secrets = [PASSWORD, key_text.lines().nth(1).unwrap()];
    let own = [password_file, certificates, lab.path().join("db")];
    assert_eq!(files_with(lab.path(), &secrets, &own), Vec::<PathBuf>::new());
    let plan = std::fs::read_to_string(lab.run_directory().join("plan.json")).unwrap();
    assert!(plan.contains("/experiments/password"), "{plan}");
}
