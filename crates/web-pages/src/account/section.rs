use domain::Plan;

use super::{PATH, PREFIX};
use crate::paths;

domain::listed_enum! {
    /// A section of the account, which also has a page of its own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum AccountSection {
        Apps,
        Keys,
        Sync,
        Search,
        Plan,
        Password,
        Sessions,
        Changes,
        Activity,
        Delete,
    }
}

impl AccountSection {
    pub(super) fn of_plan(plan: Plan) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |section| *section != Self::Plan || plan == Plan::Free)
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Apps => "/account/apps",
            Self::Keys => "/account/keys",
            Self::Sync => paths::UPLOAD,
            Self::Search => "/account/search",
            Self::Plan => "/account/plan",
            Self::Password => "/account/password",
            Self::Sessions => "/account/sessions",
            Self::Changes => "/account/changes",
            Self::Activity => "/account/activity",
            Self::Delete => "/account/delete",
        }
    }

    /// The last part of its path: the id of the section, and its name in a form.
    pub(super) fn id(self) -> &'static str {
        self.path().strip_prefix(PREFIX).unwrap_or_default()
    }

    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Apps => "Connected apps",
            Self::Keys => "API keys",
            Self::Sync => "Photo sync",
            Self::Search => "Search",
            Self::Plan => "Plan",
            Self::Password => "Password",
            Self::Sessions => "Sessions",
            Self::Changes => "Changes to photos",
            Self::Activity => "Recent activity",
            Self::Delete => "Delete account",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccountPage {
    /// All sections, long ones abbreviated.
    Overview,
    Section(AccountSection),
}

impl AccountPage {
    pub(super) fn at(path: &str) -> Option<Self> {
        if path == PATH {
            return Some(Self::Overview);
        }
        AccountSection::ALL.into_iter().find(|section| section.path() == path).map(Self::Section)
    }

    /// The page that a form names as its own.
    pub(super) fn from_id(id: Option<&str>) -> Self {
        AccountSection::ALL
            .into_iter()
            .find(|section| id == Some(section.id()))
            .map_or(Self::Overview, Self::Section)
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Overview => PATH,
            Self::Section(section) => section.path(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_by_path_and_by_id() {
        for section in AccountSection::ALL {
            assert_eq!(AccountPage::at(section.path()), Some(AccountPage::Section(section)));
            assert_eq!(AccountPage::from_id(Some(section.id())), AccountPage::Section(section));
        }
        assert_eq!(AccountPage::at("/account/"), None);
        for other in [None, Some(""), Some("/account/keys"), Some("//evil.example")] {
            assert_eq!(AccountPage::from_id(other), AccountPage::Overview);
        }
    }
}
