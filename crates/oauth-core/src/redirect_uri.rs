//! The rules for redirect URIs. They apply to the text, because clients and browsers parse unusual URIs differently.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The longest redirect URI, in characters.
pub const MAX_REDIRECT_URI_CHARS: usize = 2000;
/// The message for a URI longer than [`MAX_REDIRECT_URI_CHARS`].
pub(crate) const TOO_LONG: &str = "it is longer than 2,000 characters";

/// Why a redirect URI is refused; a message for the client's developer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefusedRedirectUri(&'static str);

/// Schemes that the browser, the operating system or a widespread program handles itself: the handler may run or open files, make
/// calls, pay, mount a share or connect to a host, and no app receives the response. A pattern that begins or ends with `*` matches
/// any name with that end or beginning.
const REFUSED_SCHEMES: [&str; 13] = [
    // Scripts, and documents that a browser makes or unpacks itself.
    "about blob cid data ecmascript feed feeds filesystem help its jar java javascript jnlp jscript livescript mhtml \
     mid mk mocha perlscript pyscript rdf res resource thismessage vbs vbscript view-cert view-source wyciwyg wysiwyg \
     xpcom",
    // Pages and extensions of browsers, and links that open a browser.
    "*-extension brave brave-* browser cached-favicon chrome chrome-* chromium devtools edge edge-* extension \
     externalfile firefox firefox-* googlechrome* indexeddb isolated-app microsoft-edge* moz moz-* opera opera-* \
     page-icon read safari safari-* seamonkey touch-http touch-https ucbrowser vivaldi webkit webkit-* \
     yandexbrowser-*",
    // Windows and Microsoft's programs.
    "bing* calculator cmd com.microsoft.windows.* conf dlna-* explorer fsquirt grvopen hcp insiderhub jumplist lync* \
     mapi mapi16 microsoft-* ms-* msnim msteams* mswindowsmusic mswindowsvideo netmeeting ocsmeet odopen onedrive \
     onenote* outlook* powershell rdp search search-ms shell skype* stickynotes stssync tn3270 windows-* \
     windowsdefender xbox xbox-* xboxliveapp-* zune",
    // Apple's systems and programs.
    "addbook addressbook app-prefs app-settings apple-* appleconnect applefeedback applenews* applescript calendar \
     calshow camera clock clock-* com.apple.* contact contacts diagnostics diags facetime* findmy findmyfriends fmf1 \
     fmip1 gamecenter ibooks ical icloud icloud-* imessage iphoto itms* itpc itunes* keynote macappstore* map maps \
     message messages mobilenotes mobilephone music musics notes numbers pages pcast photos photos-redirect podcast \
     podcasts prefs radar rdar reminders shareddocuments shoebox shortcuts stocks telprompt tips tv videos voicememos \
     wallet weather workflow x-* xcdoc xcode",
    // Android, its stores and Google's programs.
    "amzn android android-* android.* appgallery appmarket com.android.* content google.* hiapplink intent intents \
     market market-* mimarket package samsungapps samsungpay settings ussd vnd.* voicemail wifi wtai",
    // Desktops and package managers of Linux.
    "appimage applications appstream apt apturl bookmarks desktop dnf flatpak flatpak+* flatpak-* ghelp gnome-* info \
     kdeconnect krunner man perldoc print programs recent recentdocuments recentlyused remote snap system terminal \
     thumbnail trash xdg-* yelp ymp",
    // Files, shares and devices.
    "admin afc afp afp-server afs archive audiocd burn cdda cifs computer dav dav+* davs davs+* dns-sd dvb dvd file \
     fish ftp ftps gdrive google-drive gphoto2 gsiftp hdfs kamera mtp network nfs obex rsync s3 scp sftp smb smbs \
     ssh+* svn* swift webdav webdavs zip",
    // Network protocols.
    "acap acct aim amqp* beep coap* dict dns dntp dtn finger gemini git git+* go gopher h323 iax icap imap imaps ipfs \
     ipns ipp ipps iris* jabber jdbc jms ldap* mongodb* mqtt* msrp* mtqp mumble mupdate mysql* news nih nntp nntps \
     pop pop3 pop3s pops postgres* pres prospero redis* rlogin rmi sieve smtp smtps snews snmp soap* spiffe sqlite \
     ssh stun stuns teamspeak telnet tftp tip ts3server turn turns udp urn vemmi ventrilo wais ws wss xmlrpc* xri \
     z39.50*",
    // Calls, mail, messages and meetings.
    "callto ciscospark ciscotel fb fb-* fb-messenger fbapi* gotomeeting gotoopener gotowebinar gtalk im irc irc6 ircs \
     jitsi-meet mailto matrix mms* openpgp4fpr psyc rtc sgnl signalcaptcha sip sips sms* tel telegram tg twitter \
     viber webex* wechat weixin whatsapp* xmpp ymsgr zoommtg zoomphonecall zoomrc zoomus",
    // Maps, calendars and media.
    "aceplay acestream deezer geo googlemaps* icy iina infuse lastfm mpv nplayer-* om pnm potplayer rtmp* \
     rtsp* shoutcast sopcast spotify vlc vlc-* waze webcal*",
    // Games and file sharing.
    "battlenet blizzard com.epicgames.* eadm ealink ed2k faceit game-* goggalaxy heroic itch link2ea lutris magnet \
     minecraft* nxm origin origin2 riotclient roblox* secondlife steam steam-* steamlink steammobile torrent ubisoft* \
     unreal uplay ut2004",
    // Remote control of this machine.
    "anydesk citrix-* horizon-client ica logmein* nomachine nx nxs parsec receiver rustdesk screenconnect* splashtop* \
     teamviewer* tvcontrol1 tvfiletransfer1 tvjoinv8 tvpresent1 tvsendfile1 ultraviewer vmrc vmware-view vnc",
    // Payments, keys and identities.
    "alipay* bankid bitcoin* bitwarden cardano cashme dash did didcomm dogecoin ethereum eudi-* fido gpay haip \
     keepass* keyauth lastpass lightning litecoin lnurl* mdoc* metamask monero onepassword* openid* otpauth otpauth-* \
     paypal paytm* payto phonepe pkcs11 ripple siopv2 solana* stellar taler tron trust upi venmo wc xrp zcash",
];

