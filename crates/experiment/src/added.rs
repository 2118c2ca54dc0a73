//! A configuration that is added to the text of an experiment: like one that the text has, on another machine.

use catalog::ClusterRequest;
use toml::{Table, Value};

use crate::ordered::{name, quoted, volume};

/// What a configuration has of its machine, and what is of its name: nothing of it is taken over.
const OF_ITS_MACHINE: [&str; 9] = [
    "name",
    "instance",
    "data_volume",
    "commitlog_volume",
    "ebs_cards",
    "bandwidth_weighting",
    "memory_limit_gib",
    "cpu_speed",
    "price_usd_per_month",
];

/// A machine for a configuration that is like another one in everything else.
#[derive(Debug, Clone, Copy)]
pub struct OtherMachine<'a> {
    /// The configuration that it is like.
    pub like: &'a str,
    /// Instance type and data volume of a node; without a volume its local disks.
    pub request: &'a ClusterRequest,
    /// Whose rules the volume has; `None`: today's.
    pub era: Option<&'a str>,
    /// Memory that the database and its page cache may use; `None`: all.
    pub memory_limit_gib: Option<f64>,
}

/// A block of an experiment file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Name of the configuration, which the text did not have.
    pub name: String,
    /// `[[configuration]]` and its keys.
    pub text: String,
}

/// The block of a configuration, to be put at the end of the text. Errors: why the text does not show what it is to be
/// like.
pub fn block_on(text: &str, other: OtherMachine<'_>) -> Result<Block, String> {
    let file: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let of_name = |configuration: &Value| configuration.get("name").and_then(Value::as_str).map(str::to_owned);
    let configurations = file.get("configuration").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let names: Vec<String> = configurations.iter().filter_map(of_name).collect();
    let like = configurations.iter().find(|one| of_name(one).as_deref() == Some(other.like)).and_then(Value::as_table);
    let like = like.ok_or_else(|| format!("no [[configuration]] of the experiment has the name {}", other.like))?;
    let own = name(other.request);
    let others = (2..).map(|n| format!("{own}--{n}"));
    let free = std::iter::once(own.clone()).chain(others).find(|name| !names.contains(name));
    let name = free.unwrap_or_else(|| own.clone());
    let data = other.request.volumes.first().map_or_else(|| quoted("local"), |data| volume(data, other.era));
    let mut block = format!(
        "[[configuration]]\nname = {}\ninstance = {}\ndata_volume = {data}\n",
        quoted(&name),
        quoted(&other.request.instance)
    );
    if let Some(gib) = other.memory_limit_gib {
        block += &format!("memory_limit_gib = {gib}\n");
    }
    for (key, value) in like.iter().filter(|(key, _)| !OF_ITS_MACHINE.contains(&key.as_str())) {
        block += &format!("{key} = {value}\n");
    }
    Ok(Block { name, text: block })
}

/// The text with these blocks at its end.
pub fn with_blocks<'a>(text: &str, blocks: impl IntoIterator<Item = &'a str>) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    blocks.into_iter().fold(format!("{text}{end}"), |text, block| format!("{text}\n{block}"))
}

#[cfg(test)]
mod tests {
    use catalog::VolumeType;

    use super::*;

    const FILE: &str = "name = \"ours\"\n[[configuration]]\nname = \"today\"\ninstance = \"r4.xlarge\"\n\
                        data_volume = { type = \"io1\", size_gib = 500, iops = 4000 }\nprice_usd_per_month = 900\n\
                        memory_limit_gib = 20\nnodes = 3\nconsistency = { read = \"one\", update = \"quorum\" }\n\
                        [configuration.settings.table]\nspeculative_retry = \"NONE\"\n[load]\nrepetitions = 3";

    fn request(instance: &str, volumes: Vec<catalog::VolumeRequest>) -> ClusterRequest {
        ClusterRequest { instance: instance.to_owned(), volumes, nodes: 3 }
    }

    #[test]
    fn a_block_has_another_machine_and_is_like_its_pattern_in_everything_else() {
        let gp3 =
            catalog::VolumeRequest { kind: VolumeType::Gp3, size_gib: 500.0, iops: Some(6000.0), mib_per_s: None };
        let asked = request("r7i.2xlarge", vec![gp3]);
        let other = OtherMachine { like: "today", request: &asked, era: None, memory_limit_gib: None };
        let block = block_on(FILE, other).unwrap();
        assert_eq!(block.name, "r7i-2xlarge-gp3-500-6000");
        let text = with_blocks(FILE, [block.text.as_str()]);
        let file: Table = toml::from_str(&text).unwrap();
        let [today, added] = file["configuration"].as_array().unwrap().as_slice() else { panic!("{text}") };
        for key in ["nodes", "consistency", "settings"] {
            assert_eq!(added[key], today[key], "{text}");
        }
        assert_eq!(added["data_volume"]["iops"].as_integer(), Some(6000), "{text}");
        for key in ["price_usd_per_month", "memory_limit_gib", "commitlog_volume"] {
            assert!(added.get(key).is_none(), "{text}");
        }
        assert_eq!(file["load"]["repetitions"].as_integer(), Some(3), "the rest of the file stays");

        // The same once more has another name; an era and a memory limit are stated where they are.
        let again = OtherMachine { era: Some("2017-11-12"), memory_limit_gib: Some(12.5), ..other };
        let again = block_on(&text, again).unwrap();
        assert_eq!(again.name, "r7i-2xlarge-gp3-500-6000--2");
        let again: Table = toml::from_str(&again.text).unwrap();
        let again = &again["configuration"][0];
        assert_eq!(again["data_volume"]["era"].as_str(), Some("2017-11-12"));
        assert_eq!(again["memory_limit_gib"].as_float(), Some(12.5));
    }

    #[test]
    fn local_disks_need_no_volume_and_what_is_not_in_the_text_is_no_pattern() {
        let asked = request("i4i.xlarge", Vec::new());
        let other = OtherMachine { like: "today", request: &asked, era: None, memory_limit_gib: None };
        let block = block_on(FILE, other).unwrap();
        assert!(block.text.contains("data_volume = \"local\"\n"), "{}", block.text);
        let refused = block_on(FILE, OtherMachine { like: "today_lz4", ..other }).unwrap_err();
        assert_eq!(refused, "no [[configuration]] of the experiment has the name today_lz4");
    }
}
