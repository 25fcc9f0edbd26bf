//! Sync passwords: create, list, revoke.

use domain::KeyName;
use library::{KeyInfo, NewSyncPassword, OneTimeLogin};
use maud::{Markup, html};

use super::{SyncAddresses, steps::unreachable_notice};
use crate::qr_code::qr_code;
use crate::{
    account::{
        actions::Action,
        lists::{Sections, confirmation},
    },
    layout::{day, minute, snippet},
};

/// The name of the button that shows a QR code in place of a password, and its value.
pub(in crate::account) const SHOW: &str = "show";
pub(in crate::account) const SHOW_CODE: &str = "code";

/// What a new device signs in with, which is shown only now.
pub(in crate::account) enum NewDevice {
    /// A password to type or to scan.
    Password(NewSyncPassword),
    /// A code to scan within some minutes.
    Code { device: KeyName, login: OneTimeLogin },
}

/// The message with the password or code of a new device.
pub(in crate::account) fn new_device(device: &NewDevice, addresses: SyncAddresses<'_>) -> Markup {
    let (server, user) = (addresses.base_url(), addresses.user());
    match device {
        NewDevice::Password(NewSyncPassword { name, password }) => html! {
            div.notice role="status" {
                p { "Copy the password of " strong { (name) } " now. It will not be shown again." }
                (snippet("the sync password", password))
                p { "The user name is your email address or " code { (user) } "." }
                details {
                    summary { "QR code with this password for the Nextcloud app" }
                    @let link = format!("nc://login/user:{user}&password:{password}&server:{server}");
                    (code_or_hint(&link, "QR code with the new sync password"))
                }
            }
        },
        NewDevice::Code { device, login } => html! {
            @if !addresses.is_reachable() { (unreachable_notice(addresses)) }
            div.notice role="status" {
                p {
                    "Scan this code with the Nextcloud app on " strong { (device) } ": choose "
                    strong { "Log in" } ", then the symbol of a QR code. The code works once, until " (minute(login.expires_at)) "."
                }
                @let link = format!("nc://onetime-login/user:{user}&password:{}&server:{server}", login.token);
                (code_or_hint(&link, "QR code that connects the Nextcloud app"))
                p {
                    "If the app does not accept the code, it is an older version: enter the address " code { (server) }
                    " in the app instead."
                }
            }
        },
    }
}

fn code_or_hint(link: &str, label: &str) -> Markup {
    html! {
        @match qr_code(link, label) {
            Some(code) => { (code) }
            None => { p { "The address of this server is too long for a QR code. Enter it in the app instead." } }
        }
    }
}

impl Sections<'_> {
    /// The form for a new device, and the list of devices.
    pub(super) fn sync_passwords(&self, passwords: &[KeyInfo]) -> Markup {
        html! {
            h2.further { "Devices" }
            p {
                "Each device has a sync password of its own, which can upload and manage photos but not open your account. "
                "The Nextcloud app gets one when you sign in with it."
            }
            @if passwords.is_empty() {
                p { "No devices are connected." }
            } @else {
                ul.entries { @for (index, password) in passwords.iter().enumerate() { (self.sync_password(index, password)) } }
            }
            (self.form(Action::ConnectDevice, &html! {
                div.beside {
                    div {
                        label for="device-name" { "Name of the new device" }
                        input #device-name type="text" name="name" value=(self.typed_name) required maxlength="100"
                            autocomplete="off" placeholder="Anna’s phone";
                    }
                    div.buttons {
                        button type="submit" { "Create password" }
                        button.quiet type="submit" name=(SHOW) value=(SHOW_CODE) { "Show QR code" }
                    }
                }
            }))
        }
    }

    fn sync_password(&self, index: usize, password: &KeyInfo) -> Markup {
        let name = password.name.to_string();
        let id = format!("device-{index}");
        html! {
            li.asking {
                div {
                    p.name id=(id) { (name) }
                    p.facts {
                        "Connected " (day(password.created_at)) ", "
                        @match password.last_used_at {
                            Some(at) => { "last used " (day(at)) }
                            None => { "not used yet" }
                        }
                        "."
                    }
                }
                (confirmation("Disconnect", &id, &html! {
                    p { "The device can no longer upload photos until you connect it again. Its photos stay in your library." }
                    (self.button(Action::DisconnectDevice, ("name", &name), "Disconnect", &name, "danger"))
                }))
            }
        }
    }
}