/// The loopback hosts (RFC 8252, section 7.3), the only ones allowed with `http`.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Accepts `https` with a plain host, `http` with a loopback host, and custom schemes of apps.
///
/// # Errors
/// The first rule that the URI breaks.
///
/// ```
/// assert!(oauth_core::check_redirect_uri("http://127.0.0.1:33418/").is_ok());
/// assert!(oauth_core::check_redirect_uri("http://127.0.0.1.evil.example/").is_err());
/// ```
pub fn check_redirect_uri(uri: &str) -> Result<(), RefusedRedirectUri> {
    check_characters(uri)?;
    let parts = Parts::of(uri).ok_or(RefusedRedirectUri("it does not begin with a scheme"))?;
    let scheme = parts.scheme.to_ascii_lowercase();
    let mut refused = REFUSED_SCHEMES.iter().flat_map(|patterns| patterns.split_ascii_whitespace());
    if refused.any(|pattern| matches_scheme(&scheme, pattern)) {
        return Err(RefusedRedirectUri(
            "its scheme is refused, because the browser, the operating system or another program handles it itself",
        ));
    }
    let host = parts.authority.map(plain_host).transpose()?;
    match (scheme.as_str(), host) {
        ("http" | "https", None | Some("")) => Err(RefusedRedirectUri("it has no host"))?,
        ("http", Some(host)) if !LOOPBACK_HOSTS.contains(&host) => {
            Err(RefusedRedirectUri("http is for localhost, 127.0.0.1 and [::1] only; use https"))?;
        }
        ("http" | "https", Some(_)) => {}
        (_, host) => {
            let is_bare = host.is_none_or(str::is_empty) && parts.path.is_empty();
            if is_bare && !scheme.contains('.') {
                return Err(RefusedRedirectUri("a scheme without a dot must be followed by a host or path"));
            }
        }
    }
    // A parser with the rules of browsers must find the same scheme and host.
    let parsed = Url::parse(uri).map_err(|_| RefusedRedirectUri("it is not a URL"))?;
    let same_host = host.unwrap_or_default().eq_ignore_ascii_case(parsed.host_str().unwrap_or_default());
    if parsed.scheme() != scheme || !same_host {
        return Err(RefusedRedirectUri("its host is ambiguous"));
    }
    Ok(())
}

/// Whether a scheme matches a pattern in [`REFUSED_SCHEMES`].
fn matches_scheme(scheme: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        // A name with a dot is the reversed domain of an app.
        (Some(end), _) => scheme.ends_with(end) && !scheme.contains('.'),
        (_, Some(beginning)) => scheme.starts_with(beginning),
        _ => scheme == pattern,
    }
}

/// Allows the characters of RFC 3986, without a fragment.
fn check_characters(uri: &str) -> Result<(), RefusedRedirectUri> {
    if uri.is_empty() {
        return Err(RefusedRedirectUri("it is empty"));
    }
    if uri.chars().count() > MAX_REDIRECT_URI_CHARS {
        return Err(RefusedRedirectUri(TOO_LONG));
    }
    if uri.contains('#') {
        return Err(RefusedRedirectUri("it has a fragment"));
    }
    if !uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)) {
        return Err(RefusedRedirectUri("it has a character that is not allowed in a URI"));
    }
    let escapes = uri.split('%').skip(1);
    let is_escape = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !escapes.into_iter().all(is_escape) {
        return Err(RefusedRedirectUri("it has a % without two hexadecimal digits"));
    }
    Ok(())
}

/// A URI split at its delimiters (RFC 3986, section 3).
#[derive(Debug, Clone, Copy)]
struct Parts<'a> {
    scheme: &'a str,
    authority: Option<&'a str>,
    path: &'a str,
}

