//! The fleet of today: whether it meets the target, and whether anything that is proposed is better.

use catalog::ClusterRequest;

use super::cluster::Found;
use super::machines::Order;
use super::question::Search;
use crate::document::{
    Allowance, ChangeBecause, FleetComparison, FleetDecision, FleetUse, Limit, Obstacle, Proposal, Undecided,
};
use crate::fleet::compare_fleets;

/// Prices that differ by no more than this share count as equal: rounded sizes of volumes make as much (practice).
const ROUNDING: f64 = 0.01;

/// What the evidence says about the fleet of today.
enum Today {
    Meets,
    Fails(ChangeBecause),
    Unknown(Undecided),
}

impl Search<'_> {
    /// The fleet of today beside the proposal that the decision speaks of.
    pub(super) fn beside_today(
        &self,
        cheapest: &Proposal,
        proven: Option<&Proposal>,
    ) -> Result<FleetComparison, String> {
        let current = &self.options.current;
        let beside = |proposal: &Proposal| {
            let cache = proposal.cache.as_ref().map(|cache| &cache.configuration);
            let read = |text: &String| ClusterRequest::parse(self.catalog, text).map_err(|e| e.to_string());
            let proposed = std::iter::once(&proposal.configuration).chain(cache).map(read);
            let proposed = proposed.collect::<Result<Vec<_>, String>>()?;
            compare_fleets(self.catalog, current, &proposed, self.usable(), self.basis)
        };
        let mut comparison = beside(proven.unwrap_or(cheapest))?;
        let decision = self.decide(comparison.current.usd_per_month, cheapest, proven);
        if let FleetDecision::NotDecided { because: Undecided::CheaperIsNotProven { .. } } = decision {
            comparison = beside(cheapest)?;
        }
        comparison.decision = Some(decision);
        comparison.current_use = self.only_kind().and_then(|only| self.use_of(only));
        Ok(comparison)
    }

    /// The fleet of today, if it is of one kind.
    fn only_kind(&self) -> Option<&ClusterRequest> {
        match self.options.current.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    fn decide(&self, today_usd: Option<f64>, cheapest: &Proposal, proven: Option<&Proposal>) -> FleetDecision {
        let best = proven.unwrap_or(cheapest);
        let saves = |proposal: &Proposal| Some(today_usd? - proposal.usd_per_month);
        let not_decided = |because| FleetDecision::NotDecided { because };
        let change = |because| FleetDecision::Change {
            to: best.title(),
            is_proven: proven.is_some(),
            because,
            saves_usd_per_month: saves(best),
        };
        match self.today() {
            Today::Unknown(why) => return not_decided(why),
            Today::Fails(because) => return change(because),
            Today::Meets => {}
        }
        let Some(today) = today_usd else { return not_decided(Undecided::PriceUnknown) };
        let is_cheaper = |proposal: &Proposal| today - proposal.usd_per_month > ROUNDING * today;
        if proven.is_some_and(is_cheaper) {
            return change(ChangeBecause::Cheaper);
        }
        if is_cheaper(cheapest) {
            return not_decided(Undecided::CheaperIsNotProven {
                configuration: cheapest.title(),
                saves_usd_per_month: today - cheapest.usd_per_month,
                doubts: cheapest.beyond_evidence.clone(),
            });
        }
        FleetDecision::Keep { next: best.title(), costs_more_usd_per_month: best.usd_per_month - today }
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
        let doubts = self.doubts(&found);
        if !doubts.is_empty() {
            return Today::Unknown(Undecided::BeyondEvidence { doubts });
        }
        let Found { busiest: limit, used, allowed, allowance, half_width, .. } = found;
        let error = half_width.unwrap_or(0.0);
        if used <= allowed {
            Today::Meets
        } else if used / (1.0 + error) <= allowed {
            Today::Unknown(Undecided::WithinError { limit, used, allowed, error_percent: error * 100.0 })
        } else {
            Today::Fails(ChangeBecause::Full { limit, used, allowed, allowance })
        }
    }

    /// How full a fleet of one kind would be at the target.
    fn use_of(&self, request: &ClusterRequest) -> Option<FleetUse> {
        let found = self.cluster(&Order::Given(request), request.nodes).ok()?;
        Some(FleetUse { limit: found.busiest, used: found.used, allowed: found.allowed, disk_fill: found.disk_fill })
    }
}
