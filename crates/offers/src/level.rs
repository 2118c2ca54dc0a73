//! The level of a volume (type, IOPS, MiB/s): looked at, and modified while the volume is in use.

use catalog::{VolumeLevel, VolumeType};
use jiff::Timestamp;
use roxmltree::Node;

use crate::AwsError;
use crate::ec2;
use crate::signed::Caller;
use crate::xml::{child, items, text, value};

/// A volume as EC2 reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Its level; while a modification goes on already the new one. `None`: its IOPS cannot be provisioned, or EC2 does
    /// not say.
    pub level: Option<VolumeLevel>,
    /// Its latest modification; `None`: there was none lately.
    pub modification: Option<Modification>,
}

/// A modification of a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modification {
    /// How far it is.
    pub state: ModificationState,
    /// What the volume had before; `None`: EC2 does not say.
    pub from: Option<VolumeLevel>,
    /// The same in percent.
    pub progress: Option<u32>,
    /// When it was asked for, by the clock of AWS.
    pub asked_at: Timestamp,
    /// When it ended, by the same clock.
    pub ended_at: Option<Timestamp>,
    /// What EC2 says of one that failed.
    pub message: Option<String>,
}

/// States of a modification (EC2 API Reference, VolumeModification).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModificationState {
    /// It was asked for.
    Modifying,
    /// "your volume performance is in between the source and target configuration specifications" (EBS User Guide,
    /// "Monitor the progress of Amazon EBS volume modifications").
    Optimizing,
    /// The new level is in force, and the volume "ready to be further modified".
    Completed,
    /// It came to nothing.
    Failed,
}

/// What comes next for a volume that is to have a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelStep {
    /// The level is in force.
    InForce,
    /// It has to be asked for.
    Ask,
    /// A modification goes on, or what was asked for is not reported yet.
    Wait,
    /// What was asked for has failed.
    Failed,
}

/// What comes next. `asked_at` is when the level was asked for, as AWS has said; `None`: not yet.
pub fn level_step(volume: &Volume, wanted: VolumeLevel, asked_at: Option<Timestamp>) -> LevelStep {
    let is_there = volume.level == Some(wanted);
    // To the second: what is asked for later than that is a modification of its own.
    let is_ours = |one: &&Modification| asked_at.is_none_or(|asked| one.asked_at.as_second() >= asked.as_second());
    let latest = volume.modification.as_ref().filter(is_ours);
    match (latest.map(|one| one.state), asked_at) {
        (Some(ModificationState::Modifying | ModificationState::Optimizing), _) | (None, Some(_)) => LevelStep::Wait,
        (Some(ModificationState::Failed), Some(_)) => LevelStep::Failed,
        (Some(ModificationState::Completed), Some(_)) if !is_there => LevelStep::Wait,
        (_, None) if !is_there => LevelStep::Ask,
        (Some(ModificationState::Completed | ModificationState::Failed) | None, _) => LevelStep::InForce,
    }
}

/// Looks at a volume with the credentials of a named profile, or those that the SDK finds.
///
/// # Errors
/// When there are no credentials, or no such volume in that region that they may see.
pub fn volume(profile: Option<&str>, region: &str, id: &str) -> Result<Volume, AwsError> {
    let caller = Caller::new(profile, Some(region))?;
    let asked = |action: &'static str, permission: &'static str, parameters: &[(&str, &str)]| {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let answer = ec2::ask(&caller, region, action, &parameters.collect::<Vec<_>>());
        answer.map_err(|refused| failed(region, id, permission, refused.reason))
    };
    let level = asked("DescribeVolumes", "ec2:DescribeVolumes", &[("VolumeId.1", id)])?;
    // A filter that finds nothing gives an empty list, whatever EC2 makes of the id of one that was never modified.
    let by_id = [("Filter.1.Name", "volume-id"), ("Filter.1.Value.1", id)];
    let modification = asked("DescribeVolumesModifications", "ec2:DescribeVolumesModifications", &by_id)?;
    read(id, &level, &modification).map_err(|reason| failed(region, id, "ec2:DescribeVolumes", reason))
}

