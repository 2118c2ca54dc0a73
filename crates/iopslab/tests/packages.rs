//! The Debian package that `make dist` makes of a released archive: what is in it, where, and for whom.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Exits, Laboratory};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder as `scripts/dist.sh` puts it together, but for a small program in the place of the binary.
fn released(lab: &Laboratory) -> PathBuf {
    let folder = lab.path().join("released");
    for below in ["man", "completions", "examples"] {
        std::fs::create_dir_all(folder.join(below)).unwrap();
    }
    std::fs::write(folder.join("iopslab"), "#!/bin/sh\necho iopslab\n").unwrap();
    std::fs::set_permissions(folder.join("iopslab"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for file in ["LICENSE", "NOTICE", "README.md", "examples/quickstart.toml"] {
        std::fs::copy(root().join(file), folder.join(file)).unwrap();
    }
    lab.exits(0, &["man", &folder.join("man").display().to_string()]);
    for shell in ["bash", "zsh", "fish"] {
        let completions = lab.exits(0, &["completions", shell]).stdout;
        std::fs::write(folder.join("completions").join(format!("iopslab.{shell}")), completions).unwrap();
    }
    folder
}

/// What `dpkg-deb` says of a package.
fn says(package: &Path, options: &[&str]) -> String {
    Command::new("dpkg-deb").args(options).arg(package).exits(0).stdout
}

#[test]
fn a_debian_package_has_what_an_archive_has_where_debian_looks_for_it() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        eprintln!("no dpkg-deb here: no package is made");
        return;
    }
    let lab = Laboratory::new();
    let folder = released(&lab);
    let made = |name: &str, version: &str| {
        let package = lab.path().join(name);
        // Whoever makes it may let others read nothing of their own.
        let mut script = Command::new("sh");
        script.args(["-c", "umask 077; exec \"$@\"", "sh"]).arg(root().join("scripts/deb.sh"));
        script.args([folder.as_path(), Path::new("arm64"), Path::new(version), package.as_path()]);
        script.env("SOURCE_DATE_EPOCH", "1700000000").exits(0);
        package
    };
    let package = made("one.deb", "1.2.0");
    let control = says(&package, &["--field"]);
    let field = |name: &str| control.lines().find_map(|line| line.strip_prefix(name));
    assert_eq!(field("Package: "), Some("iopslab"));
    assert_eq!(field("Version: "), Some("1.2.0"));
    assert_eq!(field("Architecture: "), Some("arm64"));
    assert_eq!(field("Depends: "), None, "it is linked statically");
    assert!(field("Recommends: ").unwrap().contains("openjdk-17-jre-headless"));

    // Everything is root's; programs may be run, all else be read.
    let contents = says(&package, &["--contents"]);
    let mut files = Vec::new();
    for line in contents.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (mode, owner, name) = (words[0], words[1], words[5]);
        assert_eq!(owner, "root/root", "{line}");
        let expected = match name {
            "./usr/bin/iopslab" => "-rwxr-xr-x",
            directory if directory.ends_with('/') => "drwxr-xr-x",
            _ => "-rw-r--r--",
        };
        assert_eq!(mode, expected, "{line}");
        files.push(name);
    }
    for file in [
        "./usr/bin/iopslab",
        "./usr/share/man/man1/iopslab.1.gz",
        "./usr/share/man/man1/iopslab-run.1.gz",
        "./usr/share/bash-completion/completions/iopslab",
        "./usr/share/zsh/vendor-completions/_iopslab",
        "./usr/share/fish/vendor_completions.d/iopslab.fish",
        "./usr/share/doc/iopslab/copyright",
        "./usr/share/doc/iopslab/changelog.gz",
        "./usr/share/doc/iopslab/NOTICE",
        "./usr/share/doc/iopslab/examples/quickstart.toml",
    ] {
        assert!(files.contains(&file), "{file} is not in:\n{contents}");
    }

    // What is unpacked is what was put in, and the sums say so.
    let unpacked = lab.path().join("unpacked");
    Command::new("dpkg-deb").arg("--raw-extract").args([&package, &unpacked]).exits(0);
    let binary = |below: &Path| std::fs::read(below).unwrap();
    assert_eq!(binary(&unpacked.join("usr/bin/iopslab")), binary(&folder.join("iopslab")));
    let sums = std::fs::read_to_string(unpacked.join("DEBIAN/md5sums")).unwrap();
    assert_eq!(sums.lines().count(), files.iter().filter(|name| !name.ends_with('/')).count(), "{sums}");
    Command::new("md5sum").args(["--check", "--quiet", "DEBIAN/md5sums"]).current_dir(&unpacked).exits(0);

    // The same folder gives the same bytes; a candidate of a release sorts before it.
    assert_eq!(binary(&package), binary(&made("other.deb", "1.2.0")));
    let candidate = made("candidate.deb", "1.2.0-rc.1");
    assert!(says(&candidate, &["--field"]).contains("\nVersion: 1.2.0~rc.1\n"));
}
