use std::net::IpAddr;

use data_encoding::HEXLOWER;
use domain::{EditId, KeyName, SecurityEventKind, Timestamp, check_new_password};
use http::{HeaderMap, StatusCode};
use http_server::reply::{Reply, retry_after, see_other};
use library::{AccountError, ChangePasswordError, KeyError, SignInError};
use maud::html;
use oauth_core::{Connection, Grants, UnixMillis};
use web_auth::security_log;

use super::{
    AccountPage, AccountSection, Outcome, Person,
    access::AccessKind,
    lists::app_label,
    page,
    sync::{NewDevice, SHOW, SHOW_CODE},
};
use crate::{
    Site,
    forms::Form,
    layout::Page,
    messages::{self, minutes},
    selection::undo_edit,
    session::{sign_in_source, with_session, without_session},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Disconnect,
    AllowEdits,
    ForbidEdits,
    UndoChange,
    CreateKey,
    RevokeKey,
    ConnectDevice,
    DisconnectDevice,
    ChangePassword,
    EndAccess,
    EndSession,
    SignOutEverywhere,
    DeleteAccount,
}

/// The message above the sections after a form.
pub(super) enum Notice {
    /// A new API key, which is shown only now.
    NewKey {
        name: KeyName,
        key: String,
    },
    /// The password or code of a new device, which is shown only now.
    NewDevice(NewDevice),
    Problem(String),
    /// No access was selected to be ended.
    NoAccessSelected,
    /// An error in the name of a new key or device.
    InvalidName {
        name: String,
        text: String,
    },
    Done(Outcome),
}

impl Action {
    const ALL: [Self; 13] = [
        Self::Disconnect,
        Self::AllowEdits,
        Self::ForbidEdits,
        Self::UndoChange,
        Self::CreateKey,
        Self::RevokeKey,
        Self::ConnectDevice,
        Self::DisconnectDevice,
        Self::ChangePassword,
        Self::EndAccess,
        Self::EndSession,
        Self::SignOutEverywhere,
        Self::DeleteAccount,
    ];

    pub(super) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.path() == path)
    }

    /// The path that its form is sent to; also the purpose that the token of the form is bound to.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Disconnect => "/account/apps/disconnect",
            Self::AllowEdits => "/account/apps/allow-edits",
            Self::ForbidEdits => "/account/apps/forbid-edits",
            Self::UndoChange => "/account/changes/undo",
            Self::CreateKey => "/account/keys/create",
            Self::RevokeKey => "/account/keys/revoke",
            Self::ConnectDevice => "/account/sync/connect",
            Self::DisconnectDevice => "/account/sync/disconnect",
            Self::ChangePassword => "/account/password",
            Self::EndAccess => "/account/password/end-access",
            Self::EndSession => "/account/sessions/end",
            Self::SignOutEverywhere => "/account/sign-out-everywhere",
            Self::DeleteAccount => "/account/delete",
        }
    }

    /// The section with its form.
    pub(super) const fn section(self) -> AccountSection {
        match self {
            Self::Disconnect | Self::AllowEdits | Self::ForbidEdits => AccountSection::Apps,
            Self::UndoChange => AccountSection::Changes,
            Self::CreateKey | Self::RevokeKey => AccountSection::Keys,
            Self::ConnectDevice | Self::DisconnectDevice => AccountSection::Sync,
            Self::ChangePassword | Self::EndAccess => AccountSection::Password,
            Self::EndSession | Self::SignOutEverywhere => AccountSection::Sessions,
            Self::DeleteAccount => AccountSection::Delete,
        }
    }
}

/// A form with a valid token.
pub(super) struct Submission<'a> {
    pub(super) site: &'a Site,
    pub(super) headers: &'a HeaderMap,
    pub(super) person: Person,
    /// The page that showed the form.
    pub(super) page: AccountPage,
    pub(super) form: Form,
    pub(super) address: IpAddr,
}

