use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::{Mutex, MutexGuard},
};

use async_trait::async_trait;

use crate::{
    Client, CodeStatus, Connection, CurrentRefreshToken, Eviction, Grant, IssuedCode, NewClient, NewCode,
    REREGISTRATION_INTERVAL_MS, Redemption, RefreshableGrant, Rotation, SecretHash, Store, StoreError, Sweep,
    UnixMillis,
};

/// A store in memory, lost with its process.
///
/// One lock makes each operation atomic. Listing and sweeping scan all grants, so it suits tests, examples and services
/// with few users.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    clients: BTreeMap<String, ClientRow>,
    /// The clients that never had a grant, by their last registration.
    never_granted: BTreeSet<(UnixMillis, String)>,
    /// From the digest of a public client's metadata to its id.
    digests: HashMap<SecretHash, String>,
    grants: BTreeMap<String, GrantRow>,
    codes: HashMap<SecretHash, CodeRow>,
    /// From the hash of a refresh token's handle to the id of its grant.
    handles: HashMap<SecretHash, String>,
}

#[derive(Debug, Clone)]
struct ClientRow {
    client: Client,
    last_registered_at: UnixMillis,
    had_grant: bool,
}

#[derive(Debug)]
struct GrantRow {
    grant: Grant,
    redirect_uri: String,
    refresh: Option<CurrentRefreshToken>,
    /// When its last access token expires; `None` until its code is redeemed.
    access_expires_at: Option<UnixMillis>,
    last_used_at: Option<UnixMillis>,
}

#[derive(Debug)]
struct CodeRow {
    grant_id: String,
    challenge: String,
    expires_at: UnixMillis,
    redeemed_at: Option<UnixMillis>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        self.0.lock().map_err(|_| StoreError("an earlier operation panicked".to_owned()))
    }
}

impl GrantRow {
    fn is_alive(&self) -> bool {
        self.grant.revoked_at.is_none()
    }

    /// Revokes it; `false` when it was already revoked.
    fn revoke(&mut self, at: UnixMillis) -> bool {
        let alive = self.is_alive();
        self.grant.revoked_at.get_or_insert(at);
        alive
    }

    fn expired_or_revoked_before(&self, before: UnixMillis) -> bool {
        let expired = self.access_expires_at.is_some_and(|at| at < before)
            && self.refresh.as_ref().is_none_or(|token| token.expires_at < before);
        expired || self.grant.revoked_at.is_some_and(|at| at < before)
    }
}

impl CodeRow {
    /// Whether it was issued for the same consent as `new`; the grant's id and the times may differ.
    fn is_same_consent(&self, row: &GrantRow, new: &IssuedCode) -> bool {
        let of = |grant: &Grant| {
            (grant.client_id.clone(), grant.subject.clone(), grant.resource.clone(), grant.scopes.clone())
        };
        of(&row.grant) == of(&new.grant)
            && (&row.redirect_uri, &self.challenge) == (&new.redirect_uri, &new.challenge)
    }
}

impl State {
    fn grant_mut(&mut self, handle: &SecretHash) -> Option<&mut GrantRow> {
        let id = self.handles.get(handle)?;
        self.grants.get_mut(id)
    }

    fn remove_grants(&mut self, ids: &[String]) {
        for id in ids {
            self.grants.remove(id);
        }
        let grants = &self.grants;
        self.codes.retain(|_, code| grants.contains_key(&code.grant_id));
        self.handles.retain(|_, id| grants.contains_key(id));
    }

    fn put_client(&mut self, row: ClientRow) {
        let id = row.client.id.clone();
        self.take_client(&id);
        if !row.had_grant {
            self.never_granted.insert((row.last_registered_at, id.clone()));
        }
        self.clients.insert(id, row);
    }

    fn take_client(&mut self, id: &str) -> Option<ClientRow> {
        let row = self.clients.remove(id)?;
        self.never_granted.remove(&(row.last_registered_at, row.client.id.clone()));
        Some(row)
    }

    fn evict(&mut self, eviction: Eviction) {
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let excess = self.never_granted.len().saturating_sub(count(eviction.keep)).min(count(eviction.max));
        let oldest = self.never_granted.iter().take(excess).take_while(|(at, _)| *at < eviction.before);
        let oldest: Vec<String> = oldest.map(|(_, id)| id.clone()).collect();
        if !oldest.is_empty() {
            self.remove_clients(&oldest);
        }
    }

