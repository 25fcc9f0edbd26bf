//! The open connections with the requests in progress on them, and which one is closed for a new one.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use super::http2::Delivery;

/// How long a connection that has sent no request yet counts as one that waits for its client. After that it counts as idle, and
/// idle connections are closed first.
const GRACE: Duration = Duration::from_secs(5);
/// How long a client that reads a response may accept nothing before its connection can be closed for that of another client.
const PAUSE: Duration = Duration::from_secs(1);

/// The open connections of a server.
///
/// When all slots are taken, a connection that waits for its client is closed for a new one: first those that are idle, then
/// the one that has waited longest for a first request, for the body of a request or for the client to read a response. A connection
/// all of whose requests are with the handler, or whose responses are being read, is never closed.
///
/// A connection takes one slot. With HTTP/2 it may have several requests in progress. Then each of them takes a slot.
pub(super) struct Connections {
    max: usize,
    max_per_client: usize,
    max_per_network: usize,
    open: Mutex<Open>,
    /// Notified when slots become free. Only [`Connections::admit`] waits for it, one call at a time.
    changed: Notify,
}

/// The client of a connection. Its address and its network each have a share of the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) address: IpAddr,
    pub(super) network: IpAddr,
}

#[derive(Default)]
struct Open {
    last_id: u64,
    by_id: HashMap<u64, Connection>,
    /// The slots of all connections together.
    slots: usize,
}

struct Connection {
    /// `None` for a trusted proxy.
    client: Option<Client>,
    /// Whether it speaks HTTP/2, so that each request in progress takes a slot.
    is_multiplexed: bool,
    /// Whether a request has begun on it.
    is_used: bool,
    /// Number of requests whose body has not arrived yet.
    receiving: usize,
    /// Number of requests that wait for the handler, or whose response is being sent.
    answering: usize,
    /// When `receiving` last became zero, or ceased to be zero.
    receiving_since: Instant,
    /// When the connection last became idle, or ceased to be idle.
    idle_since: Instant,
    blocked: Arc<Blocked>,
    /// The streams of its requests with HTTP/2. Some may have ended.
    streams: Vec<Weak<Delivery>>,
    evicted: Arc<Notify>,
}

/// Since when the client of a connection has accepted no bytes; `None` while it does.
#[derive(Default)]
struct Blocked(Mutex<Option<Instant>>);

impl Blocked {
    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    fn slots(&self) -> usize {
        if self.is_multiplexed { (self.receiving + self.answering).max(1) } else { 1 }
    }

    fn is_idle(&self) -> bool {
        self.receiving == 0 && self.answering == 0
    }

    /// What the connection waits for; `None` if it does not wait for its client. A client that reads a response may pause for
    /// less than `pause`.
    fn wait(&self, now: Instant, pause: Duration) -> Option<Wait> {
        if self.is_idle() {
            let is_new = !self.is_used && now < self.idle_since + GRACE;
            return Some(if is_new { Wait::Client(self.idle_since) } else { Wait::Idle(self.idle_since) });
        }
        let body = (self.receiving > 0).then_some(self.receiving_since);
        let connection = *self.blocked.since();
        let streams = self.streams.iter().filter_map(|stream| stream.upgrade()?.waiting_since());
        let unread = connection.into_iter().chain(streams).filter(|since| now >= *since + pause);
        body.into_iter().chain(unread).min().map(Wait::Client)
    }
}

/// What a connection waits for, and since when. The smallest is closed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wait {
    /// For another request.
    Idle(Instant),
    /// For the first request, for the rest of a body, or for the client to read a response.
    Client(Instant),
}

