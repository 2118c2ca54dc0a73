//! Whether what was asked of a node is in force in the server that runs: what was asked for and not obeyed would be
//! measured as if it had been.

use std::collections::BTreeMap;

use experiment::{Section, Setting, SettingsInForce};
use postgresql_model::{CONF, conf, is_value, shown};

use super::admin::{A_LOOK, MAINTENANCE};
use super::conf::by_figures;
use super::node::Node;
use super::node_error::NodeError;

/// What `pg_settings` has of these settings.
const QUERY: &str = "SELECT name, setting, unit, pending_restart FROM pg_settings WHERE name = ANY($1)";

/// One row of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    setting: String,
    unit: Option<String>,
    /// What stands in the file comes into force with the next start.
    is_pending: bool,
}

/// The settings of a node that runs, each as the node shows it. Its shared buffers and the space of its WAL have to be
/// those of its plan, whether they are stated (at full scale) or not: the page cache is what the buffers leave, and the
/// volume of the WAL has room for that space.
pub(crate) fn settings(node: &Node) -> Result<SettingsInForce, NodeError> {
    let asked = conf(&node.plan.settings);
    let by_figures = by_figures(&node.plan);
    let is_decided = |name: &str| by_figures.iter().any(|(decided, _)| *decided == name);
    let others = asked.iter().map(|(name, setting)| (name.as_str(), setting.value()));
    let others = others.filter(|(name, _)| !is_decided(name));
    let decided = by_figures.iter().map(|(name, value)| (*name, value.as_str()));
    let all: Vec<(&str, &str)> = others.chain(decided).collect();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let admin = node.admin(MAINTENANCE, A_LOOK)?;
    let mut known = BTreeMap::new();
    for row in admin.rows(QUERY, &[&names], A_LOOK)? {
        let text = |column: usize| row.try_get::<_, Option<String>>(column).ok().flatten();
        let (Some(name), Some(setting)) = (text(0), text(1)) else { continue };
        let is_pending = row.try_get::<_, bool>(3).unwrap_or(false);
        known.insert(name, Shown { setting, unit: text(2), is_pending });
    }
    let refused =
        |setting: String, why: String| NodeError::NotInForce { address: node.plan.client_address(), setting, why };
    let mut found = BTreeMap::new();
    for (name, wanted) in all {
        let value = check(&node.version, (name, wanted), &known);
        let value = value.map_err(|why| refused(format!("{name} = {wanted}"), why))?;
        if asked.contains_key(name) {
            found.insert(name.to_owned(), Setting::Value(value));
        }
    }
    let mut in_force = SettingsInForce::NONE;
    if !found.is_empty() {
        in_force.sections.insert(CONF.to_owned(), Section::Keys(found));
    }
    Ok(in_force)
}

/// What a setting is shown as; the error is how it was seen that it is not in force.
fn check(version: &str, (name, wanted): (&str, &str), known: &BTreeMap<String, Shown>) -> Result<String, String> {
    let found = known.get(name).ok_or_else(|| format!("pg_settings of this node does not show {name}"))?;
    let value = shown(&found.setting, found.unit.as_deref());
    if found.is_pending {
        return Err(format!("pg_settings shows {value}, and that the server has to be started anew for another value"));
    }
    match is_value(version, name, wanted, &found.setting) {
        true => Ok(value),
        false => Err(format!("pg_settings shows {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_not_shown_pending_or_otherwise_is_not_in_force() {
        let row = |setting: &str, unit: Option<&str>, is_pending| Shown {
            setting: setting.to_owned(),
            unit: unit.map(str::to_owned),
            is_pending,
        };
        let known = BTreeMap::from([
            ("checkpoint_timeout".to_owned(), row("900", Some("s"), false)),
            ("wal_level".to_owned(), row("replica", None, true)),
            ("shared_buffers".to_owned(), row("65536", Some("8kB"), false)),
        ]);
        let of = |name, wanted| check("18.3", (name, wanted), &known);
        assert_eq!(of("checkpoint_timeout", "15min").as_deref(), Ok("900 s"));
        assert_eq!(of("shared_buffers", "524288kB").as_deref(), Ok("65536 x 8kB"));
        assert_eq!(of("checkpoint_timeout", "5min"), Err("pg_settings shows 900 s".to_owned()));
        assert!(of("wal_level", "minimal").unwrap_err().contains("started anew"));
        assert!(of("work_mem", "4MB").unwrap_err().contains("does not show work_mem"));
    }
}
