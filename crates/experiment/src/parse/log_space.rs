//! The space that a setting states for a database's log, and whether the log's volume has it.

use catalog::{GIB, MIB};
use product::CheckpointRules;

use super::{only, settings};
use crate::checkpoints::{COMMITLOG_BYTES, LOG_ROOM};
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Configuration, Experiment, raw};

/// `None` where its volume could be filled by what is stated, or the database would have less of it in a model of
/// 1:`scale` than it starts with.
pub(super) fn check(
    raw: &Spanned<raw::Configuration>,
    configuration: &Configuration,
    (rules, scale): (Option<&CheckpointRules>, f64),
    mistakes: &mut Collector<'_>,
) -> Option<()> {
    let log = rules.map(|rules| rules.log);
    let stated = log.and_then(|log| Some((log, (log.bytes)(&configuration.settings)?)));
    let Some((log, bytes)) = stated else { return Some(()) };
    let (name, (_, key)) = (&configuration.name, log.setting);
    let at = settings::place(raw, log.setting);
    let (volume, whose) = match &configuration.commitlog_volume {
        Some(volume) => (volume, "the volume of its log"),
        None => (&configuration.data_volume, "its volume, which has the data too,"),
    };
    let room = volume.room_bytes();
    if bytes * LOG_ROOM > room {
        let [bytes, room, most] = [bytes, room, room / LOG_ROOM].map(|bytes| bytes / GIB);
        let message = format!(
            "{key} of {name}: {bytes:.1} GiB, and {whose} has {room:.1} GiB: the log exceeds {key} while a checkpoint \
             is late, and the database ends where the volume is full"
        );
        return mistakes.refuse(at, message, format!("state {most:.1} GiB at the most, or a larger volume"));
    }
    if bytes / scale < log.least_bytes {
        let [there, least] = [bytes / scale, log.least_bytes].map(|bytes| bytes / MIB);
        let model = if scale > 1.0 { format!(" in the 1:{scale} model") } else { String::new() };
        let message = format!(
            "{key} of {name}: {there:.1} MiB{model}, and the database does not start with less than {least:.0} MiB"
        );
        return mistakes.refuse(at, message, "state more, or a smaller scale in [provider.local]");
    }
    Some(())
}

/// Where data and log have one volume, both have to fit at full scale.
pub(super) fn beside_data(file: &raw::Experiment, experiment: &Experiment, mistakes: &mut Collector<'_>) {
    let rules = experiment.target.database.product().checkpoints;
    let (Some(rules), Some(data)) = (rules, experiment.full_bytes()) else { return };
    for (raw, configuration) in only::with_raw(file, &experiment.configurations) {
        let stated = (rules.log.bytes)(&configuration.settings);
        let Some(bytes) = stated.filter(|_| configuration.commitlog_volume.is_none()) else { continue };
        let volume = &configuration.data_volume;
        let room = volume.room_bytes();
        let data = data * configuration.placement.share_per_node();
        if bytes * LOG_ROOM + data > room {
            let (name, (_, key)) = (&configuration.name, rules.log.setting);
            let [bytes, room, data] = [bytes, room, data].map(|bytes| bytes / GIB);
            let message = format!(
                "{key} of {name}: {bytes:.1} GiB, and its volume of {room:.1} GiB has {data:.1} GiB of data, too: the \
                 log exceeds {key} by as much again while a checkpoint is late, and the database ends where the volume \
                 is full"
            );
            let help = "state less, a larger volume, or a commitlog_volume";
            mistakes.add(settings::place(raw, rules.log.setting), message, help);
        }
    }
}

/// In a model what is stated is divided, and what is not is as large at every scale: configurations of both kinds
/// would be compared with logs whose ratio is another one than at full scale.
pub(super) fn of_one_kind(
    file: &raw::Experiment,
    configurations: &[Option<Configuration>],
    (rules, scale): (Option<&CheckpointRules>, f64),
    mistakes: &mut Collector<'_>,
) {
    let Some(log) = rules.map(|rules| rules.log).filter(|_| scale > 1.0) else { return };
    let is_stated = |configuration: &Configuration| (log.bytes)(&configuration.settings).is_some();
    let all = file.configuration.iter().zip(configurations);
    let all = all.filter_map(|(raw, configuration)| Some((raw, configuration.as_ref()?)));
    let (stated, unstated): (Vec<_>, Vec<_>) = all.partition(|(_, configuration)| is_stated(configuration));
    if let ([(raw, stated), ..], [(_, unstated), ..]) = (stated.as_slice(), unstated.as_slice()) {
        let (key, gib) = (log.setting.1, COMMITLOG_BYTES as f64 / GIB);
        let message = format!(
            "{key} of {}: the 1:{scale} model divides it, and {}, which states none, has {gib:.0} GiB there, as {:.0} \
             GiB would be at full scale",
            stated.name,
            unstated.name,
            gib * scale
        );
        mistakes.add(settings::place(raw, log.setting), message, format!("state {key} in every configuration"));
    }
}
