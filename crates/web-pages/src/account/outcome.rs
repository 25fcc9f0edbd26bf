/// The successful outcome of a form, shown on the page that the form redirects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Disconnected,
    EditsAllowed,
    EditsForbidden,
    ChangeUndone,
    NothingToUndo,
    KeyRevoked,
    DeviceDisconnected,
    PasswordChanged,
    AccessEnded,
    SignedOutElsewhere,
}

impl Outcome {
    const ALL: [Self; 10] = [
        Self::Disconnected,
        Self::EditsAllowed,
        Self::EditsForbidden,
        Self::ChangeUndone,
        Self::NothingToUndo,
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
            Self::EditsAllowed => "edits-allowed",
            Self::EditsForbidden => "edits-forbidden",
            Self::ChangeUndone => "change-undone",
            Self::NothingToUndo => "nothing-to-undo",
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
            Self::EditsAllowed => "The app may now edit the details of your photos.",
            Self::EditsForbidden => "The app may no longer edit the details of your photos.",
            Self::NothingToUndo => "There is nothing to undo: what the change set was changed again later.",
            Self::ChangeUndone => "The change is undone. What was changed again later stays as it is.",
            Self::KeyRevoked => "The API key is revoked. It no longer works.",
            Self::DeviceDisconnected => "The device is disconnected. Its password no longer works.",
            Self::PasswordChanged => "Your password is changed. You are signed out in all other browsers.",
            Self::AccessEnded => "Access is ended. What you selected no longer works.",
            Self::SignedOutElsewhere => "Signed out. You stay signed in here.",
        }
    }
}
