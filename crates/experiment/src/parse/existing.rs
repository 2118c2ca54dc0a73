//! `[target] hosts`: a cluster that exists, of which iopslab owns nothing but a keyspace.

use toml::{Spanned, Value};
use workload::{Definition, OperationKind};

use super::hosts::{client_names, ssh_name};
use super::place::{table, within};
use crate::mistakes::Collector;
use crate::{Configuration, Database, IdentityFiles, LocalSettings, SshFiles, TlsFiles, raw};

/// The cluster of the target.
pub(super) fn check(
    hosts: &Spanned<Vec<String>>,
    target: &raw::Target,
    mistakes: &mut Collector<'_>,
) -> Option<Database> {
    let Some(keyspace) = &target.keyspace else {
        mistakes.add(
            hosts.span(),
            "`hosts` without `keyspace`: where the data set goes in a cluster of yours is for you to say",
            "for example keyspace = \"iopslab\"; it is created where it does not exist, and never dropped",
        );
        return None;
    };
    let name = keyspace.get_ref();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !(name.starts_with(|c: char| c.is_ascii_lowercase()) && name.len() <= 48 && name.chars().all(plain)) {
        mistakes.add(
            keyspace.span(),
            format!("`{name}` is no name of a keyspace here"),
            "lower-case letters, digits and _, at most 48, a letter first",
        );
        return None;
    }
    if let (Some(file), None) = (&target.password_file, &target.user) {
        mistakes.add(
            file.span(),
            "`password_file` without `user`",
            "state the user, or remove it",
        );
        return None;
    }
    let tls = match &target.tls {
        None => None,
        Some(given) => tls(given, mistakes)?,
    };
    let clients = match &target.client {
        None => Vec::new(),
        Some(given) => {
            let name =
                |name: &Spanned<String>, mistakes: &mut Collector<'_>| ssh_name(name.get_ref(), name.span(), mistakes);
            client_names("[target]", given, name, mistakes)?
        }
    };
    let own = |given: &Option<Spanned<String>>| given.as_ref().map(|value| value.get_ref().clone());
    Some(Database::Hosts {
        hosts: hosts.get_ref().clone(),
        keyspace: name.clone(),
        data_centre: own(&target.data_centre),
        user: own(&target.user),
        password_file: own(&target.password_file),
        tls,
        clients,
        ssh: SshFiles {
            ssh_config: own(&target.ssh_config),
            binary_x86_64: own(&target.binary_x86_64),
            binary_aarch64: own(&target.binary_aarch64),
        },
    })
}

/// Whether connections are encrypted, and with what; the outer `None` is a mistake.
fn tls(given: &Spanned<Value>, mistakes: &mut Collector<'_>) -> Option<Option<TlsFiles>> {
    let raw: raw::Tls = match given.get_ref() {
        Value::Boolean(false) => return Some(None),
        Value::Boolean(true) => raw::Tls::default(),
        Value::Table(_) => table(given, "tls", mistakes)?,
        other => {
            mistakes.add(
                given.span(),
                format!("tls cannot be {}", other.type_str()),
                "true, or { ca_file = \"ca.pem\" }",
            );
            return None;
        }
    };
    let identity = match (raw.client_cert, raw.client_key) {
        (Some(certificate), Some(key)) => Some(IdentityFiles { certificate, key }),
        (None, None) => None,
        (stated, _) => {
            let key = if stated.is_some() { "client_cert" } else { "client_key" };
            mistakes.add(
                within(mistakes.text, &given.span(), key),
                "a client's certificate and its key go together",
                "state client_cert and client_key, or neither",
            );
            return None;
        }
    };
    Some(Some(TlsFiles {
        ca_file: raw.ca_file,
        identity,
        verify_host_name: raw.verify_host_name.unwrap_or(true),
    }))
}

