//! Who asks a database.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who asks, and which nodes. It is only ever on the way to an agent: in no file, no log and no message for people.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// User, where the cluster wants one.
    pub user: Option<String>,
    /// Its password, which is never shown.
    pub password: Option<String>,
    /// Data centre whose nodes are asked; `None`: any.
    pub data_centre: Option<String>,
}

impl fmt::Debug for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Access")
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "..."))
            .field("data_centre", &self.data_centre)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Access;

    #[test]
    fn what_is_shown_of_it_has_no_password() {
        let access = Access {
            user: Some("lab".to_owned()),
            password: Some("hunter2".to_owned()),
            data_centre: None,
        };
        let shown = format!("{access:?} {access:#?}");
        assert!(shown.contains("lab") && !shown.contains("hunter2"), "{shown}");
    }
}
