//! Creates grants in a served library: authorization codes directly in the store, so that thousands take little time,
//! and their tokens over HTTP.

use std::{path::Path, sync::mpsc};

use ::tests::{
    black_box::AnyError,
    oauth::{VERIFIER, challenge},
};
use keys::{SystemRandom, new_id};
use library::{Clock as _, SystemClock};
use oauth_core::{
    AuthMethod, Client, ClientMetadata, ClientStore as _, CodeStatus, Grant, GrantStore as _, GrantType,
    IssuedCode, NewClient, NewCode, SecretHash, UnixMillis,
};
use storage::AccountStore as _;
use storage_sqlite::{Durability, SqliteOptions, SqliteStore};

use super::token_clients::{TokenEndpoint, Tokens};
use crate::{closed_loop::LoadClient, connection::Connection};

const REDIRECT_URI: &str = "https://app.example/callback";
const SCOPE: &str = "mcp:images";
/// Lifetime of the codes.
const LIFETIME_MS: i64 = 600_000;

/// A registered client and its unredeemed codes.
pub(super) struct SeededGrants {
    pub(super) endpoint: TokenEndpoint,
    pub(super) codes: Vec<String>,
}

impl SeededGrants {
    /// Clients that redeem all codes, and a channel that receives the tokens. The channel ends when the clients are dropped.
    pub(super) fn redeemers(
        &self,
        connections: usize,
    ) -> Result<(Vec<LoadClient>, mpsc::Receiver<Tokens>), AnyError> {
        let (sender, receiver) = mpsc::channel();
        let clients = super::divide(&self.codes, connections).into_iter().map(|codes| {
            let mut connection = Connection::open(&self.endpoint.base_url)?;
            let (endpoint, sender, mut codes) = (self.endpoint.clone(), sender.clone(), codes.into_iter());
            let client: LoadClient = Box::new(move || {
                let Some(code) = codes.next() else { return Ok(false) };
                let (status, response) = connection.form(
                    &endpoint.path,
                    &[
                        ("grant_type", "authorization_code"),
                        ("code", &code),
                        ("redirect_uri", REDIRECT_URI),
                        ("code_verifier", VERIFIER),
                        ("client_id", &endpoint.client_id),
                    ],
                )?;
                sender.send(Tokens::parse(status, &response)?)?;
                Ok(true)
            });
            Ok(client)
        });
        Ok((clients.collect::<Result<_, AnyError>>()?, receiver))
    }
}

/// Stores a client and this many codes for the only account of a library.
pub(super) async fn seed(data_dir: &Path, base_url: &str, codes: usize) -> Result<SeededGrants, AnyError> {
    let options = SqliteOptions { durability: Durability::Off, ..SqliteOptions::default() };
    let store = SqliteStore::open(&data_dir.join("library.sqlite"), options).await?;
    let random = SystemRandom::new();
    let accounts = store.accounts().await?;
    let account = accounts.first().ok_or("the library has no account")?;
    let now = UnixMillis(SystemClock.now().millis());
    let client = Client {
        id: new_id(&random)?,
        metadata: ClientMetadata {
            client_name: "Bench".into(),
            redirect_uris: vec![REDIRECT_URI.into()],
            grant_types: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
            scopes: vec![SCOPE.into()],
            token_endpoint_auth_method: AuthMethod::None,
            requires_assertion: false,
            software_id: None,
            software_version: None,
        },
        secret: None,
        issued_at: now,
    };
    let client = store.register_client(NewClient { client, digest: None, eviction: None }).await?;
    let endpoint = TokenEndpoint {
        base_url: base_url.to_owned(),
        path: "/api/oauth/token".into(),
        client_id: client.id.clone(),
    };
    let mut seeded = SeededGrants { endpoint, codes: Vec::with_capacity(codes) };
    for _ in 0..codes {
        let code = [new_id(&random)?, new_id(&random)?].concat();
        let grant = Grant {
            id: new_id(&random)?,
            client_id: client.id.clone(),
            subject: account.id.0.to_string(),
            resource: format!("{base_url}/api/mcp/v1"),
            scopes: vec![SCOPE.into()],
            created_at: now,
            revoked_at: None,
        };
        let issued = IssuedCode {
            redirect_uri: REDIRECT_URI.into(),
            challenge: challenge(VERIFIER),
            expires_at: now.plus_ms(LIFETIME_MS),
            redeemed_at: None,
        };
        let new = NewCode { hash: SecretHash::of(&code), code: issued, grant, client: None };
        if store.issue_code(new).await? != CodeStatus::Pending {
            return Err("a code was not stored".into());
        }
        seeded.codes.push(code);
    }
    Ok(seeded)
}
