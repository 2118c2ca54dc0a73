//! Facts of hosts, and of what runs the database on them: `environment.json`.

use evidence::{RUNTIMES, Runtime, Runtimes, runtimes};
use serde_json::{Map, Value, json};

use super::{ENVIRONMENT, RunDirectory};
use crate::files::{read_json, replace, versioned_json};
use crate::{Result, manifest};

impl RunDirectory {
    /// Host facts as they were when the run began.
    pub fn environment(&self) -> Result<Value> {
        read_json(&self.path.join(ENVIRONMENT))
    }

    /// Adds facts of hosts that were made for the run, before its first trial; what stands there already stays.
    pub fn add_to_environment(&self, facts: Map<String, Value>) -> Result<()> {
        // Others add theirs at the same time.
        let _writer = self.writer()?;
        let mut environment = self.environment()?;
        if let Some(known) = environment.as_object_mut() {
            for (host, of_host) in facts {
                known.entry(host).or_insert(of_host);
            }
        }
        self.replace_environment(&environment)
    }

    /// Adds what runs versions of the database now to what ran them before, and returns what did before.
    pub fn add_runtimes(&self, now: &[(String, Runtime)]) -> Result<Runtimes> {
        let _writer = self.writer()?;
        let mut environment = self.environment()?;
        let before = runtimes(&environment);
        let mut all = before.clone();
        for (version, runtime) in now {
            let of_version = all.entry(version.clone()).or_default();
            if !of_version.contains(runtime) {
                of_version.push(runtime.clone());
            }
        }
        if let Some(known) = environment.as_object_mut().filter(|_| all != before) {
            known.insert(RUNTIMES.to_owned(), json!(all));
            self.replace_environment(&environment)?;
        }
        Ok(before)
    }

    fn replace_environment(&self, environment: &Value) -> Result<()> {
        let bytes = versioned_json(&self.path.join(ENVIRONMENT), environment)?;
        replace(&self.path, ENVIRONMENT, &bytes)?;
        let mut hashes = manifest::read(&self.path)?;
        hashes.insert(ENVIRONMENT.to_owned(), manifest::hash(&bytes));
        manifest::create(&self.path, &hashes)
    }
}