    fn remove_clients(&mut self, ids: &[String]) {
        for id in ids {
            self.take_client(id);
        }
        let clients = &self.clients;
        self.digests.retain(|_, id| clients.contains_key(id));
    }
}

/// An id that is in use: impossible with a working source of randomness.
fn id_in_use(kind: &str) -> StoreError {
    StoreError(format!("the id of a new {kind} is already in use"))
}

#[async_trait]
impl Store for MemoryStore {
    async fn register_client(&self, new: NewClient) -> Result<Client, StoreError> {
        let mut state = self.state()?;
        let known = new.digest.and_then(|digest| state.digests.get(&digest));
        if let Some(mut row) = known.and_then(|id| state.clients.get(id)).cloned() {
            let (client, now) = (row.client.clone(), new.client.issued_at);
            if row.last_registered_at.plus_ms(REREGISTRATION_INTERVAL_MS) <= now {
                row.last_registered_at = now;
                state.put_client(row);
            }
            return Ok(client);
        }
        if state.clients.contains_key(&new.client.id) {
            return Err(id_in_use("client"));
        }
        if let Some(digest) = new.digest {
            state.digests.insert(digest, new.client.id.clone());
        }
        let (client, last_registered_at) = (new.client.clone(), new.client.issued_at);
        state.put_client(ClientRow { client, last_registered_at, had_grant: false });
        if let Some(eviction) = new.eviction {
            state.evict(eviction);
        }
        Ok(new.client)
    }

    async fn client(&self, id: &str) -> Result<Option<Client>, StoreError> {
        Ok(self.state()?.clients.get(id).map(|row| row.client.clone()))
    }

    async fn issue_code(&self, new: NewCode) -> Result<CodeStatus, StoreError> {
        let mut state = self.state()?;
        if let Some(code) = state.codes.get(&new.hash) {
            let is_pending = code.redeemed_at.is_none()
                && state
                    .grants
                    .get(&code.grant_id)
                    .is_some_and(|row| row.is_alive() && code.is_same_consent(row, &new.code));
            return Ok(if is_pending { CodeStatus::Pending } else { CodeStatus::Spent });
        }
        let IssuedCode { grant, redirect_uri, challenge, expires_at, redeemed_at } = new.code;
        if state.grants.contains_key(&grant.id) {
            return Err(id_in_use("grant"));
        }
        let code = CodeRow { grant_id: grant.id.clone(), challenge, expires_at, redeemed_at };
        state.codes.insert(new.hash, code);
        let granted = match new.client {
            Some(client) => {
                let last_registered_at = client.issued_at;
                Some(ClientRow { client, last_registered_at, had_grant: true })
            }
            None => state.clients.get(&grant.client_id).cloned(),
        };
        if let Some(row) = granted {
            state.put_client(ClientRow { had_grant: true, ..row });
        }
        let row =
            GrantRow { grant, redirect_uri, refresh: None, access_expires_at: None, last_used_at: None };
        state.grants.insert(row.grant.id.clone(), row);
        Ok(CodeStatus::Pending)
    }

    async fn code(&self, hash: &SecretHash) -> Result<Option<IssuedCode>, StoreError> {
        let state = self.state()?;
        let Some(code) = state.codes.get(hash) else { return Ok(None) };
        Ok(state.grants.get(&code.grant_id).map(|row| IssuedCode {
            grant: row.grant.clone(),
            redirect_uri: row.redirect_uri.clone(),
            challenge: code.challenge.clone(),
            expires_at: code.expires_at,
            redeemed_at: code.redeemed_at,
        }))
    }

    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError> {
        let mut state = self.state()?;
        let State { grants, codes, handles, .. } = &mut *state;
        let Some(code) = codes.get_mut(&redemption.code) else { return Ok(false) };
        let Some(row) = grants.get_mut(&code.grant_id) else { return Ok(false) };
        if code.redeemed_at.is_some() || code.expires_at <= redemption.at || !row.is_alive() {
            return Ok(false);
        }
        if let Some(refresh) = redemption.refresh {
            if handles.contains_key(&refresh.handle) {
                return Err(id_in_use("refresh token"));
            }
            handles.insert(refresh.handle, code.grant_id.clone());
            row.refresh = Some(refresh.token);
        }
        row.access_expires_at = Some(redemption.access_expires_at);
        code.redeemed_at = Some(redemption.at);
        Ok(true)
    }

