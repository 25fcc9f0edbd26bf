use storage::SchemaStore as _;
use test_postgres::TestDatabase;

use crate::{PostgresOptions, PostgresStore, PostgresUrl, sql::assert_complete};

const COLUMNS: &str = "
SELECT CAST(table_name AS TEXT) AS table_name, CAST(column_name AS TEXT) AS column_name
FROM information_schema.columns
WHERE table_schema = 'public' AND is_generated = 'NEVER'";

#[tokio::test(flavor = "multi_thread")]
async fn every_column_is_copied() {
    let database = TestDatabase::empty().await;
    let url = PostgresUrl::parse(&database.url()).unwrap();
    let store = PostgresStore::open(url, PostgresOptions { connections: 1 }).await.unwrap();
    store.migrate().await.unwrap();
    store
        .read(|c| {
            assert_complete(c, COLUMNS);
            Ok(())
        })
        .await
        .unwrap();
}
