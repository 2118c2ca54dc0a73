//! What an account has in a region: all pages of all kinds.

use super::kind::Kind;
use super::resource::{RUN, Resource, page};
use crate::signed::Refused;

/// Whom EC2's questions go to.
pub(super) trait Ask {
    /// The body of the answer.
    fn ask(&self, action: &str, parameters: &[(String, String)]) -> Result<String, Refused>;
}

/// What there is.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of removal.
    pub resources: Vec<Resource>,
    /// Kinds that could not be listed, with the reason.
    pub not_listed: Vec<(Kind, String)>,
}

/// Lists all kinds. A kind that may not be listed does not keep the others from it.
///
/// # Errors
/// When EC2 does not answer, or does not know who asks.
pub(super) fn list(account: &dyn Ask) -> Result<Found, Refused> {
    let mut found = Found::default();
    for kind in Kind::ALL {
        match resources(account, kind) {
            Ok(resources) => found.resources.extend(resources),
            Err(refused) if refused.code.as_deref() == Some("UnauthorizedOperation") => {
                found.not_listed.push((kind, refused.reason));
            }
            Err(refused) => return Err(refused),
        }
    }
    Ok(found)
}

pub(super) fn resources(account: &dyn Ask, kind: Kind) -> Result<Vec<Resource>, Refused> {
    let words = kind.words();
    let mut resources = Vec::new();
    let mut token: Option<String> = None;
    loop {
        let mut parameters =
            vec![("Filter.1.Name".to_owned(), "tag-key".to_owned()), ("Filter.1.Value.1".to_owned(), RUN.to_owned())];
        parameters.extend(words.a_page.map(|most| ("MaxResults".to_owned(), most.to_string())));
        parameters.extend(token.map(|token| ("NextToken".to_owned(), token)));
        let answer = account.ask(words.describe, &parameters)?;
        let page = page(kind, &answer).map_err(|reason| Refused { code: None, reason })?;
        resources.extend(page.resources);
        token = page.next_token;
        if token.is_none() {
            return Ok(resources);
        }
    }
}