/// Why no connection, or no further request on one, can be admitted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoSlot {
    /// The client or its network has its share of slots, and none of their connections can be closed.
    ForClient,
    /// All slots are taken, and no connection can be closed.
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
            max_per_network: max - max / 4,
            open: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// Admits a new connection; waits while no slot is free and no connection can be closed for it. `client` is `None` for a trusted
    /// proxy, which may hold any number.
    ///
    /// Returns `None` if the client or its network has its share of slots, and none of these connections can be closed.
    pub(super) async fn admit(self: &Arc<Self>, client: Option<Client>) -> Option<Slot> {
        loop {
            match self.try_admit(client) {
                Ok(slot) => return Some(slot),
                Err(NoSlot::ForClient) => return None,
                // Nothing is notified when a client has paused for long enough.
                Err(_) => _ = timeout(PAUSE, self.changed.notified()).await,
            }
        }
    }

    fn try_admit(self: &Arc<Self>, client: Option<Client>) -> Result<Slot, NoSlot> {
        let mut open = self.open();
        self.make_room(&mut open, client, None)?;
        open.last_id += 1;
        let id = open.last_id;
        let (now, evicted, blocked) = (Instant::now(), Arc::<Notify>::default(), Arc::<Blocked>::default());
        let connection = Connection {
            client,
            is_multiplexed: false,
            is_used: false,
            receiving: 0,
            answering: 0,
            receiving_since: now,
            idle_since: now,
            blocked: blocked.clone(),
            streams: Vec::new(),
            evicted: evicted.clone(),
        };
        open.slots += connection.slots();
        open.by_id.insert(id, connection);
        Ok(Slot { connections: self.clone(), id, evicted, blocked })
    }

    /// Makes sure that one more slot is free, and that this client may take it: for a new connection, or for a request on the
    /// connection with the id `on`.
    fn make_room(&self, open: &mut Open, client: Option<Client>, on: Option<u64>) -> Result<(), NoSlot> {
        // Shares apply only when fewer than a quarter of the slots are free.
        let is_crowded = open.slots >= self.max - self.max / 4;
        if let Some(client) = client.filter(|_| is_crowded) {
            open.keep_share(self.max_per_client, on, |other| other.address == client.address)?;
            open.keep_share(self.max_per_network, on, |other| other.network == client.network)?;
        }
        if open.slots >= self.max {
            open.evict(on, PAUSE, |_| true).ok_or(NoSlot::ForAnyone)?;
        }
        Ok(())
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // No change under the lock can stop half-way.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Closes a connection among those of these clients if they have `max` slots or more; never the one with the id `kept`.
    fn keep_share(
        &mut self,
        max: usize,
        kept: Option<u64>,
        among: impl Fn(&Client) -> bool,
    ) -> Result<(), NoSlot> {
        let among = |connection: &Connection| connection.client.as_ref().is_some_and(&among);
        let slots: usize = self.by_id.values().filter(|it| among(it)).map(Connection::slots).sum();
        if slots >= max { self.evict(kept, Duration::ZERO, among).ok_or(NoSlot::ForClient) } else { Ok(()) }
    }

    /// Closes the connection among these that has waited longest for its client, idle ones first; never the one with the id
    /// `kept`, and none whose client reads a response and has paused for less than `pause`.
    fn evict(
        &mut self,
        kept: Option<u64>,
        pause: Duration,
        among: impl Fn(&Connection) -> bool,
    ) -> Option<()> {
        let now = Instant::now();
        let candidates = self.by_id.iter().filter(|(id, connection)| Some(**id) != kept && among(connection));
        let waiting = candidates.filter_map(|(id, connection)| Some((connection.wait(now, pause)?, *id)));
        let (_, id) = waiting.min()?;
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
        let now = Instant::now();
        let connection = self.by_id.get_mut(&id).ok_or(NoSlot::Evicted)?;
        let (slots, is_idle, receives) = (connection.slots(), connection.is_idle(), connection.receiving > 0);
        change(connection);
        if connection.is_idle() != is_idle {
            connection.idle_since = now;
        }
        if (connection.receiving > 0) != receives {
            connection.receiving_since = now;
        }
        self.slots = self.slots - slots + connection.slots();
        Ok(())
    }
}

/// The slot of one open connection. Dropping it frees the slot.
pub(super) struct Slot {
    connections: Arc<Connections>,
    id: u64,
    evicted: Arc<Notify>,
    blocked: Arc<Blocked>,
}

impl Slot {
    /// Waits until this connection is evicted.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Records whether the client accepts no bytes.
    pub(super) fn set_blocked(&self, is_blocked: bool) {
        let mut since = self.blocked.since();
        if since.is_some() != is_blocked {
            *since = is_blocked.then(Instant::now);
        }
    }

