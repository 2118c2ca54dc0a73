//! Whether the list of settings that a plan knows is that of the server.

use experiment::Settings;

use crate::POSTGRESQL;
use crate::stage::{PATIENCE, Stage};

/// The list of settings is made by a script, from the server itself: it has to be the list of this one.
#[test]
fn postgresql_every_setting_of_the_list_is_one_of_the_server() {
    let stage = Stage::of(&POSTGRESQL);
    let plan = stage.plan("node", Settings::default());
    let _node = stage.start(&plan);
    let socket = plan.directories.own.join("socket");
    let admin = database::postgresql::Admin::connect(&socket, plan.ports.clients, "postgres", PATIENCE).unwrap();
    let query = "SELECT name || ' ' || CASE vartype WHEN 'bool' THEN 'boolean' WHEN 'string' THEN 'text'
            WHEN 'enum' THEN 'one-of ' || array_to_string(enumvals, ',')
            ELSE (CASE vartype WHEN 'real' THEN 'number ' ELSE 'integer ' END)
                || coalesce(unit, '-') || ' ' || min_val || ' ' || max_val END
        FROM pg_settings WHERE context <> 'internal' AND name NOT LIKE '%.%' ORDER BY name COLLATE \"C\"";
    let rows = admin.rows(query, &[], PATIENCE).unwrap();
    let of_server: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let known: Vec<String> = postgresql_model::keys(stage.product.default_version).map(str::to_owned).collect();
    let lacking: Vec<_> = of_server.iter().filter(|line| !known.contains(line)).collect();
    let too_many: Vec<_> = known.iter().filter(|line| !of_server.contains(line)).collect();
    assert!(lacking.is_empty() && too_many.is_empty(), "missing {lacking:#?}\ntoo many {too_many:#?}");
}
