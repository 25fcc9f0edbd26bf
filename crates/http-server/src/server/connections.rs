//! The open connections with the requests in progress on them, and which idle one is closed for a new one.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// The open connections of a server.
///
/// A connection is idle while no request is in progress on it: the head of its first request has not arrived, or its
/// last response was sent. Idle connections are evicted first, then those whose clients have not sent the whole body of
/// any of their requests. A connection with a request that is being answered is never evicted.
///
/// A connection takes one slot. With HTTP/2 it may have several requests in progress; each takes one then.
pub(super) struct Connections {
    max: usize,
    max_per_client: usize,
    open: Mutex<Open>,
    /// Notified when slots become free or evictable. Only [`Connections::admit`] waits for it, one call at a time.
    changed: Notify,
}

#[derive(Default)]
struct Open {
    /// Counts events, so that connections have an order.
    events: u64,
    by_id: HashMap<u64, Connection>,
    /// The slots of all connections together.
    slots: usize,
}

struct Connection {
    client: Option<IpAddr>,
    /// Whether it speaks HTTP/2, so that each request in progress takes a slot.
    is_multiplexed: bool,
    /// Number of requests whose body has not arrived yet.
    receiving: usize,
    /// Number of requests that wait for the handler, or whose response is being sent.
    answering: usize,
    /// The event at which it began to wait for its client.
    waiting_since: u64,
    evicted: Arc<Notify>,
}

impl Connection {
    fn slots(&self) -> usize {
        if self.is_multiplexed { (self.receiving + self.answering).max(1) } else { 1 }
    }

    fn state(&self) -> State {
        match self {
            Self { answering: 1.., .. } => State::Answering,
            Self { receiving: 1.., .. } => State::Receiving(self.waiting_since),
            _ => State::Idle(self.waiting_since),
        }
    }
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

/// Why no connection, or no further request on one, can be admitted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoSlot {
    /// Every slot that this client may hold has a request in progress.
    ForClient,
    /// Every slot has a request in progress.
    ForAnyone,
    /// The connection was evicted.
    Evicted,
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

    /// Admits a new connection; waits while every slot has a request in progress. `client` is `None` for a trusted proxy,
    /// which may hold any number.
    ///
    /// Returns `None` if every slot that this client may hold has a request in progress.
    pub(super) async fn admit(self: &Arc<Self>, client: Option<IpAddr>) -> Option<Slot> {
        loop {
            match self.try_admit(client) {
                Ok(slot) => return Some(slot),
                Err(NoSlot::ForClient) => return None,
                Err(_) => self.changed.notified().await,
            }
        }
    }

    fn try_admit(self: &Arc<Self>, client: Option<IpAddr>) -> Result<Slot, NoSlot> {
        let mut open = self.open();
        self.make_room(&mut open, client, None)?;
        let id = open.next_event();
        let evicted = Arc::new(Notify::new());
        let connection = Connection {
            client,
            is_multiplexed: false,
            receiving: 0,
            answering: 0,
            waiting_since: id,
            evicted: evicted.clone(),
        };
        open.slots += connection.slots();
        open.by_id.insert(id, connection);
        Ok(Slot { connections: self.clone(), id, evicted })
    }

