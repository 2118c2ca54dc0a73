//! What a file states that the product has nothing for.

use std::ops::Range;

use catalog::VolumeType;

use crate::mistakes::Collector;
use crate::raw::Language;
use crate::{NodeFaultKind, PRODUCTS, raw};
use product::{Lack, Product};

pub(super) fn check(file: &raw::Experiment, product: &Product, mistakes: &mut Collector<'_>) {
    let mut refuse = |at: Range<usize>, what: &str| {
        mistakes.add(at, format!("{what}: {} has nothing of the kind", product.title), "remove it");
    };
    let of_target = file.target.as_ref().and_then(|target| target.consistency.as_ref());
    let of_each = file.configuration.iter().filter_map(|c| c.consistency.as_ref());
    for consistency in of_target.into_iter().chain(of_each).filter(|_| !product.has_consistency) {
        refuse(consistency.span(), "consistency");
    }
    for configuration in &file.configuration {
        if let Some(backlog) = configuration.backlog.as_ref().filter(|_| product.backlog.is_none()) {
            refuse(backlog.span(), &format!("backlog of {}", configuration.name));
        }
        let settings = configuration.settings.iter();
        let sections = settings.flat_map(|settings| settings.sections.keys().map(move |name| (settings, name)));
        for (settings, section) in sections.filter(|(_, section)| product.section(section).is_none()) {
            refuse(settings.span(), &format!("settings.{section} of {}", configuration.name));
        }
    }
    lacking(file, product, mistakes);
    if product.lacks(Lack::Rds) {
        volumes_of_rds(file, product, mistakes);
    }
}

/// Storage of RDS, of which a product has none.
fn volumes_of_rds(file: &raw::Experiment, product: &Product, mistakes: &mut Collector<'_>) {
    for c in &file.configuration {
        let kind = c.data_volume.get("type").and_then(toml::Value::as_str);
        let kind = kind.and_then(|kind| kind.parse::<VolumeType>().ok());
        if let Some(kind) = kind.filter(|kind| kind.is_of_rds()) {
            let (name, title) = (&c.name, product.title);
            let message = format!("data_volume of {name}: {kind} is storage of RDS, which does not run {title}");
            mistakes.add(c.data_volume.span(), message, "name a volume of EC2, such as gp3");
        }
    }
}

/// What a product may lack beside its settings, each with what iopslab does instead, or does not do yet.
fn lacking(file: &raw::Experiment, product: &Product, mistakes: &mut Collector<'_>) {
    let title = product.title;
    let mut refuse = |lack: Lack, at: Range<usize>, what: String, help: &str| {
        if product.lacks(lack) {
            mistakes.add(at, what, help);
        }
    };
    for c in &file.configuration {
        let name = &c.name;
        if let Some(nodes) = c.nodes.as_ref().filter(|nodes| ***nodes != 1) {
            let what = format!("nodes = {nodes} of {name}: iopslab starts {title} as one node, without replicas");
            refuse(Lack::Clusters, nodes.span(), what, "remove it");
        }
        let of_cluster = [("replication_factor", &c.replication_factor), ("racks", &c.racks)];
        for (key, given) in of_cluster.into_iter().filter_map(|(key, given)| Some((key, given.as_ref()?))) {
            let what = format!("{key} of {name}: iopslab starts {title} as one node, without replicas");
            refuse(Lack::Clusters, given.span(), what, "remove it");
        }
        let volume = &c.data_volume;
        let count = volume.get("count").and_then(toml::Value::as_integer).unwrap_or(1);
        if count > 1 && volume.get("layout").and_then(toml::Value::as_str) != Some("raid0") {
            let what = format!("data_volume of {name}: {title} has one data directory, and count = {count} volumes");
            refuse(
                Lack::DataDirectories,
                volume.span(),
                what,
                "state layout = \"raid0\": one file system on all of them",
            );
        }
    }
    if let Some(heap_mib) = &file.provider.local.heap_mib {
        let what = format!("heap_mib = {heap_mib}: {title} has no Java heap");
        refuse(Lack::Heap, heap_mib.span(), what, "remove it; memory_limit_gib says what its node has");
    }
    if let Some(aws) = &file.provider.aws {
        let what = format!("[provider.aws]: machines on AWS are made for {} alone so far", PRODUCTS[0].title);
        let help = "remove it; measure it on this machine, or by SSH on machines of yours: --provider hosts";
        refuse(Lack::Aws, aws.span(), what, help);
    }
    for fault in file.fault.iter().filter(|fault| *fault.kind == NodeFaultKind::Compaction.name()) {
        let what = format!("[[fault]] kind = \"compaction\": {title} has nothing of the kind");
        refuse(Lack::Compaction, fault.kind.span(), what, "remove it");
    }
    let spoken = [
        (Language::Cql, Lack::Cql, "state sql = \"FILE\", with the statements in SQL"),
        (Language::Sql, Lack::Sql, "state cql = \"FILE\", with the statements in CQL"),
    ];
    let speaks_neither = product.lacks(Lack::Cql) && product.lacks(Lack::Sql);
    for (language, lack, instead) in spoken {
        let help = if speaks_neither { "use a workload of YCSB" } else { instead };
        for path in file.workload.iter().filter_map(|workload| workload.stated(language)) {
            let (key, name) = (language.key(), language.name());
            refuse(lack, path.span(), format!("{key} = \"{path}\": {title} speaks no {name}"), help);
        }
    }
}
