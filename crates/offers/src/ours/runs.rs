//! Whose is what, and until when it is needed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::resource::Resource;

/// Until when the things of a run are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Until this moment, the latest that any of them states.
    Until(Timestamp),
    /// None states one, or one states what is no moment.
    Unknown,
}

impl Lifetime {
    /// Whether nobody needs them any more. Nothing is known to be past of which no moment is known.
    pub fn is_past(self, now: Timestamp) -> bool {
        matches!(self, Self::Until(moment) if moment < now)
    }
}

/// A run that has things in an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// Until when it needs them.
    pub life: Lifetime,
    /// How many.
    pub resources: usize,
}

/// Whose things are to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Those of these runs.
    Runs(Vec<String>),
    /// Those of runs whose time is over at this moment.
    Expired(Timestamp),
    /// Those of all runs.
    All,
}

impl Selection {
    /// Whether a run is meant.
    pub fn takes(&self, run: &Run) -> bool {
        match self {
            Self::Runs(names) => names.contains(&run.name),
            Self::Expired(now) => run.life.is_past(*now),
            Self::All => true,
        }
    }
}

/// The runs that things belong to, by name. A run may renew its time thing by thing, so that the latest counts.
pub fn runs<'a>(resources: impl IntoIterator<Item = &'a Resource>) -> Vec<Run> {
    let mut by_name: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
    for resource in resources {
        by_name.entry(&resource.run).or_default().push(resource);
    }
    let run = |(name, resources): (&str, Vec<&Resource>)| {
        let stated = resources.iter().filter_map(|resource| resource.expires.as_deref());
        let moments: Option<Vec<Timestamp>> = stated.map(|moment| moment.parse().ok()).collect();
        let latest = moments.and_then(|moments| moments.into_iter().max());
        Run {
            name: name.to_owned(),
            life: latest.map_or(Lifetime::Unknown, Lifetime::Until),
            resources: resources.len(),
        }
    };
    by_name.into_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::*;

    fn resource(run: &str, expires: Option<&str>) -> Resource {
        Resource {
            kind: Kind::Volume,
            id: "vol-1".to_owned(),
            name: None,
            run: run.to_owned(),
            expires: expires.map(str::to_owned),
            holds: Vec::new(),
        }
    }

    fn expired(resources: &[Resource]) -> Vec<String> {
        let now = Selection::Expired("2026-11-23T12:00:00Z".parse().unwrap());
        runs(resources).into_iter().filter(|run| now.takes(run)).map(|run| run.name).collect()
    }

    #[test]
    fn a_run_is_past_when_the_last_of_its_moments_is() {
        let (before, after) = (Some("2026-11-23T11:59:59Z"), Some("2026-11-23T12:00:01Z"));
        let resources = [
            resource("past", before),
            resource("renewed", before),
            resource("renewed", after),
            // A machine's interface gets its tags one by one.
            resource("past", None),
        ];
        assert_eq!(expired(&resources), ["past"]);
        assert_eq!(runs(&resources)[0].resources, 2);
    }

    #[test]
    fn a_run_of_which_no_moment_is_known_is_not_past() {
        let resources = [
            resource("silent", None),
            resource("odd", Some("tomorrow")),
            resource("odd", Some("2020-01-01T00:00:00Z")),
            resource("elsewhere", Some("2026-11-23T13:30:00+02:00")),
        ];
        assert_eq!(expired(&resources), ["elsewhere"]);
        assert_eq!(runs(&resources)[1].life, Lifetime::Unknown);
    }

    #[test]
    fn runs_are_meant_by_their_whole_name() {
        let resources = [resource("gp3", None), resource("gp3-2", None)];
        let meant = Selection::Runs(vec!["gp3".to_owned(), "*".to_owned()]);
        let names: Vec<String> =
            runs(&resources).into_iter().filter(|run| meant.takes(run)).map(|run| run.name).collect();
        assert_eq!(names, ["gp3"]);
    }
}
