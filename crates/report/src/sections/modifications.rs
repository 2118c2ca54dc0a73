//! Volumes of EBS that configurations shared, and when each was modified.

use analysis::Analysis;

use crate::document::section::Section;
use crate::document::table::{Form, rows};

/// Empty where no volume was modified.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("modifications", "Modified volumes").mostly(Form::ROOMY);
    if analysis.modifications.is_empty() {
        return section;
    }
    let table = rows("", &analysis.modifications)
        .text("Volume", |one| one.volume.clone())
        .text("Host", |one| one.host.to_string())
        .text("From", |one| one.from.map(|level| level.to_string()))
        .text("To", |one| one.to.to_string())
        .text("Asked for", |one| one.asked_at.clone())
        .text("In force", |one| one.in_force_at.clone());
    let key = "Each trial begins once its level is in force, by AWS's clock; nothing stands there where nobody has \
               seen that. AWS modifies a volume four times in 24 hours at the most.";
    section.key(key).table(table)
}
