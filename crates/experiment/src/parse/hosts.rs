//! `[provider.hosts]`: machines of the user's own, by SSH.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::ops::Range;

use toml::Value;

use super::inline::{table, within};
use crate::mistakes::Collector;
use crate::spanned::{Form, Spanned};
use crate::{CacheMachine, DatabaseMachine, HostsSettings, MachineStorage, SshFiles, raw};

/// The settings; what is wrong with them is noted at its place and left out.
pub(super) fn check(hosts: &raw::Hosts, mistakes: &mut Collector<'_>) -> HostsSettings {
    let limits = hosts.limits.unwrap_or(false);
    some("[provider.hosts] database", &hosts.database, mistakes);
    let database: Vec<_> = hosts.database.iter().map(|host| machine(host, limits, mistakes)).collect();
    let databases = database.iter().map(|machine| Some(machine.as_ref()?.ssh.as_str()));
    let help = "each node has a machine of its own; several nodes on one machine: --provider local";
    twice(&hosts.database, databases, help, mistakes);
    let client = client_names("[provider.hosts]", &hosts.client, client_name, mistakes);
    let database: Vec<DatabaseMachine> = database.into_iter().flatten().collect();
    let client = client.unwrap_or_default();
    let others = database.iter().map(|machine| machine.ssh.as_str()).chain(client.iter().map(String::as_str));
    let cache = hosts.cache.as_ref().map(|given| caches(given, &others.collect(), mistakes));
    HostsSettings {
        cache: cache.unwrap_or_default(),
        database,
        client,
        ssh: SshFiles {
            ssh_config: hosts.ssh_config.as_deref().cloned(),
            binary_x86_64: hosts.binary_x86_64.as_deref().cloned(),
            binary_aarch64: hosts.binary_aarch64.as_deref().cloned(),
        },
    }
}

/// The machines of caches, which are none of the `others`.
fn caches(
    given: &Spanned<Vec<Form<String, raw::CacheHost>>>,
    others: &BTreeSet<&str>,
    mistakes: &mut Collector<'_>,
) -> Vec<CacheMachine> {
    some("[provider.hosts] cache", given, mistakes);
    let machines: Vec<_> = given.iter().map(|host| cache_machine(host, mistakes)).collect();
    let names = || machines.iter().map(|machine| Some(machine.as_ref()?.ssh.as_str()));
    let help = "each node of a cache tier has a machine of its own; beside the database: --provider local";
    twice(given, names(), help, mistakes);
    for (host, name) in given.iter().zip(names()) {
        if let Some(name) = name.filter(|name| others.contains(name)) {
            mistakes.add(host.span(), format!("`{name}` has a database or a client already"), help);
        }
    }
    machines.into_iter().flatten().collect()
}

fn cache_machine(given: &Form<String, raw::CacheHost>, mistakes: &mut Collector<'_>) -> Option<CacheMachine> {
    match given.get_ref() {
        Value::String(name) => {
            Some(CacheMachine { ssh: ssh_name(name, given.span(), mistakes)?, ..CacheMachine::default() })
        }
        Value::Table(_) => {
            let host = table(given, "[provider.hosts] cache", mistakes)?;
            let span = given.span();
            let sound = mistakes.sound(|mistakes| {
                let at = within(mistakes.text, &span, &host.ssh);
                absolute(&span, "work_directory", &host.work_directory, mistakes);
                (ssh_name(&host.ssh, at, mistakes), address(&span, &host.address, mistakes))
            });
            let (ssh, address) = sound?;
            Some(CacheMachine { ssh: ssh?, address, work_directory: host.work_directory })
        }
        _ => neither(given, mistakes),
    }
}

/// The machines of clients, by the names that `ssh` takes. `name` reads one entry of the list, which stands in `table`.
pub(super) fn client_names<T, S>(
    table: &str,
    given: &Spanned<Vec<Spanned<T, S>>>,
    name: impl Fn(&Spanned<T, S>, &mut Collector<'_>) -> Option<String>,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<String>> {
    some(&format!("{table} client"), given, mistakes);
    let names: Vec<_> = given.iter().map(|host| name(host, mistakes)).collect();
    let help = "a second client on the same machine sends no more than the first";
    twice(given, names.iter().map(Option::as_deref), help, mistakes);
    names.into_iter().collect()
}

/// The second of two entries with the same name is a mistake.
fn twice<'n, T, S>(
    hosts: &[Spanned<T, S>],
    names: impl Iterator<Item = Option<&'n str>>,
    help: &str,
    mistakes: &mut Collector<'_>,
) {
    let mut seen = BTreeSet::new();
    for (host, name) in hosts.iter().zip(names) {
        if let Some(name) = name.filter(|name| !seen.insert(*name)) {
            mistakes.add(host.span(), format!("`{name}` is named twice"), help);
        }
    }
}

fn some<T>(key: &str, hosts: &Spanned<Vec<T>>, mistakes: &mut Collector<'_>) {
    if hosts.is_empty() {
        let help = format!("for example {} = [\"host1\"]", key.rsplit(' ').next().unwrap_or(key));
        mistakes.add(hosts.span(), format!("{key} names no machine"), help);
    }
}

