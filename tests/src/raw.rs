use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::TestApp;

/// Longer than any limit that a test sets; only a connection that is never closed waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Requests that no HTTP client would write.
impl TestApp {
    /// A connection of its own.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// What the service sends back for these bytes until it closes the connection.
    ///
    /// # Panics
    /// When it does not close it.
    pub async fn send_raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // The service may have answered and closed before it took everything.
        let _ = stream.write_all(bytes.as_ref()).await;
        Self::read_until_closed(stream).await
    }

    /// What still comes on a connection until the service closes it.
    ///
    /// # Panics
    /// When it does not close it.
    pub async fn read_until_closed(mut stream: TcpStream) -> String {
        let mut received = Vec::new();
        let closed = timeout(PATIENCE, async {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                received.extend(buffer.iter().take(read));
            }
        });
        assert!(closed.await.is_ok(), "the service closes the connection");
        String::from_utf8_lossy(&received).into_owned()
    }
}