    /// Makes sure that one more slot is free, and that this client may take it: for a new connection, or for a request on the
    /// connection with the id `on`.
    fn make_room(&self, open: &mut Open, client: Option<IpAddr>, on: Option<u64>) -> Result<(), NoSlot> {
        // Shares apply only when fewer than a quarter of the slots are free.
        let is_crowded = open.slots >= self.max - self.max / 4;
        if client.is_some() && is_crowded {
            let belongs_to_client = |connection: &Connection| connection.client == client;
            let of_client = open.by_id.values().filter(|connection| belongs_to_client(connection));
            if of_client.map(Connection::slots).sum::<usize>() >= self.max_per_client {
                open.evict_oldest_idle(belongs_to_client, on).ok_or(NoSlot::ForClient)?;
            }
        }
        if open.slots >= self.max {
            open.evict_oldest_idle(|_| true, on).ok_or(NoSlot::ForAnyone)?;
        }
        Ok(())
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

    /// Closes the connection among these that has waited longest for its client, idle ones first; never the one with the id
    /// `kept`.
    fn evict_oldest_idle(&mut self, among: impl Fn(&Connection) -> bool, kept: Option<u64>) -> Option<()> {
        let evictable = self.by_id.iter().filter(|(id, connection)| Some(**id) != kept && among(connection));
        let evictable = evictable.map(|(id, connection)| (connection.state(), *id));
        let (_, id) = evictable.filter(|(state, _)| *state != State::Answering).min()?;
        self.remove(id)?.evicted.notify_one();
        Some(())
    }

    fn remove(&mut self, id: u64) -> Option<Connection> {
        let removed = self.by_id.remove(&id)?;
        self.slots -= removed.slots();
        Some(removed)
    }

    /// Changes a connection that was not evicted.
    fn change(&mut self, id: u64, change: impl FnOnce(&mut Connection)) -> Result<(), NoSlot> {
        let now = self.next_event();
        let connection = self.by_id.get_mut(&id).ok_or(NoSlot::Evicted)?;
        let before = (connection.slots(), connection.state());
        change(connection);
        if connection.state() != before.1 {
            connection.waiting_since = now;
        }
        self.slots = self.slots - before.0 + connection.slots();
        Ok(())
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

    /// Records that a request is in progress, with HTTP/2 if `is_multiplexed`.
    ///
    /// # Errors
    /// The connection was evicted. Or it speaks HTTP/2, the request is not the only one in progress, and there is no slot for it.
    pub(super) fn begin_request(&self, has_body: bool, is_multiplexed: bool) -> Result<(), NoSlot> {
        let mut open = self.connections.open();
        let connection = open.by_id.get(&self.id).ok_or(NoSlot::Evicted)?;
        let client = connection.client;
        if is_multiplexed && !matches!(connection.state(), State::Idle(_)) {
            self.connections.make_room(&mut open, client, Some(self.id))?;
        }
        open.change(self.id, |connection| {
            connection.is_multiplexed = is_multiplexed;
            let count = if has_body { &mut connection.receiving } else { &mut connection.answering };
            *count += 1;
        })
    }

    /// Records that the whole body of a request has arrived.
    ///
    /// # Errors
    /// The connection was evicted.
    pub(super) fn body_received(&self) -> Result<(), NoSlot> {
        self.connections.open().change(self.id, |connection| {
            connection.receiving = connection.receiving.saturating_sub(1);
            connection.answering += 1;
        })
    }

    /// Records that the response to a request was sent. The body of the request has arrived, or will not be read.
    pub(super) fn end_request(&self) {
        let ended = self.connections.open().change(self.id, |connection| {
            connection.answering = connection.answering.saturating_sub(1);
        });
        if ended.is_ok() {
            self.connections.changed.notify_one();
        }
    }

    /// Whether no request is in progress on this connection.
    pub(super) fn is_idle(&self) -> bool {
        let open = self.connections.open();
        open.by_id.get(&self.id).is_none_or(|connection| matches!(connection.state(), State::Idle(_)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.open().remove(self.id);
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
        first.begin_request(false, true).unwrap();
        let third = admit(1);
        assert!(is_evicted(&second));
        assert_eq!(second.begin_request(false, true), Err(NoSlot::Evicted));
        third.begin_request(false, true).unwrap();
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
        first.begin_request(false, true).unwrap();
        second.begin_request(false, true).unwrap();
        second.end_request();
        let fifth = admit(5).unwrap();
        assert!(is_evicted(&third));
        assert!([&first, &second, &fourth].into_iter().all(|slot| !is_evicted(slot)));
        for slot in [&second, &fourth, &fifth] {
            slot.begin_request(false, true).unwrap();
        }
        assert_eq!(admit(6).err(), Some(NoSlot::ForAnyone));
        drop(fourth);
        assert!(admit(6).is_ok());
        // An evicted slot is not freed a second time.
        drop(third);
        assert_eq!(connections.open().by_id.len(), 3);
    }

    #[test]
    fn each_further_request_takes_a_slot() {
        let connections = Connections::new(8);
        let [many, idle] = [1, 2].map(|last| connections.try_admit(client(last)).unwrap());
        for _ in 0..4 {
            many.begin_request(false, true).unwrap();
        }
        assert_eq!(connections.open().slots, 5);
        // Crowded: six of eight.
        many.begin_request(false, true).unwrap();
        assert_eq!(many.begin_request(false, true), Err(NoSlot::ForClient));
        assert!(!is_evicted(&idle));
        let proxy = connections.try_admit(None).unwrap();
        for _ in 0..2 {
            proxy.begin_request(true, true).unwrap();
        }
        // The idle connection makes room, then none does.
        proxy.begin_request(true, true).unwrap();
        assert!(is_evicted(&idle));
        // A request never closes its own connection.
        assert_eq!(proxy.begin_request(true, true), Err(NoSlot::ForAnyone));
        proxy.body_received().unwrap();
        proxy.end_request();
        proxy.begin_request(true, true).unwrap();
        for _ in 0..5 {
            many.end_request();
        }
        assert!(many.is_idle() && !proxy.is_idle());
        assert_eq!(connections.open().slots, 4);
        drop((many, proxy, idle));
        assert_eq!(connections.open().slots, 0);
    }

    #[test]
    fn a_connection_that_waits_for_bodies_can_be_evicted_until_one_arrives() {
        let connections = Connections::new(2);
        let [first, second] = [1, 2].map(|last| connections.try_admit(client(last)).unwrap());
        for slot in [&first, &second] {
            slot.begin_request(true, true).unwrap();
        }
        first.body_received().unwrap();
        let third = connections.try_admit(client(3)).unwrap();
        assert!(is_evicted(&second) && !is_evicted(&first));
        assert_eq!(second.body_received(), Err(NoSlot::Evicted));
        drop(third);
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
        busy.begin_request(false, true).unwrap();
        let mut waiting = std::pin::pin!(connections.admit(client(1)));
        assert!(waiting.as_mut().now_or_never().is_none());
        busy.end_request();
        assert!(waiting.await.is_some());
        assert!(is_evicted(&busy));
    }
}