impl<'a> Parts<'a> {
    /// `None` for a reference without a scheme.
    fn of(uri: &'a str) -> Option<Self> {
        let (scheme, rest) = uri.split_once(':')?;
        let mut letters = scheme.bytes();
        let is_scheme = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme {
            return None;
        }
        let hierarchy = rest.split('?').next().unwrap_or_default();
        let Some(named) = hierarchy.strip_prefix("//") else {
            return Some(Self { scheme, authority: None, path: hierarchy });
        };
        let (authority, path) = named.split_at(named.find('/').unwrap_or(named.len()));
        Some(Self { scheme, authority: Some(authority), path })
    }

    fn is_web(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https") || self.scheme.eq_ignore_ascii_case("http")
    }
}

/// The host of an authority that consists of a plain host and an optional port.
fn plain_host(authority: &str) -> Result<&str, RefusedRedirectUri> {
    if authority.contains('@') {
        return Err(RefusedRedirectUri("it has a user name"));
    }
    let end_of_host = if authority.starts_with('[') {
        authority.find(']').map_or(authority.len(), |at| at + 1)
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, port) = authority.split_at(end_of_host);
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
        return Err(RefusedRedirectUri("its port is not a number up to 65535"));
    }
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']').and_then(|address| address.parse::<Ipv6Addr>().ok());
        // An IPv4-mapped address would be a second name for the same host.
        return match address {
            Some(address) if address.to_ipv4_mapped().is_none() => Ok(host),
            _ => Err(RefusedRedirectUri("its host is not a valid IPv6 address")),
        };
    }
    if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
        return Err(RefusedRedirectUri(
            "its host has characters other than letters, digits, '-', '_' and '.'",
        ));
    }
    // To browsers, a host that ends in a number is an IPv4 address, in many spellings. Only the usual one is accepted.
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|first: char| first.is_ascii_digit())
        && (last.bytes().all(|byte| byte.is_ascii_digit()) || last.to_ascii_lowercase().starts_with("0x"));
    if is_number && host.parse::<Ipv4Addr>().is_err() {
        return Err(RefusedRedirectUri("its host is an IPv4 address in an unusual spelling"));
    }
    Ok(host)
}

/// The destination of a redirect URI, to show to the user: the host with its port, or `scheme:` for a custom scheme.
pub(crate) fn redirect_host(uri: &str) -> String {
    match Parts::of(uri) {
        Some(parts) if parts.is_web() => parts.authority.unwrap_or_default().to_owned(),
        Some(parts) => format!("{}:", parts.scheme),
        None => String::new(),
    }
}

/// The destination of a redirect URI as a source in a Content-Security-Policy: an origin or a scheme. A policy cannot
/// contain an IPv6 address, so its scheme is used.
pub(crate) fn csp_source(uri: &str) -> String {
    match Parts::of(uri) {
        Some(parts) if parts.is_web() => match parts.authority {
            Some(authority) if !authority.starts_with('[') => format!("{}://{authority}", parts.scheme),
            _ => format!("{}:", parts.scheme),
        },
        Some(parts) => format!("{}:", parts.scheme),
        None => String::new(),
    }
}

/// Whether a redirect URI has a loopback host, where any program on the device can listen, or a custom scheme, which
/// any program can claim.
pub(crate) fn stays_on_device(uri: &str) -> bool {
    is_loopback(uri) || !Parts::of(uri).is_some_and(|parts| parts.is_web())
}

/// Whether a redirect URI has a loopback host, in any spelling.
fn is_loopback(uri: &str) -> bool {
    let Ok(url) = Url::parse(uri) else { return false };
    if !matches!(url.scheme(), "http" | "https") {
        return false;
    }
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

/// Whether two loopback URIs differ only in their port: a native app listens on any free port (RFC 8252, section 7.3).
/// Both have passed [`check_redirect_uri`].
pub(crate) fn differs_only_in_port(uri: &str, other: &str) -> bool {
    matches!((without_port(uri), without_port(other)), (Some(one), Some(two)) if one == two)
}

/// The parts before and after the port of an http URI with a loopback host.
fn without_port(uri: &str) -> Option<(&str, &str)> {
    let authority = Parts::of(uri).filter(|parts| parts.scheme.eq_ignore_ascii_case("http"))?.authority?;
    let host = plain_host(authority).ok().filter(|host| LOOPBACK_HOSTS.contains(host))?;
    let host_at = "http://".len();
    Some((uri.get(..host_at + host.len())?, uri.get(host_at + authority.len()..)?))
}

/// Appends form-encoded parameters to the query of a URI, whose own bytes stay unchanged (RFC 6749, section 4.1.2).
pub(crate) fn with_parameters(uri: &str, parameters: &[(&str, &str)]) -> String {
    let separator = match uri.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    let encoded = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    format!("{uri}{separator}{encoded}")
}

#[cfg(test)]
mod tests;
