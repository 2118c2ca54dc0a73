//! A host's network that drops what certain TCP ports send and receive, by nftables.
//!
//! Only the ports of a database are cut, not the host: whoever watches it over the same network must still reach it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::command::{require, run};
use crate::error::Result;
use crate::ledger::{Ledger, LedgerId, LedgerItem};

/// nft answers at once.
const PATIENCE: Duration = Duration::from_secs(10);
const PACKAGE: &str = "nftables";

/// Ports that are cut until [`Self::end`].
#[derive(Debug)]
pub struct NetworkCut {
    ledger: Arc<Ledger>,
    entry: LedgerId,
    table: String,
}

impl NetworkCut {
    /// Drops every TCP packet from or to these ports, in both directions, from now on. `table` is the name of the
    /// table of rules that is made for it.
    ///
    /// # Errors
    /// nft is missing or refuses, for lack of rights or of the kernel's support.
    pub fn begin(ledger: &Arc<Ledger>, table: &str, ports: &[u16]) -> Result<Self> {
        let entry = ledger.intend(LedgerItem::NetworkCut {
            table: table.to_owned(),
        })?;
        let cut = Self {
            ledger: Arc::clone(ledger),
            entry,
            table: table.to_owned(),
        };
        // One transaction: all of it or nothing.
        nft(&rules(table, ports))?;
        Ok(cut)
    }

    /// Lets everything through again.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub fn end(self) -> Result<()> {
        remove(&self.table)?;
        self.ledger.done(self.entry)
    }
}

/// Where nft is, or what to install; changes nothing.
///
/// # Errors
/// It is not installed.
pub fn can_cut_network() -> Result<()> {
    require("nft", PACKAGE).map(|_| ())
}

fn rules(table: &str, ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    let ports = ports.join(", ");
    let chain = |hook: &str| {
        format!(
            "chain {hook} {{ type filter hook {hook} priority -300; tcp dport {{ {ports} }} drop; \
             tcp sport {{ {ports} }} drop; }}"
        )
    };
    format!("table inet {table} {{\n{}\n{}\n}}", chain("input"), chain("output"))
}

/// Removes the table; whether it was there.
pub(crate) fn remove(table: &str) -> Result<bool> {
    let there = nft("list tables")?
        .lines()
        .any(|line| line.trim() == format!("table inet {table}"));
    if there {
        nft(&format!("delete table inet {table}"))?;
    }
    Ok(there)
}

fn nft(command: &str) -> Result<String> {
    let program = require("nft", PACKAGE)?;
    run(&[path_text(&program), command.to_owned()], PATIENCE)
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
