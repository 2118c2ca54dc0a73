//! Configurations that share machines on AWS: whether their volume can be modified from here, and what that takes.

use ::catalog::MODIFICATIONS_A_DAY;
use experiment::{AwsPair, AwsSettings};
use process::failure::Failure;
use process::human_duration;

/// Refuses them, before anything is made, where this program cannot sign requests to AWS.
pub(super) fn check(settings: &AwsSettings) -> Result<(), Failure> {
    if cfg!(feature = "aws") || settings.pairs.is_empty() {
        return Ok(());
    }
    Err(Failure::input("pair_volumes: this iopslab was built without AWS")
        .help("build it with: cargo build --release --features aws"))
}

/// Which share machines, and how often their volume is modified, for people; nothing where none do.
pub(super) fn reported(settings: &AwsSettings) -> String {
    settings.pairs.iter().map(of_pair).collect()
}

fn of_pair(pair: &AwsPair) -> String {
    let names: Vec<&str> = pair.levels.iter().map(|level| level.configuration.as_str()).collect();
    let levels = pair.levels.iter().map(|level| format!("\n    {}: {}", level.configuration, level.volume));
    format!(
        "\n  {} are measured on the same machines. Their data volume of {} GiB\n  is modified {} times (AWS: at most \
         {MODIFICATIONS_A_DAY} in 24 hours), which takes about {} in all\n  by what AWS calls typical:{}",
        names.join(", "),
        pair.size_gib,
        pair.modifications,
        human_duration(pair.estimated_s()),
        levels.collect::<String>()
    )
}
