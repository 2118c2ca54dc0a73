//! Two fleets beside each other, and whether to keep the one of today.

use ::sizing::{ChangeBecause, Fleet, FleetComparison, FleetDecision, FleetTotals, FleetUse, Proposal, Undecided};

use super::words::{self, is_in_doubt, obstacle, usd};
use crate::document::section::Section;
use crate::document::table::{Rows, rows};
use crate::figures::{given, number, when, whole_percent};

/// What a fleet has, with its unit; below it its name among the ratios of two fleets.
const TOTALS: [(&str, &str); 8] = [
    ("Nodes", "nodes"),
    ("vCPUs", "vcpus"),
    ("RAM GiB", "memory_gib"),
    ("Disk TB", "disk_tb"),
    ("Usable TB", "usable_tb"),
    ("IOPS", "iops"),
    ("MB/s", "mb_per_s"),
    ("Network Gbit/s", "network_gbps"),
];
/// The same for its money.
const MONEY: [(&str, &str); 2] = [("USD/hour", "usd_per_hour"), ("USD/month", "usd_per_month")];

fn totals(t: &FleetTotals) -> [Option<String>; 8] {
    [
        Some(t.nodes.to_string()),
        Some(given(t.vcpus as f64)),
        Some(number(t.memory_gib)),
        Some(number(t.disk_tb)),
        Some(number(t.usable_tb)),
        t.iops.map(number),
        t.mb_per_s.map(number),
        t.network_gbps.map(number),
    ]
}

/// What a zone and the whole cluster have: one row a figure, which fits every terminal.
pub(super) fn zones(proposal: &Proposal) -> Rows<usize> {
    let (zone, all) = (totals(&proposal.per_zone), totals(&proposal.total));
    rows("", 0..TOTALS.len())
        .text("", |row| TOTALS[*row].0)
        .number("A zone", |row| zone[*row].clone())
        .number("All", |row| all[*row].clone())
}

/// Two fleets beside each other.
pub(super) fn section(comparison: &FleetComparison) -> Section<'_> {
    let of = |fleet: &Fleet| {
        let money = [fleet.usd_per_hour, fleet.usd_per_month];
        let money = money.map(|usd| usd.map(|usd| format!("{usd:.2}")));
        totals(&fleet.total).into_iter().chain(money).collect::<Vec<Option<String>>>()
    };
    let (today, proposed) = (of(&comparison.current), of(&comparison.proposed));
    let head = |what: &str, fleet: &Fleet| format!("{what}\n{}", fleet.configurations.join("\n+ "));
    let figures = rows("", TOTALS.into_iter().chain(MONEY).enumerate())
        .text("", |(_, (name, _))| *name)
        .number(head("today", &comparison.current), |(row, _)| today[*row].clone())
        .number(head("proposed", &comparison.proposed), |(row, _)| proposed[*row].clone())
        .number("proposed / today", |(_, (_, name))| comparison.ratios.get(*name).map(|ratio| format!("x {ratio:.2}")));
    let in_use = comparison.current_use.as_ref().map(|today| {
        format!(
            "At the target the fleet of today would use {} and fill {} of its disks.",
            used(today),
            whole_percent(today.disk_fill)
        )
    });
    let cache = comparison.current_cache.as_ref().map(|tier| words::cache("The cache of today", tier));
    let (now, then) = (&comparison.current.price_days, &comparison.proposed.price_days);
    let days = (now != then && !now.is_empty() && !then.is_empty()).then(|| {
        let why = match &comparison.basis.price_date {
            None => "--price-date sets one day for both".to_owned(),
            Some(day) => format!("each is the latest known by {day}, and not both fleets have a price of that day"),
        };
        format!("note: prices of different days are compared ({} and {}); {why}", now.join(", "), then.join(", "))
    });
    let both = [("today", &comparison.current), ("proposed", &comparison.proposed)];
    let notes = both.into_iter().flat_map(|(name, fleet)| {
        let notes = fleet.notes.iter().map(move |note| format!("note: {name}: {note}"));
        let missing = fleet.price_missing.iter();
        notes.chain(missing.map(move |why| format!("note: no price of the fleet {name}: {why}")))
    });
    let said = with_caches(comparison)
        .into_iter()
        .chain(load_is_open(comparison))
        .chain(cache)
        .chain(in_use)
        .chain(days)
        .chain(notes);
    Section::new("fleets", "").table(figures).paragraphs(said)
}

/// That figures and money alone were compared, where no target was given.
fn load_is_open(comparison: &FleetComparison) -> Option<String> {
    if comparison.decision.is_some() {
        return None;
    }
    let holds = |fleet: &Fleet| {
        let bytes = fleet.total.usable_tb * 1e12;
        (bytes > 0.0).then(|| words::amount(bytes))
    };
    let room = match (holds(&comparison.current), holds(&comparison.proposed)) {
        (Some(today), Some(proposed)) => format!(" Usable: {today} today, {proposed} as proposed."),
        _ => String::new(),
    };
    Some(format!(
        "This says nothing of whether the proposed fleet carries the load of today's: iopslab size RUN with a target \
         judges that.{room}"
    ))
}

