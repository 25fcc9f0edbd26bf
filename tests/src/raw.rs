use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::TestApp;

/// Longer than any time limit that a test sets.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(20);

/// Requests that HTTP clients cannot send.
impl TestApp {
    /// Opens a connection.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends these bytes and returns everything received until the service closes the connection.
    ///
    /// # Panics
    /// If it does not close it.
    pub async fn send_raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // The service may respond and close the connection before it has received everything.
        let _ = stream.write_all(bytes.as_ref()).await;
        Self::read_until_closed(stream).await
    }

    /// Returns everything received until the service closes the connection.
    ///
    /// # Panics
    /// If it does not close it.
    pub async fn read_until_closed(mut stream: TcpStream) -> String {
        let mut received = Vec::new();
        let closed = timeout(CLOSE_TIMEOUT, async {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                received.extend(buffer.iter().take(read));
            }
        });
        assert!(closed.await.is_ok(), "the service closes the connection");
        String::from_utf8_lossy(&received).into_owned()
    }
}
