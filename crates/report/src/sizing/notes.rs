//! What a reader must know before trusting a figure, in words.

use ::sizing::{HeldOut, Note, Remark};

use super::words::{doubt, in_model, unchecked};
use crate::figures::{given, number, several, whole_percent};
use crate::labels;

/// A note as a sentence.
pub(super) fn note(note: &Note) -> String {
    match note {
        Note::ReplicaAsNode => "Each replica's part is charged like a whole operation of a single node: coordination \
            is counted, repair, streaming and hints are not."
            .to_owned(),
        Note::ReplicaOfCluster => {
            "Of measured clusters, each replica's part is charged what the mean node used for one: \
            coordination is in it, spread over the replicas asked; repair, streaming and hints are not."
                .to_owned()
        }
        Note::Coordination { share } => format!(
            "Coordination takes {} of an operation's CPU time, by evidence that asks unlike numbers of replicas: it is \
            charged once, and the rest to each replica; repair, streaming and hints are not counted.",
            whole_percent(*share)
        ),
        Note::Cpu { models, by_speed } => {
            let of = if models.is_empty() { "the measured machine".to_owned() } else { models.join(" and ") };
            let counts = match by_speed {
                true => {
                    "vCPUs count by the catalog's speeds, those of types that were not measured less the most by which \
                    the sources of a speed disagree; one of which no speed is known is taken as a measured one, and \
                    lies outside the measured range"
                }
                false => {
                    "a vCPU of each type is taken as one of these, because the speed of what was measured is not \
                    known or not one"
                }
            };
            format!("CPU time is that of {of}; {counts}. The error shown with a figure leaves this out.")
        }
        Note::BeyondCredible { used, credible } => format!(
            "Resources may be used up to {}: above {} response times are not credible and grow fast.",
            whole_percent(*used),
            whole_percent(*credible)
        ),
        Note::Scale { scale } => format!(
            "The evidence is of {}: throughput, IOPS and CPUs are taken to grow together by that factor.",
            labels::at_scale(*scale)
        ),
        Note::StandsFor { times } => format!(
            "The data that were measured stand for {} times as many (stands_for_records), and count as these: what \
             more SSTables and larger compactions would cost was not measured.",
            number(*times)
        ),
        Note::MissesKept => "Page caches missed as often as those of the data that they stand for, as reckoned \
            (page_cache = \"same-misses\"): shares of data in them are those of that data."
            .to_owned(),
        Note::MissesDiffer { factor, can_be_kept } => format!(
            "Page caches of the model missed {} times as often as those of what it stands for: a measured capacity \
             that volumes set is too {} by up to that; what is predicted counts the misses as they were. {}.",
            number(*factor),
            if *factor > 1.0 { "low" } else { "high" },
            match can_be_kept {
                true => "page_cache = \"same-misses\" in [provider.local] keeps them",
                false => "A smaller scale keeps them",
            }
        ),
        Note::CacheCalibrated => "Page caches were calibrated (page_cache = \"calibrated\"): which share of its data \
            production has in memory is not in the run, so that the share of the model is taken for it."
            .to_owned(),
        Note::P99NotChecked { asked_ms, found, why, lowest_ms, used } => {
            let lowest = lowest_ms.map_or_else(String::new, |ms| format!(" (lowest p99 of all cells: {ms:.1} ms)"));
            let (of_found, whose) = match found.is_empty() {
                true => (String::new(), "Utilisation"),
                false => (format!(" but of {} (`rate = \"find\"`)", found.join(", ")), "Utilisation of other machines"),
            };
            format!(
                "p99 <= {} ms is NOT checked{of_found}: {}{lowest}. {whose} is held at {} or less.",
                given(*asked_ms),
                unchecked(*why),
                whole_percent(*used)
            )
        }
        Note::P99Kept { asked_ms, used, scale } => format!(
            "p99 <= {} ms is modelled: rates that were measured{} kept it up to {} utilisation, so no resource is used \
             more. `rate = \"find\"` under it measures what a machine carries.",
            given(*asked_ms),
            in_model(*scale),
            whole_percent(*used)
        ),
        Note::P99Carried { asked_ms, configurations, used, scale } => format!(
            "p99 <= {} ms was measured{}: of {} it is known how much they carry under it (`rate = \"find\"`), and \
             headroom is taken from that. Of other machines no resource is used more than {}, to which the p99 was \
             kept there.",
            given(*asked_ms),
            in_model(*scale),
            configurations.join(", "),
            whole_percent(*used)
        ),
        Note::NothingHeldOut => "No cell could be held out, so the model's error is not known.".to_owned(),
        Note::ModelRefused => format!(
            "The model fails its held-out test; only measured machines are proposed. For more, {}.",
            HeldOut::REMEDY
        ),
        Note::ExponentialAsUniform => {
            "Exponential keys are taken for uniform ones where the page cache is concerned.".to_owned()
        }
        Note::OneMix => "One mix was measured: reads and writes are taken to cost the same CPU time.".to_owned(),
        Note::Suspect { suspect, trials, rules } => {
            let rules: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
            format!(
                "{suspect} of {} {} suspect ({}): iopslab report RUN says why.",
                several(*trials, "trial"),
                if *suspect == 1 { "is" } else { "are" },
                rules.join(", ")
            )
        }
        Note::ShortTrials { seconds } => format!(
            "Trials of {seconds:.0} s see few flushes and compactions: what a write costs the disks is understated, \
            less so the more reads there are."
        ),
        Note::NoCapacitySeen => {
            "No cell was bounded by a resource of the database: capacities were never seen, only demands.".to_owned()
        }
        Note::Settings { version, settings, left_out } => {
            let of = version.as_ref().map_or_else(String::new, |version| format!(" of version {version}"));
            let or_version = if version.is_some() { " or another version" } else { "" };
            let about = match settings.is_empty() {
                true => format!("The answer is about a database{of} as iopslab starts it."),
                false => format!("The answer is about a database{of} with these settings: {}.", settings.join(", ")),
            };
            match left_out.is_empty() {
                true => about,
                false => format!(
                    "{about} Configurations with other settings{or_version} are no evidence for it, and no \
                     candidates: {}.",
                    left_out.join(", ")
                ),
            }
        }
        Note::SeveralDataVolumes { left_out } => format!(
            "Clusters are of nodes with one data volume each; those with several are no evidence and no \
             candidates: {}.",
            left_out.join(", ")
        ),
        Note::CachePredicted { policy, ttl_s, cpu_us, cpu_is_measured, memory_share, item } => {
            let ttl = ttl_s
                .map_or_else(|| "that never expire".to_owned(), |ttl| format!("that expire after {} s", given(ttl)));
            let (cpu_us, says) = match cpu_is_measured {
                true => (number(*cpu_us), "as runs measured it; vCPUs count by their speed where it is known"),
                false => (given(*cpu_us), "as it was stated"),
            };
            format!(
                "Of a cache: memcached's LRU in {} of its nodes' memory, records of {} B with key, header and lengths \
                 of fields in chunks of {} B, {ttl}; a write does what `{policy}` says. A request takes {cpu_us} us of \
                 CPU, {says}. Reads that miss are taken as spread evenly over the data, and the database is sized \
                 for what it sees while that part of the cache is down that may be. Not in it: a cache that is still \
                 cold, keys that are unevenly spread over its nodes.",
                whole_percent(*memory_share),
                given(item.bytes as f64),
                given(item.chunk_bytes as f64)
            )
        }
        Note::CacheTooFull { configuration, limit, used, allowed } => format!(
            "No cache of such machines carries the requests: {configuration} would use {} of its {}, at most {} may \
             be.",
            whole_percent(*used),
            limit.words(),
            whole_percent(*allowed)
        ),
        Note::CacheNotPriced { machine, why } => {
            format!("A cache of {machine} was left out, its price is not known: {why}.")
        }
        Note::CacheTier { left_out } => format!(
            "What an operation asks of a database behind caches is no demand of an operation: configurations with a \
             cache_tier are no evidence but for their caches, and no candidates: {}.",
            left_out.join(", ")
        ),
        Note::TrafficBetweenZones => {
            "Traffic between zones is not priced: iopslab catalog cost CONFIG --cross-zone-gb GB adds what is known of \
             it."
            .to_owned()
        }
    }
}

