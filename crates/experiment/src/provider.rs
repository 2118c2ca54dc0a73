//! Who carries an experiment out.

use std::fmt;

use crate::words::words;

words! {
    /// Who carries an experiment out. Its name is the same in `environment.json`, in `analysis.json` and for people.
    pub enum Provider {
        /// This machine with emulated volumes.
        Local = "local",
        /// No machine: a simulation of a stated truth.
        Simulated = "simulated",
        /// The user's own machines, by SSH.
        Hosts = "hosts",
        /// Machines that are made on AWS for the run, and taken away after it.
        Aws = "aws",
        /// Nobody of iopslab: results of other tools, as `iopslab import` has read them.
        Imported = "imported",
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
