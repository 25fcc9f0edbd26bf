use ::tests::black_box::AnyError;
use serde_json::Value;

use crate::{connection::Connection, lanes::Lane};

/// What a client of a token endpoint holds.
#[derive(Debug, Clone)]
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: String,
}

impl Tokens {
    /// Reads the answer of a token endpoint.
    pub(super) fn read(status: u16, answer: &Value) -> Result<Self, AnyError> {
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        match (status, text("access_token"), text("refresh_token")) {
            (200, Some(access), Some(refresh)) => Ok(Self { access, refresh }),
            _ => Err(format!("the token endpoint answered {status}: {answer}").into()),
        }
    }
}

/// Where a public client refreshes its tokens.
#[derive(Debug, Clone)]
pub(super) struct TokenEndpoint {
    pub(super) base_url: String,
    pub(super) path: String,
    pub(super) client_id: String,
}

impl TokenEndpoint {
    /// Takes new tokens for a refresh token.
    pub(super) fn refresh(
        &self,
        connection: &mut Connection,
        refresh_token: &str,
    ) -> Result<Tokens, AnyError> {
        let (status, answer) = connection.form(
            &self.path,
            &[
                ("grant_type", "refresh_token"),
                ("refresh_token", refresh_token),
                ("client_id", &self.client_id),
            ],
        )?;
        Tokens::read(status, &answer)
    }

    /// A lane that refreshes a grant, then what came of that, and so on.
    pub(super) fn chain(&self, refresh_token: &str) -> Result<Lane, AnyError> {
        let mut connection = Connection::open(&self.base_url)?;
        let (endpoint, mut refresh_token) = (self.clone(), refresh_token.to_owned());
        Ok(Box::new(move || {
            refresh_token = endpoint.refresh(&mut connection, &refresh_token)?.refresh;
            Ok(true)
        }))
    }
}

/// A lane that sends one message again and again with the same token, or without one.
pub(super) fn repeated(
    base_url: &str,
    path: &str,
    token: Option<&str>,
    message: &'static str,
    expect: u16,
) -> Result<Lane, AnyError> {
    let mut connection = Connection::open(base_url)?;
    let (path, token) = (path.to_owned(), token.map(str::to_owned));
    Ok(Box::new(move || {
        expected(connection.json(&path, token.as_deref(), message)?, expect, &path)?;
        Ok(true)
    }))
}

/// A lane that sends one message with each of these tokens once.
pub(super) fn once_each(
    base_url: &str,
    path: &str,
    tokens: Vec<String>,
    message: &'static str,
    expect: u16,
) -> Result<Lane, AnyError> {
    let mut connection = Connection::open(base_url)?;
    let (path, mut tokens) = (path.to_owned(), tokens.into_iter());
    Ok(Box::new(move || {
        let Some(token) = tokens.next() else { return Ok(false) };
        expected(connection.json(&path, Some(&token), message)?, expect, &path)?;
        Ok(true)
    }))
}

fn expected(status: u16, expect: u16, path: &str) -> Result<(), AnyError> {
    if status == expect { Ok(()) } else { Err(format!("{path} answered {status}, not {expect}").into()) }
}
