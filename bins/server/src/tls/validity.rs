//! Whether browsers and apps accept a certificate.

use std::fmt;

use domain::Timestamp;
use rustls::{
    client::verify_server_name,
    pki_types::{CertificateDer, ServerName},
    server::ParsedCertificate,
};
use url::Url;
use web::BaseUrl;
use x509_parser::parse_x509_certificate;

/// A certificate should have been renewed when less than this is left, or less than this part of its lifetime if that is
/// shorter. Authorities advise to renew after two thirds of the lifetime.
const RENEWAL_DUE_MS: i64 = 14 * 24 * 60 * 60 * 1000;
const RENEWAL_DUE_PART: i64 = 6;

/// A problem of a certificate; displayed as what follows its name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    Unreadable,
    NotYetValid(Timestamp),
    Expired(Timestamp),
    EndsSoon(Timestamp),
    OtherName(String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("cannot be read"),
            Self::NotYetValid(begin) => {
                write!(f, "is valid from {begin} on; check the clock of this machine")
            }
            Self::Expired(end) => write!(f, "expired at {end}"),
            Self::EndsSoon(end) => write!(f, "expires at {end}"),
            Self::OtherName(name) => {
                write!(f, "is not for {name}, the name in the base URL; get one for this name")
            }
        }
    }
}

/// When a certificate for the host of this URL expires.
pub(crate) fn valid_until(
    certificate: &CertificateDer<'_>,
    base_url: &BaseUrl,
    now: Timestamp,
) -> Result<Timestamp, Flaw> {
    let (begin, end) = lifetime(certificate)?;
    if now < begin {
        return Err(Flaw::NotYetValid(begin));
    }
    if end < now {
        return Err(Flaw::Expired(end));
    }
    let url = Url::parse(base_url.as_str()).map_err(|_| Flaw::Unreadable)?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let name = ServerName::try_from(host).map_err(|_| Flaw::OtherName(host.to_owned()))?;
    let for_names = ParsedCertificate::try_from(certificate).map_err(|_| Flaw::Unreadable)?;
    verify_server_name(&for_names, &name).map_err(|_| Flaw::OtherName(host.to_owned()))?;
    let due = RENEWAL_DUE_MS.min((end.millis() - begin.millis()) / RENEWAL_DUE_PART);
    if end < now.plus_millis(due) { Err(Flaw::EndsSoon(end)) } else { Ok(end) }
}

/// Begin and end of the lifetime of a certificate.
pub(super) fn lifetime(certificate: &CertificateDer<'_>) -> Result<(Timestamp, Timestamp), Flaw> {
    let (_, parsed) = parse_x509_certificate(certificate).map_err(|_| Flaw::Unreadable)?;
    let validity = parsed.validity();
    let [begin, end] = [validity.not_before, validity.not_after]
        .map(|time| Timestamp::from_millis(time.timestamp().saturating_mul(1000)));
    Ok((begin.ok_or(Flaw::Unreadable)?, end.unwrap_or(Timestamp::MAX)))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    /// The result for a certificate from the first of January 2026 until this day.
    fn until(names: &[&str], (month, day): (u8, u8), url: &str, now: &str) -> Result<Timestamp, Flaw> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2026, month, day);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        valid_until(certificate.der(), &BaseUrl::parse(url).unwrap(), time(now))
    }

    fn time(text: &str) -> Timestamp {
        Timestamp::parse_iso(text).unwrap()
    }

    #[test]
    fn time_and_name_of_a_certificate_are_checked() {
        let end = time("2026-04-01");
        let names = ["photos.example.org", "192.0.2.1", "::1"];
        let check = |url, now| until(&names, (4, 1), url, now);
        for url in ["https://photos.example.org", "https://192.0.2.1:8443", "https://[::1]"] {
            assert_eq!(check(url, "2026-03-01"), Ok(end), "{url}");
        }
        let url = "https://photos.example.org";
        assert_eq!(check(url, "2026-03-20"), Err(Flaw::EndsSoon(end)));
        assert_eq!(check(url, "2026-04-02"), Err(Flaw::Expired(end)));
        assert_eq!(check(url, "2025-12-31"), Err(Flaw::NotYetValid(time("2026-01-01"))));
        let other = Err(Flaw::OtherName("example.org".to_owned()));
        assert_eq!(check("https://example.org", "2026-03-01"), other);
        let wildcard = |url| until(&["*.example.org"], (4, 1), url, "2026-03-01");
        assert_eq!(wildcard("https://photos.example.org"), Ok(end));
        assert_eq!(wildcard("https://example.org"), other);
    }

    #[test]
    fn a_short_lifetime_is_no_flaw() {
        let check = |now| until(&["photos.example.org"], (1, 7), "https://photos.example.org", now);
        assert_eq!(check("2026-01-05"), Ok(time("2026-01-07")));
        assert_eq!(check("2026-01-06T01:00"), Err(Flaw::EndsSoon(time("2026-01-07"))));
    }
}
