use std::net::IpAddr;

use data_encoding::HEXLOWER;
use domain::{KeyName, SecurityEventKind, check_new_password};
use http::{HeaderMap, StatusCode, header};
use library::{AccountError, ChangePasswordError, KeyError, SignInError};
use oauth_core::UnixMillis;

use super::{AccountPage, Done, Person, Topic, page, sections::name_of};
use http_server::reply::{Reply, WithHeader as _, see_other};
use web_api::security_log;
use crate::{Site, layout, sign_in::{Form, end_session_cookie, sign_in_from, with_session}};

/// What a form of the account page does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Disconnect,
    CreateKey,
    RevokeKey,
    ChangePassword,
    EndSession,
    SignOutEverywhere,
    DeleteAccount,
}

/// What the page says about what was just done.
pub(super) enum Notice {
    /// A new key, which is shown this once.
    NewKey { name: KeyName, key: String },
    /// What went wrong.
    Problem(String),
    /// Why no key of this name was made.
    KeyRefused { name: String, words: String },
    /// What went well.
    Done(Done),
}

impl Action {
    const ALL: [Self; 7] = [
        Self::Disconnect,
        Self::CreateKey,
        Self::RevokeKey,
        Self::ChangePassword,
        Self::EndSession,
        Self::SignOutEverywhere,
        Self::DeleteAccount,
    ];

    pub(super) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.path() == path)
    }

    /// Where its form is sent; also what the form's token is bound to.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Disconnect => "/account/apps/disconnect",
            Self::CreateKey => "/account/keys/create",
            Self::RevokeKey => "/account/keys/revoke",
            Self::ChangePassword => "/account/password",
            Self::EndSession => "/account/sessions/end",
            Self::SignOutEverywhere => "/account/sign-out-everywhere",
            Self::DeleteAccount => "/account/delete",
        }
    }

    /// The section that its form belongs to.
    pub(super) const fn topic(self) -> Topic {
        match self {
            Self::Disconnect => Topic::Apps,
            Self::CreateKey | Self::RevokeKey => Topic::Keys,
            Self::ChangePassword => Topic::Password,
            Self::EndSession | Self::SignOutEverywhere => Topic::Sessions,
            Self::DeleteAccount => Topic::Delete,
        }
    }
}

/// A form that was sent from the account page by whom it was shown to.
pub(super) struct Sent<'a> {
    pub(super) site: &'a Site,
    pub(super) headers: &'a HeaderMap,
    pub(super) person: Person,
    /// The page that showed it.
    pub(super) page: AccountPage,
    pub(super) form: Form,
    pub(super) address: IpAddr,
}

