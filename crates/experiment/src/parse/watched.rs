//! `[[target.node]]` and `[[configuration.node]]`: the nodes of an existing cluster that are watched by SSH.

use std::collections::BTreeSet;

use super::hosts::ssh_name;
use crate::mistakes::Collector;
use crate::spanned::{Spanned, place};
use crate::{Configuration, WatchedNode, raw};

/// A cluster by its contact points, with its nodes.
struct Cluster<'f> {
    hosts: &'f [String],
    stated: &'f [Spanned<raw::WatchedNode>],
    /// In the order in which they are stated; `None` has a mistake.
    nodes: Vec<Option<WatchedNode>>,
}

/// Gives each configuration the nodes of its cluster. Without `hosts` in the target there is none: that is reported
/// elsewhere.
pub(super) fn check(
    file: &raw::Experiment,
    configurations: &mut [Option<Configuration>],
    mistakes: &mut Collector<'_>,
) {
    let (Some(target), Some(of_target)) = (&file.target, file.existing()) else { return };
    let clusters = clusters(file, target, of_target, mistakes);
    if clusters.is_empty() && target.client.is_none() {
        let of_ssh = [
            ("ssh_config", place(&target.ssh_config)),
            ("binary_x86_64", place(&target.binary_x86_64)),
            ("binary_aarch64", place(&target.binary_aarch64)),
        ];
        let help = "name nodes to watch ([[target.node]] ssh = \"db1\") or machines of clients (client = [\"load1\"]), \
                    or remove it";
        mistakes.stray(of_ssh, |key| format!("`{key}` without a machine that is reached by SSH"), help);
    }
    for (raw, configuration) in file.configuration.iter().zip(configurations) {
        let its = clusters.iter().find(|cluster| cluster.hosts == of(raw, of_target));
        let (Some(configuration), Some(cluster)) = (configuration, its) else { continue };
        if cluster.stated.len() != configuration.placement.nodes as usize {
            mistakes.add(
                place(&raw.nodes).unwrap_or(raw.span()),
                format!(
                    "nodes = {} of {}, and {} of its cluster are stated to be watched",
                    configuration.placement.nodes,
                    configuration.name,
                    cluster.stated.len()
                ),
                "state each node of the cluster, or none: what a cluster uses is the sum over all of its nodes",
            );
        }
        // Where one has a mistake there is no plan.
        configuration.watched = cluster.nodes.iter().flatten().cloned().collect();
    }
    for cluster in &clusters {
        let has_log =
            |c: &Spanned<raw::Configuration>| of(c, of_target) == cluster.hosts && c.commitlog_volume.is_some();
        let log = cluster.stated.iter().find_map(|node| node.commitlog.as_ref());
        if let Some(log) = log.filter(|_| !file.configuration.iter().any(has_log)) {
            mistakes.add(
                log.span(),
                "`commitlog` of a node, and no configuration of its cluster has a `commitlog_volume`",
                "state what the commit log lies on, or remove it: the log then counts to the data volume",
            );
        }
    }
}

/// Contact points of a configuration's cluster.
fn of<'f>(configuration: &'f raw::Configuration, of_target: &'f Spanned<Vec<String>>) -> &'f [String] {
    configuration.hosts.as_ref().unwrap_or(of_target)
}

/// The clusters whose nodes are stated, that of the target first.
fn clusters<'f>(
    file: &'f raw::Experiment,
    target: &'f raw::Target,
    of_target: &'f [String],
    mistakes: &mut Collector<'_>,
) -> Vec<Cluster<'f>> {
    let mut lists: Vec<(&[String], &[Spanned<raw::WatchedNode>])> = vec![(of_target, &target.node)];
    for configuration in file.configuration.iter() {
        let Some(first) = configuration.node.first() else { continue };
        let Some(hosts) = &configuration.hosts else {
            let message = format!("`node` of {}, whose cluster is that of [target]", configuration.name);
            let help = "state them as [[target.node]], or give the configuration `hosts` of its own";
            mistakes.add(first.span(), message, help);
            continue;
        };
        let hosts = hosts.as_slice();
        if lists.iter().any(|(known, nodes)| *known == hosts && !nodes.is_empty()) {
            let message = format!("the nodes of {} are stated twice", hosts.join(", "));
            mistakes.add(first.span(), message, "once is enough: configurations of one cluster share them");
            continue;
        }
        lists.push((hosts, &configuration.node));
    }
    let (mut next, mut names) = (0, BTreeSet::new());
    let lists = lists.into_iter().filter(|(_, stated)| !stated.is_empty());
    let clusters = lists.map(|(hosts, stated)| {
        let nodes = stated.iter().map(|given| {
            let host = next;
            next += 1;
            node(given, host, &mut names, mistakes)
        });
        let nodes = nodes.collect();
        Cluster { hosts, stated, nodes }
    });
    clusters.collect()
}

/// One node; `names` are those of the nodes before it.
fn node<'f>(
    given: &'f raw::WatchedNode,
    host: u32,
    names: &mut BTreeSet<&'f str>,
    mistakes: &mut Collector<'_>,
) -> Option<WatchedNode> {
    let node = mistakes.sound(|mistakes| {
        let ssh = ssh_name(&given.ssh, given.ssh.span(), mistakes);
        if !names.insert(given.ssh.as_str()) {
            let help = "each node has a machine of its own, and is a node of one cluster";
            mistakes.add(given.ssh.span(), format!("`{}` is named twice", given.ssh), help);
        }
        for (key, path) in [("data", &given.data), ("commitlog", &given.commitlog)] {
            if let Some(path) = path.as_ref().filter(|path| !path.starts_with('/')) {
                let message = format!("{key} cannot be `{path}`");
                mistakes.add(path.span(), message, "an absolute path on that machine");
            }
        }
        if let Some(process) = given.process.as_ref().filter(|process| process.trim().is_empty()) {
            let help = "a part of the database's command line, such as \"CassandraDaemon\"";
            mistakes.add(process.span(), "`process` is empty", help);
        }
        let own = |text: &Option<Spanned<String>>| text.as_deref().cloned();
        Some(WatchedNode {
            host,
            ssh: ssh?,
            data: own(&given.data),
            commitlog: own(&given.commitlog),
            process: own(&given.process),
        })
    });
    node.flatten()
}
