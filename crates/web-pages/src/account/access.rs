//! Access to an account that does not depend on its password. After a password change, the page offers to end it.

use domain::KeyName;
use http_server::reply::Reply;
use maud::{Markup, html};

use super::{Person, actions::Action, lists::Sections};
use crate::{Site, messages};

/// A kind of access that does not depend on the password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessKind {
    Devices,
    Keys,
    Apps,
}

impl AccessKind {
    pub(super) const ALL: [Self; 3] = [Self::Devices, Self::Keys, Self::Apps];

    /// The name of its field in the form.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Devices => "devices",
            Self::Keys => "keys",
            Self::Apps => "apps",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Devices => "Devices",
            Self::Keys => "API keys",
            Self::Apps => "Connected apps",
        }
    }

    const fn consequence(self) -> &'static str {
        match self {
            Self::Devices => "Phones and computers stop uploading photos until you connect them again.",
            Self::Keys => "Your scripts stop working until you give them a new key.",
            Self::Apps => "Apps lose access to your photos until you allow them again.",
        }
    }

    /// The names of the sync passwords or API keys that work.
    pub(super) async fn key_names(self, site: &Site, person: &Person) -> Result<Vec<KeyName>, Reply> {
        let account = &person.holder.account;
        let keys = match self {
            Self::Devices => site
                .library
                .accounts
                .sync_passwords(account.id)
                .await
                .map_err(|error| messages::unavailable(&error))?,
            Self::Keys => site
                .library
                .accounts
                .keys(&account.email)
                .await
                .map_err(|error| messages::unavailable(&error))?,
            Self::Apps => Vec::new(),
        };
        Ok(keys.into_iter().filter(|key| key.revoked_at.is_none()).map(|key| key.name).collect())
    }

    /// The names of everything that has this access.
    async fn holders(self, site: &Site, person: &Person) -> Result<Vec<String>, Reply> {
        if self != Self::Apps {
            let names = self.key_names(site, person).await?;
            return Ok(names.iter().map(ToString::to_string).collect());
        }
        let apps = site.library.accounts.grants().connections(&person.holder.account.id.0.to_string()).await;
        let apps = apps.map_err(|error| messages::unavailable(&error))?;
        Ok(apps.iter().map(super::lists::app_label).collect())
    }
}

impl Sections<'_> {
    /// Offers to end every access that a password change leaves; empty if there is none.
    pub(super) async fn remaining_access(&self) -> Result<Markup, Reply> {
        let mut remaining = Vec::new();
        for kind in AccessKind::ALL {
            let holders = kind.holders(self.site, self.person).await?;
            if !holders.is_empty() {
                remaining.push((kind, holders));
            }
        }
        if remaining.is_empty() {
            return Ok(html! {});
        }
        Ok(html! {
            div.notice {
                p { "These do not use your password and keep their access. If somebody else knew it, end them here, or one by one in their sections." }
                (self.form(Action::EndAccess, &html! {
                    fieldset {
                        legend { "End the access of" }
                        @for (kind, holders) in &remaining {
                            label.check {
                                input type="checkbox" name=(kind.name()) value="yes";
                                span {
                                    strong { (kind.label()) } ": " (listed(holders)) ". " (kind.consequence())
                                }
                            }
                        }
                    }
                    button.danger type="submit" { "End selected access" }
                }))
            }
        })
    }
}

/// How many names are listed.
const MAX_NAMES: usize = 5;

/// Some of the names, and the number of the others.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_abbreviated() {
        let names = |count: usize| (1..=count).map(|number| format!("phone {number}")).collect::<Vec<_>>();
        assert_eq!(listed(&names(1)), "phone 1");
        assert_eq!(listed(&names(5)), "phone 1, phone 2, phone 3, phone 4, phone 5");
        assert_eq!(listed(&names(7)), "phone 1, phone 2, phone 3, phone 4, phone 5 and 2 more");
    }
}
