//! The verdict in sentences.

use ::profile::{Allowed, Flow, Profile, Unknown, Withheld};

use crate::figures::{number, percent, several, whole, whole_percent};

/// With less of the time seen of a device it is said how much.
const NEARLY_ALL: f64 = 0.9;

/// The verdict first, but for what a log lacks; then what clients ask.
pub(super) fn sentences(profile: &Profile) -> Vec<String> {
    let verdict = &profile.verdict;
    // What is not all of a workload says so first.
    let mut said: Vec<String> = profile.log.iter().filter_map(|log| log.own.not_all()).collect();
    said.extend(asked(profile));
    said.extend(not_all_seen(profile));
    said.push(match &verdict.withheld {
        Some(why) => withheld(why),
        None => advice(profile),
    });
    if let Some((host, times)) = verdict.need.as_ref().and_then(|need| Some((&need.host, need.uneven?))) {
        said.push(format!(
            "{host} does {} times as much as the host in the middle: an even cluster would need less of each node.",
            number(times)
        ));
    }
    if let Some(clients) = profile.workload.clients {
        let share = clients.mean.read_share();
        let (read, known) = (profile.workload.nodes.len(), profile.cluster.nodes);
        let who = match read < known as usize {
            true => format!("Of the {read} nodes that were read (of {known}), clients ask"),
            false => "Clients ask".to_owned(),
        };
        said.push(format!(
            "{who} {} reads and {} writes a second{}; {} operations a second between the two readings with the \
             most.",
            number(clients.mean.reads + clients.mean.scans),
            number(clients.mean.writes),
            share.map_or_else(String::new, |share| format!(" ({} read)", percent(share))),
            number(clients.busiest.total())
        ));
    }
    said.extend(keys(profile));
    said
}

/// How the keys of the table that is asked for most are chosen.
fn keys(profile: &Profile) -> Option<String> {
    let log = profile.log.as_ref()?;
    let (table, skew) = log.stated()?;
    let unlike = match skew.best.is_close() {
        true => "",
        false => ", the best of a few laws and no good one",
    };
    let made = match skew.made == skew.best {
        true => String::new(),
        false => format!(
            " No workload can state that; the nearest, {}, is off by {:.1} points.",
            skew.made.law,
            skew.made.gap * 100.0
        ),
    };
    Some(format!(
        "Keys of {table}: {}{unlike}; at most {:.1} points of the requests from what the query log has, {} for \
         {}.{made}",
        skew.best.law,
        skew.best.gap * 100.0,
        several(skew.requests, "request"),
        several(skew.asked, "partition")
    ))
}

/// What was asked for beside what is bought.
fn asked(profile: &Profile) -> Option<String> {
    let verdict = &profile.verdict;
    let need = verdict.need.as_ref()?;
    let all = need.asked.both;
    let host = &need.host;
    let on = match (profile.devices.len(), &verdict.today) {
        (1, _) => format!("on {host}"),
        (_, Some(_)) => format!("over all hosts, of which {host} uses the most of what is bought"),
        (_, None) => format!("over all hosts, of which {host} has the most requests"),
    };
    let seen = format!(
        "Volumes are asked for at most {} IOPS and {} MiB/s {on} (busiest minute or 99th percentile of seconds, \
         whichever is more)",
        number(all.iops),
        number(all.mib_per_s)
    );
    let Some(today) = &verdict.today else { return Some(format!("{seen}.")) };
    let flow = |flow: Flow| match flow.mib_per_s.is_finite() {
        true => format!("{} IOPS and {} MiB/s", whole(flow.iops), whole(flow.mib_per_s)),
        false => format!("{} IOPS", whole(flow.iops)),
    };
    let (allowed, of) = match today.allowed {
        Allowed::Together(all) => (format!("do {}", flow(all)), "it"),
        Allowed::Apart { read, write } => {
            (format!("read {} and write {}", flow(read), flow(write)), "the fuller of both")
        }
    };
    let used = today.used.map_or_else(String::new, |used| format!(": {} of {of}", whole_percent(used)));
    Some(format!("{seen}; {} may {allowed}{used}.", today.configuration))
}

/// The host with the least, where a good part of the time is missing.
fn not_all_seen(profile: &Profile) -> Option<String> {
    let parts = profile.devices.iter().filter(|device| device.seconds < NEARLY_ALL * profile.seconds);
    let least = parts.clone().min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    let others = match parts.count() - 1 {
        0 => String::new(),
        more => format!(", and of {} not all, either", several(more as u64, "other device")),
    };
    Some(format!(
        "{} of {} minutes were seen of the device of {}{others}.",
        number(least.seconds / 60.0),
        number(profile.seconds / 60.0),
        least.host
    ))
}

fn advice(profile: &Profile) -> String {
    let verdict = &profile.verdict;
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
    let part = profile.unknown.iter().find_map(|unknown| match unknown {
        Unknown::Hosts(watched, known) => Some((watched, known)),
        _ => None,
    });
    let part = part.map_or_else(String::new, |(watched, known)| {
        format!(" It is of {watched} of {known} nodes: one that was not watched may need more.")
    });
    format!(
        "{} would hold that with {free} free for {} USD a month and node instead of {}: {} less.{unlike}{part} That is \
         what was seen, not your busiest hour unless that was among it.",
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
            "No smaller volume is advised: {host} was at its limit for {} of the time, so that what is wanted of it \
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
            "{}: left out {} without samples and {} in which counters or its clock went back.",
            device.host,
            several(device.gaps.into(), "time"),
            several(device.left_out.into(), "second")
        )
    });
    let nodes = profile.workload.nodes.iter().filter(|node| node.left_out > 0);
    let nodes = nodes.map(|node| {
        format!(
            "{}: left out {} between readings, in which it started again, did not answer, or a counter \
             went back.",
            node.node,
            several(node.left_out.into(), "interval")
        )
    });
    hosts.chain(nodes).collect()
}
