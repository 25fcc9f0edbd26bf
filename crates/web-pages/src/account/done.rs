/// What went well; the page that a form leads back to says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Disconnected,
    KeyRevoked,
    PasswordChanged,
    SignedOutElsewhere,
}

impl Done {
    const ALL: [Self; 4] =
        [Self::Disconnected, Self::KeyRevoked, Self::PasswordChanged, Self::SignedOutElsewhere];

    /// What the page's query calls it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::KeyRevoked => "key-revoked",
            Self::PasswordChanged => "password-changed",
            Self::SignedOutElsewhere => "signed-out",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.as_str() == name)
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Disconnected => "The app is disconnected. Its next request is refused.",
            Self::KeyRevoked => "The API key is revoked. Its next request is refused.",
            Self::PasswordChanged => "Your password is changed. You are signed out in all other browsers.",
            Self::SignedOutElsewhere => "Signed out. You stay signed in here.",
        }
    }
}
