//! What the errors of an S3 server mean, in words that say what to do.
//!
//! The errors of the client contain the server's response, which may repeat a session token. Only what is in a
//! [`S3Failure`] is shown or logged.

use std::{error::Error, io, str::FromStr as _};

use http::StatusCode;
use object_store::client::{HttpError, HttpErrorKind};

/// Why an S3 request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum S3Failure {
    #[error("the object does not exist")]
    NoObject,
    #[error("the bucket does not exist; create it, or correct the setting blob-url")]
    NoBucket,
    #[error("set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither")]
    HalfKey,
    #[error(
        "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role"
    )]
    NoCredentials,
    #[error(
        "the access key is unknown, disabled or expired ({0}); check AWS_ACCESS_KEY_ID and AWS_SESSION_TOKEN"
    )]
    Key(String),
    #[error("the secret access key is wrong; check AWS_SECRET_ACCESS_KEY")]
    Secret,
    #[error(
        "access is denied; the access key needs permission to read, write, delete and list objects of this bucket"
    )]
    Denied,
    #[error("access is denied; `server doctor` finds the reason")]
    Forbidden,
    #[error("the clock of this machine differs too much from the clock of the S3 server; synchronize both")]
    Clock,
    #[error("the bucket is in another region; correct the setting s3-region")]
    Region,
    #[error("the S3 server has no free space")]
    Full,
    #[error("the S3 server is overloaded or not available ({0})")]
    Busy(String),
    #[error("the S3 server did not answer in time")]
    TimedOut,
    #[error("the S3 server cannot be reached: {0}")]
    Unreachable(String),
    #[error("the connection to the S3 server was interrupted: {0}")]
    Interrupted(String),
    #[error("the S3 server sent fewer bytes than the object has")]
    Shortened,
    #[error("the S3 server refused the request ({0})")]
    Refused(String),
    #[error("{0}")]
    Other(String),
}

impl S3Failure {
    pub(crate) fn tls(error: &rustls::Error) -> Self {
        Self::Other(format!("TLS cannot be set up: {error}"))
    }

    /// Classifies an error of a connection.
    pub(crate) fn of_connection(error: &HttpError) -> Self {
        let reason = causes(error).last().map(ToString::to_string).unwrap_or_default();
        match error.kind() {
            HttpErrorKind::Timeout => Self::TimedOut,
            HttpErrorKind::Connect => Self::Unreachable(reason),
            _ => Self::Interrupted(reason),
        }
    }

    /// Classifies a response by its code, else by its status.
    pub(crate) fn of_response(status: StatusCode, body: &str) -> Self {
        match between(body, "<Code>", "</Code>").filter(|code| is_word(code)) {
            Some(code) => of_code(code, status),
            // Every response to a HEAD request.
            None => of_status(status),
        }
    }

    /// The failure behind an error, if there is one.
    pub(crate) fn of(error: &object_store::Error) -> Option<&Self> {
        causes(error).find_map(|cause| cause.downcast_ref())
    }
}

impl From<S3Failure> for object_store::Error {
    fn from(failure: S3Failure) -> Self {
        match failure {
            S3Failure::NoObject => Self::NotFound { path: String::new(), source: Box::new(failure) },
            _ => Self::Generic { store: "S3", source: Box::new(failure) },
        }
    }
}

/// Replaces an error of the client by its [`S3Failure`].
pub(crate) fn classified(error: &object_store::Error) -> object_store::Error {
    classify(error).into()
}

fn classify(error: &object_store::Error) -> S3Failure {
    if let Some(failure) = S3Failure::of(error) {
        return failure.clone();
    }
    if let Some(http) = causes(error).find_map(|cause| cause.downcast_ref::<HttpError>()) {
        let text = error.to_string();
        return if is_credential_request(&text) {
            S3Failure::NoCredentials
        } else {
            S3Failure::of_connection(http)
        };
    }
    of_client(error)
}

/// Whether the request went to the metadata service of an instance or a container.
fn is_credential_request(text: &str) -> bool {
    ["://169.254.", "://[fd00:ec2", "/latest/api/token"].iter().any(|part| text.contains(part))
}

/// Classifies an error of the client that contains a response.
fn of_client(error: &object_store::Error) -> S3Failure {
    let text = error.to_string();
    if is_credential_request(&text) {
        return S3Failure::NoCredentials;
    }
    // AWS redirects to another region without naming a location.
    if text.contains("redirect without LOCATION") {
        return S3Failure::Region;
    }
    let status = between(&text, "status code: ", " ").and_then(|status| StatusCode::from_str(status).ok());
    match (error, status) {
        (_, Some(status)) => S3Failure::of_response(status, &text),
        (object_store::Error::NotFound { .. }, None) => S3Failure::NoObject,
        // An error within a successful response.
        (_, None) if text.contains("<Code>") => S3Failure::of_response(StatusCode::OK, &text),
        // An error of this program, such as an invalid setting.
        (_, None) => S3Failure::Other(text),
    }
}

