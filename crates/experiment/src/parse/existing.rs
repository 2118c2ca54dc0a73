//! `[target] hosts`: a database that exists, of which iopslab owns nothing but a keyspace or a schema.

use toml::Value;
use workload::{Definition, OperationKind};

use super::beside::FindFile;
use super::hosts::{client_names, ssh_name};
use super::inline::table;
use crate::mistakes::Collector;
use crate::spanned::{Form, Spanned, place};
use crate::{Configuration, ExistingCluster, IdentityFiles, PRODUCTS, SshFiles, TlsFiles, raw};
use product::{Lack, Product};

/// The cluster of the target.
pub(super) fn check(
    hosts: &Spanned<Vec<String>>,
    target: &raw::Target,
    product: &Product,
    mistakes: &mut Collector<'_>,
) -> Option<ExistingCluster> {
    let is_cql = *product == *PRODUCTS[0];
    let keyspace = keyspace(hosts, target, is_cql, mistakes);
    let passwords = passwords(target, mistakes);
    let said = if is_cql { in_cql(target, mistakes) } else { in_postgresql(hosts, target, mistakes) };
    let own = |given: &Option<Spanned<String>>| given.as_deref().cloned();
    let name = |name: &Spanned<String>, mistakes: &mut Collector<'_>| ssh_name(name, name.span(), mistakes);
    let clients = target.client.as_ref();
    let clients = clients.map_or(Some(Vec::new()), |given| client_names("[target]", given, name, mistakes));
    let tls = target.tls.as_ref().and_then(|given| tls(given, mistakes));
    passwords?;
    said?;
    Some(ExistingCluster {
        hosts: hosts.get_ref().clone(),
        keyspace: keyspace?,
        dbname: own(&target.dbname),
        data_centre: own(&target.data_centre),
        user: own(&target.user),
        password_file: own(&target.password_file),
        password_env: own(&target.password_env),
        tls,
        clients: clients?,
        ssh: SshFiles {
            ssh_config: own(&target.ssh_config),
            binary_x86_64: own(&target.binary_x86_64),
            binary_aarch64: own(&target.binary_aarch64),
        },
    })
}

/// Where the data set goes: a keyspace, or of PostgreSQL a schema.
fn keyspace(
    hosts: &Spanned<Vec<String>>,
    target: &raw::Target,
    is_cql: bool,
    mistakes: &mut Collector<'_>,
) -> Option<String> {
    let (key, stated) = if is_cql { ("keyspace", &target.keyspace) } else { ("schema", &target.schema) };
    let Some(keyspace) = stated else {
        return mistakes.refuse(
            hosts.span(),
            format!("`hosts` without `{key}`: where the data set goes in a cluster of yours is for you to say"),
            format!("for example {key} = \"iopslab\"; it is created where it does not exist, and never dropped"),
        );
    };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let begins = keyspace.starts_with(|c: char| c.is_ascii_lowercase());
    if !(begins && keyspace.len() <= 48 && keyspace.chars().all(plain)) {
        let help = "lower-case letters, digits and _, at most 48, a letter first";
        return mistakes.refuse(keyspace.span(), format!("`{keyspace}` is no name of a {key} here"), help);
    }
    Some(keyspace.get_ref().clone())
}

/// A password has a user, and one place.
fn passwords(target: &raw::Target, mistakes: &mut Collector<'_>) -> Option<()> {
    // IEEE Std 1003.1, "Environment Variables": what is none may be the password itself, and is not repeated.
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if let Some(given) = target.password_env.as_ref().filter(|given| !is_name(given)) {
        let what = "`password_env` is the name of a variable of the environment, which has the password";
        return mistakes.refuse(given.span(), what, "for example password_env = \"PGPASSWORD\"");
    }
    let of_user = [("password_file", &target.password_file), ("password_env", &target.password_env)];
    let mut of_user = of_user.into_iter().filter_map(|(key, given)| Some((key, given.as_ref()?)));
    let Some((key, given)) = of_user.next() else { return Some(()) };
    if target.user.is_none() {
        return mistakes.refuse(given.span(), format!("`{key}` without `user`"), "state the user, or remove it");
    }
    match of_user.next() {
        Some((other, given)) => {
            mistakes.refuse(given.span(), format!("`{other}` and `{key}` exclude each other"), "state one of the two")
        }
        None => Some(()),
    }
}

/// Keys that are PostgreSQL's, with a CQL cluster.
fn in_cql(target: &raw::Target, mistakes: &mut Collector<'_>) -> Option<()> {
    let of_postgresql = [("dbname", &target.dbname), ("schema", &target.schema)];
    match of_postgresql.into_iter().find_map(|(key, given)| Some((key, given.as_ref()?))) {
        Some((key, given)) => mistakes.refuse(
            given.span(),
            format!("`{key}` is for PostgreSQL, and these hosts are a CQL cluster"),
            "remove it, or state database = \"postgresql\"",
        ),
        None => Some(()),
    }
}

