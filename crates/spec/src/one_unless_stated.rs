//! Numbers of files that are 1 unless stated, and then not written down: so were they before they could be stated.

pub const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub const fn is_one(number: &u32) -> bool {
    *number == 1
}