/// Machines and money of both fleets in the form of the study of 2012, where one of them has caches.
fn with_caches(comparison: &FleetComparison) -> Option<String> {
    let (today, proposed) = (&comparison.current, &comparison.proposed);
    if today.cache_nodes + proposed.cache_nodes == 0 {
        return None;
    }
    let machines = |fleet: &Fleet| {
        let database = fleet.total.nodes - fleet.cache_nodes;
        let money = fleet.usd_per_month.map_or_else(String::new, |price| format!(", {} USD a month", usd(price)));
        match fleet.cache_nodes {
            0 => format!("{}{money}", words::counted(database, "database machine", "database machines")),
            caches => format!("{database} database + {caches} cache machines{money}"),
        }
    };
    let ratio = comparison.ratios.get("usd_per_month");
    let ratio = ratio.map_or_else(String::new, |ratio| format!(": {} times the money", number(*ratio)));
    Some(format!("Today: {}. Proposed: {}{ratio}.", machines(today), machines(proposed)))
}

/// The verdict with its numbers.
pub(super) fn decision(decision: &FleetDecision, comparison: &FleetComparison) -> String {
    let today = comparison.current.configurations.join(" + ");
    let price = comparison
        .current
        .usd_per_month
        .map_or_else(|| "its price is not known".to_owned(), |price| format!("{} USD a month", usd(price)));
    let use_of_today = comparison.current_use.as_ref().map_or_else(String::new, |u| format!(", using {}", used(u)));
    let share = |saves: f64| {
        comparison
            .current
            .usd_per_month
            .map_or_else(String::new, |price| format!(" ({})", whole_percent(saves.abs() / price)))
    };
    match decision {
        FleetDecision::Keep { next, costs_more_usd_per_month: more } => {
            let other = if *next == today {
                "it is the cheapest of the search".to_owned()
            } else if *more >= 0.0 {
                format!("{next} costs {} USD a month more", usd(*more))
            } else {
                format!("{next} saves {} USD a month{}, which is rounding", usd(-more), share(*more))
            };
            format!(
                "Keep what you have: {today} ({price}) meets the target by more than its error{use_of_today}, and \
                 nothing else of the search that does is cheaper: {other}."
            )
        }
        FleetDecision::Change { to, is_in_doubt, because, saves_usd_per_month } => {
            let why = changed_because(because, &format!("{today} ({price})"), &use_of_today);
            let money = match saves_usd_per_month {
                Some(saves) if *saves >= 0.0 => format!(", which saves {} USD a month{}", usd(*saves), share(*saves)),
                Some(saves) => format!(", which costs {} USD a month{} more", usd(-saves), share(*saves)),
                None => String::new(),
            };
            let anyway = match because {
                ChangeBecause::CheaperAnyway { .. } => ", whatever today's fleet can do",
                _ => "",
            };
            match is_in_doubt {
                false => format!("Change to {to}{money}{anyway}: {why}."),
                true => format!(
                    "What you have is not enough: {why}. Nothing proven meets the target either; {to}{money}{} would \
                     if it holds: measure it first.",
                    when(!money.is_empty(), || ",".to_owned())
                ),
            }
        }
        FleetDecision::NotDecided { because } => {
            format!("Not decided whether to keep {today} ({price}): {}.", undecided(because))
        }
    }
}

/// `69 % of its volume IOPS (at most 70 %; what it carries is known to ±3 %)`
fn used(u: &FleetUse) -> String {
    let known = |half: f64| format!("; what it carries is known to {}", words::plus_minus(half));
    let error = u.error_percent.map_or_else(String::new, known);
    format!("{} of its {} (at most {}{error})", whole_percent(u.used), u.limit.words(), whole_percent(u.allowed))
}

/// Why the fleet of today is to be changed.
fn changed_because(because: &ChangeBecause, today: &str, use_of_today: &str) -> String {
    match because {
        ChangeBecause::Cheaper => format!("{today} meets the target by more than its error too{use_of_today}"),
        ChangeBecause::CheaperAnyway { today: why } => {
            format!("whether {today} meets the target is not decided ({})", undecided(why))
        }
        ChangeBecause::Full { limit, used, allowed, allowance } => format!(
            "{today} does not meet the target: {} would be used to {}, at most {} {}",
            limit.words(),
            whole_percent(*used),
            whole_percent(*allowed),
            words::allowance(*allowance)
        ),
        ChangeBecause::CacheFull { limit, used, allowed } => format!(
            "{today} does not meet the target: its caches would use {} of their {}, at most {} may be",
            whole_percent(*used),
            limit.words(),
            whole_percent(*allowed)
        ),
        ChangeBecause::TooFewNodes => {
            format!("{today} has too few nodes for the copies and for what may be down")
        }
    }
}

fn undecided(why: &Undecided) -> String {
    match why {
        Undecided::SeveralKinds => {
            "it is of several kinds of machines, and only fleets of one kind are judged".to_owned()
        }
        Undecided::NotKnown { why } => obstacle(why),
        Undecided::PriceUnknown => "it meets the target, but what it costs is not known".to_owned(),
        Undecided::InDoubt { doubts: all } => format!("whether it meets the target {}", is_in_doubt(all)),
        Undecided::CacheFull { used, allowed } => format!(
            "its caches would use {} of their CPU, at most {} may be, by what a request cost caches at the load of the \
             runs; --cache-cpu-us states what it costs yours",
            whole_percent(*used),
            whole_percent(*allowed)
        ),
        Undecided::CheaperIsInDoubt { configuration, saves_usd_per_month, doubts: all } => format!(
            "it meets the target by more than its error, and what would be cheaper is in doubt; {configuration} would \
             save {} USD a month, but {}; measure it to decide",
            usd(*saves_usd_per_month),
            is_in_doubt(all)
        ),
    }
}
