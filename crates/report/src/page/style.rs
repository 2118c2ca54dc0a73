//! How the pages look.

/// Of `report.html`, and of the page of a run that is under way.
pub const STYLE: &str = include_str!("style.css");
