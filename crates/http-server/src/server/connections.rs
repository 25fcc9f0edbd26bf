//! The open connections, and which idle one is closed for a new one.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// The open connections of a server.
///
/// A connection is idle while no request is in progress on it: the head of its first request has not arrived, or its
/// last response was sent. Idle connections are evicted first, then those whose client has not sent the whole body of
/// its request. A connection whose request is being answered is never evicted.
pub(super) struct Connections {
    max: usize,
    max_per_client: usize,
    open: Mutex<Open>,
    /// Notified when a connection closes or becomes idle. Only [`Connections::admit`] waits for it, one call at a time.
    changed: Notify,
}

#[derive(Default)]
struct Open {
    /// Counts events, so that connections have an order.
    events: u64,
    by_id: HashMap<u64, Connection>,
}

struct Connection {
    client: Option<IpAddr>,
    state: State,
    evicted: Arc<Notify>,
}

/// What a connection waits for. Of two that wait for their clients, the smaller is evicted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Waits for a request, since this event.
    Idle(u64),
    /// Waits for the rest of a request's body, since this event.
    Receiving(u64),
    /// Waits for the handler.
    Answering,
}

/// Why no connection can be admitted now.
#[derive(Debug, PartialEq, Eq)]
enum NoSlot {
    /// Every connection that this client may hold has a request in progress.
    ForClient,
    /// Every connection has a request in progress.
    ForAnyone,
}

