//! Runs the conformance suite of the authorization server's store.

use domain::Plan;
use storage_conformance::Seed;
use storage_postgres::PostgresStore;
use test_postgres::TestDatabase;

oauth_core::conformance_suite!(store_with_users);

/// A store whose accounts have the ids of the suite's users.
async fn store_with_users() -> (PostgresStore, TestDatabase) {
    let (store, database) = crate::fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    for subject in oauth_core::conformance::SUBJECTS {
        assert_eq!(seed.account(Plan::Paid).await.account.0.to_string(), subject);
    }
    (store, database)
}
