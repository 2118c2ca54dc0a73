//! Could all of the data set be in memory?

use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::seen::Seen;

/// The whole data set fits the page cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataFitsPageCache {
    /// Data of the node.
    pub data_bytes_on_disk: u64,
    /// Page cache of the node.
    pub page_cache_budget_bytes: u64,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<DataFitsPageCache>> {
    let fits = |node: &Node<'_>| {
        let (data, budget) = (node.facts.data_bytes_on_disk, node.facts.page_cache_budget_bytes);
        // A volume must be there to speak of.
        node.host.sum_of_data(|_| 0.0)?;
        let figures = DataFitsPageCache { data_bytes_on_disk: data, page_cache_budget_bytes: budget };
        (data > 0 && budget > 0 && data <= budget).then_some((data as f64 / budget as f64, figures))
    };
    // A node whose data does not fit still reads from its storage.
    let all = trial.nodes().all(|node| fits(&node).is_some());
    worst(trial, fits).filter(|_| all)
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{fires, recorded};

    #[test]
    fn data_of_the_size_of_the_budget_fits() {
        let budget = 1_u64 << 28;
        fires(
            Rule::DataFitsPageCache,
            &[(0, false), (budget / 2, true), (budget, true), (budget + 1, false)],
            |bytes| recorded(|r| r.nodes[0].data_bytes_on_disk = bytes),
        );
    }
}
