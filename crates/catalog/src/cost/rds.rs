//! Machines of RDS, which have prices of their own: none is built in.

use crate::{Catalog, InstanceType, VolumeRequest};

/// What RDS puts before the name of a machine type.
const PREFIX: &str = "db.";

/// The name by which a machine has its price: with storage of RDS it is one of RDS, `db.r6i.4xlarge`.
pub(super) fn billed_as(known: &InstanceType, volumes: &[VolumeRequest]) -> String {
    let is_of_rds = volumes.iter().any(|volume| volume.kind.is_of_rds());
    let prefix = if is_of_rds && of_ec2(&known.name).is_none() { PREFIX } else { "" };
    format!("{prefix}{}", known.name)
}

/// Whether there is a machine type of this name, on EC2 or on RDS.
pub(super) fn is_machine(catalog: &Catalog, name: &str) -> bool {
    let is_known = |name: &str| catalog.instance(&catalog.with_cloud(name)).is_some();
    is_known(name) || of_ec2(name).is_some_and(is_known)
}

/// The name on EC2 of a type of RDS, whatever its capitals; `None`: it is none of RDS.
fn of_ec2(name: &str) -> Option<&str> {
    let (prefix, rest) = name.split_at_checked(PREFIX.len())?;
    prefix.eq_ignore_ascii_case(PREFIX).then_some(rest)
}
