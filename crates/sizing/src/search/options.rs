//! What to search.

use std::collections::BTreeSet;

use catalog::{Catalog, Cloud, ClusterRequest, InstanceType};

/// What to search.
#[derive(Debug, Clone, Default)]
pub struct SizingOptions {
    /// Only evidence of these workloads; all when empty.
    pub workloads: Vec<String>,
    /// Only these machines, one node each: how many it takes is what is asked. The whole catalog when empty.
    pub candidates: Vec<ClusterRequest>,
    /// Only these families, such as `i4i`; all when empty.
    pub families: Vec<String>,
    /// Only this architecture; `x86_64` when the whole catalog is searched and nothing is stated.
    pub architecture: Option<String>,
    /// How many proposals; the cheapest and the best proven one are always among them.
    pub most: usize,
    /// The fleet of today, to be judged and put beside a proposal.
    pub current: Vec<ClusterRequest>,
}

impl SizingOptions {
    /// Whether families and architecture exist, and candidates leave the number of nodes open.
    pub(super) fn check(&self, catalog: &Catalog) -> Result<(), String> {
        let family = |instance: &InstanceType| instance.name.split('.').next().unwrap_or_default().to_owned();
        for wanted in &self.families {
            let mut of_aws = catalog.instances().iter().filter(|instance| instance.cloud() == Cloud::Aws);
            if !of_aws.any(|instance| family(instance) == *wanted) {
                let near = catalog.nearest_instances(&format!("{wanted}.large"));
                let near: Vec<&str> = near.iter().filter_map(|name| name.split('.').next()).collect();
                let near = if near.is_empty() { String::new() } else { format!("; nearest: {}", near.join(", ")) };
                return Err(format!("no instance type is of a family `{wanted}`{near}"));
            }
        }
        let known: BTreeSet<&str> = catalog.instances().iter().map(|i| i.architecture.as_str()).collect();
        if let Some(wanted) = self.architecture.as_deref().filter(|wanted| !known.contains(wanted)) {
            let known: Vec<&str> = known.into_iter().collect();
            return Err(format!("no instance type has the architecture `{wanted}`; known: {}", known.join(", ")));
        }
        match self.candidates.iter().find(|candidate| candidate.nodes > 1) {
            Some(stated) => Err(format!(
                "the candidate {stated} states its nodes, which is what is to be found; leave out `*{}`",
                stated.nodes
            )),
            None => Ok(()),
        }
    }
}
