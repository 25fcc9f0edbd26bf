use async_trait::async_trait;
use diesel::{QueryableByName, prelude::*, sql_types::BigInt};
use domain::Timestamp;
use storage::{StorageError, StoreClock};

use crate::{
    SqlStore,
    sql::{SqlError, statement},
};

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = BigInt)]
    ms: i64,
}

#[async_trait]
impl StoreClock for SqlStore {
    async fn store_time(&self) -> Result<Option<Timestamp>, StorageError> {
        self.query(|c| {
            let now: Now =
                statement("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS ms")
                    .get_result(c)?;
            let time = Timestamp::from_millis(now.ms);
            time.map(Some)
                .ok_or_else(|| SqlError::Refused("the clock of the database server is wrong".to_owned()))
        })
        .await
    }
}
