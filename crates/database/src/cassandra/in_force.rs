//! Whether what was asked of a node is in force in the process that runs: an option of the JVM that was given and not
//! obeyed would be measured as if it had been.

use std::path::PathBuf;

use spec::{SettingsInForce, jvm_option_name};

use super::{node::Node, node_error::NodeError};

/// The settings of a node that runs, each as asked.
pub(crate) fn settings(node: &Node) -> Result<SettingsInForce, NodeError> {
    let asked = &node.config().extra_jvm;
    if asked.is_empty() {
        return Ok(SettingsInForce::default());
    }
    let path = PathBuf::from(format!("/proc/{}/cmdline", node.pid()));
    let line = std::fs::read(&path).map_err(|source| NodeError::io(&path, source))?;
    let path = node.config().console_log();
    let console = std::fs::read(&path).map_err(|source| NodeError::io(&path, source))?;
    let refused = |(setting, why): (&String, String)| NodeError::NotInForce {
        address: node.config().cql_address(),
        setting: setting.clone(),
        why,
    };
    jvm_options(asked, &line, &String::from_utf8_lossy(&console)).map_err(refused)?;
    Ok(SettingsInForce { jvm: asked.clone() })
}

/// The options that are not in the command line of the process, which the kernel knows, and those of which the JVM says
/// that it ignores them. A JVM does not start with an option that it does not know.
fn jvm_options<'a>(asked: &'a [String], line: &[u8], console: &str) -> Result<(), (&'a String, String)> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    for option in asked {
        if !words.contains(&option.as_bytes()) {
            return Err((option, "its process was started without it".to_owned()));
        }
        let name = jvm_option_name(option);
        let name = name.trim_start_matches("-XX:");
        let ignored = |said: &&str| said.to_ascii_lowercase().contains("ignoring") && said.contains(name);
        if let Some(said) = console.lines().find(ignored) {
            return Err((option, format!("the JVM says: {said}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::jvm_options;

    #[test]
    fn an_option_is_in_force_if_the_process_has_it_and_the_jvm_does_not_ignore_it() {
        let line = b"java\0-XX:+UseBiasedLocking\0-Xss512k\0-cp\0a.jar\0";
        let asked = |options: &[&str]| options.iter().map(|o| (*o).to_owned()).collect::<Vec<_>>();
        let good = asked(&["-XX:+UseBiasedLocking", "-Xss512k"]);
        let deprecated = "OpenJDK 64-Bit Server VM warning: Option UseBiasedLocking was deprecated in version 15.0";
        assert_eq!(jvm_options(&good, line, deprecated), Ok(()));

        let missing = asked(&["-Xss512k", "-Xss51"]);
        let (option, why) = jvm_options(&missing, line, "").unwrap_err();
        assert_eq!(
            (option.as_str(), why.as_str()),
            ("-Xss51", "its process was started without it")
        );

        let said = "OpenJDK 64-Bit Server VM warning: Ignoring option UseBiasedLocking; support was removed in 18.0";
        let (option, why) = jvm_options(&good, line, said).unwrap_err();
        assert_eq!(
            (option.as_str(), why),
            ("-XX:+UseBiasedLocking", format!("the JVM says: {said}"))
        );
    }
}