/// What PostgreSQL is asked by: a database and a user.
fn in_postgresql(hosts: &Spanned<Vec<String>>, target: &raw::Target, mistakes: &mut Collector<'_>) -> Option<()> {
    let of_cql = [("keyspace", &target.keyspace), ("data_centre", &target.data_centre)];
    if let Some((key, given)) = of_cql.into_iter().find_map(|(key, given)| Some((key, given.as_ref()?))) {
        let help = "remove it; PostgreSQL has `dbname` and `schema`";
        return mistakes.refuse(given.span(), format!("`{key}` is for a CQL cluster, and this is PostgreSQL"), help);
    }
    let needed = [("dbname", target.dbname.is_none()), ("user", target.user.is_none())];
    match needed.into_iter().find(|(_, is_missing)| *is_missing) {
        Some((key, _)) => mistakes.refuse(
            hosts.span(),
            format!("`hosts` of PostgreSQL without `{key}`"),
            "state dbname = \"DATABASE\" and user = \"USER\"; the database must exist",
        ),
        None => Some(()),
    }
}

/// A product that has no clusters is one server, and nobody knows yet how its machine is watched.
fn is_one_server(file: &raw::Experiment, product: &Product, mistakes: &mut Collector<'_>) {
    let title = product.title;
    let of_target =
        file.target.as_deref().map(|target| (target.hosts.as_ref(), target.node.first().map(Spanned::span)));
    let of_each = file.configuration.iter().map(|c| (c.hosts.as_ref(), c.node.first().map(Spanned::span)));
    for (hosts, node) in of_target.into_iter().chain(of_each) {
        if let Some(hosts) = hosts.filter(|hosts| hosts.len() > 1) {
            let what = format!("{} hosts of {title}: all requests go to one server", hosts.len());
            mistakes.add(hosts.span(), what, "name the one that takes writes; compare several as configurations");
        }
        let has_port = |point: &&String| point.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let without = hosts.and_then(|hosts| Some((hosts.span(), hosts.iter().find(|point| !has_port(point))?)));
        if let Some((at, point)) = without {
            mistakes.add(at, format!("`{point}` has no port"), format!("for example hosts = [\"{point}:5432\"]"));
        }
        if let Some(node) = node {
            let what = format!("`node` with {title}: nobody watches its machine yet");
            mistakes.add(node, what, "remove it: what is seen from outside is measured");
        }
    }
}

/// With what connections are encrypted; `None`: they are not, or there is a mistake.
fn tls(given: &Form<bool, raw::Tls>, mistakes: &mut Collector<'_>) -> Option<TlsFiles> {
    let raw = match given.get_ref() {
        Value::Boolean(false) => return None,
        Value::Boolean(true) => raw::Tls::default(),
        Value::Table(_) => table(given, "tls", mistakes)?,
        other => {
            let message = format!("tls cannot be {}", other.type_str());
            return mistakes.refuse(given.span(), message, "true, or { ca_file = \"ca.pem\" }");
        }
    };
    if raw.client_cert.is_some() != raw.client_key.is_some() {
        let key = if raw.client_cert.is_some() { "client_cert" } else { "client_key" };
        let message = "a client's certificate and its key go together";
        mistakes.add_within(&given.span(), key, message, "state client_cert and client_key, or neither");
    }
    let identity = raw.client_cert.zip(raw.client_key);
    Some(TlsFiles {
        ca_file: raw.ca_file,
        identity: identity.map(|(certificate, key)| IdentityFiles { certificate, key }),
        verify_host_name: raw.verify_host_name.unwrap_or(true),
    })
}

/// Keys that are for an existing cluster, where there is none.
fn without_cluster(file: &raw::Experiment, mistakes: &mut Collector<'_>) {
    let of_target = file.target.as_deref().into_iter().flat_map(|t| {
        [
            ("keyspace", place(&t.keyspace)),
            ("dbname", place(&t.dbname)),
            ("schema", place(&t.schema)),
            ("data_centre", place(&t.data_centre)),
            ("user", place(&t.user)),
            ("password_file", place(&t.password_file)),
            ("password_env", place(&t.password_env)),
            ("ssh_config", place(&t.ssh_config)),
            ("binary_x86_64", place(&t.binary_x86_64)),
            ("binary_aarch64", place(&t.binary_aarch64)),
            ("tls", place(&t.tls)),
            ("client", place(&t.client)),
            ("node", t.node.first().map(Spanned::span)),
        ]
    });
    let of_each = file.configuration.iter();
    let of_each = of_each.flat_map(|c| [("hosts", place(&c.hosts)), ("node", c.node.first().map(Spanned::span))]);
    mistakes.stray(
        of_target.chain(of_each),
        |key| format!("`{key}` is for an existing cluster, and [target] names none"),
        "state [target] hosts = [\"address:9042\"], or remove it",
    );
}

