//! The `iopslab` command.

fn main() {}
