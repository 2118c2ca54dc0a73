//! What a user hands over to get into a database: the password of a user, and the files of TLS.
//!
//! They are read here and go to the clients over the agents' connections; no file of a run, no log and no message has
//! them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use experiment::{Identity, Login, PasswordSource, Pem, Tls, TlsFiles};
use process::failure::Failure;

/// Has the password of an existing cluster's user.
const PASSWORD: &str = "IOPSLAB_PASSWORD";
/// Mode bits by which others than a file's owner read it.
const READ_BY_OTHERS: u32 = 0o044;

/// Where the password of a user is: in the file that is stated; else in the variable that is, or in the usual one.
pub fn password_source(file: Option<&str>, variable: Option<&str>) -> PasswordSource {
    match file {
        Some(file) => PasswordSource::File(file.to_owned()),
        None => PasswordSource::Environment(variable.unwrap_or(PASSWORD).to_owned()),
    }
}

/// The user with the password from there. `file_key` says where a file could be named.
pub fn login(user: &str, source: PasswordSource, file_key: &str) -> Result<Login, Failure> {
    let password = match &source {
        PasswordSource::File(file) => read(file, "the password")?.trim_end_matches(['\r', '\n']).to_owned(),
        PasswordSource::Environment(variable) => std::env::var(variable).unwrap_or_default(),
    };
    if !password.is_empty() {
        return Ok(Login { user: user.to_owned(), password, source });
    }
    Err(match source {
        PasswordSource::File(file) => Failure::input(format!("no password for user {user}: {file} is empty"))
            .help("write the password into it, and nothing else"),
        PasswordSource::Environment(variable) => {
            Failure::input(format!("no password for user {user}: {variable} is not set, and no file is named"))
                .help(format!("set {variable} to the password, or name its file: {file_key}"))
        }
    })
}

/// The certificates that the files hold.
pub fn tls(files: &TlsFiles) -> Result<Tls, Failure> {
    if !database::HAS_TLS {
        let refusal = database::Refusal::WithoutTls;
        let help = refusal.help().unwrap_or_default();
        return Err(Failure::input(refusal).help(help));
    }
    let pem = |file: &String, what: &str| Ok::<_, Failure>(Pem { text: read(file, what)?, file: file.clone() });
    let identity = |files: &experiment::IdentityFiles| {
        Ok::<_, Failure>(Identity {
            certificate: pem(&files.certificate, "the client's certificate")?,
            key: pem(&files.key, "the client's key")?,
        })
    };
    Ok(Tls {
        authorities: files.ca_file.as_ref().map(|file| pem(file, "the authorities")).transpose()?,
        identity: files.identity.as_ref().map(identity).transpose()?,
        verify_host_name: files.verify_host_name,
    })
}

/// A note on each of these files that others on this machine can read.
pub fn notes<'a>(files: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let open = |file: &&String| {
        let mode = std::fs::metadata(file).map(|about| about.permissions().mode());
        mode.is_ok_and(|mode| mode & READ_BY_OTHERS != 0)
    };
    let note = |file: &String| format!("note: others on this machine can read {file}; chmod 600 {file}");
    files.into_iter().filter(open).map(note).collect()
}

fn read(file: &str, what: &str) -> Result<String, Failure> {
    std::fs::read_to_string(Path::new(file))
        .map_err(|error| Failure::input(format!("cannot read {what} in {file}: {error}")))
}