    /// Whether the client accepts no bytes.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.since().is_some()
    }

    /// Records that a request is in progress, with HTTP/2 if it has a `stream`.
    ///
    /// # Errors
    /// The connection was evicted. Or it speaks HTTP/2, the request is not the only one in progress, and there is no slot for it.
    pub(super) fn begin_request(&self, has_body: bool, stream: Option<&Arc<Delivery>>) -> Result<(), NoSlot> {
        let mut open = self.connections.open();
        let connection = open.by_id.get(&self.id).ok_or(NoSlot::Evicted)?;
        let client = connection.client;
        if stream.is_some() && !connection.is_idle() {
            self.connections.make_room(&mut open, client, Some(self.id))?;
        }
        open.change(self.id, |connection| {
            connection.is_used = true;
            connection.is_multiplexed = stream.is_some();
            if let Some(stream) = stream {
                if connection.streams.len() == connection.streams.capacity() {
                    connection.streams.retain(|stream| stream.strong_count() > 0);
                }
                connection.streams.push(Arc::downgrade(stream));
            }
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
        open.by_id.get(&self.id).is_none_or(Connection::is_idle)
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
    use tokio::time::advance;

    use super::*;
    use crate::HttpLimits;

    /// A client in a network of its own.
    fn client(last: u8) -> Option<Client> {
        let address = Ipv4Addr::new(192, 0, 2, last).into();
        Some(Client { address, network: address })
    }

    fn client_in(network: u8, last: u8) -> Option<Client> {
        let address = |last| Ipv4Addr::new(198, 51, network, last).into();
        Some(Client { address: address(last), network: address(0) })
    }

    fn stream() -> Arc<Delivery> {
        Delivery::new(&HttpLimits::default())
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
        first.begin_request(false, Some(&stream())).unwrap();
        let third = admit(1);
        assert!(is_evicted(&second));
        assert_eq!(second.begin_request(false, Some(&stream())), Err(NoSlot::Evicted));
        third.begin_request(false, Some(&stream())).unwrap();
        assert_eq!(connections.try_admit(client(1)).err(), Some(NoSlot::ForClient));
        first.end_request();
        let fourth = admit(1);
        assert!(is_evicted(&first));
        assert!([&stranger, &third, &fourth].into_iter().all(|slot| !is_evicted(slot)));
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_slots_are_taken_the_oldest_idle_connection_is_evicted() {
        let connections = Connections::new(4);
        let admit = |last| connections.try_admit(client(last));
        let [first, second, third, fourth] = [1, 2, 3, 4].map(|last| admit(last).unwrap());
        first.begin_request(false, None).unwrap();
        advance(GRACE).await;
        second.begin_request(false, None).unwrap();
        second.end_request();
        let fifth = admit(5).unwrap();
        assert!(is_evicted(&third));
        assert!([&first, &second, &fourth].into_iter().all(|slot| !is_evicted(slot)));
        for slot in [&second, &fourth, &fifth] {
            slot.begin_request(false, None).unwrap();
        }
        assert_eq!(admit(6).err(), Some(NoSlot::ForAnyone));
        drop(fourth);
        assert!(admit(6).is_ok());
        // An evicted slot is not freed a second time.
        drop(third);
        assert_eq!(connections.open().by_id.len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_has_waited_longest_for_its_client_is_evicted() {
        let connections = Connections::new(5);
        let mut order = Vec::new();
        let mut admit = async |last, begin: &dyn Fn(&Slot)| {
            let slot = connections.try_admit(client(last)).unwrap();
            begin(&slot);
            advance(GRACE / 8).await;
            order.push(slot);
        };
        // Idle after a request. Such a connection is closed first, because its client can repeat a request on a new one.
        let used = |slot: &Slot| {
            slot.begin_request(false, None).unwrap();
            slot.end_request();
        };
        let unread = |slot: &Slot| {
            slot.begin_request(false, None).unwrap();
            slot.set_blocked(true);
        };
        let answered = |slot: &Slot| slot.begin_request(false, None).unwrap();
        admit(1, &unread).await;
        admit(2, &answered).await;
        admit(3, &|_| ()).await;
        admit(4, &|slot| slot.begin_request(true, None).unwrap()).await;
        admit(5, &used).await;
        let mut rest = Vec::new();
        for (last, expect) in [(6, 4), (7, 0), (8, 2), (9, 3)] {
            let newest = connections.try_admit(client(last)).unwrap();
            advance(PAUSE / 8).await;
            let evicted: Vec<_> = order.iter().map(is_evicted).collect();
            assert_eq!(evicted.iter().position(|is| *is), Some(expect), "{evicted:?}");
            answered(&newest);
            rest.push(newest);
        }
        assert_eq!(connections.try_admit(client(10)).err(), Some(NoSlot::ForAnyone));
        // The client accepts some bytes, and then no more.
        rest[0].set_blocked(true);
        advance(GRACE).await;
        rest[1].set_blocked(true);
        advance(GRACE).await;
        rest[0].set_blocked(false);
        rest[0].set_blocked(true);
        advance(PAUSE).await;
        let _newest = connections.try_admit(client(10)).unwrap();
        assert!(is_evicted(&rest[1]) && !is_evicted(&rest[0]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_nobody_reads_does_not_hold_its_slot() {
        let connections = Connections::new(8);
        let [many, other] = [1, 2].map(|last| connections.try_admit(client(last)).unwrap());
        let streams: Vec<_> = (0..4).map(|_| stream()).collect();
        for stream in &streams {
            many.begin_request(false, Some(stream)).unwrap();
        }
        for _ in 0..4 {
            other.begin_request(false, Some(&stream())).unwrap();
        }
        assert_eq!(connections.try_admit(client(3)).err(), Some(NoSlot::ForAnyone));
        streams[2].give("part".into());
        streams[2].cut_off_at();
        advance(PAUSE - Duration::from_millis(1)).await;
        assert_eq!(connections.try_admit(client(3)).err(), Some(NoSlot::ForAnyone));
        advance(Duration::from_millis(1)).await;
        let new = connections.try_admit(client(3)).unwrap();
        assert!(is_evicted(&many) && !is_evicted(&other));
        assert_eq!(connections.open().slots, 5);
        // A stream that has ended waits for nobody.
        new.begin_request(false, Some(&streams[2])).unwrap();
        drop(streams);
        assert_eq!(connections.open().by_id[&new.id].wait(Instant::now(), Duration::ZERO), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_has_a_share() {
        let connections = Connections::new(8);
        let slots: Vec<_> = (0..6)
            .map(|last| {
                let slot = connections.try_admit(client_in(1, last)).unwrap();
                slot.begin_request(false, None).unwrap();
                slot
            })
            .collect();
        assert_eq!(connections.try_admit(client_in(1, 9)).err(), Some(NoSlot::ForClient));
        let other = connections.try_admit(client_in(2, 9)).unwrap();
        slots[3].set_blocked(true);
        assert!(connections.try_admit(client_in(1, 9)).is_ok());
        assert!(is_evicted(&slots[3]) && !is_evicted(&other));
    }

    #[test]
    fn each_further_request_takes_a_slot() {
        let connections = Connections::new(8);
        let [many, idle] = [1, 2].map(|last| connections.try_admit(client(last)).unwrap());
        for _ in 0..4 {
            many.begin_request(false, Some(&stream())).unwrap();
        }
        assert_eq!(connections.open().slots, 5);
        // Crowded: six of eight.
        many.begin_request(false, Some(&stream())).unwrap();
        assert_eq!(many.begin_request(false, Some(&stream())), Err(NoSlot::ForClient));
        assert!(!is_evicted(&idle));
        let proxy = connections.try_admit(None).unwrap();
        for _ in 0..2 {
            proxy.begin_request(true, Some(&stream())).unwrap();
        }
        // The idle connection makes room, then none does.
        proxy.begin_request(true, Some(&stream())).unwrap();
        assert!(is_evicted(&idle));
        // A request never closes its own connection.
        assert_eq!(proxy.begin_request(true, Some(&stream())), Err(NoSlot::ForAnyone));
        proxy.body_received().unwrap();
        proxy.end_request();
        proxy.begin_request(true, Some(&stream())).unwrap();
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
            slot.begin_request(true, Some(&stream())).unwrap();
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

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_replaces_one_that_begins_to_wait_for_its_client() {
        let connections = Connections::new(1);
        let busy = connections.try_admit(None).unwrap();
        busy.begin_request(false, Some(&stream())).unwrap();
        let mut waiting = std::pin::pin!(connections.admit(client(1)));
        assert!(waiting.as_mut().now_or_never().is_none());
        busy.end_request();
        let admitted = waiting.await.unwrap();
        assert!(is_evicted(&busy));
        admitted.begin_request(false, None).unwrap();
        let mut waiting = std::pin::pin!(connections.admit(client(2)));
        assert!(waiting.as_mut().now_or_never().is_none());
        admitted.set_blocked(true);
        assert!(waiting.await.is_some());
        assert!(is_evicted(&admitted));
    }
}
