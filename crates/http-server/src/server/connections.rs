//! Which connections are open, and which idle one closes when another connection needs its place.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// The open connections of a service.
///
/// A connection is idle while no request is in progress on it: the head of its first request has not arrived, or its
/// last response was sent. Idle connections are evicted first, then those whose client has not sent the whole body of
/// its request. A connection whose request is being answered is never evicted.
pub(super) struct Connections {
    max: usize,
    max_of_client: usize,
    open: Mutex<Open>,
    /// A connection closed or became idle. Only [`Connections::admit`] waits for it, one call at a time.
    changed: Notify,
}

#[derive(Default)]
struct Open {
    /// Counts what happens, so that connections have an order.
    events: u64,
    by_id: HashMap<u64, Connection>,
}

struct Connection {
    client: Option<IpAddr>,
    state: State,
    evicted: Arc<Notify>,
}

/// What a connection waits for. Of two that wait for their clients, the lesser is evicted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// For a request, since this event.
    Idle(u64),
    /// For the rest of a request's body, since this event.
    Receiving(u64),
    /// For the service.
    Answering,
}

/// Why there is no place for a connection now.
#[derive(Debug, PartialEq, Eq)]
enum NoPlace {
    /// Every connection that the client may hold has a request in progress.
    ForClient,
    /// Every connection has a request in progress.
    ForAnyone,
}

impl Connections {
    pub(super) fn new(max: usize) -> Arc<Self> {
        let max = max.max(1);
        Arc::new(Self {
            max,
            max_of_client: (max / 2).max(1),
            open: Mutex::default(),
            changed: Notify::new(),
        })
    }

    /// A place for a new connection; waits while every connection has a request in progress. `client` is `None` for a
    /// trusted proxy, which may hold any number.
    ///
    /// `None` when every connection that this client may hold has a request in progress.
    pub(super) async fn admit(self: &Arc<Self>, client: Option<IpAddr>) -> Option<Place> {
        loop {
            match self.try_admit(client) {
                Ok(place) => return Some(place),
                Err(NoPlace::ForClient) => return None,
                Err(NoPlace::ForAnyone) => self.changed.notified().await,
            }
        }
    }

    fn try_admit(self: &Arc<Self>, client: Option<IpAddr>) -> Result<Place, NoPlace> {
        let mut open = self.open();
        // While a quarter of all places is free, nobody needs a share.
        let is_pressed = open.by_id.len() >= self.max - self.max / 4;
        if client.is_some() && is_pressed {
            let is_of_client = |connection: &Connection| connection.client == client;
            if open.by_id.values().filter(|connection| is_of_client(connection)).count() >= self.max_of_client
            {
                open.evict_oldest_idle(is_of_client).ok_or(NoPlace::ForClient)?;
            }
        }
        if open.by_id.len() >= self.max {
            open.evict_oldest_idle(|_| true).ok_or(NoPlace::ForAnyone)?;
        }
        let id = open.next_event();
        let evicted = Arc::new(Notify::new());
        let connection = Connection { client, state: State::Idle(id), evicted: evicted.clone() };
        open.by_id.insert(id, connection);
        Ok(Place { connections: self.clone(), id, evicted })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing is left half done under the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn next_event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    /// Closes the connection among these that has waited for its client for the longest time, an idle one first.
    fn evict_oldest_idle(&mut self, among: impl Fn(&Connection) -> bool) -> Option<()> {
        let evictable = self.by_id.iter().filter(|(_, connection)| among(connection));
        let evictable = evictable.map(|(id, connection)| (connection.state, *id));
        let (_, id) = evictable.filter(|(state, _)| *state != State::Answering).min()?;
        self.by_id.remove(&id)?.evicted.notify_one();
        Some(())
    }
}

/// The place of one connection. Dropping it makes room.
pub(super) struct Place {
    connections: Arc<Connections>,
    id: u64,
    evicted: Arc<Notify>,
}

impl Place {
    /// Waits until another connection has got this place.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// A request is in progress from now on; `false` when another connection has got this place.
    pub(super) fn begin_request(&self, has_body: bool) -> bool {
        self.change(|now| if has_body { State::Receiving(now) } else { State::Answering })
    }

    /// The whole body of the request has arrived; `false` when another connection has got this place.
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

    /// The response was sent: the connection is idle.
    pub(super) fn end_request(&self) {
        if self.change(State::Idle) {
            self.connections.changed.notify_one();
        }
    }
}

impl Drop for Place {
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

    fn is_evicted(place: &Place) -> bool {
        place.evicted().now_or_never().is_some()
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
        assert_eq!(connections.try_admit(client(1)).err(), Some(NoPlace::ForClient));
        first.end_request();
        let fourth = admit(1);
        assert!(is_evicted(&first));
        assert!([&stranger, &third, &fourth].into_iter().all(|place| !is_evicted(place)));
    }

    #[test]
    fn when_all_places_are_taken_the_oldest_idle_connection_makes_room() {
        let connections = Connections::new(4);
        let admit = |last| connections.try_admit(client(last));
        let [first, second, third, fourth] = [1, 2, 3, 4].map(|last| admit(last).unwrap());
        assert!(first.begin_request(false));
        second.begin_request(false);
        second.end_request();
        let fifth = admit(5).unwrap();
        assert!(is_evicted(&third));
        assert!([&first, &second, &fourth].into_iter().all(|place| !is_evicted(place)));
        for place in [&second, &fourth, &fifth] {
            assert!(place.begin_request(false));
        }
        assert_eq!(admit(6).err(), Some(NoPlace::ForAnyone));
        drop(fourth);
        assert!(admit(6).is_ok());
        // The place that was lost is not given back a second time.
        drop(third);
        assert_eq!(connections.open().by_id.len(), 3);
    }

    #[test]
    fn a_trusted_proxy_may_hold_every_place() {
        let connections = Connections::new(8);
        let places: Vec<Place> = (0..8).map(|_| connections.try_admit(None).unwrap()).collect();
        assert!(places.iter().all(|place| !is_evicted(place)));
        assert!(connections.try_admit(client(1)).is_ok());
        assert!(is_evicted(&places[0]));
    }

    #[tokio::test]
    async fn whoever_waits_gets_the_place_of_a_connection_that_becomes_idle() {
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
