//! Which processor a machine has, by what Linux says of it, and how fast a vCPU of it is at a clock that was measured.

use crate::{CpuSpeed, table};

/// A vCPU that is a whole core does so much more than one that shares its core (`tools/auto_shape.py` of Netflix's
/// service-capacity-modeling).
const WHOLE_CORE: f64 = 1.5;

/// The processor of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Processor {
    /// As it calls itself; empty where it does not (Arm).
    pub name: String,
    /// `ice lake`: as `data/cpu_speeds.csv` calls the architecture; `None`: one that is not there.
    pub architecture: Option<&'static str>,
}

impl Processor {
    /// From the text of `/proc/cpuinfo`; that of the first CPU counts.
    pub fn read(cpuinfo: &str) -> Self {
        let value = |key: &str| {
            let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
        };
        let number = |key: &str| value(key).and_then(|text| text.parse::<u32>().ok()).unwrap_or_default();
        Self {
            name: value("model name").unwrap_or_default().to_owned(),
            architecture: architecture(
                value("vendor_id").unwrap_or_default(),
                number("cpu family"),
                number("model"),
                number("stepping"),
            ),
        }
    }

    /// How fast a vCPU is that shares its core, and one that is a whole core, at this clock; `None`: how many
    /// instructions its architecture does for each clock is not known.
    pub fn speeds(&self, ghz: f64) -> Option<(CpuSpeed, CpuSpeed)> {
        let ipc = ipc_of(self.architecture?)?;
        Some((CpuSpeed::measured(ghz, ipc), CpuSpeed::measured(ghz, ipc * WHOLE_CORE)))
    }
}

/// Architectures that `data/cpu_speeds.csv` has, by the numbers of Linux (arch/x86/include/asm/intel-family.h,
/// arch/x86/kernel/cpu/amd.c).
fn architecture(vendor: &str, family: u32, model: u32, stepping: u32) -> Option<&'static str> {
    match (vendor, family, model) {
        ("GenuineIntel", 6, 0x3f) => Some("haswell"),
        // Cooper Lake, with the same number, is on no instance type.
        ("GenuineIntel", 6, 0x55) if stepping < 5 => Some("skylake"),
        ("GenuineIntel", 6, 0x55) => Some("cascade lake"),
        ("GenuineIntel", 6, 0x6a) => Some("ice lake"),
        ("GenuineIntel", 6, 0x8f) => Some("sapphire rapids"),
        ("GenuineIntel", 6, 0xcf) => Some("emerald rapids"),
        ("GenuineIntel", 6, 0xad) => Some("granite rapids"),
        ("AuthenticAMD", 0x17, 0x31) => Some("rome"),
        ("AuthenticAMD", 0x19, 0x01) => Some("milan"),
        ("AuthenticAMD", 0x19, 0x11) => Some("genoa"),
        ("AuthenticAMD", 0x1a, 0x02) => Some("turin"),
        _ => None,
    }
}

/// Instructions for each clock beside Skylake, of a vCPU that shares its core.
fn ipc_of(architecture: &str) -> Option<f64> {
    let known = table::read(include_str!("../data/cpu_speeds.csv"), |row| {
        let (named, ipc) = (row.text("architecture")?, row.number("ipc")?);
        // What the table has of whole cores is of whole cores.
        match named.strip_suffix(" (whole cores)") {
            Some(named) => (named == architecture).then_some(ipc / WHOLE_CORE),
            None => (named == architecture).then_some(ipc),
        }
    });
    known.into_iter().flatten().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vendor: &str, family: u32, model: u32, stepping: u32) -> Processor {
        let numbers = format!("cpu family\t: {family}\nmodel\t\t: {model}\n");
        let name = format!("model name\t: Some CPU @ 2.50GHz\nstepping\t: {stepping}\n");
        Processor::read(&format!(
            "processor\t: 0\nvendor_id\t: {vendor}\n{numbers}{name}cpu MHz\t\t: 2499.998\n\nprocessor\t: 1\n\
             vendor_id\t: Other\n"
        ))
    }

    #[test]
    fn a_processor_is_known_by_its_numbers() {
        for (processor, architecture) in [
            (of("GenuineIntel", 6, 85, 4), Some("skylake")),
            (of("GenuineIntel", 6, 85, 7), Some("cascade lake")),
            (of("GenuineIntel", 6, 106, 6), Some("ice lake")),
            (of("AuthenticAMD", 26, 2, 1), Some("turin")),
            (of("AuthenticAMD", 23, 1, 2), None),
            (of("GenuineIntel", 6, 79, 1), None),
        ] {
            assert_eq!(processor.architecture, architecture, "{processor:?}");
            assert_eq!(processor.name, "Some CPU @ 2.50GHz");
        }
        let arm = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(Processor::read(arm), Processor { name: String::new(), architecture: None });
        assert_eq!(Processor::read("").architecture, None);
    }

    #[test]
    fn a_measured_clock_gives_the_speed_that_the_table_would() {
        let (shared, whole) = of("GenuineIntel", 6, 106, 6).speeds(3.5).unwrap();
        assert_eq!(shared.speed, crate::cpu_speed("m6i.2xlarge").unwrap().speed);
        assert!((whole.speed / shared.speed - 1.5).abs() < 1e-12);
        let (_, whole) = of("AuthenticAMD", 25, 17, 1).speeds(3.7).unwrap();
        assert!((whole.speed - crate::cpu_speed("r7a.2xlarge").unwrap().speed).abs() < 1e-12, "a vCPU is a core there");
        assert_eq!(of("GenuineIntel", 6, 79, 1).speeds(3.0), None);
    }

    #[test]
    fn every_architecture_that_is_told_has_its_figure() {
        let makers = [("GenuineIntel", 6), ("AuthenticAMD", 0x17), ("AuthenticAMD", 0x19), ("AuthenticAMD", 0x1a)];
        for (vendor, family) in makers {
            let told = (0..=255).flat_map(|model| [4, 7].map(|stepping| architecture(vendor, family, model, stepping)));
            let mut told = told.flatten().peekable();
            assert!(told.peek().is_some(), "{vendor} {family}");
            for name in told {
                assert!(ipc_of(name).is_some_and(|ipc| (0.5..2.0).contains(&ipc)), "{name}");
            }
        }
    }
}
