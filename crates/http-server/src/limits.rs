use std::time::Duration;

/// Limits on what one client may use of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Upper bound on open connections. A connection with several requests in progress, as HTTP/2 allows, counts as that many.
    /// Once three quarters are open, one client may hold half of all, and one network three quarters; a trusted proxy may hold any
    /// number. When all are open, one that waits for its client is closed for a new one: idle ones first, then the one that has waited
    /// longest. While none waits for its client, new ones wait.
    pub connections: usize,
    /// Time for the TLS handshake, and time to send the head of a request; also the longest idle time between two requests.
    pub head_timeout: Duration,
    /// Time to send a body; for an upload, how far it may fall behind its lowest rate.
    pub body_timeout: Duration,
    /// Lowest average rate at which a client must send an upload.
    pub min_body_bytes_per_s: u32,
    /// Upper bound on the uploads of one owner at once. All owners together may use half of the connections.
    pub uploads_per_owner: usize,
    /// How long a client may pause when a response begins. The bytes that it then accepts add to this time. With HTTP/2 each
    /// response has four times as long.
    pub write_timeout: Duration,
    /// Lowest average rate at which a client must accept a response. With HTTP/2, a quarter of this rate applies to each response.
    pub min_response_bytes_per_s: u32,
    /// Time that running requests get to finish after shutdown has begun.
    pub drain_timeout: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            min_body_bytes_per_s: 512,
            uploads_per_owner: 32,
            write_timeout: Duration::from_secs(30),
            min_response_bytes_per_s: 2048,
            drain_timeout: Duration::from_secs(10),
        }
    }
}
