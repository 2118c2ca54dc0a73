//! An account of AWS, asked with the user's credentials.

use super::listing::{Ask, Found, list};
use super::removal::{Patience, RemovalOutcome, remove};
use super::resource::Resource;
use crate::AwsError;
use crate::ec2;
use crate::signed::{Caller, Refused};

/// An account.
pub struct Account {
    caller: Caller,
}

/// The account in one region.
struct InRegion<'a> {
    caller: &'a Caller,
    region: &'a str,
}

impl Ask for InRegion<'_> {
    fn ask(&self, action: &str, parameters: &[(String, String)]) -> Result<String, Refused> {
        ec2::ask(self.caller, self.region, action, parameters)
    }
}

impl Account {
    /// The account of a named profile, or that of the credentials which the SDK finds: environment, shared
    /// configuration, SSO, web identity, container, instance. A region that is stated is not looked for.
    ///
    /// # Errors
    /// When there are no credentials.
    pub fn new(profile: Option<&str>, region: Option<&str>) -> Result<Self, AwsError> {
        let caller = Caller::new(profile, region)?;
        Ok(Self { caller })
    }

    /// The region of the environment or the profile, else us-east-1.
    pub fn region(&self) -> &str {
        self.caller.region().unwrap_or(catalog::REGION)
    }

    /// What carries the tag `iopslab:run` in a region; changes nothing.
    ///
    /// # Errors
    /// When EC2 does not answer, or does not know who asks.
    pub fn list(&self, region: &str) -> Result<Found, AwsError> {
        let caller = &self.caller;
        list(&InRegion { caller, region }).map_err(|refused| {
            AwsError::Refused(format!("EC2 did not list what runs have in {region}: {}", refused.reason))
        })
    }

    /// Removes things of a region, and what their runs make there meanwhile. `say` hears what goes on.
    pub fn remove(
        &self,
        region: &str,
        resources: Vec<Resource>,
        patience: &Patience,
        say: &mut dyn FnMut(RemovalOutcome<'_>),
    ) {
        let caller = &self.caller;
        remove(&InRegion { caller, region }, resources, patience, say);
    }
}
