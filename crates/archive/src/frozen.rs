//! The plan and the setups of a run, as they are frozen now and as they were before.

use std::path::Path;

use serde_json::Value;
use spec::{Configuration, Job, Plan, Setup, Setups};

use crate::files::read_json;
use crate::{Result, RunError};

/// What is bought and what is measured on it.
pub const PLAN: &str = "plan.json";
/// What the provider makes of the configurations.
pub const SETUPS: &str = "setups.json";
/// Facts that limits and prices came from.
pub const CATALOG: &str = "catalog.json";

/// The format of plans that had the setups in them.
const WITH_SETUPS: u64 = 1;

/// Reads the job of a run. Of one whose plan is of format 1, setups are taken from the plan and configurations from
/// `catalog.json`: there they stood then.
pub fn read(run: &Path) -> Result<Job> {
    let path = run.join(PLAN);
    let damaged = |error: serde_json::Error| RunError::damaged(&path, error);
    let mut document: Value = read_json(&path)?;
    if document["format_version"] != WITH_SETUPS {
        return Ok(Job {
            plan: serde_json::from_value(document).map_err(damaged)?,
            setups: read_json(&run.join(SETUPS))?,
        });
    }
    let setups: Vec<Setup> = serde_json::from_value(document["setups"].take())
        .map_err(|error| RunError::damaged(&path, format!("its setups are unreadable: {error}")))?;
    // Those of the catalog come in their place.
    document["configurations"] = Value::Array(Vec::new());
    let plan: Plan = serde_json::from_value(document).map_err(damaged)?;
    Ok(Job {
        plan: Plan {
            format_version: spec::FORMAT_VERSION,
            configurations: of_catalog(run)?,
            ..plan
        },
        setups: Setups::new(setups),
    })
}

/// The configurations that `catalog.json` has.
fn of_catalog(run: &Path) -> Result<Vec<Configuration>> {
    let path = run.join(CATALOG);
    let mut catalog: Value = read_json(&path)?;
    serde_json::from_value(catalog["configurations"].take())
        .map_err(|error| RunError::damaged(&path, format!("its configurations are unreadable: {error}")))
}
