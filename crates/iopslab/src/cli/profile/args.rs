//! What was typed after `iopslab profile`, each value checked.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use experiment::SshFiles;
use process::failure::Failure;

use crate::cli::basis::BasisArgs;
use crate::cli::entry::EntryArgs;

/// Longest observation, minutes: a week.
const MOST_MINUTES: f64 = 7.0 * 24.0 * 60.0;
/// Shortest one, minutes: two readings of a few seconds apart.
const LEAST_MINUTES: f64 = 0.05;

/// What was typed after `profile`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab profile --hosts db1
  iopslab profile --hosts db1 --ssh db1,db2,db3 --minutes 60 --instance r6i.2xlarge --data-volume \
gp3:500GiB:12000:500 --out like-ours.toml
  iopslab profile --hosts db1 --query-log fql --instance r6i.2xlarge --data-volume gp3:500GiB --out like-ours.toml
  IOPSLAB_PASSWORD=... iopslab profile --hosts db1 --user watcher --tls-ca ca.pem --ssh db1 --instance i4i.2xlarge
  IOPSLAB_PASSWORD=... iopslab profile --database postgresql --hosts db1 --dbname app --user watcher --tls

It reads and never writes: virtual tables and the schema by CQL (statistics views and the catalog by SQL), \
counters of the kernel by SSH.
Ctrl-C ends the observation and judges what was seen. On a terminal the output is tables, into a file or a \
pipe it is Markdown.
Less than ten minutes give no advice, and what was seen is not your busiest hour unless that was among it.")]
pub struct ProfileArgs {
    /// Contact points, HOST or HOST:PORT, separated by commas; the other nodes are found by them
    #[arg(long, value_name = "HOST", value_delimiter = ',', required = true)]
    pub(super) hosts: Vec<String>,
    /// What runs there; of postgresql --hosts is one server
    #[arg(long, value_name = "NAME", default_value = "cassandra", value_parser = ["cassandra", POSTGRESQL])]
    database: String,
    /// With --database postgresql: the database whose tables are watched
    #[arg(long, value_name = "NAME")]
    dbname: Option<String>,
    /// How to get in.
    #[command(flatten)]
    pub(super) entry: EntryArgs,
    /// How long to watch, minutes
    #[arg(long, value_name = "N", default_value = "10", value_parser = minutes)]
    pub(super) minutes: Duration,
    /// What one node runs on today
    #[arg(long, value_name = "TYPE")]
    pub(super) instance: Option<String>,
    /// The volume of its data, TYPE:SIZE[:IOPS[:MIB_PER_S]]; local, or nothing: the instance's own disks
    #[arg(long, value_name = "VOLUME", requires = "instance")]
    pub(super) data_volume: Option<String>,
    /// Machines of its nodes to watch, as ssh takes them, separated by commas; best all of them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) ssh: Vec<String>,
    /// A file for ssh -F [default: your own configuration]
    #[arg(long, value_name = "FILE", requires = "ssh")]
    pub(super) ssh_config: Option<String>,
    /// With --ssh: a directory on the device of the data [default: where the database has data files open]
    #[arg(long, value_name = "DIR", requires = "ssh")]
    pub(super) data: Option<String>,
    /// With --ssh: a part of the database's command line [default: the process that listens on the port of --hosts]
    #[arg(long, value_name = "WORDS", requires = "ssh")]
    pub(super) process: Option<String>,
    /// With --ssh: iopslab for x86-64 machines, where this program is not one
    #[arg(long, value_name = "FILE", requires = "ssh")]
    pub(super) binary_x86_64: Option<String>,
    /// With --ssh: iopslab for aarch64 machines, where this program is not one
    #[arg(long, value_name = "FILE", requires = "ssh")]
    pub(super) binary_aarch64: Option<String>,
    /// A full query log of its nodes, or requests as JSON Lines, copied here: how often each key is asked for, and by
    /// which statements
    #[arg(long, value_name = "PATH")]
    pub(super) query_log: Option<PathBuf>,
    /// Write an experiment that resembles what was seen; with --query-log its statements, too: NAME.cql beside it
    #[arg(long, value_name = "FILE", requires = "instance")]
    pub(super) out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long, requires = "out")]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) basis: BasisArgs,
}

/// The database that is watched by SQL.
const POSTGRESQL: &str = "postgresql";

impl ProfileArgs {
    /// The database of a server of PostgreSQL; `None`: a cluster that speaks CQL is watched.
    pub(super) fn dbname(&self) -> Result<Option<&str>, Failure> {
        let refused = |what: &str, help: &str| Err(Failure::input(what).help(help));
        let of_postgresql = "iopslab profile --database postgresql --hosts HOST --dbname NAME --user NAME";
        match (self.database == POSTGRESQL, self.dbname.as_deref()) {
            (false, None) => Ok(None),
            (false, Some(_)) => refused("--dbname is for a server of PostgreSQL", of_postgresql),
            (true, None) => refused("--database postgresql: which of its databases, is not stated", of_postgresql),
            (true, Some(_)) if !self.entry.names_a_user() => {
                refused("--database postgresql: who asks, is not stated", of_postgresql)
            }
            (true, Some(_)) if self.query_log.is_some() => {
                let help = "leave it out: a log of PostgreSQL is not read";
                refused("--query-log is of a cluster that speaks CQL", help)
            }
            (true, Some(_)) if self.hosts.len() > 1 => {
                let help = "a replica is a server by itself: watch one after the other";
                refused("--hosts names several servers, and of PostgreSQL one is watched", help)
            }
            (true, Some(_)) if !self.ssh.is_empty() && self.data.is_none() => {
                let help = "state a directory on it: --data /var/lib/postgresql";
                refused("--ssh: on which device PostgreSQL has its data is not found by itself", help)
            }
            (true, name) => Ok(name),
        }
    }

    /// How machines are reached; the files have to be there.
    pub(super) fn ssh_files(&self) -> Result<SshFiles, Failure> {
        let mut names = self.ssh.clone();
        names.sort();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Failure::input(format!("--ssh names {} twice", twice[0])));
        }
        let found = |flag: &str, file: &Option<String>| -> Result<Option<String>, Failure> {
            let Some(file) = file else { return Ok(None) };
            let path = std::fs::canonicalize(file)
                .map_err(|error| Failure::input(format!("{flag}: cannot find {file}: {error}")))?;
            Ok(Some(path.display().to_string()))
        };
        Ok(SshFiles {
            ssh_config: found("--ssh-config", &self.ssh_config)?,
            binary_x86_64: found("--binary-x86-64", &self.binary_x86_64)?,
            binary_aarch64: found("--binary-aarch64", &self.binary_aarch64)?,
        })
    }
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| (LEAST_MINUTES..=MOST_MINUTES).contains(minutes));
    let minutes = minutes.ok_or_else(|| format!("expected minutes, {LEAST_MINUTES} to {MOST_MINUTES}"))?;
    Ok(Duration::from_secs_f64(minutes * 60.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_of_a_week_at_the_most() {
        assert_eq!(minutes("60"), Ok(Duration::from_secs(3_600)));
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        for wrong in ["0", "-1", "nan", "inf", "10081", "ten"] {
            assert_eq!(minutes(wrong), Err("expected minutes, 0.05 to 10080".to_owned()), "{wrong}");
        }
    }
}
