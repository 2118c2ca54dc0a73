//! `--workload`: proportions, a YCSB core workload by its letter, or a YCSB property file.

use std::path::Path;

use ::workload::{Definition, Distribution, Mix, OperationKind, ScanLength, parse_ycsb};
use experiment::{choice, nearest};
use process::failure::Failure;

use crate::cli::amounts::part;

/// A workload, and what its file states besides.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) definition: Definition,
    pub(super) records: Option<u64>,
    pub(super) operations: Option<u64>,
    pub(super) fields: Option<u32>,
    pub(super) field_length: Option<u32>,
    pub(super) concurrency: Option<u32>,
    pub(super) rate: Option<f64>,
    pub(super) notes: Vec<String>,
}

impl From<Definition> for Chosen {
    fn from(definition: Definition) -> Self {
        Self {
            definition,
            records: None,
            operations: None,
            fields: None,
            field_length: None,
            concurrency: None,
            rate: None,
            notes: Vec::new(),
        }
    }
}

/// Understands what was typed.
pub(super) fn choose(workload: &str, distribution: Option<&str>) -> Result<Chosen, Failure> {
    let mut chosen = if let Some(file) = workload.strip_prefix("ycsb:") {
        from_file(Path::new(file))?
    } else if let Some(definition) = core_workload(workload) {
        Chosen::from(definition)
    } else {
        Chosen::from(Definition::new(workload, mix(workload)?, ZIPFIAN))
    };
    if let Some(name) = distribution {
        chosen.definition.distribution = named_distribution(name)?;
    }
    Ok(chosen)
}

const ZIPFIAN: Distribution = Distribution::Zipfian { constant: 0.99 };

/// The six workloads that come with YCSB (`workloads/workloada` to `workloadf`, 0.17.0).
fn core_workload(letter: &str) -> Option<Definition> {
    let none = Mix::default();
    let (mix, distribution) = match letter {
        "a" => (Mix { read: 0.5, update: 0.5, ..none }, ZIPFIAN),
        "b" => (Mix { read: 0.95, update: 0.05, ..none }, ZIPFIAN),
        "c" => (Mix { read: 1.0, ..none }, ZIPFIAN),
        "d" => (Mix { read: 0.95, insert: 0.05, ..none }, Distribution::Latest),
        "e" => (Mix { scan: 0.95, insert: 0.05, ..none }, ZIPFIAN),
        "f" => (Mix { read: 0.5, read_modify_write: 0.5, ..none }, ZIPFIAN),
        _ => return None,
    };
    let scan_length =
        ScanLength { max: if letter == "e" { 100 } else { ScanLength::default().max }, ..Default::default() };
    Some(Definition { scan_length, ..Definition::new(&format!("ycsb-{letter}"), mix, distribution) })
}

fn mix(text: &str) -> Result<Mix, Failure> {
    let names = OperationKind::YCSB.map(OperationKind::name).join(", ");
    let refuse = |what: String| {
        Failure::input(format!("--workload {text}: {what}")).help(format!(
            "give proportions of {names}, such as read=0.8,update=0.2; or a YCSB core workload a to f; or ycsb:FILE"
        ))
    };
    let mut mix = Mix::default();
    for stated in text.split(',') {
        let Some((name, share)) = stated.split_once('=') else {
            return Err(refuse(format!("`{stated}` is not of the form KIND=SHARE")));
        };
        let share_of = match name.trim().replace('-', "_").as_str() {
            "read" => &mut mix.read,
            "update" => &mut mix.update,
            "insert" => &mut mix.insert,
            "scan" => &mut mix.scan,
            "read_modify_write" => &mut mix.read_modify_write,
            other => {
                let near = nearest(other, OperationKind::YCSB.map(OperationKind::name));
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(refuse(format!("`{name}` is not a kind of operation{near}")));
            }
        };
        *share_of = part(share).map_err(|problem| refuse(format!("the share of {name}: {problem}")))?;
    }
    if (mix.sum() - 1.0).abs() > 1e-9 {
        return Err(refuse(format!("the shares sum to {}, not to 1", mix.sum())));
    }
    Ok(mix)
}

const DISTRIBUTIONS: [&str; 6] = ["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"];

fn named_distribution(name: &str) -> Result<Distribution, Failure> {
    // The parameters are YCSB's defaults; other ones can be stated in a YCSB file.
    Ok(match name {
        "uniform" => Distribution::Uniform,
        "zipfian" => ZIPFIAN,
        "latest" => Distribution::Latest,
        "hotspot" => Distribution::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 },
        "exponential" => Distribution::Exponential { percentile: 95.0, fraction: 0.857_142_857_1 },
        "sequential" => Distribution::Sequential,
        _ => {
            return Err(Failure::input(format!("--distribution {name}: there is no such distribution"))
                .help(choice(name, &DISTRIBUTIONS)));
        }
    })
}

/// Most bytes of a YCSB file.
const MOST_BYTES: u64 = 4 << 20;

fn from_file(path: &Path) -> Result<Chosen, Failure> {
    let text = guarded::text(path, MOST_BYTES)
        .map_err(|error| Failure::input(format!("cannot read the YCSB file {}: {error}", path.display())))?;
    let name = path.file_stem().map_or_else(|| "ycsb".into(), |stem| stem.to_string_lossy());
    let file = parse_ycsb(&name, &text).map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    Ok(Chosen {
        definition: file.definition,
        records: file.records,
        operations: file.operations,
        fields: file.fields,
        field_length: file.field_length,
        concurrency: file.threads,
        rate: file.target_ops_per_s,
        notes: file.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_letters_and_files_are_told_apart() {
        let chosen = choose("read=0.8,update=0.2", None).unwrap();
        assert_eq!(chosen.definition.mix, Mix { read: 0.8, update: 0.2, ..Mix::default() });
        assert_eq!(chosen.definition.distribution, ZIPFIAN);
        assert_eq!(choose("d", None).unwrap().definition.distribution, Distribution::Latest);
        assert_eq!(choose("e", Some("uniform")).unwrap().definition.distribution, Distribution::Uniform);
        assert_eq!(choose("e", None).unwrap().definition.scan_length.max, 100);
        assert!(choose("ycsb:/no/such/file", None).is_err());
        for letter in ["a", "b", "c", "d", "e", "f"] {
            assert!((core_workload(letter).unwrap().mix.sum() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn bad_proportions_are_refused() {
        assert_eq!(choose("read=80%,update=20%", None).unwrap().definition.mix.update, 0.2);
        let asked = choose("read=80,update=20", None).unwrap_err().message;
        assert!(asked.ends_with("the share of read: `80`: 80 % or 0.8? write 80% or 0.8"), "{asked}");
        for bad in ["read=0.5", "red=1", "read", "read=1.5", "read=-1,update=2", ""] {
            assert!(choose(bad, None).is_err(), "{bad}");
        }
        assert!(choose("red=1", None).unwrap_err().message.ends_with("did you mean `read`?"));
        let unknown = choose("read=1", Some("zipfan")).unwrap_err();
        assert!(unknown.help.unwrap().starts_with("did you mean `zipfian`? valid: uniform, "));
    }
}
