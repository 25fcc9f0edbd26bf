use std::{fmt, str::FromStr};

use crate::{Invalid, Timestamp, text::refuse_control};

/// The internal id of an account. Ids are never reused and never sent to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Plan {
    /// Only the newest images are visible; older ones are kept.
    Free,
    /// Every image is visible.
    #[default]
    Paid,
}

impl Plan {
    /// The plan's name in commands, responses and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Paid => "paid",
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Plan {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        match name {
            "free" => Ok(Self::Free),
            "paid" => Ok(Self::Paid),
            _ => Err(Invalid::new("plan", "must be free or paid")),
        }
    }
}

/// The e-mail address of an account, trimmed and in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

impl Email {
    /// Parses an address: one `@` with text on both sides, at most 254 characters, no white space.
    ///
    /// # Errors
    /// [`Invalid`] naming `email`.
    pub fn parse(address: &str) -> Result<Self, Invalid> {
        let address = address.trim().to_lowercase();
        let plain = !address.chars().any(|c| c.is_whitespace() || c.is_control());
        let sides = address
            .split_once('@')
            .filter(|(local, host)| !local.is_empty() && !host.is_empty() && !host.contains('@'));
        if sides.is_none() || !plain || address.chars().count() > 254 {
            return Err(Invalid::new("email", "must be an address such as ann@example.org"));
        }
        Ok(Self(address))
    }

    /// The normalised address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Email {
    type Err = Invalid;

    fn from_str(address: &str) -> Result<Self, Invalid> {
        Self::parse(address)
    }
}

/// The name of an API key or sync password: 1 to 100 characters after trimming, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName(String);

impl KeyName {
    /// Trims and checks a name.
    ///
    /// # Errors
    /// [`Invalid`] naming `name`.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        let name = name.trim();
        refuse_control("name", name)?;
        if (1..=100).contains(&name.chars().count()) {
            Ok(Self(name.to_owned()))
        } else {
            Err(Invalid::new("name", "must have 1 to 100 characters"))
        }
    }

    /// The name of the sync password of a device whose name is unknown.
    pub fn unnamed_device() -> Self {
        Self("Unnamed device".to_owned())
    }

    /// The trimmed name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for KeyName {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        Self::parse(name)
    }
}

/// The name of an account in sync apps: 16 to 64 characters of `a-z 0-9`. Apps put it into paths and regular expressions,
/// so it is never the email address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyncHandle(String);

impl SyncHandle {
    /// The handle, if it is well-formed.
    pub fn parse(handle: &str) -> Option<Self> {
        let is_valid = (16..=64).contains(&handle.len())
            && handle.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        is_valid.then(|| Self(handle.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SyncHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A user's account, which owns one library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The internal id.
    pub id: AccountId,
    /// The address its owner signs in with.
    pub email: Email,
    pub plan: Plan,
    /// Its name in sync apps.
    pub sync_handle: SyncHandle,
    /// When photos were first synced; until then image and album endpoints return 409.
    pub synced_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_normalised() {
        assert_eq!(Email::parse(" Ann@Example.ORG ").unwrap().as_str(), "ann@example.org");
        for bad in ["", "ann", "@b", "a@", "a@b@c", "a b@c", "a@b\0"] {
            assert!(Email::parse(bad).is_err(), "{bad:?}");
        }
    }
}
