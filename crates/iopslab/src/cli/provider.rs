//! The names of providers, as they are typed.

use clap::ValueEnum;

/// Where the machines come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProviderName {
    /// This machine, with emulated volumes
    Local,
    /// No machine: a queueing simulation of the truth that [provider.simulated] states
    Simulated,
    /// Machines of your own, by SSH: those that [provider.hosts] names
    Hosts,
    /// Machines that Terraform makes on AWS for the run, and takes away after it
    Aws,
}

impl From<ProviderName> for experiment::Provider {
    fn from(name: ProviderName) -> Self {
        match name {
            ProviderName::Local => Self::Local,
            ProviderName::Simulated => Self::Simulated,
            ProviderName::Hosts => Self::Hosts,
            ProviderName::Aws => Self::Aws,
        }
    }
}