/// A remark on a proposal, without a full stop.
pub(super) fn remark(remark: &Remark) -> String {
    match remark {
        Remark::Extrapolated { value, allowed_factor } => {
            format!("extrapolated within the allowed factor of {}: {}", given(*allowed_factor), doubt(value))
        }
        Remark::NetworkUnknown => "its network bandwidth is not known and was left out of the check".to_owned(),
        Remark::CacheNetworkUnknown => {
            "the network bandwidth of its cache nodes is not known and was left out of the check".to_owned()
        }
        Remark::DiskThroughputUnknown => {
            "the MB/s of its disks are not known and were left out of the check".to_owned()
        }
        Remark::Price(words) => words.clone(),
    }
}

#[cfg(test)]
mod tests {
    use ::sizing::P99Unchecked;

    use super::*;

    /// It stood beside a proposal whose p99 was measured.
    #[test]
    fn that_a_p99_is_not_checked_is_said_of_machines_that_were_not_found_to_keep_it() {
        let said = |found: &[&str]| {
            let found = found.iter().map(|name| (*name).to_owned()).collect();
            let why = P99Unchecked::Contradicted { failed: 0.3, kept: 0.5 };
            note(&Note::P99NotChecked { asked_ms: 20.0, found, why, lowest_ms: Some(9.0), used: 0.3 })
        };
        let alone = said(&[]);
        assert!(alone.starts_with("p99 <= 20 ms is NOT checked: it was not kept at 30 % use"), "{alone}");
        assert!(alone.ends_with(" (lowest p99 of all cells: 9.0 ms). Utilisation is held at 30 % or less."), "{alone}");
        let beside = said(&["gp3-300", "gp3-600"]);
        let found = "p99 <= 20 ms is NOT checked but of gp3-300, gp3-600 (`rate = \"find\"`): ";
        assert!(beside.starts_with(found), "{beside}");
        assert!(beside.ends_with("Utilisation of other machines is held at 30 % or less."), "{beside}");
    }
}
