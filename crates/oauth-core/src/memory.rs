use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::{Mutex, MutexGuard},
};

use async_trait::async_trait;

use crate::{
    Client, ClientStore, CodeStatus, Connection, Eviction, GrantKey, GrantStore, Grants, NewClient, NewCode,
    REREGISTRATION_INTERVAL_MS, Redemption, Rotation, SecretHash, StoreError, StoredGrant, Sweep, UnixMillis,
    UsedAssertion,
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
    /// From the hash of a code to the id of its grant.
    codes: HashMap<SecretHash, String>,
    /// From the hash of a refresh token's handle to the id of its grant.
    handles: HashMap<SecretHash, String>,
    /// From the hash of a used assertion to when it expires.
    assertions: HashMap<SecretHash, UnixMillis>,
}

#[derive(Debug, Clone)]
struct ClientRow {
    client: Client,
    last_registered_at: UnixMillis,
    had_grant: bool,
}

#[derive(Debug)]
struct GrantRow {
    stored: StoredGrant,
    /// When its last access token expires; `None` until its code is redeemed.
    access_expires_at: Option<UnixMillis>,
    last_used_at: Option<UnixMillis>,
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
        self.stored.grant.revoked_at.is_none()
    }

    /// Revokes the grant and returns the number of newly revoked grants: 1, or 0 if it was already revoked.
    fn revoke(&mut self, at: UnixMillis) -> u64 {
        let alive = self.is_alive();
        self.stored.grant.revoked_at.get_or_insert(at);
        u64::from(alive)
    }

    fn expired_or_revoked_before(&self, before: UnixMillis) -> bool {
        let expired = self.access_expires_at.is_some_and(|at| at < before)
            && self.stored.refresh.as_ref().is_none_or(|token| token.expires_at < before);
        expired || self.stored.grant.revoked_at.is_some_and(|at| at < before)
    }
}

impl State {
    fn grant(&self, key: GrantKey<'_>) -> Option<&GrantRow> {
        match key {
            GrantKey::Id(id) => self.grants.get(id),
            GrantKey::Code(hash) => self.grants.get(self.codes.get(hash)?),
            GrantKey::RefreshHandle(hash) => self.grants.get(self.handles.get(hash)?),
        }
    }

