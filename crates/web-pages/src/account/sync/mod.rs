//! `/account/sync`: how photos get into the library, and the passwords of the devices that upload them.

mod passwords;
mod steps;

pub(super) use passwords::{NewDevice, SHOW, SHOW_CODE, new_device};
pub(crate) use steps::home_network_command;
pub(super) use steps::page_for_visitors;

use http_server::{BaseUrl, reply::Reply};
use maud::{Markup, html};

use super::{AccountSection, Person, lists::Sections, sync_upload::upload_area};
use crate::{Site, examples, messages};

/// The names of the service in the settings of sync apps.
#[derive(Debug, Clone, Copy)]
pub(super) struct SyncAddresses<'a> {
    pub(super) base_url: &'a BaseUrl,
    /// The user name; `None` if nobody is signed in.
    pub(super) handle: Option<&'a str>,
}

impl<'a> SyncAddresses<'a> {
    /// With the user name of a person.
    pub(super) fn of(site: &'a Site, person: &'a Person) -> Self {
        let handle = person.holder.account.sync_handle.as_str();
        Self { base_url: &site.base_url, handle: Some(handle) }
    }

    fn base_url(&self) -> &'a str {
        self.base_url.as_str()
    }

    /// Whether other devices can reach the base URL.
    fn is_reachable(&self) -> bool {
        !self.base_url.is_loopback()
    }

    /// The URL for WebDAV apps.
    fn webdav_url(&self) -> String {
        format!("{}/dav/", self.base_url())
    }

    /// The URL for rclone, which then keeps times and compares checksums.
    fn nextcloud_webdav_url(&self) -> String {
        format!("{}/remote.php/dav/files/{}", self.base_url(), self.user())
    }

    fn user(&self) -> &str {
        self.handle.unwrap_or("USER")
    }
}

impl Sections<'_> {
    /// The section with its own page.
    pub(super) async fn sync(&self) -> Result<Markup, Reply> {
        let account = &self.person.holder.account;
        let passwords = self.site.library.accounts.sync_passwords(account.id).await;
        let passwords = passwords.map_err(|error| messages::unavailable(&error))?;
        let addresses = SyncAddresses::of(self.site, self.person);
        let examples = examples::notice(self.site, self.person).await;
        Ok(html! {
            h2 { "Upload photos" }
            (upload_area(self.site, self.person))
            (examples.map_err(|error| messages::unavailable(&error))?)
            (self.sync_passwords(&passwords))
            (steps::steps(addresses, account.email.as_str()))
        })
    }

    /// The section on the overview.
    pub(super) async fn sync_summary(&self) -> Result<Markup, Reply> {
        let account = self.person.holder.account.id;
        let passwords = self.site.library.accounts.sync_passwords(account).await;
        let devices = passwords.map_err(|error| messages::unavailable(&error))?.len();
        Ok(html! {
            p { "Phones and computers can upload your photos by themselves." }
            p {
                @match devices {
                    0 => { "No devices are connected." }
                    1 => { "One device is connected." }
                    devices => { (devices) " devices are connected." }
                }
            }
            p { a href=(AccountSection::Sync.path()) { "Connect a phone or computer" } }
        })
    }
}
