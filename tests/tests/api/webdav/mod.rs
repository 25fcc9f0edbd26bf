//! WebDAV: recorded request sequences of clients, and rules of the protocol.

mod android;
mod at_once;
mod checksums;
mod conditions;
mod desktop;
mod favorites;
mod file_managers;
mod ios;
mod listings;
mod locks;
mod paths;
mod plain_clients;
mod properties;
mod replay;
mod search;
mod search_bodies;
mod statuses;
mod uploads;

use replay::{Client, jpeg, sha1, step};
