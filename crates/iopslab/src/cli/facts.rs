//! The catalog that commands work with: the tables of this program, and the user's files before them.

use std::path::{Path, PathBuf};

use ::catalog::{CPU_REFERENCE, Catalog, Cloud, CpuSpeed, InstanceType, UserCatalog, VolumePath};
use process::failure::Failure;

/// Where the user's catalog files are: `IOPSLAB_CATALOG`, else `iopslab/catalog` in the user's configuration directory.
/// A directory of `*.toml` files, or one file.
pub fn user_catalog_path() -> PathBuf {
    named().unwrap_or_else(|| {
        let configuration = variable("XDG_CONFIG_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".config")))
            .unwrap_or_else(|| PathBuf::from("."));
        configuration.join("iopslab").join("catalog")
    })
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// What the user names on purpose, so that it must exist.
fn named() -> Option<PathBuf> {
    variable("IOPSLAB_CATALOG")
}

/// Most bytes of a file of facts and prices; those of a whole region have about 200,000.
const CATALOG_MOST_BYTES: u64 = 16 << 20;

/// The program's tables with the user's files added in the order of their names, so that later names win.
pub fn catalog() -> Result<Catalog, Failure> {
    let mut catalog = Catalog::built_in().clone();
    for file in files(&user_catalog_path())? {
        let text = guarded::text(&file, CATALOG_MOST_BYTES).map_err(|e| unreadable(&file, &e))?;
        UserCatalog::parse(&file.display().to_string(), &text)
            .and_then(|user| catalog.add(&user))
            .map_err(|error| Failure::input(error).help("the form of these files: docs/catalog.md"))?;
    }
    Ok(catalog)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && named().is_none() => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(|e| unreadable(path, &e))?.path();
        if file.extension().is_some_and(|extension| extension == "toml") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("cannot read the user's catalog {}: {error}", path.display()))
        .help("IOPSLAB_CATALOG names a directory of .toml files, or one file")
}

/// Of the JSON documents of `catalog caps`, `catalog cost` and `plan --cache-curve`.
pub const FORMAT_VERSION: u32 = 1;

/// Exit 2 for a name that is none, with names like it.
pub fn unknown(what: &str, name: &str, near: &[&str]) -> Failure {
    let help = match near {
        [] => "see: iopslab catalog list".to_owned(),
        near => format!("nearest: {}", near.join(", ")),
    };
    Failure::input(format!("unknown {what} `{name}`")).help(help)
}

pub fn unknown_instance(catalog: &Catalog, name: &str) -> Failure {
    match ::catalog::why_omitted(name) {
        Some(reason) => {
            let mut help = "your own catalog file may state it: docs/catalog.md".to_owned();
            if let [first, ..] = &catalog.nearest_instances(name)[..] {
                help += &format!("; nearest: {first}");
            }
            Failure::input(format!("instance type `{name}` is not in the catalog: {}", reason.words())).help(help)
        }
        None => unknown("instance type", name, &catalog.nearest_instances(name)),
    }
}

/// What a machine of another cloud lets through to volumes, a line a path; none for one of AWS, or where a file states
/// it.
pub fn paths_of(machine: &InstanceType) -> Vec<String> {
    if machine.ebs.is_some() || machine.cloud() == Cloud::Aws {
        return Vec::new();
    }
    let line = |VolumePath { kinds, caps }: &VolumePath| {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        format!("{}: {} IOPS, {} MB/s", kinds.join(", "), caps.baseline_iops, caps.baseline_mb_per_s)
    };
    let mut lines: Vec<String> = machine.paths.iter().map(line).collect();
    lines.extend(machine.path_conditions().map(str::to_owned));
    if lines.is_empty() {
        lines.push("path to volumes: not known of any type of them; `ebs` in a catalog file states it".to_owned());
    }
    lines
}

/// How fast each vCPU of a type is.
pub fn speed_of_vcpu(known: Option<CpuSpeed>) -> String {
    match known {
        Some(speed) => format!("each vCPU: {speed}; 1 is {CPU_REFERENCE}"),
        None => "each vCPU: no source says how fast it is".to_owned(),
    }
}
