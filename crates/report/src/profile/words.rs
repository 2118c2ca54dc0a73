//! The verdict in sentences.

use ::profile::{Profile, Verdict, Withheld};

use crate::figures::{number, percent, several, whole, whole_percent};

/// The verdict first, then what clients ask.
pub(super) fn sentences(profile: &Profile) -> Vec<String> {
    let verdict = &profile.verdict;
    let mut said: Vec<String> = asked(verdict).into_iter().collect();
    said.push(match &verdict.withheld {
        Some(why) => withheld(why),
        None => advice(verdict),
    });
    if let Some((host, times)) = verdict.need.as_ref().and_then(|need| Some((&need.host, need.uneven?))) {
        said.push(format!(
            "{host} does {} times as much as the host in the middle: an even cluster would need less of each node.",
            number(times)
        ));
    }
    if let Some(clients) = profile.workload.clients {
        let share = clients.mean.read_share();
        said.push(format!(
            "Clients ask {} reads and {} writes a second{}; {} operations a second between the two readings with the \
             most.",
            number(clients.mean.reads + clients.mean.scans),
            number(clients.mean.writes),
            share.map_or_else(String::new, |share| format!(" ({} read)", percent(share))),
            number(clients.busiest.total())
        ));
    }
    said
}

/// What was asked for beside what is bought.
fn asked(verdict: &Verdict) -> Option<String> {
    let need = verdict.need.as_ref()?;
    let all = need.asked.both;
    let seen = format!(
        "Volumes are asked for at most {} IOPS and {} MiB/s, on {} the most (busiest minute or 99th percentile of \
         seconds, whichever is more)",
        number(all.iops),
        number(all.mib_per_s),
        need.host
    );
    let Some(today) = &verdict.today else {
        return Some(format!("{seen}."));
    };
    let allowed = today.allowed.most();
    let mib = match allowed.mib_per_s.is_finite() {
        true => format!(" and {} MiB/s", whole(allowed.mib_per_s)),
        false => String::new(),
    };
    let used = today.used.map_or_else(String::new, |used| format!(": {} of it", whole_percent(used)));
    Some(format!("{seen}; {} may do {} IOPS{mib}{used}.", today.configuration, whole(allowed.iops)))
}

fn advice(verdict: &Verdict) -> String {
    let free = whole_percent(verdict.headroom);
    let today = verdict.today.as_ref().and_then(|today| today.usd_per_month);
    // Today's machine was seen at work, others were not.
    let own = verdict.cheaper.iter().find(|candidate| !candidate.other_type);
    let Some((first, today)) = own.or(verdict.cheaper.first()).zip(today) else {
        return format!("Nothing of the catalog that would hold that with {free} free costs less.");
    };
    let unlike = match first.other_type {
        true => " It is another machine, with no less of CPUs, memory and network, and was not measured.",
        false => "",
    };
    format!(
        "{} would hold that with {free} free for {} USD a month and node instead of {}: {} less.{unlike} That is what \
         was seen, not your busiest hour unless that was among it.",
        first.configuration,
        whole(first.usd_per_month),
        whole(today),
        whole(first.saves_usd_per_month)
    )
}

fn withheld(why: &Withheld) -> String {
    match why {
        Withheld::NoDevice => {
            "No verdict on volumes: no device was seen; --ssh has what they are asked for read once a second."
                .to_owned()
        }
        Withheld::TooShort { seen_s, least_s } => format!(
            "No advice: {} of a device were seen, and less than {} are too short.",
            several(seen_s.round() as u64, "second"),
            several((least_s / 60.0).ceil() as u64, "minute")
        ),
        Withheld::NotStated => {
            "No verdict on money: what the nodes run on is not stated (--instance, --data-volume).".to_owned()
        }
        Withheld::NotKnown { why } => format!("No verdict: {why}."),
        Withheld::AtLimit { host, share } => format!(
            "No smaller volume is advised: {host} was at its limit in {} of its seconds, so that what is wanted of it \
             is not known; it may be more.",
            percent(*share)
        ),
        Withheld::NoPrice { why } => format!("No verdict on money: {why}."),
    }
}

/// What was left out of the figures of hosts and nodes.
pub(super) fn left_out(profile: &Profile) -> Vec<String> {
    let hosts = profile.devices.iter().filter(|device| device.gaps + device.left_out > 0);
    let hosts = hosts.map(|device| {
        format!(
            "{}: left out {} without samples and {} in which counters went back.",
            device.host,
            several(device.gaps.into(), "time"),
            several(device.left_out.into(), "second")
        )
    });
    let nodes = profile.workload.nodes.iter().filter(|node| node.left_out > 0);
    let nodes = nodes.map(|node| {
        format!(
            "{}: left out {} between readings, in which it started again.",
            node.node,
            several(node.left_out.into(), "interval")
        )
    });
    hosts.chain(nodes).collect()
}