fn of_code(code: &str, status: StatusCode) -> S3Failure {
    match code {
        "NoSuchKey" => S3Failure::NoObject,
        "NoSuchBucket" => S3Failure::NoBucket,
        "InvalidAccessKeyId" | "NotSignedUp" | "InvalidToken" | "ExpiredToken" | "TokenRefreshRequired" => {
            S3Failure::Key(code.to_owned())
        }
        "SignatureDoesNotMatch" => S3Failure::Secret,
        "AccessDenied" | "AllAccessDisabled" | "AccountProblem" => S3Failure::Denied,
        "RequestTimeTooSkewed" | "RequestExpired" => S3Failure::Clock,
        "AuthorizationHeaderMalformed" | "PermanentRedirect" | "TemporaryRedirect" | "InvalidRegion" => {
            S3Failure::Region
        }
        "QuotaExceeded" | "XMinioStorageFull" | "InsufficientStorage" => S3Failure::Full,
        "SlowDown" | "ServiceUnavailable" | "InternalError" => S3Failure::Busy(code.to_owned()),
        _ => S3Failure::Refused(format!("{} {code}", status.as_u16())),
    }
}

fn of_status(status: StatusCode) -> S3Failure {
    match status.as_u16() {
        404 => S3Failure::NoObject,
        301 | 307 => S3Failure::Region,
        401 | 403 => S3Failure::Forbidden,
        507 => S3Failure::Full,
        busy @ (429 | 500..=504) => S3Failure::Busy(busy.to_string()),
        other => S3Failure::Refused(other.to_string()),
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(found, _)| found)
}

/// A code or status is one short word, so that no response can put more into a message.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        // Without the type, this would be the method of the reference.
        let error: &'a (dyn Error + 'static) = *error;
        error.source()
    })
}

/// The error of reading or writing a part. It is `NotFound` only if the part does not exist.
pub(crate) fn io_error(error: object_store::Error) -> io::Error {
    match S3Failure::of(&error) {
        Some(S3Failure::NoObject) => io::Error::new(io::ErrorKind::NotFound, error),
        Some(S3Failure::TimedOut) => io::Error::new(io::ErrorKind::TimedOut, error),
        Some(failure) => io::Error::other(failure.to_string()),
        None => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An error as the client makes it.
    fn response(status: u16, body: &str) -> object_store::Error {
        let text = format!("Server returned non-2xx status code: {status} Some Reason: {body}");
        object_store::Error::Generic { store: "S3", source: text.into() }
    }

    fn with_code(status: u16, code: &str) -> S3Failure {
        let body =
            format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Token>hunter2</Token></Error>");
        classify(&response(status, &body))
    }

    #[test]
    fn codes_and_statuses_have_a_meaning() {
        for (status, code, expect) in [
            (404, "NoSuchKey", S3Failure::NoObject),
            (404, "NoSuchBucket", S3Failure::NoBucket),
            (403, "InvalidAccessKeyId", S3Failure::Key("InvalidAccessKeyId".to_owned())),
            (403, "SignatureDoesNotMatch", S3Failure::Secret),
            (403, "AccessDenied", S3Failure::Denied),
            (403, "RequestTimeTooSkewed", S3Failure::Clock),
            (400, "AuthorizationHeaderMalformed", S3Failure::Region),
            (503, "SlowDown", S3Failure::Busy("SlowDown".to_owned())),
            (400, "BadDigest", S3Failure::Refused("400 BadDigest".to_owned())),
        ] {
            assert_eq!(with_code(status, code), expect, "{code}");
        }
        for (status, expect) in [
            (404, S3Failure::NoObject),
            (301, S3Failure::Region),
            (403, S3Failure::Forbidden),
            (502, S3Failure::Busy("502".to_owned())),
            (418, S3Failure::Refused("418".to_owned())),
        ] {
            assert_eq!(classify(&response(status, "")), expect, "{status}");
        }
    }

    #[test]
    fn a_missing_bucket_is_not_a_missing_object() {
        let bucket: object_store::Error = with_code(404, "NoSuchBucket").into();
        assert!(!matches!(bucket, object_store::Error::NotFound { .. }));
        assert_eq!(io_error(bucket).kind(), io::ErrorKind::Other);
        let object: object_store::Error = with_code(404, "NoSuchKey").into();
        assert!(matches!(object, object_store::Error::NotFound { .. }));
        assert_eq!(io_error(object).kind(), io::ErrorKind::NotFound);
    }

    proptest! {
        #[test]
        fn messages_never_quote_the_response(status in 100_u16..600, body in "(<Code>)?[A-Za-z <>/0-9\n]{0,80}(</Code>)?") {
            let secret = format!("{body}<Token>hunter2</Token>");
            let error = classified(&response(status, &secret));
            let mut shown = format!("{error:?}");
            shown.extend(causes(&error).map(ToString::to_string));
            prop_assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}
