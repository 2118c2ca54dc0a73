//! What of an imported file was not taken.

use evidence::Tool;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Parts were understood and not taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedPartly {
    /// Whose file it is.
    pub tool: Tool,
    /// Its name.
    pub file: String,
    /// What was left out and why, in whole sentences.
    pub left_out: Vec<String>,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ImportedPartly>> {
    let imported = trial.imported().filter(|imported| !imported.left_out.is_empty())?;
    let (file, left_out) = (imported.file.clone(), imported.left_out.clone());
    Some(ImportedPartly { tool: imported.tool, file, left_out }.into())
}
