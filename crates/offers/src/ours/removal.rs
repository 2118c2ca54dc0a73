//! Removing things in the order in which EC2 lets go of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::kind::Kind;
use super::listing::{Ask, list, resources};
use super::resource::Resource;
use crate::signed::Refused;

/// A run whose Terraform outlived its controller may make more while it is cleaned: so often it is looked for.
const ROUNDS: usize = 3;

/// How long is waited.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Between two looks.
    pub look: Duration,
    /// For instances to end.
    pub instances: Duration,
    /// For a thing that others hold on to, since the last one of them went.
    pub held: Duration,
}

/// What became of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalOutcome<'a> {
    /// It is removed.
    Removed(&'a Resource),
    /// It had gone when it was to be removed, as volumes do with their instance.
    Gone(&'a Resource),
    /// It is still there, with the reason.
    Failed(&'a Resource, &'a str),
    /// It is not known whether anything is left, with the reason.
    Unknown(&'a str),
    /// Nothing yet: what is waited for.
    Waiting(&'a str),
}

/// What one attempt came to.
enum Attempt {
    Done,
    Gone,
    /// Others hold on to it.
    Held(String),
    Failed(String),
}

/// Removes these things, and what their runs make meanwhile.
pub(super) fn remove(
    account: &dyn Ask,
    resources: Vec<Resource>,
    patience: &Patience,
    say: &mut dyn FnMut(RemovalOutcome<'_>),
) {
    let runs: BTreeSet<String> = resources.iter().map(|resource| resource.run.clone()).collect();
    let mut removal = Removal { account, patience, say, ours: BTreeSet::new(), is_stuck: false, silent: None };
    let mut left = resources;
    for _ in 0..ROUNDS {
        removal.round(left);
        if removal.silent.is_some() {
            return;
        }
        match list(account) {
            Ok(found) => {
                let is_new = |resource: &Resource| runs.contains(&resource.run) && !removal.ours.contains(&resource.id);
                left = found.resources.into_iter().filter(is_new).collect();
            }
            Err(refused) => {
                (removal.say)(RemovalOutcome::Unknown(&refused.reason));
                return;
            }
        }
        if left.is_empty() {
            return;
        }
    }
    for resource in &left {
        (removal.say)(RemovalOutcome::Failed(resource, "its run still makes things: end it, then repeat"));
    }
}

struct Removal<'a> {
    account: &'a dyn Ask,
    patience: &'a Patience,
    say: &'a mut dyn FnMut(RemovalOutcome<'_>),
    /// Ids of all things that were to be removed.
    ours: BTreeSet<String>,
    /// Something stays that holds on to others.
    is_stuck: bool,
    /// Why EC2 answers no more.
    silent: Option<String>,
}

impl Removal<'_> {
    fn round(&mut self, mut resources: Vec<Resource>) {
        self.ours.extend(resources.iter().map(|resource| resource.id.clone()));
        resources.sort_by_key(|resource| resource.kind);
        let (instances, others): (Vec<Resource>, Vec<Resource>) =
            resources.into_iter().partition(|resource| resource.kind == Kind::Instance);
        self.end(instances);
        self.let_go(others);
    }

    /// Ends instances and waits until they have ended: they hold on to almost everything else.
    fn end(&mut self, instances: Vec<Resource>) {
        let mut ending = Vec::new();
        for instance in instances {
            match self.attempt(&instance) {
                Attempt::Done => ending.push(instance),
                other => self.report(&instance, other),
            }
        }
        let began = Instant::now();
        let mut reported = 0;
        while !ending.is_empty() {
            // Whoever cannot be asked about has not been seen to end.
            let there = resources(self.account, Kind::Instance);
            let is_there = |instance: &Resource| match &there {
                Ok(there) => there.iter().any(|other| other.id == instance.id),
                Err(_) => true,
            };
            let (still, ended): (Vec<Resource>, Vec<Resource>) = ending.into_iter().partition(is_there);
            for instance in &ended {
                self.report(instance, Attempt::Done);
            }
            ending = still;
            if ending.is_empty() {
                return;
            }
            if began.elapsed() >= self.patience.instances {
                let why = match there {
                    Ok(_) => format!("it was asked to end and has not ended after {:.0?}", self.patience.instances),
                    Err(refused) => {
                        format!("it was asked to end; whether it has ended is not known: {}", refused.reason)
                    }
                };
                for instance in &ending {
                    self.report(instance, Attempt::Failed(why.clone()));
                }
                return;
            }
            if reported != ending.len() {
                reported = ending.len();
                (self.say)(RemovalOutcome::Waiting(&format!("waiting for {reported} instances to end")));
            }
            std::thread::sleep(self.patience.look);
        }
    }

    /// Removes things that others may hold on to for a while.
    fn let_go(&mut self, mut resources: Vec<Resource>) {
        let mut last_went = Instant::now();
        let mut reported = 0;
        loop {
            let mut held = Vec::new();
            let before = resources.len();
            for resource in resources {
                match self.attempt(&resource) {
                    Attempt::Held(why) => held.push((resource, why)),
                    other => self.report(&resource, other),
                }
            }
            if held.is_empty() {
                return;
            }
            if held.len() < before {
                last_went = Instant::now();
            } else if self.is_stuck || last_went.elapsed() >= self.patience.held {
                // What stays goes on holding: that is not waited for.
                for (resource, why) in held {
                    self.report(&resource, Attempt::Failed(why));
                }
                return;
            }
            if reported != held.len() {
                reported = held.len();
                let what: Vec<String> = held.iter().map(|(resource, _)| resource.reported()).collect();
                let what = what.join(", ");
                (self.say)(RemovalOutcome::Waiting(&format!("waiting for what others still hold: {what}")));
            }
            std::thread::sleep(self.patience.look);
            resources = held.into_iter().map(|(resource, _)| resource).collect();
        }
    }

    fn report(&mut self, resource: &Resource, attempt: Attempt) {
        match attempt {
            Attempt::Done => (self.say)(RemovalOutcome::Removed(resource)),
            Attempt::Gone => (self.say)(RemovalOutcome::Gone(resource)),
            Attempt::Held(why) | Attempt::Failed(why) => {
                self.is_stuck |= resource.kind.holds_others();
                (self.say)(RemovalOutcome::Failed(resource, &why));
            }
        }
    }

    fn attempt(&mut self, resource: &Resource) -> Attempt {
        if let Some(why) = &self.silent {
            return Attempt::Failed(format!("not tried: {why}"));
        }
        let words = resource.kind.words();
        let id = resource.name.as_deref().unwrap_or(&resource.id);
        let outcome = self.loosen(resource).unwrap_or_else(|| self.ask(words.remove, &[(words.parameter, id)]));
        if let Err((refused, _)) = &outcome
            && refused.code.is_none()
        {
            self.silent = Some(refused.reason.clone());
        }
        match outcome {
            Ok(()) => Attempt::Done,
            Err((_, RefusalKind::Gone)) => Attempt::Gone,
            Err((refused, RefusalKind::Held)) => Attempt::Held(refused.reason),
            Err((refused, RefusalKind::Other)) => Attempt::Failed(refused.reason),
        }
    }

    /// Loosens what a thing holds on to itself. `Some`: it cannot be removed.
    fn loosen(&self, resource: &Resource) -> Option<Result<(), (Refused, RefusalKind)>> {
        for (own, other) in &resource.holds {
            if !self.ours.contains(other) {
                let reason = format!("it is attached to {other}, which is not of this run; nothing was changed there");
                let code = Some("NotOurs".to_owned());
                return Some(Err((Refused { code, reason }, RefusalKind::Other)));
            }
            let loosened = match resource.kind {
                Kind::InternetGateway => {
                    self.ask("DetachInternetGateway", &[("InternetGatewayId", &resource.id), ("VpcId", own)])
                }
                _ => self.ask("DisassociateRouteTable", &[("AssociationId", own)]),
            };
            match loosened {
                Ok(()) | Err((_, RefusalKind::Gone)) => {}
                refused => return Some(refused),
            }
        }
        None
    }

    fn ask(&self, action: &str, parameters: &[(&str, &str)]) -> Result<(), (Refused, RefusalKind)> {
        let parameters: Vec<(String, String)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        match self.account.ask(action, &parameters) {
            Ok(_) => Ok(()),
            Err(refused) => {
                let why = RefusalKind::of(&refused);
                Err((refused, why))
            }
        }
    }
}

/// Why EC2 does not remove a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusalKind {
    Gone,
    Held,
    Other,
}

impl RefusalKind {
    /// Source: "Error codes for the Amazon EC2 API".
    fn of(refused: &Refused) -> Self {
        let code = refused.code.as_deref().unwrap_or_default();
        let is_gone =
            code.ends_with("NotFound") || ["InvalidPlacementGroup.Unknown", "Gateway.NotAttached"].contains(&code);
        let is_held = code.contains("InUse")
            || ["DependencyViolation", "IncorrectState"].contains(&code)
            // Of a network interface: "Network interface 'eni-...' is currently in use."
            || (code == "InvalidParameterValue" && refused.reason.contains("in use"));
        match (is_gone, is_held) {
            (true, _) => Self::Gone,
            (_, true) => Self::Held,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;
