//! Results of other tools, read with suspicion.
//!
//! [`read()`] takes the text of one file and gives what it states, or the line that cannot be read with what was
//! expected there. A file is read whole or not at all: what looks like a figure and is none that is known here is
//! refused, and what is understood and left out is said. [`Study`] is the file that says which cell each of several
//! files is of, and [`take_histograms()`] adds the latencies that a tool wrote beside its results. All of it is pure.

mod cassandra_stress;
mod fio;
mod hdr;
mod latte;
mod lines;
mod nosqlbench;
mod quantiles;
mod refusal;
mod results;
mod study;
mod tool;
mod ycsb;

use evidence::{OperationKind, Tool};

pub use hdr::take_histograms;
pub use refusal::Refusal;
pub use results::{Results, StatedLoad};
pub use study::{Entry, Study, operation, operations};

/// Reads the results of whichever tool wrote them; `operation` is what all of its operations are, where it does not
/// state that itself.
///
/// # Errors
/// A file that is of no tool that is read here (by name, where the tool is known), and one that is damaged.
pub fn read(text: &str, operation: Option<OperationKind>) -> Result<Results, Refusal> {
    let tool = tool::of(text)?;
    if let (Some(kind), Tool::Ycsb | Tool::CassandraStress | Tool::Fio) = (operation, tool) {
        let (kind, tool) = (kind.name(), tool.name());
        return Err(Refusal::whole(format!("operation = \"{kind}\": {tool} states what its operations are"))
            .help("leave out `operation`"));
    }
    let results = match tool {
        Tool::Ycsb => ycsb::read(text),
        Tool::CassandraStress => cassandra_stress::read(text),
        Tool::Fio => fio::read(text),
        Tool::Latte => latte::read(text, operation),
        Tool::NoSqlBench => nosqlbench::read(text, operation),
    }?;
    results.sound()
}
