crate::listed_enum! {
    /// A security event of an account, shown to its owner.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SecurityEventKind {
        AccountCreated,
        SignedIn,
        /// A sign-in failed because the password was wrong.
        SignInFailed,
        /// Sessions were ended from another session.
        SignedOutElsewhere,
        PasswordChanged,
        AppConnected,
        AppDisconnected,
        /// The service disconnected an app because an old refresh token was replayed.
        AppTokenReplayed,
        /// An API key was created.
        KeyCreated,
        /// An API key was revoked.
        KeyRevoked,
        /// A sync password was created, or a device was connected.
        SyncPasswordCreated,
        SyncPasswordRevoked,
    }
}

impl SecurityEventKind {
    /// Its name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AccountCreated => "account_created",
            Self::SignedIn => "signed_in",
            Self::SignInFailed => "sign_in_failed",
            Self::SignedOutElsewhere => "signed_out_elsewhere",
            Self::PasswordChanged => "password_changed",
            Self::AppConnected => "app_connected",
            Self::AppDisconnected => "app_disconnected",
            Self::AppTokenReplayed => "app_token_replayed",
            Self::KeyCreated => "key_created",
            Self::KeyRevoked => "key_revoked",
            Self::SyncPasswordCreated => "sync_password_created",
            Self::SyncPasswordRevoked => "sync_password_revoked",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in SecurityEventKind::ALL {
            assert_eq!(SecurityEventKind::from_name(kind.as_str()), Some(kind));
        }
        assert_eq!(SecurityEventKind::from_name("Signed_in"), None);
    }
}
