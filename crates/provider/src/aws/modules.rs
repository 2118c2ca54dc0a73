//! The modules, as they are in `terraform/aws` of the source, and what they make.

/// Which plug-in is used, by its version and its hash; read by Terraform by its name.
pub(super) const LOCK: &str = ".terraform.lock.hcl";

macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../terraform/aws/", $name)))
    };
}

/// Their files by their names.
pub(super) const MODULES: &[(&str, &str)] = &[
    module!(".terraform.lock.hcl"),
    module!("machines.tf"),
    module!("main.tf"),
    module!("modules/network/main.tf"),
    module!("modules/network/outputs.tf"),
    module!("modules/network/variables.tf"),
    module!("modules/network/versions.tf"),
    module!("network.tf"),
    module!("outputs.tf"),
    module!("security.tf"),
    module!("templates/first-boot.sh.tftpl"),
    module!("variables.tf"),
    module!("versions.tf"),
    module!("weighting.tf"),
];

/// Whence Terraform and OpenTofu have plug-ins.
const TERRAFORMS: &str = "registry.terraform.io/";
const OPENTOFUS: &str = "registry.opentofu.org/";

/// The lock file for this machine. Its hashes are those of one kind: on others the plug-in of that version is taken
/// that its maker has signed. OpenTofu has it, in builds of its own, from a registry of its own.
pub(super) fn lock_file(is_opentofu: bool) -> String {
    let own = MODULES.iter().find(|(name, _)| *name == LOCK).map_or("", |(_, text)| *text);
    match is_opentofu {
        true => without_hashes(own).replace(TERRAFORMS, OPENTOFUS),
        false if cfg!(all(target_os = "linux", target_arch = "x86_64")) => own.to_owned(),
        false => without_hashes(own),
    }
}

fn without_hashes(lock: &str) -> String {
    // An empty list of them would be refused.
    let of_hashes = |line: &str| matches!(line.trim(), "]" | "hashes = [") || line.trim_start().starts_with("\"h1:");
    let lines = lock.lines().filter(|line| !of_hashes(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// What the modules make (a managed one) or look up (one of data), as states and plans name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    /// Such as `module.network[0]`; empty: the one that Terraform is started with.
    pub module: String,
    /// `managed` or `data`.
    pub mode: String,
    /// Such as `aws_instance`.
    pub kind: String,
    /// What the module calls it.
    pub name: String,
}

pub(super) fn resources() -> Vec<Resource> {
    MODULES.iter().filter(|(file, _)| file.ends_with(".tf")).flat_map(|(file, text)| resources_of(file, text)).collect()
}

fn resources_of(file: &str, text: &str) -> Vec<Resource> {
    let below = file.strip_prefix("modules/").and_then(|rest| rest.split_once('/'));
    let module = below.map_or_else(String::new, |(name, _)| format!("module.{name}[0]"));
    let resource = |line: &str| {
        // resource "aws_instance" "machine" {
        let mut parts = line.split('"');
        let mode = match parts.next()? {
            "resource " => "managed",
            "data " => "data",
            _ => return None,
        };
        let (kind, name) = (parts.next()?, parts.nth(1)?);
        Some(Resource { module: module.clone(), mode: mode.to_owned(), kind: kind.to_owned(), name: name.to_owned() })
    };
    text.lines().filter_map(resource).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn every_file_of_the_modules_goes_with_the_program() {
        fn files(directory: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                match entry.path() {
                    path if path.is_dir() => files(&path, found),
                    path => found.push(path),
                }
            }
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../terraform/aws");
        let mut found = Vec::new();
        files(&source, &mut found);
        let modules = found.iter().filter_map(|path| path.strip_prefix(&source).ok());
        let is_module = |path: &&Path| {
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
            matches!(kind, "tf" | "tftpl" | "hcl") && !path.starts_with("tests")
        };
        let mut modules: Vec<String> = modules.filter(is_module).map(|p| p.display().to_string()).collect();
        modules.sort();
        let mut embedded: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
        embedded.sort_unstable();
        assert_eq!(modules, embedded);
    }

    #[test]
    fn the_lock_file_has_one_version_with_its_hash_and_elsewhere_the_version_alone() {
        let (_, lock) = MODULES.iter().find(|(name, _)| *name == LOCK).unwrap();
        assert_eq!(lock.matches("version     = ").count(), 1);
        assert_eq!(lock.matches("\"h1:").count(), 1);
        let elsewhere = without_hashes(lock);
        assert!(elsewhere.contains("version     = ") && !elsewhere.contains("hashes"), "{elsewhere}");
        assert_eq!(elsewhere.matches(TERRAFORMS).count(), 1);
        assert!(!lock_file(true).contains(TERRAFORMS));
    }

    #[test]
    fn all_that_the_modules_make_is_known_by_its_address() {
        let all: Vec<String> = resources()
            .iter()
            .map(|one| [&one.module, &one.mode, &one.kind, &one.name].map(String::as_str).join(" "))
            .collect();
        for one in [
            " managed aws_instance machine",
            " managed aws_key_pair run",
            " managed aws_cloudformation_stack weighting",
            " managed terraform_data checked",
            " data aws_ssm_parameter image",
            "module.network[0] managed aws_vpc run",
            "module.network[0] managed aws_route_table_association zone",
        ] {
            assert!(all.iter().any(|known| known == one), "{one}: {all:#?}");
        }
        // However they are laid out.
        let texts = MODULES.iter().filter(|(file, _)| file.ends_with(".tf")).map(|(_, text)| *text);
        let count =
            |word: &str| texts.clone().flat_map(str::lines).filter(|line| line.trim_start().starts_with(word)).count();
        assert_eq!(all.len(), count("resource \"") + count("data \""));
        // The only module that is called has a count.
        let calls = texts.clone().flat_map(str::lines).filter(|line| line.starts_with("module \""));
        assert_eq!(calls.collect::<Vec<_>>(), ["module \"network\" {"]);
    }
}