    fn remove_grants(&mut self, ids: &[String]) {
        for id in ids {
            self.grants.remove(id);
        }
        let grants = &self.grants;
        self.codes.retain(|_, id| grants.contains_key(id));
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

/// The error for an id that is in use. It is impossible with a working source of randomness.
fn id_in_use(kind: &str) -> StoreError {
    StoreError(format!("the id of a new {kind} is already in use"))
}

#[async_trait]
impl ClientStore for MemoryStore {
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

    async fn record_assertion(&self, used: UsedAssertion) -> Result<bool, StoreError> {
        let mut state = self.state()?;
        let is_new = !state.assertions.contains_key(&used.hash);
        state.assertions.entry(used.hash).or_insert(used.expires_at);
        Ok(is_new)
    }
}

#[async_trait]
impl GrantStore for MemoryStore {
    async fn issue_code(&self, new: NewCode) -> Result<CodeStatus, StoreError> {
        let mut state = self.state()?;
        if let Some(known) = state.grant(GrantKey::Code(&new.hash)) {
            return Ok(known.stored.status_for(&new));
        }
        let NewCode { hash, code, grant, client } = new;
        if state.grants.contains_key(&grant.id) {
            return Err(id_in_use("grant"));
        }
        let granted = match client {
            Some(client) => {
                let last_registered_at = client.issued_at;
                Some(ClientRow { client, last_registered_at, had_grant: true })
            }
            None => state.clients.get(&grant.client_id).cloned(),
        };
        if let Some(row) = granted {
            state.put_client(ClientRow { had_grant: true, ..row });
        }
        let id = grant.id.clone();
        let stored = StoredGrant { grant, code, refresh: None };
        state.codes.insert(hash, id.clone());
        state.grants.insert(id, GrantRow { stored, access_expires_at: None, last_used_at: None });
        Ok(CodeStatus::Pending)
    }

    async fn redeem_code(&self, redemption: Redemption) -> Result<bool, StoreError> {
        let mut state = self.state()?;
        let State { grants, codes, handles, .. } = &mut *state;
        let Some(row) = codes.get(&redemption.code).and_then(|id| grants.get_mut(id)) else {
            return Ok(false);
        };
        let is_alive = row.is_alive();
        let StoredGrant { grant, code, refresh } = &mut row.stored;
        if code.redeemed_at.is_some() || code.expires_at <= redemption.at || !is_alive {
            return Ok(false);
        }
        if let Some(first) = redemption.refresh {
            if handles.contains_key(&first.handle) {
                return Err(id_in_use("refresh token"));
            }
            handles.insert(first.handle, grant.id.clone());
            *refresh = Some(first.token);
        }
        code.redeemed_at = Some(redemption.at);
        row.access_expires_at = Some(redemption.access_expires_at);
        Ok(true)
    }

    async fn rotate_refresh_token(&self, rotation: Rotation) -> Result<bool, StoreError> {
        let mut state = self.state()?;
        let Some(row) = state.grants.get_mut(&rotation.grant_id) else { return Ok(false) };
        let is_alive = row.is_alive();
        let Some(current) = row.stored.refresh.as_mut() else { return Ok(false) };
        if !is_alive || current.hash != rotation.presented || current.expires_at <= rotation.at {
            return Ok(false);
        }
        *current = rotation.next;
        row.access_expires_at = row.access_expires_at.max(Some(rotation.access_expires_at));
        Ok(true)
    }

    async fn grant(&self, key: GrantKey<'_>) -> Result<Option<StoredGrant>, StoreError> {
        Ok(self.state()?.grant(key).map(|row| row.stored.clone()))
    }

    async fn revoke(&self, grants: Grants<'_>, at: UnixMillis) -> Result<u64, StoreError> {
        let mut state = self.state()?;
        Ok(match grants {
            Grants::WithId(id) => state.grants.get_mut(id).map_or(0, |row| row.revoke(at)),
            Grants::OfSubject(subject) => {
                let of_subject = state.grants.values_mut().filter(|row| row.stored.grant.subject == subject);
                of_subject.map(|row| row.revoke(at)).sum()
            }
        })
    }

    async fn connections(&self, subject: &str) -> Result<Vec<Connection>, StoreError> {
        let state = self.state()?;
        let redeemed = |row: &&GrantRow| {
            row.stored.grant.subject == subject && row.is_alive() && row.access_expires_at.is_some()
        };
        let mut connections: Vec<Connection> = state
            .grants
            .values()
            .filter(redeemed)
            .map(|row| Connection {
                grant: row.stored.grant.clone(),
                client_name: state
                    .clients
                    .get(&row.stored.grant.client_id)
                    .map(|row| row.client.metadata.client_name.clone()),
                redirect_uri: row.stored.code.redirect_uri.clone(),
                last_used_at: row.last_used_at,
            })
            .collect();
        connections.sort_by_key(|connection| Reverse(connection.grant.created_at));
        Ok(connections)
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
        let id = |row: &GrantRow| row.stored.grant.id.clone();
        let expired = |row: &&GrantRow| {
            row.stored.code.redeemed_at.is_none() && row.stored.code.expires_at < sweep.codes_before
        };
        let unredeemed: Vec<String> = state.grants.values().filter(expired).map(id).take(max).collect();
        state.remove_grants(&unredeemed);
        let is_ended = |row: &&GrantRow| row.expired_or_revoked_before(sweep.grants_before);
        let ended: Vec<String> = state.grants.values().filter(is_ended).map(id).take(max).collect();
        state.remove_grants(&ended);
        let in_use: HashSet<&str> =
            state.grants.values().map(|row| row.stored.grant.client_id.as_str()).collect();
        let unused = |row: &&ClientRow| {
            row.last_registered_at < sweep.clients_before && !in_use.contains(row.client.id.as_str())
        };
        let unused: Vec<String> =
            state.clients.values().filter(unused).map(|row| row.client.id.clone()).take(max).collect();
        state.remove_clients(&unused);
        let expired = state.assertions.iter().filter(|(_, at)| **at < sweep.assertions_before);
        let expired: Vec<SecretHash> = expired.map(|(hash, _)| *hash).take(max).collect();
        state.assertions.retain(|hash, _| !expired.contains(hash));
        let deleted = [unredeemed.len(), ended.len(), unused.len(), expired.len()];
        Ok(deleted.into_iter().map(|n| n as u64).sum())
    }
}