impl Submission<'_> {
    pub(super) async fn run(&self, action: Action) -> Reply {
        let result = match action {
            Action::Disconnect => self.disconnect().await,
            Action::AllowEdits => self.set_edits(true).await,
            Action::ForbidEdits => self.set_edits(false).await,
            Action::UndoChange => self.undo_change().await,
            Action::CreateKey => self.create_key().await,
            Action::RevokeKey => self.revoke_key().await,
            Action::ConnectDevice => self.connect_device().await,
            Action::DisconnectDevice => self.disconnect_device().await,
            Action::ChangePassword => self.change_password().await,
            Action::EndAccess => self.end_access().await,
            Action::EndSession => self.end_session().await,
            Action::SignOutEverywhere => self.sign_out_everywhere().await,
            Action::DeleteAccount => self.delete_account().await,
        };
        result.unwrap_or_else(|reply| reply)
    }

    fn field(&self, name: &str) -> &str {
        self.form.get(name).unwrap_or_default()
    }

    async fn record(&self, kind: SecurityEventKind, detail: Option<&str>) {
        let account = self.person.holder.account.id;
        self.site.library.accounts.record_security_event(account, kind, Some(self.address), detail).await;
    }

    async fn disconnect(&self) -> Result<Reply, Reply> {
        // A grant that does not exist has been revoked already.
        self.end_apps(|app| app.grant.id == self.field("grant")).await?;
        Ok(self.done(Outcome::Disconnected))
    }

    /// Lets an app edit the details of photos, or takes the permission away.
    async fn set_edits(&self, allowed: bool) -> Result<Reply, Reply> {
        let (accounts, account) = (&self.site.library.accounts, self.person.holder.account.id);
        let set = accounts.set_grant_edits(account, self.field("grant"), allowed).await;
        set.map_err(|error| messages::unavailable(&error))?;
        Ok(self.done(if allowed { Outcome::EditsAllowed } else { Outcome::EditsForbidden }))
    }

    async fn undo_change(&self) -> Result<Reply, Reply> {
        let Some(edit) = EditId::parse(self.field("change")) else {
            return Ok(self.done(Outcome::NothingToUndo));
        };
        let undone = undo_edit(self.site, &self.person, &edit).await?;
        Ok(self.done(if undone == 0 { Outcome::NothingToUndo } else { Outcome::ChangeUndone }))
    }

    /// Disconnects apps of this person.
    async fn end_apps(&self, is_chosen: impl Fn(&Connection) -> bool) -> Result<(), Reply> {
        let grants = self.site.library.accounts.grants();
        let subject = self.person.holder.account.id.0.to_string();
        let at = UnixMillis(self.site.library.clock().now().millis());
        let unavailable = |error| messages::unavailable(&error);
        let apps = grants.connections(&subject).await.map_err(unavailable)?;
        for app in apps.iter().filter(|app| is_chosen(app)) {
            if grants.revoke(Grants::WithId(&app.grant.id), at).await.map_err(unavailable)? > 0 {
                security_log::grant_revoked(self.address, &app.grant.id);
                self.record(SecurityEventKind::AppDisconnected, Some(&app_label(app))).await;
            }
        }
        Ok(())
    }

    /// The name of a new key or device.
    async fn new_name(&self) -> Result<KeyName, Reply> {
        match KeyName::parse(self.field("name")) {
            Ok(name) => Ok(name),
            Err(invalid) => {
                Err(self.invalid_name(format!("The {} {}.", invalid.field, invalid.reason)).await)
            }
        }
    }

    async fn create_key(&self) -> Result<Reply, Reply> {
        let name = self.new_name().await?;
        let account = &self.person.holder.account;
        match self.site.library.accounts.create_key(&account.email, name.clone()).await {
            Ok(key) => {
                security_log::key_changed(self.address, account.id, "key_created");
                self.record(SecurityEventKind::KeyCreated, Some(name.as_str())).await;
                Ok(self.page(StatusCode::OK, Notice::NewKey { name, key }).await)
            }
            Err(KeyError::NameTaken) => {
                let text =
                    "There is already a key with this name. Choose another name, or revoke that key first.";
                Err(self.invalid_name(text.to_owned()).await)
            }
            Err(error) => Err(messages::unavailable(&error)),
        }
    }

    async fn revoke_key(&self) -> Result<Reply, Reply> {
        // An invalid name belongs to no key, so there is nothing to revoke.
        if let Ok(name) = KeyName::parse(self.field("name")) {
            self.end_key(&name).await?;
        }
        Ok(self.done(Outcome::KeyRevoked))
    }

    async fn end_key(&self, name: &KeyName) -> Result<(), Reply> {
        let account = &self.person.holder.account;
        let revoked = self.site.library.accounts.revoke_key(&account.email, name).await;
        if revoked.map_err(|error| messages::unavailable(&error))? {
            security_log::key_changed(self.address, account.id, "key_revoked");
            self.record(SecurityEventKind::KeyRevoked, Some(name.as_str())).await;
        }
        Ok(())
    }

    /// Creates a sync password, or a QR code that an app exchanges for one.
    async fn connect_device(&self) -> Result<Reply, Reply> {
        let device = self.new_name().await?;
        let (library, account) = (&self.site.library, self.person.holder.account.id);
        let new = if self.field(SHOW) == SHOW_CODE {
            let login = library.accounts.create_one_time_login(account, &device).await;
            NewDevice::Code { device, login: login.map_err(|error| messages::unavailable(&error))? }
        } else {
            let created = library.accounts.create_sync_password(account, device, Some(self.address)).await;
            let created = created.map_err(|error| messages::unavailable(&error))?;
            security_log::sync_password_changed(self.address, account, "sync_password_created");
            NewDevice::Password(created)
        };
        Ok(self.page(StatusCode::OK, Notice::NewDevice(new)).await)
    }

    async fn disconnect_device(&self) -> Result<Reply, Reply> {
        // An invalid name belongs to no device.
        if let Ok(name) = KeyName::parse(self.field("name")) {
            self.end_device(&name).await?;
        }
        Ok(self.done(Outcome::DeviceDisconnected))
    }

    async fn end_device(&self, name: &KeyName) -> Result<(), Reply> {
        let account = self.person.holder.account.id;
        let revoked = self.site.library.accounts.revoke_sync_password(account, name, self.address).await;
        if revoked.map_err(|error| messages::unavailable(&error))? {
            security_log::sync_password_changed(self.address, account, "sync_password_revoked");
        }
        Ok(())
    }

    /// Ends the access of the chosen devices, keys and apps.
    async fn end_access(&self) -> Result<Reply, Reply> {
        let kinds: Vec<AccessKind> =
            AccessKind::ALL.into_iter().filter(|kind| self.form.get(kind.name()).is_some()).collect();
        if kinds.is_empty() {
            return Err(self.page(StatusCode::BAD_REQUEST, Notice::NoAccessSelected).await);
        }
        for kind in kinds {
            match kind {
                AccessKind::Devices => {
                    for name in kind.key_names(self.site, &self.person).await? {
                        self.end_device(&name).await?;
                    }
                }
                AccessKind::Keys => {
                    for name in kind.key_names(self.site, &self.person).await? {
                        self.end_key(&name).await?;
                    }
                }
                AccessKind::Apps => self.end_apps(|_| true).await?,
            }
        }
        Ok(self.done(Outcome::AccessEnded))
    }

    /// A new password ends every session, so this browser gets a new session.
    async fn change_password(&self) -> Result<Reply, Reply> {
        let account = &self.person.holder.account;
        if let Err(error) = check_new_password(self.field("new")) {
            return Err(self.problem(error.to_string()).await);
        }
        let source = sign_in_source(self.headers, self.address);
        let new = self.field("new").to_owned();
        let changed =
            self.site.library.accounts.change_password(account, self.field("current"), new, source).await;
        match changed {
            Ok(session) => {
                security_log::password_changed(self.address, account.id);
                let reply = self.done(Outcome::PasswordChanged);
                Ok(with_session(&self.site.base_url, reply, session.as_ref()))
            }
            Err(ChangePasswordError::Current(error)) => Err(self.wrong_password(error).await),
            Err(ChangePasswordError::New(error)) => Err(messages::unavailable(&error)),
        }
    }

    async fn end_session(&self) -> Result<Reply, Reply> {
        let hash = HEXLOWER.decode(self.field("session").as_bytes()).ok();
        let Some(hash) = hash.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()) else {
            return Ok(self.done(Outcome::SignedOutElsewhere));
        };
        let account = self.person.holder.account.id;
        let ended = self.site.library.accounts.end_session(account, &hash).await;
        if ended.map_err(|error| messages::unavailable(&error))? {
            self.signed_out_elsewhere().await;
        }
        Ok(self.done(Outcome::SignedOutElsewhere))
    }

    /// Ends all other sessions.
    async fn sign_out_everywhere(&self) -> Result<Reply, Reply> {
        let account = self.person.holder.account.id;
        let ended = self.site.library.accounts.end_sessions(account, Some(&self.person.token)).await;
        if ended.map_err(|error| messages::unavailable(&error))? > 0 {
            self.signed_out_elsewhere().await;
        }
        Ok(self.done(Outcome::SignedOutElsewhere))
    }

    async fn signed_out_elsewhere(&self) {
        security_log::signed_out(self.address);
        self.record(SecurityEventKind::SignedOutElsewhere, None).await;
    }

    async fn delete_account(&self) -> Result<Reply, Reply> {
        let account = &self.person.holder.account;
        if self.field("sure") != "yes" {
            return Err(self.problem("Select the checkbox to delete your account.".to_owned()).await);
        }
        let confirmed =
            self.site.library.accounts.confirm_password(account, self.field("password"), self.address).await;
        if let Err(error) = confirmed {
            return Err(self.wrong_password(error).await);
        }
        match self.site.library.accounts.delete_account(account.id).await {
            Ok(()) => {
                security_log::account_deleted(self.address, account.id);
                let library = self.site.library.clone();
                tokio::spawn(async move {
                    if let Err(error) = library.upkeep.purge_deleted().await {
                        tracing::warn!(
                            error,
                            "the data of a deleted account could not be deleted; it will be retried"
                        );
                    }
                });
            }
            // It was deleted in the meantime.
            Err(AccountError::NoAccount) => {}
            Err(error) => return Err(messages::unavailable(&error)),
        }
        Ok(without_session(&self.site.base_url, account_deleted()))
    }

    async fn wrong_password(&self, error: SignInError) -> Reply {
        match error {
            SignInError::Unavailable(error) => messages::unavailable(&error),
            SignInError::Wrong => {
                security_log::sign_in_failed(self.address, "wrong password on the account page");
                self.problem("The password is incorrect. Nothing was changed.".to_owned()).await
            }
            SignInError::LockedOut { retry_after_s } => {
                let text =
                    format!("Too many incorrect passwords. Wait {}, then try again.", minutes(retry_after_s));
                self.retry_later(StatusCode::TOO_MANY_REQUESTS, text, retry_after_s).await
            }
            SignInError::Busy { retry_after_s } => {
                let text = "Too many people are signing in. Try again in a minute.".to_owned();
                self.retry_later(StatusCode::SERVICE_UNAVAILABLE, text, retry_after_s).await
            }
        }
    }

    async fn retry_later(&self, status: StatusCode, text: String, retry_after_s: u64) -> Reply {
        retry_after(self.page(status, Notice::Problem(text)).await, retry_after_s)
    }

    async fn problem(&self, text: String) -> Reply {
        self.page(StatusCode::BAD_REQUEST, Notice::Problem(text)).await
    }

    /// Shows the typed name again, so that it can be corrected.
    async fn invalid_name(&self, text: String) -> Reply {
        let name = self.field("name").to_owned();
        self.page(StatusCode::BAD_REQUEST, Notice::InvalidName { name, text }).await
    }

    async fn page(&self, status: StatusCode, notice: Notice) -> Reply {
        page::page(self.site, &self.person, self.page, status, Some(notice), Timestamp::MAX).await
    }

    /// Redirects to the page, which shows the outcome.
    fn done(&self, outcome: Outcome) -> Reply {
        see_other(&format!("{}?done={}", self.page.path(), outcome.as_str()))
    }
}

fn account_deleted() -> Reply {
    let content = html! {
        p { "Connected apps, devices, API keys and sessions no longer work. Your photos are being deleted." }
    };
    Page { title: "Your account is deleted", status: StatusCode::OK, form_targets: &[] }.reply(&content)
}
