//! A log page of an NVMe controller, asked by the ioctl of its character device.

use std::fs::File;
use std::io;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// Bytes of the page (amazon-ec2-utils, `ebsnvme`).
pub(super) const BYTES: usize = 4_096;

/// The log page in which EBS counts.
const PAGE: u32 = 0xD0;
/// Get Log Page, of the admin commands of NVMe (NVM Express base specification).
const GET_LOG_PAGE: u8 = 0x02;
/// The only namespace of a volume.
const NAMESPACE: u32 = 1;
/// Least bits of the number of dwords of a page, which counts from 0, in the command's dword 10.
const DWORDS_SHIFT: u32 = 16;

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Debug, Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

/// `NVME_IOCTL_ADMIN_CMD` of linux/nvme_ioctl.h.
const ADMIN_COMMAND: Opcode = opcode::read_write::<AdminCommand>(b'N', 0x41);
const _: () = assert!(size_of::<AdminCommand>() == 72 && ADMIN_COMMAND == 0xC048_4E41);

/// The page now. Of a controller that refuses it all bytes are 0: whether it is one, its own first bytes say. How long
/// the answer may take is left to the kernel: it resets a controller that is late.
///
/// # Errors
/// The device is none of NVMe, or the user is not root.
#[expect(
    unsafe_code,
    reason = "the crates that offer NVMe's ioctls are bindings that are unsafe themselves, or need a C library and \
              libclang. The kernel reads and writes one structure, and writes at most the bytes that it states to the \
              address that it states: both are owned here until the call has returned"
)]
pub(super) fn read(controller: &File) -> io::Result<Box<[u8; BYTES]>> {
    let mut page = Box::new([0_u8; BYTES]);
    let dwords = (BYTES / 4 - 1) as u32;
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: NAMESPACE,
        address: page.as_mut_ptr().expose_provenance() as u64,
        data_bytes: BYTES as u32,
        cdw10: PAGE | (dwords << DWORDS_SHIFT),
        ..AdminCommand::default()
    };
    // SAFETY: the opcode takes a `struct nvme_passthru_cmd`, which `AdminCommand` is.
    let ask = unsafe { Updater::<ADMIN_COMMAND, AdminCommand>::new(&mut command) };
    // SAFETY: the command reads from the controller; `page` has the bytes that it states, and lives longer.
    unsafe { ioctl(controller, ask) }?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_controller_is_an_error() {
        let error = read(&File::open("/dev/null").unwrap()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NOTTY.raw_os_error()), "{error}");
    }
}
