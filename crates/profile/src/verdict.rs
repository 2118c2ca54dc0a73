//! The first verdict: what was asked for beside what is bought, and what would hold it for less.

use catalog::{Basis, Catalog, ClusterRequest, CostLine};
use experiment::DEFAULT_HEADROOM;
use serde::Serialize;

use crate::around::{Around, Offer};
use crate::capacity::Allowed;
use crate::device::{Asked, DeviceUse};

/// Less is too short for advice, seconds: ten minutes hold a flush and some compactions of a busy table, and no more.
/// A hundredth less counts as ten minutes: readings take a moment.
const LEAST_OBSERVED_S: f64 = 600.0 * 0.99;
/// With more of the seconds at the limit the demand is not known: the 99th percentile of seconds then is the limit.
const CENSORED_SHARE: f64 = 0.01;
/// Nodes whose busiest one does this much more than the one in the middle are uneven (practice).
const UNEVEN: f64 = 1.5;

/// What a node's volume has to carry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Need {
    /// The host that uses the most of what is bought; where that is not known, the one with the most requests. What is
    /// asked for need not be all of it.
    pub host: String,
    /// The largest of the busiest minute and of the 99th percentile of seconds, over all hosts.
    pub asked: Asked,
    /// The busiest host beside the one in the middle, where there are several: a share of requests.
    pub uneven: Option<f64>,
}

/// Why there is no advice to buy less.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "because")]
pub enum Withheld {
    /// No device was seen.
    NoDevice,
    /// It was watched for too short a time.
    TooShort {
        /// Seconds that were seen of the host with the least.
        seen_s: f64,
        /// Seconds that have to be.
        least_s: f64,
    },
    /// Nobody says what the nodes run on.
    NotStated,
    /// What that may do is not known.
    NotKnown {
        /// In words.
        why: String,
    },
    /// A device was at its limit: what was wanted of it is not known.
    AtLimit {
        /// Which host.
        host: String,
        /// For which share of the time: its seconds at the limit, or what EBS says itself, whichever is more.
        share: f64,
    },
    /// What it costs is not known.
    NoPrice {
        /// In words.
        why: String,
    },
}

/// A configuration with its price.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Priced {
    /// As `--candidate` takes it.
    pub configuration: String,
    /// One node.
    #[serde(skip)]
    pub request: ClusterRequest,
    /// What it may do.
    pub allowed: Allowed,
    /// Share of that which the need takes.
    pub used: Option<f64>,
    /// A node and month.
    pub usd_per_month: Option<f64>,
    /// The bill.
    pub lines: Vec<CostLine>,
}

/// What would hold the need for less.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// As `--candidate` takes it.
    pub configuration: String,
    /// One node.
    #[serde(skip)]
    pub request: ClusterRequest,
    /// What it may do.
    pub allowed: Allowed,
    /// Share of that which the need takes.
    pub used: f64,
    /// A node and month.
    pub usd_per_month: f64,
    /// Less than today's, a node and month.
    pub saves_usd_per_month: f64,
    /// Whether the machine is another type: no less of CPUs, their speed, memory and network, and not measured.
    pub other_type: bool,
}

/// What can be said without a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// What was asked for; `None`: no device was seen.
    pub need: Option<Need>,
    /// What is bought; `None`: not stated, or not known.
    pub today: Option<Priced>,
    /// Why no advice is given; `None`: it is.
    pub withheld: Option<Withheld>,
    /// Share of what is allowed that stays free in the advice.
    pub headroom: f64,
    /// What would hold the need with that headroom for less, the cheapest first.
    pub cheaper: Vec<Candidate>,
    /// How money is counted.
    pub basis: Basis,
}

/// With what surrounds it: for the experiment.
pub(crate) struct Judged {
    pub verdict: Verdict,
    /// Configurations that do more and cost more.
    pub dearer: Vec<ClusterRequest>,
    /// Configurations that do less and cost less; a question where the verdict gives no advice, none where a device was
    /// at its limit.
    pub cheaper: Vec<ClusterRequest>,
}

