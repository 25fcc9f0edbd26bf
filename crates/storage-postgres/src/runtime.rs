//! The runtime of each connection.

use std::cell::Cell;

use diesel_async::async_connection_wrapper::BlockOn;
use tokio::runtime::{Builder, Handle, Runtime};

thread_local! {
    /// The runtime for the connection that this thread opens now.
    static OPENING: Cell<Option<Runtime>> = const { Cell::new(None) };
}

/// A connection runs on a runtime of its own, on the thread that waits for it. With the runtime of the service, two
/// threads would wake each other for every statement.
pub(crate) struct ConnectionRuntime(Option<Runtime>);

impl ConnectionRuntime {
    /// Runs `open` on a new runtime, and then `wrap` on its result; `wrap` may call [`BlockOn::get_runtime`] once, which
    /// returns this runtime. Blocks.
    pub(crate) fn open<T, U, E: From<std::io::Error>>(
        open: impl Future<Output = Result<T, E>>,
        wrap: impl FnOnce(T) -> U,
    ) -> Result<U, E> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let opened = runtime.block_on(open);
        match opened {
            Ok(opened) => {
                OPENING.set(Some(runtime));
                let wrapped = wrap(opened);
                Ok(wrapped)
            }
            Err(error) => {
                runtime.shutdown_background();
                Err(error)
            }
        }
    }
}

impl BlockOn for ConnectionRuntime {
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        match &self.0 {
            Some(runtime) => runtime.block_on(future),
            None => Handle::current().block_on(future),
        }
    }

    fn get_runtime() -> Self {
        Self(OPENING.take())
    }
}

impl Drop for ConnectionRuntime {
    fn drop(&mut self) {
        // Without waiting, because a store may be dropped on an async thread.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
