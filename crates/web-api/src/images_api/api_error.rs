use domain::{Invalid, MAX_ALBUMS_PER_ACCOUNT};
use http::{HeaderValue, StatusCode, header};
use library::{EditError, SearchError, StorageError, Unavailable};
use mcp_wire::ArgumentError;
use serde::Serialize;

use http_server::{
    body::MAX_BODY_BYTES,
    reply::{Reply, WithHeader as _, error, json, retry_after},
};

/// Why a request to the image API was rejected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("the API key is missing, wrong or revoked; send it as `Authorization: Bearer KEY`")]
    Unauthorized,
    #[error("there is nothing at this path")]
    NoPath,
    #[error("photo sync is not set up yet: open {install_url} and follow the steps there, then try again")]
    SyncNotSetUp { install_url: String },
    #[error(
        "the account already has {} albums; delete one before you create another",
        MAX_ALBUMS_PER_ACCOUNT
    )]
    TooManyAlbums,
    #[error("the body is longer than {} bytes", MAX_BODY_BYTES)]
    BodyTooLarge,
    #[error("the body did not arrive in time")]
    BodyTooSlow,
    #[error("the body must be JSON, sent with `Content-Type: application/json`")]
    NotJson,
    #[error("the body must be sent without `Content-Encoding`")]
    BodyEncoded,
    #[error("{0}")]
    Invalid(String),
    #[error("there is no image with this id")]
    NoImage,
    #[error("there is no album with this id")]
    NoAlbum,
    #[error("one of the images does not exist; nothing was changed")]
    UnknownImageId,
    #[error("this image belongs to another account")]
    ForeignImage,
    #[error("one of the images belongs to another account; nothing was changed")]
    ForeignImageId,
    #[error("search by appearance is temporarily unavailable; retry later, or use channels=text")]
    SearchDown,
    #[error("the photo library is temporarily unavailable; retry later")]
    Unavailable,
}

impl ApiError {
    pub(crate) fn invalid_body(reason: &str) -> Self {
        Self::Invalid(format!("body: {reason}"))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NoPath | Self::NoImage | Self::NoAlbum | Self::UnknownImageId => StatusCode::NOT_FOUND,
            Self::SyncNotSetUp { .. } | Self::TooManyAlbums => StatusCode::CONFLICT,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::NotJson | Self::BodyEncoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::ForeignImage | Self::ForeignImageId => StatusCode::FORBIDDEN,
            Self::SearchDown => StatusCode::BAD_GATEWAY,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The response. The body of 401 has the field `message`, every other body `error`.
    pub(crate) fn into_reply(self) -> Reply {
        #[derive(Serialize)]
        struct Unauthorized {
            message: String,
        }
        let status = self.status();
        match self {
            Self::Unauthorized => json(status, &Unauthorized { message: self.to_string() })
                .with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            Self::SearchDown | Self::Unavailable => retry_after(error(status, &self.to_string()), 5),
            // The connection is closed, because the unread rest of the body would be read as the next request.
            Self::BodyTooLarge | Self::BodyTooSlow => {
                error(status, &self.to_string()).with(header::CONNECTION, HeaderValue::from_static("close"))
            }
            _ => error(status, &self.to_string()),
        }
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid.to_string())
    }
}

impl From<ArgumentError> for ApiError {
    fn from(error: ArgumentError) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        tracing::error!(%error, "a request to the image API failed");
        Self::Unavailable
    }
}

impl From<Unavailable> for ApiError {
    fn from(error: Unavailable) -> Self {
        tracing::error!(%error, "a request to the image API failed");
        Self::Unavailable
    }
}

impl From<EditError> for ApiError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Invalid(invalid) => invalid.into(),
            EditError::Unavailable(error) => error.into(),
        }
    }
}

impl From<SearchError> for ApiError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::NoAlbum => Self::NoAlbum,
            SearchError::ImageSearchUnavailable => Self::SearchDown,
            SearchError::Storage(error) => error.into(),
        }
    }
}
