//! The AWS provider: machines that Terraform makes for the run, used as those of [`Hosts`] are, and taken away.
//!
//! Everything that knows what was made lies in one directory of the run: the modules, their variables, Terraform's
//! state and the key of the machines; the state alone may be kept elsewhere ([`Backend`]). It is written before
//! anything is made, so that whatever happens `destroy` finds it.

mod backend;
mod error;
mod heartbeat;
mod lock;
mod modules;
#[cfg(test)]
mod planned;
mod program;
mod received;
mod said;
mod state;
mod terraform;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use evidence::{HostId, Role};
use experiment::{
    AwsBatch, AwsMachine, AwsSettings, AwsSite, CacheMachine, DatabaseMachine, HostsSettings, MachineStorage, SshFiles,
};
use wire::MachineUse;

use crate::hosts::Hosts;
use crate::hosts::ssh::{Ssh, config_word};
use crate::{Agent, AgentError, EbsVolumes, HostAddress, Incoming, Provider};
pub use backend::Backend;
pub use error::AwsError;
use heartbeat::Heartbeat;
use program::Program;
use said::Say;
use terraform::{BeforeMaking, Outputs, Terraform};
use variables::variables;

/// Where the modules' user data mounts a machine's volumes, by what they hold.
const VOLUMES: &str = "/var/lib/iopslab/volumes";
/// What the modules' user data leaves when a machine is ready.
const READY: &str = "/var/lib/iopslab/ready";
/// What it leaves, with the reason, when it could not be made so.
const FAILED: &str = "/var/lib/iopslab/failed";
/// Exit status of the look at a machine that has failed; ssh's own is 255.
const HAS_FAILED: i32 = 3;
/// Between two looks at a machine that is not ready.
const READY_PERIOD: Duration = Duration::from_secs(3);
/// Availability zones that are tried as the first one where there is no room: most regions have three or more.
const ZONES_TO_TRY: u32 = 3;
/// The private key of a run's machines, and `.pub` beside it.
const KEY: &str = "id_ed25519";
/// Where SSH finds the machines.
const SSH_CONFIG: &str = "ssh_config";
/// The key by which the machines of a run show who they are, and `.pub` beside it: made before they are.
const HOST_KEY: &str = "host_ed25519";
/// That key, as ssh looks it up.
const KNOWN_HOSTS: &str = "known_hosts";
/// By which name ssh looks it up, whatever a machine's address.
const HOST_KEY_ALIAS: &str = "iopslab-machines";

/// Both pairs of keys; ssh-keygen makes the public ones.
const KEYS: [&str; 4] = [KEY, "id_ed25519.pub", HOST_KEY, "host_ed25519.pub"];
/// What a run keeps beside what is Terraform's.
const BESIDE: [&str; 6] = [KEYS[0], KEYS[1], KEYS[2], KEYS[3], SSH_CONFIG, KNOWN_HOSTS];

/// Whether machines stand where nobody knows of them but a state that is kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// Whoever makes them now is waited for, as far as the state has a lock.
    Likely,
    /// The state is read, and that is all where it knows of nothing.
    Unlikely,
}

/// Makes machines, starts agents on them, and takes them away.
#[derive(Debug)]
pub struct Aws {
    /// Name of the run, which its resources carry as a tag.
    run: String,
    /// The moment after which nobody needs the machines, RFC 3339.
    expires: String,
    settings: AwsSettings,
    /// What is made: one of the batches of the settings.
    batch: AwsBatch,
    /// Where it is made.
    site: AwsSite,
    terraform: Terraform,
    /// This program's own file.
    binary: PathBuf,
    /// Whether the state itself says what there is, whatever the directory knows.
    asks_state: Option<Certainty>,
    /// There once the machines are.
    hosts: Option<Hosts>,
    /// Ids of the EBS volumes that hold the data, by the numbers of database hosts.
    data_volumes: BTreeMap<u32, Vec<String>>,
    heartbeat: Option<Heartbeat>,
}

impl Aws {
    /// Nothing is made so far. `directory` is where all that knows of the machines lies; `expires` is the moment after
    /// which nobody needs them, RFC 3339.
    pub fn new(
        run: &str,
        expires: &str,
        directory: &Path,
        settings: &AwsSettings,
        (batch, site): (&AwsBatch, &AwsSite),
        binary: &Path,
    ) -> Self {
        Self {
            run: run.to_owned(),
            expires: expires.to_owned(),
            settings: settings.clone(),
            batch: batch.clone(),
            site: site.clone(),
            terraform: Terraform::new(directory, run, site.profile.as_deref()),
            binary: binary.to_owned(),
            asks_state: None,
            hosts: None,
            data_volumes: BTreeMap::new(),
            heartbeat: None,
        }
    }

