//! Which of AWS's quotas an instance counts against.

use serde::{Deserialize, Serialize};

/// Instance types whose vCPUs an account has one quota for, on demand and on the spot market each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VcpuPool {
    /// Types whose name begins with A, C, D, H, I, M, R, T or Z.
    Standard,
    /// Types whose name begins with X.
    X,
}

impl VcpuPool {
    /// The pool of an instance type by its name; `None`: a type of another quota, such as those with accelerators.
    ///
    /// Source: "Amazon EC2 instance type quotas", Amazon EC2 Instance Types Guide.
    pub fn of(instance_type: &str) -> Option<Self> {
        let end = instance_type.find(|c: char| !c.is_ascii_alphabetic())?;
        match instance_type[..end].to_ascii_lowercase().as_str() {
            // Quotas of their own.
            "dl" | "hpc" | "inf" | "mac" | "trn" => None,
            "x" => Some(Self::X),
            family => "acdhimrtz".contains(family.get(..1)?).then_some(Self::Standard),
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard types (A, C, D, H, I, M, R, T, Z)",
            Self::X => "X types",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VcpuPool;

    #[test]
    fn the_first_letter_of_a_type_says_its_quota_but_for_accelerators_and_others_of_their_own() {
        for standard in ["m7i.large", "i4i.xlarge", "is4gen.large", "im4gn.large", "cr1.8xlarge", "t4g.micro"] {
            assert_eq!(VcpuPool::of(standard), Some(VcpuPool::Standard), "{standard}");
        }
        assert_eq!(VcpuPool::of("x2iedn.xlarge"), Some(VcpuPool::X));
        for other in ["inf2.xlarge", "trn1.2xlarge", "g5.xlarge", "hpc7a.12xlarge", "mac2.metal", "u-6tb1.metal", ""] {
            assert_eq!(VcpuPool::of(other), None, "{other}");
        }
    }
}