/// Files that a run would look for, and not find.
fn missing_files(target: &raw::Target, find: FindFile<'_>, mistakes: &mut Collector<'_>) {
    let keys = [
        ("password_file", &target.password_file),
        ("ssh_config", &target.ssh_config),
        ("binary_x86_64", &target.binary_x86_64),
        ("binary_aarch64", &target.binary_aarch64),
    ];
    let help = "paths are relative to the experiment file";
    for (key, given) in keys.into_iter().filter_map(|(key, given)| Some((key, given.as_ref()?))) {
        if let Err(why) = find(given) {
            mistakes.add(given.span(), format!("`{key}`: {why}"), help);
        }
    }
    let Some(tls) = &target.tls else { return };
    for key in ["ca_file", "client_cert", "client_key"] {
        let Some(Err(why)) = tls.get(key).and_then(Value::as_str).map(find) else { continue };
        mistakes.add_within(&tls.span(), key, format!("`{key}`: {why}"), help);
    }
}

/// What is stated and cannot be with a cluster that exists, or without one.
pub(super) fn fits(
    (file, product): (&raw::Experiment, &Product),
    configurations: &[Option<Configuration>],
    workloads: &[Option<Definition>],
    find: FindFile<'_>,
    mistakes: &mut Collector<'_>,
) {
    let Some(hosts) = file.existing() else { return without_cluster(file, mistakes) };
    if let Some(target) = &file.target {
        missing_files(target, find, mistakes);
    }
    if product.lacks(Lack::Clusters) {
        is_one_server(file, product, mistakes);
    }
    if let Some(scale) = file.provider.local.scale.as_ref().filter(|scale| ***scale != 1.0) {
        mistakes.add(
            scale.span(),
            "an existing cluster is what it is: nothing of it can be divided by a scale",
            "remove `scale`, and state as many records as fit",
        );
    }
    if let Some(named) = file.target.as_ref().and_then(|t| t.client.as_ref()) {
        let clients = file.load.clients.as_ref();
        let stated = file.load.stated_clients().map_or(1, |(_, n)| n);
        let (is_auto, named_ones) = (clients.is_some_and(|n| !n.is_integer()), named.len());
        if !is_auto && i64::try_from(named_ones) != Ok(stated) {
            mistakes.add(
                clients.map_or_else(|| named.span(), Spanned::span),
                format!("clients = {stated} in [load], and `client` of [target] names {named_ones}"),
                "one machine for each client, and one client for each machine",
            );
        }
    }
    for configuration in &file.configuration {
        if let Some(settings) = &configuration.settings {
            mistakes.add(
                settings.span(),
                format!("settings of {}: iopslab changes none of a cluster that exists", configuration.name),
                "remove them here and set them in the cluster; or leave [target] hosts out, for a database of its own",
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
    stands_there(hosts, file, configurations, mistakes);
}

/// Of what one database runs on there is one truth: else it would be compared with itself, and noise get a price.
fn stands_there(
    hosts: &Spanned<Vec<String>>,
    file: &raw::Experiment,
    configurations: &[Option<Configuration>],
    mistakes: &mut Collector<'_>,
) {
    let points = |c: &Configuration| c.hosts.clone().unwrap_or_else(|| hosts.get_ref().clone());
    let is_unlike = |one: &Configuration, other: &Configuration| {
        one.instance != other.instance
            || one.data_volume != other.data_volume
            || one.commitlog_volume != other.commitlog_volume
            || one.price_usd_per_month != other.price_usd_per_month
    };
    let each = configurations.iter().zip(&file.configuration);
    let all: Vec<_> = each.filter_map(|(checked, raw)| Some((checked.as_ref()?, raw))).collect();
    for (at, (one, raw)) in all.iter().enumerate() {
        let earlier = all.iter().take(at).find(|(other, _)| points(other) == points(one) && is_unlike(other, one));
        if let Some((other, _)) = earlier {
            let what = format!(
                "{} and {} are the same database ({}): only one of them can be what stands there",
                other.name,
                one.name,
                points(one).join(", ")
            );
            mistakes.add(raw.span(), what, "state `hosts` of its own for each, or remove what does not stand there");
            return;
        }
    }
}
