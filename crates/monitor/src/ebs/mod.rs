//! What Amazon EBS counts of a volume itself: log page 0xD0 of the volume's NVMe controller (EBS user guide, "Amazon
//! EBS detailed performance statistics", seen 2026-11-26). Volumes of Nitro instances have it; asking takes root.

mod log_page;
mod page;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use evidence::EbsFigures;

/// The model that the controller of an EBS volume states (EC2 user guide, "Identify the EBS volume").
const MODEL: &str = "Amazon Elastic Block Store";

/// What a page of these counters says, whoever wrote it: EBS, or the server of an emulated volume; `None` where it is
/// no such page, or cut off.
pub fn ebs_figures(page: &[u8]) -> Option<EbsFigures> {
    page::figures(page)
}

/// The counters of a volume.
#[derive(Debug)]
pub(crate) struct EbsCounters {
    controller: File,
}

impl EbsCounters {
    /// Those of a block device or a partition, by its kernel name; `None` where it is no volume of EBS below this root,
    /// or where the user may not open its controller.
    pub(crate) fn of(root: &Path, device: &str) -> Option<Self> {
        let controller = controller(root, device)?;
        Some(Self { controller: File::open(controller).ok()? })
    }

    /// What they say now; `None` where the controller does not answer with such a page.
    pub(crate) fn read(&self) -> Option<EbsFigures> {
        page::figures(log_page::read(&self.controller).ok()?.as_slice())
    }
}

/// The character device of the controller of an EBS volume: of `nvme1n1` and `nvme1n1p1` `/dev/nvme1`.
fn controller(root: &Path, device: &str) -> Option<PathBuf> {
    let place = fs::canonicalize(root.join("sys/class/block").join(device)).ok()?;
    // Of a device with several paths, these lie below a subsystem, which is no device to ask.
    let is_controller = |directory: &&Path| {
        let name = directory.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("nvme"));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let directory = place.ancestors().find(is_controller)?;
    let model = fs::read_to_string(directory.join("model")).ok()?;
    (model.trim() == MODEL).then(|| root.join("dev").join(directory.file_name().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// sysfs as Linux has it: `class/block` has links to where devices hang.
    fn sys(of: &Path, place: &str, model: &str) {
        let directory = of.join("sys/devices").join(place);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.parent().unwrap().join("model"), model).unwrap();
        let class = of.join("sys/class/block");
        fs::create_dir_all(&class).unwrap();
        symlink(&directory, class.join(directory.file_name().unwrap())).unwrap();
    }

    #[test]
    fn the_controller_of_an_ebs_volume_is_found_from_its_disk_and_from_a_partition() {
        let root = tempfile::tempdir().unwrap();
        let root = &root.path().canonicalize().unwrap();
        sys(root, "pci0000:00/0000:00:1f.0/nvme/nvme12/nvme12n1", "Amazon Elastic Block Store              \n");
        let partition = root.join("sys/devices/pci0000:00/0000:00:1f.0/nvme/nvme12/nvme12n1/nvme12n1p1");
        fs::create_dir(&partition).unwrap();
        symlink(&partition, root.join("sys/class/block/nvme12n1p1")).unwrap();
        for device in ["nvme12n1", "nvme12n1p1"] {
            assert_eq!(controller(root, device), Some(root.join("dev/nvme12")), "{device}");
        }
        assert!(EbsCounters::of(root, "nvme12n1").is_none(), "there is no such device to open");
    }

    #[test]
    fn other_devices_have_none() {
        let root = tempfile::tempdir().unwrap();
        let root = &root.path().canonicalize().unwrap();
        sys(root, "pci0000:00/0000:00:1e.0/nvme/nvme0/nvme0n1", "Amazon EC2 NVMe Instance Storage\n");
        sys(root, "virtual/nvme-subsystem/nvme-subsys1/nvme1n1", "Amazon Elastic Block Store\n");
        sys(root, "virtual/block/loop3", "Amazon Elastic Block Store\n");
        for device in ["nvme0n1", "nvme1n1", "loop3", "nvme9n1"] {
            assert_eq!(controller(root, device), None, "{device}");
        }
    }

    #[test]
    fn a_device_that_takes_no_such_request_gives_nothing() {
        let nothing = EbsCounters { controller: File::open("/dev/null").unwrap() };
        assert_eq!(nothing.read(), None);
    }
}