/// Asks for another level of a volume. When it was asked for, by the clock of AWS.
///
/// # Errors
/// When there are no credentials, or EC2 refuses it: because it was modified too often, for example.
pub fn modify(profile: Option<&str>, region: &str, id: &str, wanted: VolumeLevel) -> Result<Timestamp, AwsError> {
    const PERMISSION: &str = "ec2:ModifyVolume";
    let caller = Caller::new(profile, Some(region))?;
    let mut parameters = vec![
        ("VolumeId".to_owned(), id.to_owned()),
        ("VolumeType".to_owned(), wanted.kind.name().to_owned()),
        ("Iops".to_owned(), wanted.iops.to_string()),
    ];
    parameters.extend(wanted.mib_per_s.map(|rate| ("Throughput".to_owned(), rate.to_string())));
    let answer = ec2::ask(&caller, region, "ModifyVolume", &parameters);
    let answer = answer.map_err(|refused| failed(region, id, PERMISSION, refused.reason))?;
    let document = roxmltree::Document::parse(&answer);
    let document = document.map_err(|error| failed(region, id, PERMISSION, format!("no XML: {error}")))?;
    let asked_at = child(document.root_element(), "volumeModification").and_then(|one| value(one, "startTime"));
    asked_at.ok_or_else(|| failed(region, id, PERMISSION, "the answer has no startTime".to_owned()))
}

fn failed(region: &str, id: &str, permission: &str, reason: String) -> AwsError {
    AwsError::Refused(format!("EC2 in {region} says of {id}: {reason} (permission {permission})"))
}

/// What two answers say of a volume.
fn read(id: &str, volumes: &str, modifications: &str) -> Result<Volume, String> {
    let document = |xml| roxmltree::Document::parse(xml).map_err(|error| format!("no XML: {error}"));
    let is_its = |one: &Node<'_, '_>| text(*one, "volumeId") == Some(id);
    let (volumes, modifications) = (document(volumes)?, document(modifications)?);
    let volume = items(volumes.root_element(), "volumeSet").find(is_its).ok_or("the answer has no such volume")?;
    let mut modification: Option<Modification> = None;
    // EC2 reports the latest one alone.
    for one in items(modifications.root_element(), "volumeModificationSet").filter(is_its) {
        let found = modification_of(one)?;
        if modification.as_ref().is_none_or(|before| before.asked_at <= found.asked_at) {
            modification = Some(found);
        }
    }
    Ok(Volume { level: level(volume, ["volumeType", "iops", "throughput"]), modification })
}

/// A level in elements of these names: type, IOPS, MiB/s, which are read of gp3 alone.
fn level(node: Node<'_, '_>, [type_name, iops, mib_per_s]: [&str; 3]) -> Option<VolumeLevel> {
    let kind: VolumeType = value(node, type_name)?;
    let mib_per_s = value(node, mib_per_s).filter(|_| kind == VolumeType::Gp3);
    Some(VolumeLevel { kind, iops: value(node, iops)?, mib_per_s })
}