    /// Terraform's state is kept there.
    #[must_use]
    pub fn with_state_in(mut self, backend: Backend) -> Self {
        self.terraform.backend = Some(backend);
        self
    }

    /// This is asked each time that machines would be made, before they cost money: why none may be, where there is a
    /// reason.
    #[must_use]
    pub fn asking_before_making(mut self, ask: impl Fn() -> Result<(), String> + Send + 'static) -> Self {
        self.terraform.before_making = Some(BeforeMaking(Box::new(ask)));
        self
    }

    /// What is there is taken away also where the directory knows of nothing: it may be an older copy of the one that
    /// made it. Without a state that is kept elsewhere nobody could know.
    #[must_use]
    pub fn asking_state(mut self, certainty: Certainty) -> Self {
        self.asks_state = self.terraform.state_elsewhere().map(|_| certainty);
        self
    }

    /// Region and profile of the machines that a directory knows of; `None` where none were asked for.
    pub fn stands_at(directory: &Path) -> Option<(String, Option<String>)> {
        let variables = Terraform::new(directory, "", None).variables()?;
        let word = |name: &str| variables[name].as_str().map(str::to_owned);
        Some((word("region")?, word("profile")))
    }

    /// Whether machines that a directory has the key to may stand: it goes with them.
    pub fn may_stand(directory: &Path) -> bool {
        directory.join(KEY).exists()
    }

    /// Whether there is a Terraform, and new enough.
    pub fn check_program() -> Result<(), AwsError> {
        Program::of_user().check()
    }

    /// Makes what is missing of the machines, and waits until all are ready.
    fn make(&mut self, say: Say<'_>, is_called_off: &dyn Fn() -> bool) -> Result<(), AwsError> {
        let go_on = || if is_called_off() { Err(AwsError::CalledOff) } else { Ok(()) };
        let outputs = self.apply(say, &go_on)?;
        self.write_ssh_config(&outputs)?;
        let names: Vec<String> = self.batch.machines.iter().map(|m| m.name.clone()).collect();
        say(&format!("waiting for {} machines to be ready", names.len()));
        self.wait_until_ready(&names, &go_on)?;
        self.heartbeat = Some(Heartbeat::start(self.ssh(), names));
        for machine in self.batch.machines_of(Role::Database) {
            self.data_volumes.insert(machine.host, outputs.machine(&machine.name)?.volume_ids("data"));
        }
        let of = |role| self.batch.machines_of(role).map(|machine| machine.host);
        let numbers = (of(Role::Database), of(Role::Cache), of(Role::Client));
        let hosts = Hosts::numbered(&self.hosts_settings(&outputs)?, numbers, &self.binary)?;
        self.hosts = Some(hosts);
        Ok(())
    }

    /// Has Terraform make the machines: where one availability zone has no room, in the next one.
    fn apply(&self, say: Say<'_>, go_on: &dyn Fn() -> Result<(), AwsError>) -> Result<Outputs, AwsError> {
        self.begin(say)?;
        let stands = self.terraform.knows_of_anything();
        let has_key = self.path(KEY).exists();
        if !stands || !has_key {
            // Whoever had the directory before has its keys: they would open machines that are made now.
            self.forget_keys()?;
        }
        let mut first_zone = 0;
        self.write_variables(first_zone)?;
        if stands && !has_key {
            say("this copy of the run has no key to machines that stand: they are taken away first");
            self.terraform.destroy(say)?;
        }
        loop {
            go_on()?;
            match self.terraform.apply(say) {
                Err(AwsError::OtherKey) => {
                    say("this copy of the run has other keys than what stands: that is taken away first");
                    self.terraform.destroy(say)?;
                    self.forget_keys()?;
                }
                Err(AwsError::Refused(why)) if self.terraform.knows_of_anything() => {
                    return Err(AwsError::Refused(format!(
                        "{why}. Machines of the run that stand cannot go on without those that are missing: they are \
                         taken away"
                    )));
                }
                Err(error) if error.is_of_the_zone() && first_zone + 1 < self.zones_to_try() => {
                    say(&format!("{error}\ntrying another availability zone"));
                    self.terraform.destroy(say)?;
                    first_zone += 1;
                }
                applied => return applied,
            }
            go_on()?;
            self.write_variables(first_zone)?;
        }
    }

