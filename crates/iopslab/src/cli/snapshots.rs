//! Snapshots of EBS from which data volumes are made: whether they can be used, and what that takes.

use controller::Screen;
use experiment::{AwsInitialisation, AwsSettings};
use process::failure::Failure;
use process::human_duration;

/// Refuses a snapshot that is not there, not complete, or of a larger volume, before anything is made.
#[cfg(not(feature = "aws"))]
pub(super) fn check(settings: &AwsSettings, screen: &Screen) -> Result<(), Failure> {
    if settings.sites.iter().any(|site| site.snapshot.is_some()) {
        screen.say(
            "note: this iopslab was built without AWS: whether the snapshot is there, AWS says when machines are made",
        );
    }
    Ok(())
}

/// Refuses a snapshot that is not there, not complete, or of a larger volume, before anything is made.
#[cfg(feature = "aws")]
pub(super) fn check(settings: &AwsSettings, _: &Screen) -> Result<(), Failure> {
    for site in &settings.sites {
        let Some(id) = &site.snapshot else { continue };
        let of_site = format!("snapshot {id} of {}", site.name);
        let reported = offers::snapshot(site.profile.as_deref(), &site.region, id).map_err(|error| {
            Failure::input(format!("{of_site} cannot be used: {error}")).help(
                "name a snapshot in the region of the site, which its credentials may see (permission \
                 ec2:DescribeSnapshots); a copy in another region has an id of its own",
            )
        })?;
        if reported.state != "completed" {
            return Err(Failure::input(format!("{of_site} cannot be used: its state is {}", reported.state))
                .help(format!("aws ec2 wait snapshot-completed --snapshot-ids {id}")));
        }
        let smaller = settings.initialisations.iter().filter(|volume| volume.size_gib < reported.size_gib);
        let smaller: Vec<String> =
            smaller.map(|volume| format!("{} has {} GiB", volume.configuration, volume.size_gib)).collect();
        if !smaller.is_empty() {
            return Err(Failure::input(format!(
                "{of_site} is of a volume of {} GiB, and volumes made from it have at least that: {}",
                reported.size_gib,
                smaller.join(", ")
            ))
            .help("raise size_gib of these configurations, or make a snapshot of a smaller volume"));
        }
    }
    Ok(())
}

/// What reading the volumes takes, for people; nothing where they are made empty.
pub(super) fn reported(settings: &AwsSettings) -> String {
    let named: Vec<&str> = settings.sites.iter().filter_map(|site| site.snapshot.as_deref()).collect();
    if named.is_empty() {
        return String::new();
    }
    let line = |volume: &AwsInitialisation| match (volume.mib_per_s, volume.estimated_s()) {
        (Some(rate), Some(seconds)) => format!(
            "\n    {}: about {} or longer, {} GiB at {rate:.0} MiB/s",
            volume.configuration,
            human_duration(seconds),
            volume.size_gib
        ),
        _ => format!("\n    {}: {} GiB; AWS states no MiB/s of this volume", volume.configuration, volume.size_gib),
    };
    let lines: String = settings.initialisations.iter().map(line).collect();
    format!(
        "\n  data volumes are made from {}; each of their blocks is read before anything is\n  measured. The \
         estimate is their size at what volume and instance keep up; blocks\n  come from S3 first, at a rate that AWS \
         does not state:{lines}",
        named.join(", ")
    )
}