    async fn refreshable_grant(&self, handle: &SecretHash) -> Result<Option<RefreshableGrant>, StoreError> {
        let mut state = self.state()?;
        Ok(state.grant_mut(handle).and_then(|row| {
            let current = row.refresh.clone()?;
            Some(RefreshableGrant { grant: row.grant.clone(), current })
        }))
    }

    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError> {
        let mut state = self.state()?;
        let Some(row) = state.grants.get_mut(&rotation.grant_id) else { return Ok(false) };
        let alive = row.is_alive();
        let Some(current) = row.refresh.as_mut() else { return Ok(false) };
        if !alive || current.hash != rotation.presented || current.expires_at <= rotation.at {
            return Ok(false);
        }
        *current = rotation.next;
        row.access_expires_at = Some(rotation.access_expires_at);
        Ok(true)
    }

    async fn grant(&self, id: &str) -> Result<Option<Grant>, StoreError> {
        Ok(self.state()?.grants.get(id).map(|row| row.grant.clone()))
    }

    async fn revoke_grant(&self, id: &str, at: UnixMillis) -> Result<bool, StoreError> {
        Ok(self.state()?.grants.get_mut(id).is_some_and(|row| row.revoke(at)))
    }

    async fn connections(&self, subject: &str) -> Result<Vec<Connection>, StoreError> {
        let state = self.state()?;
        let redeemed = |row: &&GrantRow| {
            row.grant.subject == subject && row.is_alive() && row.access_expires_at.is_some()
        };
        let mut connections: Vec<Connection> = state
            .grants
            .values()
            .filter(redeemed)
            .map(|row| Connection {
                grant: row.grant.clone(),
                client_name: state
                    .clients
                    .get(&row.grant.client_id)
                    .map(|row| row.client.metadata.client_name.clone()),
                redirect_uri: row.redirect_uri.clone(),
                last_used_at: row.last_used_at,
            })
            .collect();
        connections.sort_by_key(|connection| Reverse(connection.grant.created_at));
        Ok(connections)
    }

    async fn revoke_all(&self, subject: &str, at: UnixMillis) -> Result<u64, StoreError> {
        let mut state = self.state()?;
        let of_subject = state.grants.values_mut().filter(|row| row.grant.subject == subject);
        Ok(of_subject.map(|row| u64::from(row.revoke(at))).sum())
    }

    async fn record_use(&self, grant_id: &str, at: UnixMillis) -> Result<(), StoreError> {
        if let Some(row) = self.state()?.grants.get_mut(grant_id) {
            row.last_used_at = row.last_used_at.max(Some(at));
        }
        Ok(())
    }

    async fn sweep(&self, sweep: Sweep) -> Result<u64, StoreError> {
        let mut state = self.state()?;
        let max = usize::try_from(sweep.max).unwrap_or(usize::MAX);
        let expired = |code: &&CodeRow| code.redeemed_at.is_none() && code.expires_at < sweep.codes_before;
        let unredeemed: Vec<String> =
            state.codes.values().filter(expired).map(|code| code.grant_id.clone()).take(max).collect();
        state.remove_grants(&unredeemed);
        let is_ended = |row: &&GrantRow| row.expired_or_revoked_before(sweep.grants_before);
        let ended: Vec<String> =
            state.grants.values().filter(is_ended).map(|row| row.grant.id.clone()).take(max).collect();
        state.remove_grants(&ended);
        let in_use: HashSet<&str> = state.grants.values().map(|row| row.grant.client_id.as_str()).collect();
        let unused = |row: &&ClientRow| {
            row.last_registered_at < sweep.clients_before && !in_use.contains(row.client.id.as_str())
        };
        let unused: Vec<String> =
            state.clients.values().filter(unused).map(|row| row.client.id.clone()).take(max).collect();
        state.remove_clients(&unused);
        Ok([unredeemed.len(), ended.len(), unused.len()].into_iter().map(|n| n as u64).sum())
    }
}
