use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, sql_query, sql_types::Text};
use domain::Plan;
use storage::{ImageStore as _, Lookup, SchemaStore};
use storage_conformance::{NOW, Seed, random_photos};
use test_postgres::TestDatabase;

use crate::{fresh_store, open};

type Connection =
    diesel_async::async_connection_wrapper::AsyncConnectionWrapper<diesel_async::AsyncPgConnection>;

#[derive(Debug, PartialEq, QueryableByName)]
struct Object {
    #[diesel(sql_type = Text)]
    definition: String,
}

/// The columns, indexes and constraints, without the table that diesel manages.
async fn schema(url: String) -> Vec<Object> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut connection = Connection::establish(&url).unwrap();
        sql_query(
            "SELECT definition FROM (
                SELECT table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable AS definition, table_name
                FROM information_schema.columns WHERE table_schema = 'public'
                UNION ALL SELECT indexdef, CAST(tablename AS TEXT) FROM pg_indexes WHERE schemaname = 'public'
                UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid), CAST(CAST(conrelid AS regclass) AS TEXT)
                FROM pg_constraint WHERE connamespace = CAST('public' AS regnamespace)
            ) AS objects WHERE table_name <> '__diesel_schema_migrations' ORDER BY definition",
        )
        .load(&mut connection)
        .unwrap()
    });
    reading.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn reverting_and_migrating_again_restores_the_schema() {
    let (store, database) = fresh_store().await;
    let up = schema(database.direct_url()).await;
    assert!(up.iter().any(|object| object.definition.starts_with("images seq ")));
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    seed.images(ann.account, random_photos(20, NOW, 1)).await;
    let mut reverted = Vec::new();
    while let Some(name) = store.revert_migration().await.unwrap() {
        reverted.push(name);
    }
    assert_eq!(schema(database.direct_url()).await, [], "nothing is left, even of a filled library");
    reverted.reverse();
    assert_eq!(store.pending_migrations().await.unwrap(), reverted);
    assert_eq!(store.known_migrations().unwrap(), reverted);
    assert_eq!(store.migrate().await.unwrap(), reverted);
    assert_eq!(schema(database.direct_url()).await, up);
}

#[tokio::test(flavor = "multi_thread")]
async fn filled_databases_of_every_earlier_schema_are_upgraded() {
    let (store, database) = fresh_store().await;
    let up = schema(database.direct_url()).await;
    let seed = Seed::new(std::sync::Arc::new(store.clone()));
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, random_photos(20, NOW, 1)).await;
    for earlier in 1..store.known_migrations().unwrap().len() {
        for _ in 0..earlier {
            store.revert_migration().await.unwrap().unwrap();
        }
        assert_eq!(store.migrate().await.unwrap().len(), earlier);
        assert_eq!(schema(database.direct_url()).await, up);
        for id in &ids {
            assert!(matches!(store.image(ann, id).await.unwrap(), Lookup::Found(_)));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_six_concurrent_programs_applies_all_migrations() {
    let database = TestDatabase::empty().await;
    let migrating: Vec<_> = (0..6)
        .map(|_| {
            let url = database.url();
            tokio::spawn(async move { open(&url).await.migrate().await.unwrap().len() })
        })
        .collect();
    let mut applied = Vec::new();
    for task in migrating {
        applied.push(task.await.unwrap());
    }
    assert_eq!(applied.iter().filter(|count| **count > 0).count(), 1, "{applied:?}");
    assert_eq!(open(&database.url()).await.pending_migrations().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_of_a_newer_program_are_named() {
    let (store, database) = fresh_store().await;
    assert_eq!(store.newer_migrations().await.unwrap(), Vec::<String>::new());
    let url = database.direct_url();
    let adding = tokio::task::spawn_blocking(move || {
        let mut connection = Connection::establish(&url).unwrap();
        sql_query("INSERT INTO __diesel_schema_migrations (version) VALUES ('99991231000001')")
            .execute(&mut connection)
            .unwrap();
    });
    adding.await.unwrap();
    assert_eq!(store.newer_migrations().await.unwrap(), ["99991231000001"]);
    assert_eq!(store.pending_migrations().await.unwrap(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_an_older_program_adds_to_an_album_come_last() {
    let (store, database) = fresh_store().await;
    let seed = Seed::new(std::sync::Arc::new(store));
    let forget = async || {
        let url = database.direct_url();
        let updating = tokio::task::spawn_blocking(move || {
            let mut connection = Connection::establish(&url).unwrap();
            sql_query("UPDATE album_images SET position = 0").execute(&mut connection).unwrap();
        });
        updating.await.unwrap();
    };
    storage_conformance::images_of_an_older_program_come_last(&seed, forget).await;
}
