//! The store in memory passes the suite of cases that every store passes.

use oauth_core::MemoryStore;

async fn fresh_store() -> (MemoryStore, ()) {
    (MemoryStore::new(), ())
}

oauth_core::conformance_suite!(fresh_store);
