use domain::Plan;

use super::{PATH, PREFIX};

/// A section of the account, with a page of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Apps,
    Keys,
    Sync,
    Search,
    Plan,
    Password,
    Sessions,
    Activity,
    Delete,
}

impl Topic {
    const ALL: [Self; 9] = [
        Self::Apps,
        Self::Keys,
        Self::Sync,
        Self::Search,
        Self::Plan,
        Self::Password,
        Self::Sessions,
        Self::Activity,
        Self::Delete,
    ];

    /// The sections that somebody on this plan has.
    pub(super) fn of_plan(plan: Plan) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |topic| *topic != Self::Plan || plan == Plan::Free)
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Apps => "/account/apps",
            Self::Keys => "/account/keys",
            Self::Sync => "/account/sync",
            Self::Search => "/account/search",
            Self::Plan => "/account/plan",
            Self::Password => "/account/password",
            Self::Sessions => "/account/sessions",
            Self::Activity => "/account/activity",
            Self::Delete => "/account/delete",
        }
    }

    /// The last part of its path: its id on the overview, and its name in a form.
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
            Self::Sessions => "Signed-in browsers",
            Self::Activity => "Recent activity",
            Self::Delete => "Delete account",
        }
    }
}

/// A page of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccountPage {
    /// All sections, the long ones shortened.
    Overview,
    /// One section.
    Section(Topic),
}

impl AccountPage {
    pub(super) fn at(path: &str) -> Option<Self> {
        if path == PATH {
            return Some(Self::Overview);
        }
        Topic::ALL.into_iter().find(|topic| topic.path() == path).map(Self::Section)
    }

    /// The page that a form names as the one that shows it.
    pub(super) fn named(id: Option<&str>) -> Self {
        Topic::ALL.into_iter().find(|topic| id == Some(topic.id())).map_or(Self::Overview, Self::Section)
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Overview => PATH,
            Self::Section(topic) => topic.path(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_section_is_found_by_its_path_and_by_its_id() {
        for topic in Topic::ALL {
            assert_eq!(AccountPage::at(topic.path()), Some(AccountPage::Section(topic)));
            assert_eq!(AccountPage::named(Some(topic.id())), AccountPage::Section(topic));
        }
        assert_eq!(AccountPage::at("/account/"), None);
        for other in [None, Some(""), Some("/account/keys"), Some("//evil.example")] {
            assert_eq!(AccountPage::named(other), AccountPage::Overview);
        }
    }
}
