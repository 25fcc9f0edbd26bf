//! The steps to connect each kind of device.

use http::StatusCode;
use http_server::reply::Reply;
use library::PhotoFormat;
use maud::{Markup, html};

use super::SyncAddresses;
use crate::{
    Site,
    layout::{Page, PageHeader, snippet},
};

/// The page for visitors, without the values of an account. `installUrl` leads to it.
pub(in crate::account) fn page_for_visitors(site: &Site, header: &PageHeader<'_>) -> Reply {
    let addresses = SyncAddresses { base_url: &site.base_url, handle: None };
    let content = html! {
        p { "Phones and computers can upload your photos by themselves. Sign in to connect a device." }
        p { a.button href="/sign-in?return_to=/account/sync" { "Sign in" } }
        (steps(addresses, "you@example.org"))
    };
    Page { title: "Photo sync", status: StatusCode::OK, form_targets: &[] }.text(header, &content)
}

/// The steps for every platform, for the account with this email.
pub(super) fn steps(addresses: SyncAddresses<'_>, email: &str) -> Markup {
    html! {
        h2.further { "Connect a phone" }
        @if !addresses.is_reachable() { (unreachable_notice(addresses)) }
        (nextcloud_app(addresses))
        (other_phone_apps(addresses))
        h2.further { "Connect a computer" }
        (finder(addresses))
        (explorer(addresses))
        (rclone(addresses))
        (server_import(email))
        h2.further { "Import what you have elsewhere" }
        (exports(email))
        h2.further { "Good to know" }
        (limits())
    }
}

/// Why phones cannot connect yet, and the command that serves the local network.
pub(super) fn unreachable_notice(addresses: SyncAddresses<'_>) -> Markup {
    let command = home_network_command(addresses.base_url);
    html! {
        div.notice.warn {
            p {
                "Only the machine that runs the library can open " (addresses.base_url()) ", so phones and other computers cannot "
                "connect. To serve your home network, start the server with this command"
                @if command.contains("ADDRESS") {
                    ", with the address of the machine, such as " code { "192.168.1.5" } ", in place of ADDRESS"
                }
                ":"
            }
            (snippet("the command to serve the home network", &command))
        }
    }
}

/// The command that serves the local network, with the address of this machine if it is known.
pub(crate) fn home_network_command(base_url: &http_server::BaseUrl) -> String {
    let port = base_url.authority().rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let port = port.unwrap_or(80);
    let address = http_server::address_in_local_network();
    let address = address.map_or_else(|| "ADDRESS".to_owned(), |address| address.to_string());
    format!("server serve --listen 0.0.0.0:{port} --base-url http://{address}:{port}")
}

fn platform(title: &str, content: &Markup) -> Markup {
    html! { details { summary { (title) } (content) } }
}

fn nextcloud_app(addresses: SyncAddresses<'_>) -> Markup {
    platform(
        "Android or iPhone with the Nextcloud app",
        &html! {
            p { "The app is free and uploads new photos by itself. You do not need a Nextcloud server." }
            ol {
                li { "Install the app " strong { "Nextcloud" } " from the app store of your phone." }
                li {
                    "Choose " strong { "Log in" } " and enter this address:"
                    (snippet("the server address", addresses.base_url()))
                    @if addresses.handle.is_some() {
                        "Or scan a QR code instead: enter a name for the phone above and choose " strong { "Show QR code" } "."
                    }
                }
                li { "The app opens this library. Sign in and choose " strong { "Allow" } ", then go back to the app." }
                li {
                    "On Android: in the app’s settings, open " strong { "Auto upload" } " and choose the folder of the camera, "
                    "for photos and not for videos."
                }
                li {
                    "On an iPhone: in the app’s settings, open " strong { "Auto upload" } ", turn it on for photos only, and turn "
                    strong { "Upload Live Photos" } " off."
                }
            }
        },
    )
}

fn other_phone_apps(addresses: SyncAddresses<'_>) -> Markup {
    platform(
        "Android or iPhone with PhotoSync or FolderSync",
        &html! {
            ol {
                li { "Create a password for the phone on this page." }
                li {
                    "In the app, add a connection of the kind " strong { "WebDAV" } " with this address:"
                    (snippet("the WebDAV address", &addresses.webdav_url()))
                }
                li { "Enter the user name:" (user_name(addresses)) }
                li { "Enter the password of the phone, and choose the folders to upload. Choose photos only." }
            }
        },
    )
}

fn finder(addresses: SyncAddresses<'_>) -> Markup {
    platform(
        "Mac with the Finder",
        &html! {
            ol {
                li { "Create a password for the Mac on this page." }
                li {
                    "In the Finder, choose " strong { "Go" } ", " strong { "Connect to Server" } ", and enter this address:"
                    (snippet("the address for the Finder", &addresses.webdav_url()))
                }
                li { "Enter the user name:" (user_name(addresses)) }
                li { "Enter the password, then copy photos into the window that opens." }
            }
        },
    )
}

