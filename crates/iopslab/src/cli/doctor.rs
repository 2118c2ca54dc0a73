//! `iopslab doctor`: what this machine can and cannot do, and how to fix it.

use std::path::Path;

use clap::Args;
use serde::Serialize;
use storage::Controller;

use super::{Failure, Format, cache_directory, pretty, work_directory};

/// What was typed after `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    ok: bool,
    found: String,
    fix: Option<String>,
}

pub fn run(_: &DoctorArgs, format: Format) -> Result<(), Failure> {
    let mut checks = vec![java()];
    let work = work_directory();
    let existing = work
        .ancestors()
        .find(|p| p.exists())
        .unwrap_or(Path::new("/"))
        .to_owned();
    let controllers = storage::controllers(Path::new(crate::agent::CGROUP_ROOT));
    checks.extend(
        [
            ("memory", &controllers.memory),
            ("cpu", &controllers.cpu),
            ("io", &controllers.io),
        ]
        .map(controller),
    );
    let problems = storage::preflight(&existing, 4 << 30, Path::new(crate::agent::CGROUP_ROOT));
    if problems.is_empty() {
        checks.push(Check {
            what: "emulated volumes".to_owned(),
            ok: true,
            found: format!(
                "root, loop devices, XFS, fio, limits; 4 GiB free in {}",
                existing.display()
            ),
            fix: None,
        });
    }
    checks.extend(problems.into_iter().map(|problem| Check {
        what: "emulated volumes".to_owned(),
        ok: false,
        found: problem.what,
        fix: Some(problem.fix),
    }));
    checks.push(Check {
        what: "directories".to_owned(),
        ok: true,
        found: format!("work {}, downloads {}", work.display(), cache_directory().display()),
        fix: None,
    });
    let bad = checks.iter().filter(|c| !c.ok).count();
    match format {
        Format::Json => println!("{}", pretty(&serde_json::json!({ "checks": checks }))),
        Format::Human => {
            for check in &checks {
                println!(
                    "{} {:<20} {}",
                    if check.ok { "ok  " } else { "FAIL" },
                    check.what,
                    check.found
                );
                if let Some(fix) = &check.fix {
                    println!("{:26}fix: {fix}", "");
                }
            }
        }
    }
    if bad == 0 {
        Ok(())
    } else {
        Err(Failure::work(format!(
            "{bad} problems keep `iopslab run` from working here"
        )))
    }
}

fn java() -> Check {
    let what = "Java".to_owned();
    match database::cassandra::find_java() {
        Ok(java) => Check {
            what,
            ok: true,
            found: format!("{} ({})", java.version_text, java.path.display()),
            fix: None,
        },
        Err(error) => Check {
            what,
            ok: false,
            found: error.to_string(),
            fix: Some("apt-get install openjdk-17-jre-headless, or set JAVA_HOME to a JDK 11 or 17".to_owned()),
        },
    }
}

fn controller((name, controller): (&str, &Controller)) -> Check {
    let what = format!("cgroup {name}");
    match controller {
        Controller::Usable { version, mount } => Check {
            what,
            ok: true,
            found: format!("{version:?} at {}", mount.display()),
            fix: None,
        },
        Controller::Missing { reason } => Check {
            what,
            ok: false,
            found: reason.clone(),
            fix: Some("limits cannot be emulated without it; boot with this controller enabled".to_owned()),
        },
    }
}