fn modification_of(one: Node<'_, '_>) -> Result<Modification, String> {
    let state = match text(one, "modificationState") {
        Some("modifying") => ModificationState::Modifying,
        Some("optimizing") => ModificationState::Optimizing,
        Some("completed") => ModificationState::Completed,
        Some("failed") => ModificationState::Failed,
        other => return Err(format!("a modification has the state {}", other.unwrap_or("that is missing"))),
    };
    Ok(Modification {
        state,
        from: level(one, ["originalVolumeType", "originalIops", "originalThroughput"]),
        progress: value(one, "progress"),
        asked_at: value(one, "startTime").ok_or("a modification has no startTime")?,
        ended_at: value(one, "endTime"),
        message: text(one, "statusMessage").filter(|message| !message.is_empty()).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "vol-11111111111111111";

    fn gp3(iops: u32) -> VolumeLevel {
        VolumeLevel { kind: VolumeType::Gp3, iops, mib_per_s: Some(125) }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_level_is_asked_for_once_waited_for_and_in_force_when_its_modification_is_completed() {
        use LevelStep::{Ask, Failed, InForce, Wait};
        use ModificationState::{Completed, Failed as HasFailed, Modifying, Optimizing};
        let wanted = gp3(6_000);
        // Reported IOPS, the latest modification with its second, when we asked, what comes next.
        let cases = [
            // A new volume.
            (6_000, None, None, InForce),
            (3_000, None, None, Ask),
            // Somebody's modification of before: the next one has to wait until it is completed.
            (6_000, Some((Modifying, 10)), None, Wait),
            (3_000, Some((Optimizing, 10)), None, Wait),
            (3_000, Some((Completed, 10)), None, Ask),
            (6_000, Some((Completed, 10)), None, InForce),
            (3_000, Some((HasFailed, 10)), None, Ask),
            (6_000, Some((HasFailed, 10)), None, InForce),
            // We have asked, and nothing is reported so far, or the one before.
            (3_000, None, Some(20), Wait),
            (3_000, Some((Completed, 10)), Some(20), Wait),
            (6_000, Some((Completed, 10)), Some(20), Wait),
            // What we have asked for: the volume reports the new level long before it has it.
            (3_000, Some((Modifying, 20)), Some(20), Wait),
            (6_000, Some((Optimizing, 20)), Some(20), Wait),
            (6_000, Some((Completed, 20)), Some(20), InForce),
            (3_000, Some((Completed, 20)), Some(20), Wait),
            (3_000, Some((HasFailed, 20)), Some(20), Failed),
        ];
        for (iops, latest, asked, next) in cases {
            let modification = latest.map(|(state, second)| Modification {
                state,
                from: None,
                progress: None,
                asked_at: at(second),
                ended_at: None,
                message: None,
            });
            let volume = Volume { level: Some(gp3(iops)), modification };
            assert_eq!(level_step(&volume, wanted, asked.map(at)), next, "{iops} {latest:?} {asked:?}");
        }
        // Another type is another level, and so is one that EC2 does not report.
        let io2 = VolumeLevel { kind: VolumeType::Io2, iops: 6_000, mib_per_s: None };
        for level in [Some(io2), None] {
            assert_eq!(level_step(&Volume { level, modification: None }, wanted, None), Ask);
        }
    }

    fn volumes(of_volume: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><DescribeVolumesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">\
             <volumeSet><item><volumeId>{ID}</volumeId><size>200</size>{of_volume}</item></volumeSet>\
             </DescribeVolumesResponse>"
        )
    }

    fn modifications(items: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?><DescribeVolumesModificationsResponse \
             xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><volumeModificationSet>{items}\
             </volumeModificationSet></DescribeVolumesModificationsResponse>"
        )
    }

    /// The values are those of the example in the EBS User Guide ("Monitor the progress of Amazon EBS volume
    /// modifications"), in the form of the Query API.
    #[test]
    fn a_volume_is_read_with_its_latest_modification() {
        let example = "<item><volumeId>vol-11111111111111111</volumeId><modificationState>modifying</modificationState>\
                       <targetSize>200</targetSize><targetIops>10000</targetIops>\
                       <targetVolumeType>io1</targetVolumeType>\
                       <originalSize>100</originalSize><originalIops>300</originalIops>\
                       <originalVolumeType>gp2</originalVolumeType><progress>0</progress>\
                       <startTime>2017-01-19T22:21:02.959Z</startTime></item>";
        let io1 = volumes("<volumeType>io1</volumeType><iops>10000</iops>");
        let volume = read(ID, &io1, &modifications(example)).unwrap();
        let level = VolumeLevel { kind: VolumeType::Io1, iops: 10_000, mib_per_s: None };
        assert_eq!(volume.level, Some(level));
        let modification = volume.modification.unwrap();
        assert_eq!((modification.state, modification.progress), (ModificationState::Modifying, Some(0)));
        assert_eq!(modification.asked_at.to_string(), "2017-01-19T22:21:02.959Z");
        assert_eq!((modification.ended_at, modification.message), (None, None));
        let from = VolumeLevel { kind: VolumeType::Gp2, iops: 300, mib_per_s: None };
        assert_eq!(modification.from, Some(from));

        // Never modified; several, of which the latest counts; one that failed says why.
        let of_gp3 = volumes("<volumeType>gp3</volumeType><iops>3000</iops><throughput>125</throughput>");
        let never = read(ID, &of_gp3, &modifications("")).unwrap();
        assert_eq!(never, Volume { level: Some(gp3(3_000)), modification: None });
        let later = example
            .replace("<startTime>2017", "<statusMessage>no room</statusMessage><startTime>2018")
            .replace("modifying<", "failed<");
        let others = example.replace("vol-1", "vol-2").replace("2017", "2019");
        let both = read(ID, &of_gp3, &modifications(&[later.as_str(), example, others.as_str()].concat())).unwrap();
        let modification = both.modification.unwrap();
        assert_eq!(modification.state, ModificationState::Failed);
        assert_eq!(modification.message.as_deref(), Some("no room"));
        // MiB/s are part of the level of gp3 alone.
        let of_io1 = io1.replace("</iops>", "</iops><throughput>500</throughput>");
        assert_eq!(read(ID, &of_io1, &modifications("")).unwrap().level, Some(level));
        // A volume without provisioned IOPS has no level.
        assert_eq!(read(ID, &volumes("<volumeType>st1</volumeType>"), &modifications("")).unwrap().level, None);

        for (volumes, modifications, why) in [
            (volumes(""), "<html>".to_owned(), "no XML"),
            (volumes("").replace("vol-1", "vol-3"), modifications(""), "no such volume"),
            (volumes(""), modifications(&example.replace("modifying<", "pausing<")), "the state pausing"),
            (volumes(""), modifications(&example.replace("startTime", "time")), "no startTime"),
        ] {
            let said = read(ID, &volumes, &modifications).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
