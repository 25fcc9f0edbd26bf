use storage::SchemaStore as _;

use crate::{SqliteOptions, SqliteStore, sql::assert_complete};

const COLUMNS: &str = "
SELECT t.name AS table_name, c.name AS column_name
FROM sqlite_master AS t JOIN pragma_table_xinfo(t.name) AS c
WHERE t.type = 'table' AND c.hidden = 0";

#[tokio::test]
async fn every_column_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.sqlite");
    let store = SqliteStore::open(&path, SqliteOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    store
        .read(|c| {
            assert_complete(c, COLUMNS);
            Ok(())
        })
        .await
        .unwrap();
}
