use ::tests::black_box::AnyError;
use serde_json::Value;

use crate::{
    closed_loop::LoadClient,
    connection::{Connection, check_status},
};

/// The tokens of a grant.
#[derive(Debug, Clone)]
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: String,
}

impl Tokens {
    /// Parses the response of a token endpoint.
    pub(super) fn parse(status: u16, response: &Value) -> Result<Self, AnyError> {
        let text = |name: &str| response[name].as_str().map(str::to_owned);
        match (status, text("access_token"), text("refresh_token")) {
            (200, Some(access), Some(refresh)) => Ok(Self { access, refresh }),
            _ => Err(format!("the token endpoint answered {status}: {response}").into()),
        }
    }
}

/// The token endpoint, with the ID of a public client.
#[derive(Debug, Clone)]
pub(super) struct TokenEndpoint {
    pub(super) base_url: String,
    pub(super) path: String,
    pub(super) client_id: String,
}

impl TokenEndpoint {
    /// Exchanges a refresh token for new tokens.
    pub(super) fn refresh(
        &self,
        connection: &mut Connection,
        refresh_token: &str,
    ) -> Result<Tokens, AnyError> {
        let (status, response) = connection.form(
            &self.path,
            &[
                ("grant_type", "refresh_token"),
                ("refresh_token", refresh_token),
                ("client_id", &self.client_id),
            ],
        )?;
        Tokens::parse(status, &response)
    }

    /// A client that refreshes a grant, each time with the refresh token of the previous response.
    pub(super) fn refresher(&self, refresh_token: &str) -> Result<LoadClient, AnyError> {
        let mut connection = Connection::open(&self.base_url)?;
        let (endpoint, mut refresh_token) = (self.clone(), refresh_token.to_owned());
        Ok(Box::new(move || {
            refresh_token = endpoint.refresh(&mut connection, &refresh_token)?.refresh;
            Ok(true)
        }))
    }
}

/// A client that repeats one message with the same token, or without a token.
pub(super) fn repeated(
    base_url: &str,
    path: &str,
    token: Option<&str>,
    message: &'static str,
    expect: u16,
) -> Result<LoadClient, AnyError> {
    let mut connection = Connection::open(base_url)?;
    let (path, token) = (path.to_owned(), token.map(str::to_owned));
    Ok(Box::new(move || {
        check_status(connection.json(&path, token.as_deref(), message)?, expect, &path)?;
        Ok(true)
    }))
}

/// A client that sends one message once per token.
pub(super) fn once_each(
    base_url: &str,
    path: &str,
    tokens: Vec<String>,
    message: &'static str,
    expect: u16,
) -> Result<LoadClient, AnyError> {
    let mut connection = Connection::open(base_url)?;
    let (path, mut tokens) = (path.to_owned(), tokens.into_iter());
    Ok(Box::new(move || {
        let Some(token) = tokens.next() else { return Ok(false) };
        check_status(connection.json(&path, Some(&token), message)?, expect, &path)?;
        Ok(true)
    }))
}