fn client_name(given: &Form<String, raw::ClientHost>, mistakes: &mut Collector<'_>) -> Option<String> {
    match given.get_ref() {
        Value::String(name) => ssh_name(name, given.span(), mistakes),
        Value::Table(_) => {
            let host = table(given, "[provider.hosts] client", mistakes)?;
            let at = within(mistakes.text, &given.span(), &host.ssh);
            ssh_name(&host.ssh, at, mistakes)
        }
        _ => neither(given, mistakes),
    }
}

fn machine(
    given: &Form<String, raw::DatabaseHost>,
    limits: bool,
    mistakes: &mut Collector<'_>,
) -> Option<DatabaseMachine> {
    match given.get_ref() {
        Value::String(name) => {
            Some(DatabaseMachine { ssh: ssh_name(name, given.span(), mistakes)?, ..DatabaseMachine::default() })
        }
        Value::Table(_) => {
            let host = table(given, "[provider.hosts] database", mistakes)?;
            mistakes.sound(|mistakes| stated(&given.span(), host, limits, mistakes)).flatten()
        }
        _ => neither(given, mistakes),
    }
}

/// A machine with what differs, which stands at `span`.
fn stated(
    span: &Range<usize>,
    host: raw::DatabaseHost,
    limits: bool,
    mistakes: &mut Collector<'_>,
) -> Option<DatabaseMachine> {
    let at = within(mistakes.text, span, &host.ssh);
    let ssh = ssh_name(&host.ssh, at, mistakes);
    let address = address(span, &host.address, mistakes);
    for (key, path) in [
        ("work_directory", &host.work_directory),
        ("data", &host.data),
        ("device", &host.device),
        ("commitlog", &host.commitlog),
        ("commitlog_device", &host.commitlog_device),
    ] {
        absolute(span, key, path, mistakes);
    }
    let mut storage = |keys: [&str; 2], directory: Option<String>, device: Option<String>| {
        if directory.is_some() && device.is_some() {
            let message = format!("{} and {} both say where it lies", keys[0], keys[1]);
            mistakes.add_within(span, keys[1], message, "remove one of them");
        }
        if limits && directory.is_some() {
            let message = format!("{} is a directory, and limits = true cannot hold one to its IOPS", keys[0]);
            let help = format!("leave {} out for an emulated volume, or name a {}", keys[0], keys[1]);
            mistakes.add_within(span, keys[0], message, help);
        }
        device.map(MachineStorage::Device).or(directory.map(MachineStorage::Directory))
    };
    let data = storage(["data", "device"], host.data, host.device);
    let commitlog = storage(["commitlog", "commitlog_device"], host.commitlog, host.commitlog_device);
    if let (Some(MachineStorage::Device(of_data)), Some(MachineStorage::Device(of_log))) = (&data, &commitlog)
        && of_data == of_log
    {
        let message = format!("{of_data} cannot be the device of data and commit log");
        let help = "leave commitlog_device out: they share it then";
        mistakes.add_within(span, "commitlog_device", message, help);
    }
    Some(DatabaseMachine { ssh: ssh?, address, work_directory: host.work_directory, data, commitlog, snapshot: None })
}

/// Where a machine is reached by the others.
fn address(span: &Range<usize>, stated: &Option<String>, mistakes: &mut Collector<'_>) -> Option<Ipv4Addr> {
    let text = stated.as_ref()?;
    let address: Option<Ipv4Addr> = text.parse().ok();
    let usable = address.filter(|a| !a.is_unspecified() && !a.is_multicast() && !a.is_broadcast());
    if usable.is_none() {
        let help = "the IPv4 address at which clients and other nodes reach it, such as \"10.0.0.5\"";
        mistakes.add_within(span, text, format!("address cannot be `{text}`"), help);
    }
    usable
}

/// A path on a machine has no directory here that it could begin at.
fn absolute(span: &Range<usize>, key: &str, stated: &Option<String>, mistakes: &mut Collector<'_>) {
    if let Some(path) = stated.as_ref().filter(|path| !path.starts_with('/')) {
        let help = "an absolute path on that machine";
        mistakes.add_within(span, path, format!("{key} cannot be `{path}`"), help);
    }
}

fn neither<S, T>(given: &Spanned<Value, S>, mistakes: &mut Collector<'_>) -> Option<T> {
    let help = "\"db1\", or { ssh = \"db1\", ... }";
    mistakes.refuse(given.span(), "a machine is a name or a table", help)
}

/// A name that `ssh` cannot take for an option.
pub(super) fn ssh_name(name: &str, at: Range<usize>, mistakes: &mut Collector<'_>) -> Option<String> {
    let is_sound =
        !name.is_empty() && !name.starts_with('-') && !name.chars().any(|c| c.is_whitespace() || c.is_control());
    if !is_sound {
        let help = "as in the command `ssh NAME`: a host, user@host, or an entry of the ssh configuration";
        mistakes.add(at, format!("a machine cannot be called `{name}`"), help);
    }
    is_sound.then(|| name.to_owned())
}
