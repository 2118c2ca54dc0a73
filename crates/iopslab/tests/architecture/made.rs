//! Files are made in one place, `guarded`: under names that were free, or whole in the place of another, through no
//! link.

use std::collections::BTreeMap;
use std::path::Path;

use super::edges;
use super::floors::modules;

/// What makes or truncates a file wherever a link leads.
const MAKES: [&str; 4] = ["fs::write(", "File::create(", ".create(true)", ".truncate(true)"];
/// Who may, and why.
const MAY: [(&str, &str, &str); 7] = [
    ("guarded", "make", "it is the place"),
    ("storage", "cgroup::control_files", "files of the kernel"),
    ("storage", "loops", "files of the kernel"),
    ("storage", "read_ahead", "files of the kernel"),
    ("storage", "server", "files of the kernel"),
    ("storage", "ledger", "opened by guarded::open_private, which follows no link"),
    ("storage", "work", "opened by guarded::open_private, which follows no link"),
];

#[test]
fn no_file_is_made_through_a_link() {
    let mut found = Vec::new();
    for room in edges().keys() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(room).join("src");
        let mut all = BTreeMap::new();
        modules(&folder, &[], &mut all);
        for (module, code) in all {
            let module = module.join("::");
            let may = MAY.iter().any(|(of, who, _)| of == room && *who == module);
            let makes = MAKES.iter().filter(|way| code.contains(*way));
            found.extend(makes.filter(|_| !may).map(|way| format!("{room}::{module}: {way}")));
        }
    }
    assert!(found.is_empty(), "use guarded::create, guarded::replace or guarded::write_anew: {found:#?}");
}