    /// What lies in the directory may be obeyed, and Terraform can begin.
    fn begin(&self, say: Say<'_>) -> Result<(), AwsError> {
        received::check(self.terraform.directory(), &BESIDE, &self.run)?;
        self.terraform.init(say)
    }

    /// Takes away what the state knows of.
    fn release_by_state(&self, certainty: Certainty, say: Say<'_>) -> Result<(), AwsError> {
        self.begin(say)?;
        self.write_variables(0)?;
        match certainty {
            Certainty::Likely => self.terraform.destroy(say),
            Certainty::Unlikely if self.terraform.knows_of_anything() => self.terraform.destroy(say),
            Certainty::Unlikely => Ok(()),
        }
    }

    /// What is to be made, with the keys that machines get.
    fn write_variables(&self, first_zone: u32) -> Result<(), AwsError> {
        let (public_key, host_key) = (self.key(KEY)?, self.host_key()?);
        let about = (self.run.as_str(), self.expires.as_str());
        let keys = (public_key.as_str(), host_key.as_str());
        let variables = variables((about, keys), &self.settings, (&self.batch, &self.site), first_zone);
        self.terraform.write_variables(&variables)
    }

    /// Others are made when they are needed.
    fn forget_keys(&self) -> Result<(), AwsError> {
        KEYS.iter().try_for_each(|name| terraform::remove(&self.path(name)))
    }

    /// How many zones may be the first one.
    fn zones_to_try(&self) -> u32 {
        let subnets = self.site.network.as_ref().map(|network| network.subnet_ids.len() as u32);
        subnets.unwrap_or(ZONES_TO_TRY)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.terraform.directory().join(name)
    }

    /// The way to the machines.
    fn ssh(&self) -> Ssh {
        Ssh::new(self.path(SSH_CONFIG).to_str())
    }

    /// The private key by which the run's machines show who they are; ssh knows its public one from here on.
    fn host_key(&self) -> Result<String, AwsError> {
        let public = self.key(HOST_KEY)?;
        let known = self.path(KNOWN_HOSTS);
        let written = guarded::replace(&known, format!("{HOST_KEY_ALIAS} {public}\n").as_bytes(), 0o600);
        written.map_err(|error| AwsError::file("write", &known, error))?;
        let private = self.path(HOST_KEY);
        guarded::text(&private, 1 << 16).map_err(|error| AwsError::file("read", &private, error))
    }

    /// The public key of a pair of this name, which is made once.
    fn key(&self, name: &str) -> Result<String, AwsError> {
        let key = self.path(name);
        let public = self.path(&format!("{name}.pub"));
        if !key.exists() {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-C", &format!("iopslab {}", self.run), "-f"]);
            let output = command.arg(&key).stdin(Stdio::null()).output().map_err(AwsError::NoKeygen)?;
            if !output.status.success() {
                let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Err(AwsError::Keygen(words));
            }
        }
        let text = guarded::text(&public, 1 << 16).map_err(|error| AwsError::file("read", &public, error))?;
        Ok(text.trim().to_owned())
    }

    /// Names of machines for ssh, with the key of the run and nothing of the user's own.
    fn write_ssh_config(&self, outputs: &Outputs) -> Result<(), AwsError> {
        let mut config = format!(
            "User {}\nIdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n\
             HostKeyAlias {HOST_KEY_ALIAS}\nHostKeyAlgorithms ssh-ed25519\nUpdateHostKeys no\n",
            self.settings.ssh_user,
            config_word(&self.path(KEY)),
            config_word(&self.path(KNOWN_HOSTS))
        );
        for machine in &self.batch.machines {
            let made = outputs.machine(&machine.name)?;
            let address = match self.settings.public_address {
                true => made.public_address.as_ref().unwrap_or(&made.private_address),
                false => &made.private_address,
            };
            config += &format!("Host {}\n  HostName {address}\n", machine.name);
        }
        let path = self.path(SSH_CONFIG);
        let written = guarded::replace(&path, config.as_bytes(), 0o600);
        written.map_err(|error| AwsError::file("write", &path, error))
    }

