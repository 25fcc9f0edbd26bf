/// The successful outcome of a form, shown on the page that the form redirects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Disconnected,
    KeyRevoked,
    DeviceDisconnected,
    PasswordChanged,
    AccessEnded,
    SignedOutElsewhere,
}

impl Outcome {
    const ALL: [Self; 6] = [
        Self::Disconnected,
        Self::KeyRevoked,
        Self::DeviceDisconnected,
        Self::PasswordChanged,
        Self::AccessEnded,
        Self::SignedOutElsewhere,
    ];

    /// Its name in the query of the page.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::KeyRevoked => "key-revoked",
            Self::DeviceDisconnected => "device-disconnected",
            Self::PasswordChanged => "password-changed",
            Self::AccessEnded => "access-ended",
            Self::SignedOutElsewhere => "signed-out",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }

    /// The message for the person.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Disconnected => "The app is disconnected. It no longer has access to your photos.",
            Self::KeyRevoked => "The API key is revoked. It no longer works.",
            Self::DeviceDisconnected => "The device is disconnected. Its password no longer works.",
            Self::PasswordChanged => "Your password is changed. You are signed out in all other browsers.",
            Self::AccessEnded => "Access is ended. What you selected no longer works.",
            Self::SignedOutElsewhere => "Signed out. You stay signed in here.",
        }
    }
}
