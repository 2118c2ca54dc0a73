//! Machines that an experiment names and no configuration uses.

use crate::support::{Laboratory, Said, by_script};

/// Who was asked for; nobody answers.
const SSH: &str = "#!/bin/sh\necho \"$*\" >>\"$HOME/asked\"\nexit 255\n";

/// A run ended with a name that nobody resolves, although no configuration had a cache there.
#[test]
fn a_machine_for_caches_that_no_configuration_uses_is_not_asked_for() {
    let lab = Laboratory::new();
    let mut run = by_script::run(&lab, SSH);
    let file = lab.path().join("hosts.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    lab.write("hosts.toml", &format!("{text}cache = [\"cache1\"]\n"));
    let said = Said::of(&mut run);
    assert_eq!(said.code, Some(1), "{}", said.all());
    let asked = std::fs::read_to_string(lab.path().join("asked")).unwrap();
    assert!((asked.contains("db1") || asked.contains("load1")) && !asked.contains("cache1"), "{asked}");
    assert!(!said.all().contains("cache1"), "{}", said.all());
}
