//! The fleet of today: whether it meets the target, and whether anything that is proposed is better.

use std::slice::from_ref;

use catalog::ClusterRequest;

use super::cluster::Found;
use super::machines::Order;
use super::options::CacheMachine;
use super::question::{Search, Tier};
use crate::document::{
    Allowance, ChangeBecause, Doubt, FleetComparison, FleetDecision, FleetUse, Limit, Note, Obstacle, Proposal,
    Undecided,
};
use crate::fleet::{FleetMachines, compare};

/// Prices that differ by no more than this share count as equal: rounded sizes of volumes make as much (practice).
const ROUNDING: f64 = 0.01;

/// What the evidence says about the fleet of today.
enum Today {
    Meets,
    Fails(ChangeBecause),
    Unknown(Undecided),
}

/// The caches before the fleet of today.
enum CachesOfToday {
    None,
    Before(Box<Tier>),
    TooFull(Today),
}

impl Search<'_> {
    /// The fleet of today beside the proposal that the decision speaks of.
    pub(super) fn beside_today(&self, cheapest: &Proposal, best: Option<&Proposal>) -> Result<FleetComparison, String> {
        let asked = self.options.cache.as_ref().and_then(|asked| asked.current.as_ref());
        let current =
            FleetMachines { database: &self.options.current, caches: asked.map(from_ref).unwrap_or_default() };
        let beside = |proposal: &Proposal| {
            let read = |text: &String| ClusterRequest::parse(self.catalog, text).map_err(|e| e.to_string());
            let database = read(&proposal.configuration)?;
            let caches: Vec<ClusterRequest> =
                proposal.cache.iter().map(|cache| read(&cache.configuration)).collect::<Result<_, _>>()?;
            let proposed = FleetMachines { database: from_ref(&database), caches: &caches };
            compare(&self.market, current, proposed, self.usable())
        };
        let mut comparison = beside(best.unwrap_or(cheapest))?;
        let only = self.only_kind();
        let (today, in_use, current_cache) = match self.caches_of_today()? {
            CachesOfToday::None => (self.today(), only.and_then(|only| self.use_of(only)), None),
            CachesOfToday::TooFull(today) => (today, None, None),
            CachesOfToday::Before(tier) => {
                let behind = self.behind(&tier);
                let (today, in_use) = (behind.today(), only.and_then(|only| behind.use_of(only)));
                (today, in_use, Some(tier.shown.clone()))
            }
        };
        let decision = decide(today, comparison.current.usd_per_month, cheapest, best);
        if let FleetDecision::NotDecided { because: Undecided::CheaperIsInDoubt { .. } } = decision {
            comparison = beside(cheapest)?;
        }
        comparison.decision = Some(decision);
        comparison.current_use = in_use;
        comparison.current_cache = current_cache;
        Ok(comparison)
    }

    /// What the caches before the fleet of today do at the target.
    fn caches_of_today(&self) -> Result<CachesOfToday, String> {
        let asked = self.options.cache.as_ref().and_then(|asked| Some((asked, asked.current.as_ref()?)));
        let Some((asked, current)) = asked else { return Ok(CachesOfToday::None) };
        let machine = CacheMachine { instance: current.instance.clone(), nodes: Some(current.nodes) };
        let (tiers, notes) = self.tiers(asked, from_ref(&machine)).map_err(|error| error.to_string())?;
        if let Some(tier) = tiers.into_iter().next() {
            return Ok(CachesOfToday::Before(Box::new(tier)));
        }
        let why = notes.into_iter().find_map(|note| match note {
            Note::CacheTooFull { limit, used, allowed, .. } => {
                // At few requests caches take more CPU time for each than at the target.
                let is_stated = asked.cpu_us.is_some() || limit != Limit::Cpu;
                Some(Ok(CachesOfToday::TooFull(match is_stated {
                    true => Today::Fails(ChangeBecause::CacheFull { limit, used, allowed }),
                    false => Today::Unknown(Undecided::CacheFull { used, allowed }),
                })))
            }
            Note::CacheNotPriced { why, .. } => Some(Err(why)),
            _ => None,
        });
        why.unwrap_or(Ok(CachesOfToday::None))
    }

    /// The fleet of today, if it is of one kind.
    fn only_kind(&self) -> Option<&ClusterRequest> {
        match self.options.current.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether the fleet of today meets the target.
    fn today(&self) -> Today {
        let Some(only) = self.only_kind() else { return Today::Unknown(Undecided::SeveralKinds) };
        if only.nodes < self.target.replication_factor {
            return Today::Fails(ChangeBecause::TooFewNodes);
        }
        let found = match self.cluster(&Order::Given(only), only.nodes) {
            Ok(found) => found,
            Err(Obstacle::NoNodeLeft) => return Today::Fails(ChangeBecause::TooFewNodes),
            Err(why) => return Today::Unknown(Undecided::NotKnown { why }),
        };
        // What the disks hold is arithmetic, not a model.
        if found.disk_fill > found.disk_fill_allowed {
            return Today::Fails(ChangeBecause::Full {
                limit: Limit::DiskSpace,
                used: found.disk_fill,
                allowed: found.disk_fill_allowed,
                allowance: Allowance::DiskFill,
            });
        }
        let doubts = self.in_doubt(&found);
        if found.misses_the_target() && !doubts.iter().any(Doubt::is_outside) {
            let Found { busiest: limit, used, refused: (allowed, allowance), .. } = found;
            return Today::Fails(ChangeBecause::Full { limit, used, allowed, allowance });
        }
        match doubts.is_empty() {
            true => Today::Meets,
            false => Today::Unknown(Undecided::InDoubt { doubts }),
        }
    }

    /// How full a fleet of one kind would be at the target.
    fn use_of(&self, request: &ClusterRequest) -> Option<FleetUse> {
        let found = self.cluster(&Order::Given(request), request.nodes).ok()?;
        let error = found.half_width.filter(|_| self.doubts(&found).is_empty());
        Some(FleetUse {
            limit: found.busiest,
            used: found.used,
            allowed: found.allowed,
            error_percent: error.map(|error| error * 100.0),
            disk_fill: found.disk_fill,
        })
    }
}

