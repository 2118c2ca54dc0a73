//! The sections of a report, made once of the analysis for all its forms; charts are drawn by [`crate::charts`].

mod cache;
mod cache_tier;
mod capacity;
mod columns;
mod configurations;
mod decision;
mod faults;
mod findings;
mod limits;
mod method;
mod modifications;
mod money;
mod rested;
mod results;
mod scaling;
mod work;

use analysis::{Analysis, Charts};

use crate::charts::{bars, curves, each_trial, over_time, rates};
use crate::document::section::Section;

pub use findings::summary as findings_summary;

/// What follows the answer, in the order of the page. What has nothing to say about a run is empty.
pub fn sections<'a>(analysis: &'a Analysis, charts: &'a Charts) -> Vec<Section<'a>> {
    vec![
        capacity::section(analysis),
        decision::section(analysis),
        money::section(analysis),
        limits::section(analysis),
        work::section(analysis),
        faults::section(analysis, charts),
        Section::new("rates", "Latency by rate").drawn(move || rates::rates(analysis)),
        scaling::section(analysis),
        cache_tier::section(analysis),
        cache::warm(analysis),
        cache::curves(analysis),
        Section::new("time", "Over time").drawn(move || over_time::over_time(analysis, charts)),
        Section::new("throughput", "Throughput").drawn(move || bars::bars(analysis)),
        Section::new("latency", "Latency by percentile").drawn(move || curves::curves(analysis, charts)),
        results::section(analysis, charts),
        rested::section(analysis),
        findings::section(analysis, charts),
        Section::new("trials", "Each trial").drawn(move || each_trial::each_trial(analysis, charts)),
        configurations::section(analysis),
        modifications::section(analysis),
        method::section(analysis),
    ]
}