fn explorer(addresses: SyncAddresses<'_>) -> Markup {
    platform(
        "Windows with the Explorer",
        &html! {
            ol {
                li { "Create a password for the computer on this page." }
                li {
                    "In the Explorer, open " strong { "This PC" } ", choose " strong { "Map network drive" }
                    ", and enter this address as the folder:"
                    (snippet("the address for the Explorer", &addresses.webdav_url()))
                }
                li { "Select " strong { "Connect using different credentials" } ". Enter the user name:" (user_name(addresses)) }
                li { "Enter the password, then copy photos to the new drive." }
            }
            p { "Windows sends passwords over https only, and refuses files over 50 MB unless you change its settings." }
        },
    )
}

fn rclone(addresses: SyncAddresses<'_>) -> Markup {
    let create = format!(
        "rclone config create --obscure photos webdav vendor=nextcloud url={} user={} pass=PASSWORD",
        addresses.nextcloud_webdav_url(),
        addresses.user()
    );
    platform(
        "Linux, Mac or Windows with rclone",
        &html! {
            ol {
                li { "Create a password for the computer on this page." }
                li { "Run this command with the password in place of PASSWORD:" (snippet("the command to set up rclone", &create)) }
                li {
                    "Upload a folder of photos. To add new photos later, run the command again:"
                    (snippet("the command to upload photos", "rclone copy /path/to/photos photos:"))
                }
            }
        },
    )
}

fn server_import(email: &str) -> Markup {
    platform(
        "Photos on the machine that runs the library",
        &html! {
            ol {
                li { "On that machine, open a terminal in the folder where you start the server." }
                li {
                    "Import a folder of photos. To add new photos later, run the command again:"
                    (snippet("the command to import photos", &format!("server import {email} /path/to/photos")))
                }
                li {
                    "Or import a folder and whatever is added to it, until you stop the command:"
                    (snippet("the command to watch a folder", &format!("server import {email} --watch /path/to/photos")))
                }
            }
            p { "If you start the server with " code { "--data-dir" } ", add the same option to this command." }
        },
    )
}

fn exports(email: &str) -> Markup {
    html! {
        details #exports {
            summary { "Google Photos or iCloud Photos" }
            ol {
                li {
                    "Google Photos: at " strong { "takeout.google.com" } ", choose only Google Photos, and download all parts of the "
                    "export. iCloud Photos: at " strong { "privacy.apple.com" } ", request a copy of your iCloud Photos."
                }
                li { "Copy the files to the machine that runs the library, all into one folder. Do not unpack them." }
                li {
                    "On that machine, open a terminal in the folder where you start the server, and import all parts in one command:"
                    (snippet("the command to import an export", &format!("server import {email} /path/to/takeout-*.zip")))
                    "The files of an iCloud export have other names; put those in place of " code { "takeout-*.zip" } "."
                }
            }
            p {
                "Dates, places, descriptions and albums are imported too. If you start the server with " code { "--data-dir" }
                ", add the same option to this command."
            }
        }
    }
}

fn user_name(addresses: SyncAddresses<'_>) -> Markup {
    html! {
        @match addresses.handle {
            Some(handle) => { (snippet("the user name", handle)) }
            None => { " your email address." }
        }
    }
}

fn limits() -> Markup {
    let formats = PhotoFormat::ALL.map(PhotoFormat::name);
    html! {
        ul {
            li {
                "The library keeps photos in these formats: " (formats.join(", ")) ". Videos are refused, also those of Live Photos."
            }
            li { "Devices upload photos, and can list, move and delete them. Original files cannot be downloaded again, so keep your own backup." }
            li {
                "For the same reason the desktop app of Nextcloud, which keeps a folder the same on both sides, is not supported."
            }
            li { "If you delete a photo in the library, it stays deleted, even if a device sends it again." }
        }
    }
}

#[cfg(test)]
mod tests {
    use http_server::BaseUrl;

    use super::*;

    #[test]
    fn a_loopback_base_url_comes_with_the_command_that_serves_the_home_network() {
        let check = |url: &str, command: Option<&str>| {
            let base_url = BaseUrl::parse(url).unwrap();
            let addresses = SyncAddresses { base_url: &base_url, handle: Some("abc") };
            let text = steps(addresses, "ann@example.org").into_string();
            let shown = text.split_once("server serve ").map(|(_, rest)| rest.split('<').next().unwrap());
            assert_eq!(shown, command, "{url}");
        };
        check("https://photos.example.org", None);
        check("http://192.168.1.5:8080", None);
        check("http://127.0.0.1:9000", Some("--listen 0.0.0.0:9000 --base-url http://ADDRESS:9000"));
        check("http://[::1]", Some("--listen 0.0.0.0:80 --base-url http://ADDRESS:80"));
    }
}