/// What to do, by what the evidence says about the fleet of today and by money.
fn decide(today: Today, today_usd: Option<f64>, cheapest: &Proposal, sure: Option<&Proposal>) -> FleetDecision {
    let best = sure.unwrap_or(cheapest);
    let saves = |proposal: &Proposal| Some(today_usd? - proposal.usd_per_month);
    let not_decided = |because| FleetDecision::NotDecided { because };
    let change = |because| FleetDecision::Change {
        to: best.title(),
        is_in_doubt: sure.is_none(),
        because,
        saves_usd_per_month: saves(best),
    };
    let is_cheaper =
        |proposal: &Proposal| today_usd.is_some_and(|today| today - proposal.usd_per_month > ROUNDING * today);
    match today {
        Today::Unknown(today) if sure.is_some_and(is_cheaper) => {
            return change(ChangeBecause::CheaperAnyway { today });
        }
        Today::Unknown(why) => return not_decided(why),
        Today::Fails(because) => return change(because),
        Today::Meets => {}
    }
    let Some(today) = today_usd else { return not_decided(Undecided::PriceUnknown) };
    if sure.is_some_and(is_cheaper) {
        return change(ChangeBecause::Cheaper);
    }
    if is_cheaper(cheapest) {
        return not_decided(Undecided::CheaperIsInDoubt {
            configuration: cheapest.title(),
            saves_usd_per_month: today - cheapest.usd_per_month,
            doubts: cheapest.doubts.clone(),
        });
    }
    FleetDecision::Keep { next: best.title(), costs_more_usd_per_month: best.usd_per_month - today }
}