    /// Every machine answers with the host key of the run, and its user data has run. Until that has, it has another
    /// key, and nothing is said to it.
    fn wait_until_ready(&self, names: &[String], go_on: &dyn Fn() -> Result<(), AwsError>) -> Result<(), AwsError> {
        let began = Instant::now();
        let look = format!("if test -e {FAILED}; then cat {FAILED} >&2; exit {HAS_FAILED}; fi; test -e {READY}");
        for name in names {
            loop {
                go_on()?;
                let mut command = self.ssh().first_command(name, &look);
                let output = command.stdin(Stdio::null()).output().map_err(AwsError::NoSsh)?;
                if output.status.success() {
                    break;
                }
                let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                let name = name.clone();
                match output.status.code() {
                    Some(HAS_FAILED) => return Err(AwsError::FirstBoot { name, words }),
                    code if began.elapsed().as_secs() > self.settings.ready_timeout_s => {
                        return Err(AwsError::NotReady {
                            name,
                            answers: code == Some(1),
                            waited_s: self.settings.ready_timeout_s,
                            words,
                        });
                    }
                    _ => {}
                }
                thread::sleep(READY_PERIOD);
            }
        }
        Ok(())
    }

    fn hosts_settings(&self, outputs: &Outputs) -> Result<HostsSettings, AwsError> {
        let directory = |role: &str| MachineStorage::Directory(format!("{VOLUMES}/{role}"));
        let address = |machine: &AwsMachine| -> Result<Ipv4Addr, AwsError> {
            let address = outputs.machine(&machine.name)?.private_address.parse().ok();
            address.ok_or_else(|| AwsError::Output(format!("{} has no address", machine.name)))
        };
        let database = self.batch.machines_of(Role::Database).map(|machine| {
            Ok(DatabaseMachine {
                ssh: machine.name.clone(),
                address: Some(address(machine)?),
                work_directory: None,
                data: Some(directory("data")),
                commitlog: machine.volumes.contains_key("commitlog").then(|| directory("commitlog")),
                snapshot: self.site.snapshot.clone(),
            })
        });
        let cache = self.batch.machines_of(Role::Cache).map(|machine| {
            Ok(CacheMachine { ssh: machine.name.clone(), address: Some(address(machine)?), work_directory: None })
        });
        Ok(HostsSettings {
            database: database.collect::<Result<_, AwsError>>()?,
            cache: cache.collect::<Result<_, AwsError>>()?,
            client: self.batch.machines_of(Role::Client).map(|m| m.name.clone()).collect(),
            ssh: SshFiles {
                ssh_config: Some(self.path(SSH_CONFIG).display().to_string()),
                binary_x86_64: self.settings.binary_x86_64.clone(),
                binary_aarch64: self.settings.binary_aarch64.clone(),
            },
        })
    }

    fn made(&mut self) -> Result<&mut Hosts, AgentError> {
        self.hosts.as_mut().ok_or(AgentError::Aws(AwsError::NothingMade))
    }
}

impl Provider for Aws {
    fn provide(&mut self, say: Say<'_>, is_called_off: &dyn Fn() -> bool) -> Result<(), AgentError> {
        match self.hosts {
            Some(_) => Ok(()),
            None => Ok(self.make(say, is_called_off)?),
        }
    }

    fn release(&mut self, say: Say<'_>) -> Result<(), AgentError> {
        (self.hosts, self.heartbeat) = (None, None);
        match (self.asks_state, self.terraform.may_have_made()) {
            (Some(certainty), _) => self.release_by_state(certainty, say)?,
            // What this process has had Terraform make, it has looked at before.
            (None, true) if self.terraform.is_initialised() => self.terraform.destroy(say)?,
            // The region and the credentials are those of the plan, whatever the directory says.
            (None, true) => self.release_by_state(Certainty::Likely, say)?,
            (None, false) => return Ok(()),
        }
        // Nothing is left that it opens, or that shows itself by it.
        for key in [KEY, HOST_KEY] {
            let _ = std::fs::remove_file(self.path(key));
        }
        Ok(())
    }

    fn prepare(&mut self, hosts: &[HostId]) -> Result<(), AgentError> {
        self.made()?.prepare(hosts)
    }

    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError> {
        self.made()?.start(host, inbox)
    }

    fn place(&self, host: HostId) -> HostAddress {
        let nowhere = || HostAddress { machine: String::new(), address: Ipv4Addr::UNSPECIFIED };
        self.hosts.as_ref().map_or_else(nowhere, |hosts| hosts.place(host))
    }

    fn machine_use(&self, host: HostId) -> Option<MachineUse> {
        self.hosts.as_ref()?.machine_use(host)
    }

    fn data_volumes(&self, host: HostId) -> Option<EbsVolumes> {
        let ids = self.data_volumes.get(&host.index).filter(|_| host.role == Role::Database)?;
        Some(EbsVolumes { profile: self.site.profile.clone(), region: self.site.region.clone(), ids: ids.clone() })
    }

    fn may_come_back(&self) -> bool {
        true
    }
}
