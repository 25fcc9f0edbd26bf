use serde_json::{Map, Value};
use strict_json::parse_object;

use super::{AssertionRefused, keys::Algorithm};
use crate::{SecretHash, UnixMillis, jws::Jws};

/// How long an assertion may be valid from now on.
const MAX_LIFETIME_MS: i64 = 5 * 60_000;
/// How far the client's clock may be ahead of this server's. A clock that is behind needs no tolerance: the assertion
/// says itself how long it is valid.
const CLOCK_SKEW_MS: i64 = 30_000;
/// Header parameters that bring a key of their own or change the meaning of the rest.
const UNTRUSTED: [&str; 5] = ["crit", "jwk", "jku", "x5u", "x5c"];
/// The accepted `typ`, without the prefix `application/` and in lower case.
const TYPES: [&str; 2] = ["jwt", "client-authentication+jwt"];

/// A well-formed assertion whose signature and times were not checked yet.
#[derive(PartialEq, Eq)]
pub(crate) struct Assertion {
    /// The client: its issuer and its subject.
    client_id: String,
    audiences: Vec<String>,
    expires_at: UnixMillis,
    /// The times before which it is not valid, each with the name of its claim.
    begins_at: Vec<(&'static str, UnixMillis)>,
    jti: String,
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
    /// Header and payload as signed.
    pub(super) message: String,
    pub(super) signature: Vec<u8>,
}

fn claim(name: &'static str, fault: &'static str) -> AssertionRefused {
    AssertionRefused::Claim { name, fault }
}

impl Assertion {
    pub(crate) fn parse(text: &str) -> Result<Self, AssertionRefused> {
        let jws = Jws::parse(text).ok_or(AssertionRefused::Malformed)?;
        let header = parse_object(&jws.header).map_err(|_| AssertionRefused::Malformed)?;
        let claims = parse_object(&jws.payload).map_err(|_| AssertionRefused::Malformed)?;
        let (algorithm, kid) = read_header(&header)?;
        let client_id = text_claim(&claims, "sub")?;
        if text_claim(&claims, "iss")? != client_id {
            return Err(claim("iss", "is not equal to sub"));
        }
        let mut begins_at = Vec::new();
        for name in ["nbf", "iat"] {
            begins_at.extend(time_claim(&claims, name)?.map(|at| (name, at)));
        }
        Ok(Self {
            client_id: client_id.to_owned(),
            audiences: audiences(&claims)?,
            expires_at: time_claim(&claims, "exp")?.ok_or(claim("exp", "is missing"))?,
            begins_at,
            jti: text_claim(&claims, "jti")?.to_owned(),
            algorithm,
            kid: kid.map(str::to_owned),
            message: jws.message.to_owned(),
            signature: jws.signature,
        })
    }

    pub(crate) fn client_id(&self) -> &str {
        &self.client_id
    }

    pub(super) fn expires_at(&self) -> UnixMillis {
        self.expires_at
    }

    /// The hash of what identifies it. A `client_id` has no line break, so different pairs give different texts.
    pub(super) fn hash(&self) -> SecretHash {
        SecretHash::of(&format!("{}\n{}", self.client_id, self.jti))
    }

    /// Checks for whom and when it is valid.
    pub(super) fn check(&self, accepted: &[&str], now: UnixMillis) -> Result<(), AssertionRefused> {
        if !self.audiences.iter().any(|audience| accepted.contains(&audience.as_str())) {
            return Err(claim("aud", "has neither the issuer nor the token endpoint"));
        }
        if self.expires_at <= now {
            return Err(claim("exp", "has passed"));
        }
        let latest_begin = now.plus_ms(CLOCK_SKEW_MS);
        if self.expires_at > latest_begin.plus_ms(MAX_LIFETIME_MS) {
            return Err(claim("exp", "is more than 5 minutes ahead"));
        }
        match self.begins_at.iter().find(|(_, at)| *at > latest_begin) {
            Some((name, _)) => Err(claim(name, "is in the future")),
            None => Ok(()),
        }
    }
}

fn read_header(header: &Map<String, Value>) -> Result<(Algorithm, Option<&str>), AssertionRefused> {
    if UNTRUSTED.iter().any(|name| header.contains_key(*name)) {
        return Err(AssertionRefused::Header("has crit, jwk, jku, x5u or x5c"));
    }
    let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::from_name);
    let algorithm =
        algorithm.ok_or(AssertionRefused::Header("has an alg other than ES256, RS256, PS256 and EdDSA"))?;
    let is_typed = header.get("typ").is_none_or(|typ| {
        let typ = typ.as_str().unwrap_or_default().to_ascii_lowercase();
        TYPES.contains(&typ.strip_prefix("application/").unwrap_or(&typ))
    });
    if !is_typed {
        return Err(AssertionRefused::Header("has a typ other than JWT and client-authentication+jwt"));
    }
    match header.get("kid") {
        None => Ok((algorithm, None)),
        Some(Value::String(kid)) => Ok((algorithm, Some(kid))),
        Some(_) => Err(AssertionRefused::Header("has a kid that is not text")),
    }
}

fn text_claim<'a>(claims: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, AssertionRefused> {
    match claims.get(name) {
        None => Err(claim(name, "is missing")),
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(_) => Err(claim(name, "is not text, or empty")),
    }
}

/// The audiences: one, or a list.
fn audiences(claims: &Map<String, Value>) -> Result<Vec<String>, AssertionRefused> {
    let one = |value: &Value| value.as_str().map(str::to_owned);
    let audiences = match claims.get("aud").ok_or(claim("aud", "is missing"))? {
        Value::Array(several) => several.iter().map(one).collect(),
        single => one(single).map(|audience| vec![audience]),
    };
    audiences.ok_or(claim("aud", "is neither text nor a list of texts"))
}

/// A time in seconds since 1970, perhaps with a fraction (RFC 7519, section 2).
fn time_claim(
    claims: &Map<String, Value>,
    name: &'static str,
) -> Result<Option<UnixMillis>, AssertionRefused> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let seconds = match value {
        Value::Number(number) if number.is_f64() => {
            // Text cuts the fraction off without a lossy cast.
            number.as_f64().and_then(|seconds| format!("{:.0}", seconds.floor()).parse().ok())
        }
        Value::Number(number) => number.as_i64(),
        _ => None,
    };
    let seconds = seconds.ok_or(claim(name, "is not a number of seconds"))?;
    Ok(Some(UnixMillis(i64::saturating_mul(seconds, 1000))))
}
