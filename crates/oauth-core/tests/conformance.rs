//! The memory store passes the conformance suite.

use oauth_core::MemoryStore;

async fn fresh_store() -> (MemoryStore, ()) {
    (MemoryStore::new(), ())
}

oauth_core::conformance_suite!(fresh_store);