/// Judges what devices were asked for. `devices` were measured against what `today` may do.
pub(crate) fn verdict(
    catalog: &Catalog,
    basis: &Basis,
    today: Option<(&ClusterRequest, Result<Allowed, String>)>,
    devices: &[DeviceUse],
) -> Judged {
    let allowed = today.as_ref().and_then(|(_, allowed)| allowed.as_ref().ok()).copied();
    let need = need(devices, allowed.as_ref());
    let mut withheld = withheld(today.as_ref().map(|(_, allowed)| allowed), devices);
    let request = today.map(|(request, _)| request);
    let cost = request.map(|request| catalog.cost(request, basis));
    let (usd, lines) = match &cost {
        Some(Ok(cost)) => (Some(cost.usd_per_month), cost.lines.clone()),
        _ => (None, Vec::new()),
    };
    if withheld.is_none()
        && let Some(Err(error)) = &cost
    {
        withheld = Some(Withheld::NoPrice { why: error.to_string() });
    }
    // The sum says the day of its prices.
    let basis_of_sum = cost.and_then(Result::ok).map_or_else(|| basis.clone(), |cost| cost.basis);
    let mut judged = Judged {
        verdict: Verdict {
            today: request.zip(allowed).map(|(request, allowed)| Priced {
                configuration: request.to_string(),
                request: request.clone(),
                allowed,
                used: need.as_ref().map(|need| need.asked.share_of(&allowed)),
                usd_per_month: usd,
                lines,
            }),
            need,
            withheld,
            headroom: DEFAULT_HEADROOM,
            cheaper: Vec::new(),
            basis: basis_of_sum,
        },
        dearer: Vec::new(),
        cheaper: Vec::new(),
    };
    let (Some(today), Some(allowed), Some(usd)) = (request, allowed, usd) else { return judged };
    let around = Around { catalog, basis, today };
    judged.dearer = around.dearer(&allowed, usd).into_iter().map(|offer| offer.request).collect();
    let asked = judged.verdict.need.as_ref().map(|need| need.asked);
    match (&judged.verdict.withheld, asked) {
        (None, Some(asked)) => {
            let wanted = asked.times(1.0 / (1.0 - DEFAULT_HEADROOM));
            let candidate = |offer: Offer| Candidate {
                configuration: offer.request.to_string(),
                used: asked.share_of(&offer.allowed),
                allowed: offer.allowed,
                usd_per_month: offer.usd_per_month,
                saves_usd_per_month: usd - offer.usd_per_month,
                other_type: offer.request.instance != today.instance,
                request: offer.request,
            };
            judged.verdict.cheaper = around.cheaper(&wanted, usd).into_iter().map(candidate).collect();
            judged.cheaper = judged.verdict.cheaper.iter().map(|cheaper| cheaper.request.clone()).collect();
        }
        (Some(Withheld::AtLimit { .. }), _) => {}
        // Nothing is known of what is needed: half of today's is a question that the experiment may ask.
        _ => {
            let half = allowed.most().times(0.5);
            let half = Asked { read: half, write: half, both: half };
            judged.cheaper = around.cheaper(&half, usd).into_iter().map(|offer| offer.request).collect();
        }
    }
    // Today's machine with another volume changes one thing: it is tried first.
    judged.cheaper.sort_by_key(|request| request.instance != today.instance);
    judged
}

/// Over all hosts: nodes of a cluster are alike, so each has to be as large as the busiest needs.
fn need(devices: &[DeviceUse], allowed: Option<&Allowed>) -> Option<Need> {
    let of_host = |device: &DeviceUse| {
        let asked = device.asked();
        allowed.map_or(asked.both.iops, |allowed| asked.share_of(allowed))
    };
    let busiest = devices.iter().max_by(|a, b| of_host(a).total_cmp(&of_host(b)))?;
    let asked = devices.iter().map(DeviceUse::asked).reduce(Asked::max)?;
    let middle = stats::median(devices.iter().map(of_host)).filter(|_| devices.len() > 1);
    let uneven = middle.and_then(|middle| stats::ratio(of_host(busiest), middle)).filter(|times| *times >= UNEVEN);
    Some(Need { host: busiest.host.clone(), asked, uneven })
}

/// The first reason that holds.
fn withheld(allowed: Option<&Result<Allowed, String>>, devices: &[DeviceUse]) -> Option<Withheld> {
    let Some(seen_s) = devices.iter().map(|device| device.seconds).reduce(f64::min) else {
        return Some(Withheld::NoDevice);
    };
    // A limit that was reached says more than a time that was short.
    let shares = devices.iter().filter_map(|device| Some((device, device.at_limit?)));
    let at_limit = shares.filter(|(_, share)| *share >= CENSORED_SHARE);
    if let Some((device, share)) = at_limit.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
        return Some(Withheld::AtLimit { host: device.host.clone(), share });
    }
    if seen_s < LEAST_OBSERVED_S {
        return Some(Withheld::TooShort { seen_s, least_s: LEAST_OBSERVED_S });
    }
    match allowed {
        None => Some(Withheld::NotStated),
        Some(Err(why)) => Some(Withheld::NotKnown { why: why.clone() }),
        Some(Ok(_)) => None,
    }
}