impl Connections {
    pub(super) fn new(max: usize) -> Arc<Self> {
        let max = max.max(1);
        Arc::new(Self {
            max,
            max_per_client: (max / 2).max(1),
            open: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// Admits a new connection; waits while every connection has a request in progress. `client` is `None` for a trusted
    /// proxy, which may hold any number.
    ///
    /// Returns `None` if every connection that this client may hold has a request in progress.
    pub(super) async fn admit(self: &Arc<Self>, client: Option<IpAddr>) -> Option<Slot> {
        loop {
            match self.try_admit(client) {
                Ok(slot) => return Some(slot),
                Err(NoSlot::ForClient) => return None,
                Err(NoSlot::ForAnyone) => self.changed.notified().await,
            }
        }
    }

    fn try_admit(self: &Arc<Self>, client: Option<IpAddr>) -> Result<Slot, NoSlot> {
        let mut open = self.open();
        // Shares apply only when fewer than a quarter of the slots are free.
        let is_crowded = open.by_id.len() >= self.max - self.max / 4;
        if client.is_some() && is_crowded {
            let belongs_to_client = |connection: &Connection| connection.client == client;
            if open.by_id.values().filter(|connection| belongs_to_client(connection)).count()
                >= self.max_per_client
            {
                open.evict_oldest_idle(belongs_to_client).ok_or(NoSlot::ForClient)?;
            }
        }
        if open.by_id.len() >= self.max {
            open.evict_oldest_idle(|_| true).ok_or(NoSlot::ForAnyone)?;
        }
        let id = open.next_event();
        let evicted = Arc::new(Notify::new());
        let connection = Connection { client, state: State::Idle(id), evicted: evicted.clone() };
        open.by_id.insert(id, connection);
        Ok(Slot { connections: self.clone(), id, evicted })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // No change under the lock can stop half-way.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn next_event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    /// Closes the connection among these that has waited longest for its client, idle ones first.
    fn evict_oldest_idle(&mut self, among: impl Fn(&Connection) -> bool) -> Option<()> {
        let evictable = self.by_id.iter().filter(|(_, connection)| among(connection));
        let evictable = evictable.map(|(id, connection)| (connection.state, *id));
        let (_, id) = evictable.filter(|(state, _)| *state != State::Answering).min()?;
        self.by_id.remove(&id)?.evicted.notify_one();
        Some(())
    }
}

/// The slot of one open connection. Dropping it frees the slot.
pub(super) struct Slot {
    connections: Arc<Connections>,
    id: u64,
    evicted: Arc<Notify>,
}

impl Slot {
    /// Waits until this connection is evicted.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Records that a request is in progress; `false` if the connection was evicted.
    pub(super) fn begin_request(&self, has_body: bool) -> bool {
        self.change(|now| if has_body { State::Receiving(now) } else { State::Answering })
    }

    /// Records that the whole body of the request has arrived; `false` if the connection was evicted.
    pub(super) fn body_received(&self) -> bool {
        self.change(|_| State::Answering)
    }

    fn change(&self, state: impl FnOnce(u64) -> State) -> bool {
        let mut open = self.connections.open();
        let now = open.next_event();
        let Some(connection) = open.by_id.get_mut(&self.id) else { return false };
        connection.state = state(now);
        true
    }

    /// Records that the response was sent: the connection is idle.
    pub(super) fn end_request(&self) {
        if self.change(State::Idle) {
            self.connections.changed.notify_one();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.open().by_id.remove(&self.id);
        self.connections.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt as _;

    use super::*;

    fn client(last: u8) -> Option<IpAddr> {
        Some(Ipv4Addr::new(192, 0, 2, last).into())
    }

    fn is_evicted(slot: &Slot) -> bool {
        slot.evicted().now_or_never().is_some()
    }

    #[test]
    fn a_client_at_its_share_replaces_its_own_oldest_idle_connection() {
        let connections = Connections::new(4);
        let admit = |last| connections.try_admit(client(last)).unwrap();
        let stranger = admit(9);
        let (first, second) = (admit(1), admit(1));
        assert!(first.begin_request(false));
        let third = admit(1);
        assert!(is_evicted(&second) && !second.begin_request(false));
        assert!(third.begin_request(false));
        assert_eq!(connections.try_admit(client(1)).err(), Some(NoSlot::ForClient));
        first.end_request();
        let fourth = admit(1);
        assert!(is_evicted(&first));
        assert!([&stranger, &third, &fourth].into_iter().all(|slot| !is_evicted(slot)));
    }

    #[test]
    fn when_all_slots_are_taken_the_oldest_idle_connection_is_evicted() {
        let connections = Connections::new(4);
        let admit = |last| connections.try_admit(client(last));
        let [first, second, third, fourth] = [1, 2, 3, 4].map(|last| admit(last).unwrap());
        assert!(first.begin_request(false));
        second.begin_request(false);
        second.end_request();
        let fifth = admit(5).unwrap();
        assert!(is_evicted(&third));
        assert!([&first, &second, &fourth].into_iter().all(|slot| !is_evicted(slot)));
        for slot in [&second, &fourth, &fifth] {
            assert!(slot.begin_request(false));
        }
        assert_eq!(admit(6).err(), Some(NoSlot::ForAnyone));
        drop(fourth);
        assert!(admit(6).is_ok());
        // An evicted slot is not freed a second time.
        drop(third);
        assert_eq!(connections.open().by_id.len(), 3);
    }

    #[test]
    fn a_trusted_proxy_may_hold_every_slot() {
        let connections = Connections::new(8);
        let slots: Vec<Slot> = (0..8).map(|_| connections.try_admit(None).unwrap()).collect();
        assert!(slots.iter().all(|slot| !is_evicted(slot)));
        assert!(connections.try_admit(client(1)).is_ok());
        assert!(is_evicted(&slots[0]));
    }

    #[tokio::test]
    async fn a_waiting_connection_replaces_one_that_becomes_idle() {
        let connections = Connections::new(1);
        let busy = connections.try_admit(None).unwrap();
        assert!(busy.begin_request(false));
        let mut waiting = std::pin::pin!(connections.admit(client(1)));
        assert!(waiting.as_mut().now_or_never().is_none());
        busy.end_request();
        assert!(waiting.await.is_some());
        assert!(is_evicted(&busy));
    }
}