/// What is stated and cannot be with a cluster that exists, or without one.
pub(super) fn fits(
    file: &raw::Experiment,
    configurations: &[Option<Configuration>],
    workloads: &[Option<Definition>],
    local: &LocalSettings,
    mistakes: &mut Collector<'_>,
) {
    let target = file.target.as_ref().map(Spanned::get_ref);
    let Some(hosts) = target.and_then(|t| t.hosts.as_ref()) else {
        let of_target = target.into_iter().flat_map(|t| {
            [
                ("keyspace", &t.keyspace),
                ("data_centre", &t.data_centre),
                ("user", &t.user),
                ("password_file", &t.password_file),
                ("ssh_config", &t.ssh_config),
                ("binary_x86_64", &t.binary_x86_64),
                ("binary_aarch64", &t.binary_aarch64),
            ]
        });
        let of_target = of_target.filter_map(|(key, given)| Some((key, given.as_ref()?.span())));
        let tls = target.and_then(|t| Some(("tls", t.tls.as_ref()?.span())));
        let clients = target.and_then(|t| Some(("client", t.client.as_ref()?.span())));
        let tls = tls.into_iter().chain(clients);
        let of_each = file.configuration.iter();
        let of_each = of_each.filter_map(|c| Some(("hosts", c.get_ref().hosts.as_ref()?.span())));
        let nodes = target.and_then(|t| Some(("node", t.node.first()?.span())));
        let of_each = of_each.chain(
            file.configuration
                .iter()
                .filter_map(|c| Some(("node", c.get_ref().node.first()?.span()))),
        );
        for (key, at) in of_target.chain(tls).chain(nodes).chain(of_each).collect::<Vec<_>>() {
            mistakes.add(
                at,
                format!("`{key}` is for an existing cluster, and [target] names none"),
                "state [target] hosts = [\"address:9042\"], or remove it",
            );
        }
        return;
    };
    if let Some(scale) = file.provider.local.scale.as_ref().filter(|_| local.scale != 1.0) {
        mistakes.add(
            scale.span(),
            "an existing cluster is what it is: nothing of it can be divided by a scale",
            "remove `scale`, and state as many records as fit",
        );
    }
    if let Some(named) = target.and_then(|t| t.client.as_ref()) {
        let clients = file.load.get_ref().clients.as_ref();
        let stated = file.load.get_ref().stated_clients().map_or(1, |(_, n)| n);
        let (is_auto, named_ones) = (
            clients.is_some_and(|n| !n.get_ref().is_integer()),
            named.get_ref().len(),
        );
        if !is_auto && i64::try_from(named_ones) != Ok(stated) {
            mistakes.add(
                clients.map_or_else(|| named.span(), Spanned::span),
                format!("clients = {stated} in [load], and `client` of [target] names {named_ones}"),
                "one machine for each client, and one client for each machine",
            );
        }
    }
    for configuration in file.configuration.iter().map(Spanned::get_ref) {
        if let Some(settings) = &configuration.settings {
            mistakes.add(
                settings.span(),
                format!(
                    "settings of {}: iopslab changes none of a cluster that exists",
                    configuration.name.get_ref()
                ),
                "remove them here and set them in the cluster; or leave [target] hosts out, for a Cassandra of its own",
            );
        }
    }
    let inserts = |w: &&Definition| w.mix.share(OperationKind::Insert) > 0.0;
    if let Some(workload) = workloads.iter().flatten().find(inserts) {
        mistakes.add(
            hosts.span(),
            format!(
                "`{}` inserts, and nothing is restored in an existing cluster: each trial would find more",
                workload.name
            ),
            "measure updates instead",
        );
    }
    // Who creates a keyspace says how many replicas it keeps.
    let checked = || configurations.iter().flatten();
    let of = |c: &Configuration| c.hosts.clone().unwrap_or_else(|| hosts.get_ref().clone());
    for (configuration, raw) in checked().zip(&file.configuration) {
        let other = checked().find(|c| {
            of(c) == of(configuration) && c.placement.replication_factor != configuration.placement.replication_factor
        });
        if let Some(other) = other {
            mistakes.add(
                raw.span(),
                format!(
                    "{} and {} are the same cluster with {} and {} replicas",
                    configuration.name,
                    other.name,
                    configuration.placement.replication_factor,
                    other.placement.replication_factor
                ),
                "one keyspace has one replication factor: state the same `nodes` and `replication_factor`",
            );
            return;
        }
    }
}
