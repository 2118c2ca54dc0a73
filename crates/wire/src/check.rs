//! What an agent can say. Its numbers come from a process of somebody else's machine: those that size memory, become
//! moments or are added up are held to the bounds of a trial ([`evidence`]) where they are received, before anybody
//! uses them.

use evidence::{
    HostSample, SnapshotFacts, WriteCheck, check_counted as counted, check_length as length, check_moment as moment,
    check_seconds as seconds,
};

use crate::{Event, Moments, Reply, Second, StartedTrial, StoppedTrial, TrialPiece, TrialResult};

/// What is wrong, in words.
type Checked = Result<(), String>;

impl Event {
    /// Whether its numbers are those of a run.
    pub fn check(&self) -> Checked {
        match self {
            Self::Second(second) => second.check(),
            Self::Sample(sample) => sample.check(),
            Self::Piece(piece) => piece.check(),
            Self::Reply(Ok(reply)) => reply.check(),
            Self::Reply(Err(_)) | Self::AtWork | Self::Progress(_) | Self::DatabaseDied { .. } => Ok(()),
        }
    }
}

impl Second {
    fn check(&self) -> Checked {
        seconds("t_s of a second", self.t_s)?;
        counted("the operations of a second", self.operations)?;
        counted("the errors of a second", self.errors)
    }
}

impl TrialPiece {
    /// Its intervals are looked at where they are decoded ([`crate::from_wire`]).
    fn check(&self) -> Checked {
        self.samples.iter().try_for_each(HostSample::check)
    }
}

impl TrialResult {
    fn check(&self) -> Checked {
        self.result.check()?;
        moment("the start of measurement", self.measurement_started_unix_ms as f64)?;
        self.writes.as_ref().map_or(Ok(()), WriteCheck::check)
    }
}

impl Moments {
    fn check(&self) -> Checked {
        moment("a moment of a fault", self.began_unix_ms)?;
        moment("a moment of a fault", self.done_unix_ms)
    }
}

fn snapshot(facts: &SnapshotFacts) -> Checked {
    counted("the records of a snapshot", facts.records)?;
    counted("the bytes of a table", facts.table_bytes)?;
    counted("the bytes of a snapshot", facts.bytes)
}

impl StartedTrial {
    fn check(&self) -> Checked {
        moment("the start of a trial", self.began_unix_ms as f64)?;
        counted("the bytes of a data set", self.data_bytes_on_disk)
    }
}

impl StoppedTrial {
    fn check(&self) -> Checked {
        length("the time in which a trial was stopped", self.stop_s)?;
        counted("the bytes of a data set", self.data_bytes_on_disk)?;
        self.logs.iter().try_for_each(|log| counted("the bytes of a log", log.bytes))
    }
}

impl Reply {
    fn check(&self) -> Checked {
        match self {
            Self::Trial(result) => result.check(),
            Self::Clock { unix_ms } => unix_ms.map_or(Ok(()), |shown| moment("the moment", shown)),
            Self::Compacting { done_unix_ms, .. } => moment("the moment of a compaction", *done_unix_ms),
            Self::FaultStarted { moments, .. } | Self::FaultEnded { moments, .. } => moments.check(),
            Self::Started(started) => started.check(),
            Self::Stopped(stopped) => stopped.check(),
            Self::Snapshot(facts) | Self::Found { snapshot: Some(facts), .. } => snapshot(facts),
            Self::Archive { bytes, .. } => counted("the bytes of an archive", *bytes),
            Self::Kept(Some(kept)) => snapshot(&kept.snapshot),
            Self::Renewed(Some(warmed)) => {
                length("the time in which a page cache was filled", warmed.seconds)?;
                counted("the bytes of a page cache", warmed.bytes)?;
                counted("the bytes of a data set", warmed.of_bytes)
            }
            Self::Initialised { how, .. } => counted("the bytes of a volume", how.bytes),
            Self::Maintained(Some(table)) => counted("a number of a table", table.dead_rows.max(table.bytes)),
            Self::Loaded(loaded) => counted("the records that were loaded", loaded.records),
            Self::Observed(observed) => length("the time in which a node was watched", observed.seconds),
            Self::Sampled { rows, .. } => rows.iter().try_for_each(|of| counted("the rows of a table", of.rows)),
            Self::Warm(round) => {
                counted("the number of operations", round.operations)?;
                let cache = round.cache.as_ref();
                cache.map_or(Ok(()), |cache| counted("the reads of a cache", cache.reads.max(cache.hits)))
            }
            Self::Maintained(None)
            | Self::Hello { .. }
            | Self::Checked(_)
            | Self::Opened { .. }
            | Self::Watched(_)
            | Self::Observing(_)
            | Self::Found { snapshot: None, .. }
            | Self::Kept(None)
            | Self::StoreProblem(_)
            | Self::Loading { .. }
            | Self::AtRest
            | Self::Imported
            | Self::Flushed
            | Self::Prepared { .. }
            | Self::Usage(_)
            | Self::Emptied
            | Self::Renewed(None)
            | Self::CacheNoted
            | Self::LookedUp
            | Self::Held
            | Self::LogPiece(_)
            | Self::Taken { .. }
            | Self::Marked
            | Self::Closed => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Event;

    fn said(line: &str) -> Result<(), String> {
        crate::read::<Event>(&mut line.as_bytes()).unwrap().unwrap().check()
    }

    #[test]
    fn what_an_agent_says_has_the_numbers_of_a_run() {
        let second = |t_s: &str, operations: &str| {
            said(&format!(r#"{{"second":{{"t_s":{t_s},"operations":{operations},"errors":0,"p50_us":1,"p99_us":1}}}}"#))
        };
        assert_eq!(second("-3.0", "100"), Ok(()));
        assert!(second("1e300", "100").unwrap_err().contains("t_s of a second is 1e300"));
        assert!(second("1.0", "18446744073709551615").unwrap_err().contains("the operations of a second"));

        let sample = |t_s: &str| {
            let of = r#""unix_ms":1,"host":{},"database":{},"volumes":{},"ebs":{}"#;
            said(&format!(r#"{{"sample":{{"t_s":{t_s},{of}}}}}"#))
        };
        assert_eq!(sample("1.5"), Ok(()));
        assert!(sample("-1e99").unwrap_err().contains("t_s of a sample"));

        let trial =
            |warmup_s: &str, started: &str| {
                said(&format!(
                r#"{{"reply":{{"Ok":{{"trial":{{"result":{{"warmup_s":{warmup_s},"measured_s":1,"operations_sent":1,
                "completed":{{}},"errors":{{}},"client_cpu_s":0,"client_peak_rss_bytes":0,"send_lag_us":null,
                "threads":1,"notes":[],"first_errors":{{}}}},
                "measurement_started_unix_ms":{started},"writes":null}}}}}}}}"#
            )
            .replace('\n', ""))
            };
        assert_eq!(trial("5", "1767323045000"), Ok(()));
        assert!(trial("1e19", "1767323045000").unwrap_err().contains("warmup_s is 1e19"));
        assert!(trial("5", "-9000000000000000000").unwrap_err().contains("the start of measurement"));

        assert!(said(r#"{"reply":{"Ok":{"clock":{"unix_ms":1e300}}}}"#).unwrap_err().contains("no clock shows that"));
        assert_eq!(said(r#"{"reply":{"Ok":{"clock":{"unix_ms":null}}}}"#), Ok(()));
    }
}