impl Sent<'_> {
    pub(super) async fn run(&self, action: Action) -> Reply {
        let done = match action {
            Action::Disconnect => self.disconnect().await,
            Action::CreateKey => self.create_key().await,
            Action::RevokeKey => self.revoke_key().await,
            Action::ChangePassword => self.change_password().await,
            Action::EndSession => self.end_session().await,
            Action::SignOutEverywhere => self.sign_out_everywhere().await,
            Action::DeleteAccount => self.delete_account().await,
        };
        done.unwrap_or_else(|refusal| refusal)
    }

    fn field(&self, name: &str) -> &str {
        self.form.get(name).unwrap_or_default()
    }

    async fn tell(&self, kind: SecurityEventKind, detail: Option<&str>) {
        let account = self.person.holder.account.id;
        self.site.library.record_security_event(account, kind, Some(self.address), detail).await;
    }

    async fn disconnect(&self) -> Result<Reply, Reply> {
        let grants = self.site.library.grants();
        let subject = self.person.holder.account.id.0.to_string();
        let at = UnixMillis(self.site.library.clock().now().millis());
        let ended = async {
            // Only their own; one that is not there has ended already, which is what was wanted.
            let apps = grants.connections(&subject).await?;
            match apps.into_iter().find(|app| app.grant.id == self.field("grant")) {
                Some(app) if grants.revoke_grant(&app.grant.id, at).await? => Ok(Some(app)),
                _ => Ok::<_, oauth_core::StoreError>(None),
            }
        };
        if let Some(app) = ended.await.map_err(|error| pages::unavailable(&error))? {
            security_log::grant_revoked(self.address, &app.grant.id);
            self.tell(SecurityEventKind::AppDisconnected, Some(&name_of(&app))).await;
        }
        Ok(self.done(Done::Disconnected))
    }

    async fn create_key(&self) -> Result<Reply, Reply> {
        let name = match KeyName::parse(self.field("name")) {
            Ok(name) => name,
            Err(invalid) => {
                return Err(self.key_refused(format!("The {} {}.", invalid.field, invalid.reason)).await);
            }
        };
        let account = &self.person.holder.account;
        match self.site.library.create_key(&account.email, name.clone()).await {
            Ok(key) => {
                security_log::key_changed(self.address, account.id, "key_created");
                self.tell(SecurityEventKind::KeyCreated, Some(name.as_str())).await;
                Ok(self.page(StatusCode::OK, Notice::NewKey { name, key }).await)
            }
            Err(KeyError::NameTaken) => {
                let words = "There is already a key with this name. Revoke it or choose another name.";
                Err(self.key_refused(words.to_owned()).await)
            }
            Err(error) => Err(pages::unavailable(&error)),
        }
    }

    async fn revoke_key(&self) -> Result<Reply, Reply> {
        // A name that no key can have is one that is not there: what was wanted.
        let Ok(name) = KeyName::parse(self.field("name")) else { return Ok(self.done(Done::KeyRevoked)) };
        let account = &self.person.holder.account;
        let revoked = self.site.library.revoke_key(&account.email, &name).await;
        if revoked.map_err(|error| pages::unavailable(&error))? {
            security_log::key_changed(self.address, account.id, "key_revoked");
            self.tell(SecurityEventKind::KeyRevoked, Some(name.as_str())).await;
        }
        Ok(self.done(Done::KeyRevoked))
    }

    /// A new password ends every session, so this browser gets a new one.
    async fn change_password(&self) -> Result<Reply, Reply> {
        let account = &self.person.holder.account;
        if let Err(error) = check_new_password(self.field("new")) {
            return Err(self.refused(error.to_string()).await);
        }
        let (from, new) = (sign_in_from(self.headers, self.address), self.field("new").to_owned());
        let changed = self.site.library.change_password(account, self.field("current"), new, from).await;
        match changed {
            Ok(session) => {
                security_log::password_changed(self.address, account.id);
                let reply = self.done(Done::PasswordChanged);
                Ok(with_session(&self.site.base_url, reply, session.as_ref()))
            }
            Err(ChangePasswordError::Current(error)) => Err(self.wrong_password(error).await),
            Err(ChangePasswordError::New(error)) => Err(pages::unavailable(&error)),
        }
    }

    async fn end_session(&self) -> Result<Reply, Reply> {
        let hash = HEXLOWER.decode(self.field("session").as_bytes()).ok();
        let Some(hash) = hash.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()) else {
            return Ok(self.done(Done::SignedOutElsewhere));
        };
        let account = self.person.holder.account.id;
        let ended = self.site.library.end_session(account, &hash).await;
        if ended.map_err(|error| pages::unavailable(&error))? {
            self.signed_out_elsewhere().await;
        }
        Ok(self.done(Done::SignedOutElsewhere))
    }

    /// Ends all other sessions.
    async fn sign_out_everywhere(&self) -> Result<Reply, Reply> {
        let account = self.person.holder.account.id;
        let ended = self.site.library.end_sessions(account, Some(&self.person.token)).await;
        if ended.map_err(|error| pages::unavailable(&error))? > 0 {
            self.signed_out_elsewhere().await;
        }
        Ok(self.done(Done::SignedOutElsewhere))
    }

    async fn signed_out_elsewhere(&self) {
        security_log::signed_out(self.address);
        self.tell(SecurityEventKind::SignedOutElsewhere, None).await;
    }

    async fn delete_account(&self) -> Result<Reply, Reply> {
        let account = &self.person.holder.account;
        if self.field("sure") != "yes" {
            return Err(self.refused("Tick the box to delete your account.".to_owned()).await);
        }
        let confirmed =
            self.site.library.confirm_password(account, self.field("password"), self.address).await;
        if let Err(error) = confirmed {
            return Err(self.wrong_password(error).await);
        }
        match self.site.library.delete_account(account.id).await {
            Ok(()) => {
                security_log::account_deleted(self.address, account.id);
                let library = self.site.library.clone();
                tokio::spawn(async move {
                    if let Err(error) = library.purge_deleted().await {
                        tracing::warn!(error, "what a deleted account held is still there; it goes later");
                    }
                });
            }
            // It went meanwhile, which is what was wanted.
            Err(AccountError::NoAccount) => {}
            Err(error) => return Err(pages::unavailable(&error)),
        }
        let gone = pages::gone();
        Ok(match end_session_cookie(&self.site.base_url) {
            Some(cookie) => gone.with(header::SET_COOKIE, cookie),
            None => gone,
        })
    }

    async fn wrong_password(&self, error: SignInError) -> Reply {
        match error {
            SignInError::Unavailable(error) => pages::unavailable(&error),
            SignInError::Wrong => {
                security_log::sign_in_failed(self.address, "wrong password on the account page");
                self.refused("The password is wrong. Nothing was changed.".to_owned()).await
            }
            SignInError::LockedOut { retry_after_s } => {
                let words = "Too many wrong passwords. Wait 15 minutes, then try again.";
                self.later(StatusCode::TOO_MANY_REQUESTS, words, retry_after_s).await
            }
            SignInError::Busy { retry_after_s } => {
                let words = "Too many people are signing in right now. Try again in a minute.";
                self.later(StatusCode::SERVICE_UNAVAILABLE, words, retry_after_s).await
            }
        }
    }

    async fn later(&self, status: StatusCode, words: &str, retry_after_s: u64) -> Reply {
        pages::retry_after(self.page(status, Notice::Problem(words.to_owned())).await, retry_after_s)
    }

    async fn refused(&self, words: String) -> Reply {
        self.page(StatusCode::BAD_REQUEST, Notice::Problem(words)).await
    }

    /// Shows the typed name again, to be mended.
    async fn key_refused(&self, words: String) -> Reply {
        let name = self.field("name").to_owned();
        self.page(StatusCode::BAD_REQUEST, Notice::KeyRefused { name, words }).await
    }

    async fn page(&self, status: StatusCode, notice: Notice) -> Reply {
        page::page(self.site, &self.person, self.page, status, Some(notice)).await
    }

    /// Leads back to the page, which tells what was done.
    fn done(&self, done: Done) -> Reply {
        see_other(&format!("{}?done={}", self.page.path(), done.as_str()))
    }
}
