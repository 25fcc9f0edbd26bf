//! Roles. Each operation is one statement, so it needs no lock; SQLite and Postgres both understand it.

use diesel::{
    OptionalExtension, QueryableByName,
    prelude::*,
    sql_types::{BigInt, Text},
};
use domain::Timestamp;
use storage::{RoleFence, RoleRequest, RoleStore, StorageError};

use crate::{Lock, SqlConnection, error::SqlError, sql::statement};

operations! {
    impl RoleStore {
        write(Lock::Nothing) renew_role(role: &str, fence: RoleFence, until: Timestamp) -> bool = renew;
        query_inline holds_role(role: &str, fence: RoleFence) -> bool = holds;
        write(Lock::Nothing) release_role(role: &str, fence: RoleFence) -> () = release;
        write(Lock::Nothing) release_roles_of(holder: &str) -> () = release_all_of;
    }
    by hand {
        async fn take_role(&self, request: RoleRequest<'_>) -> Result<Option<RoleFence>, StorageError> {
            let (role, holder) = (request.role.to_owned(), request.holder.to_owned());
            let (at, until) = (request.at, request.until);
            self.write(Lock::Nothing, move |c| take(c, &role, &holder, at, until)).await
        }
    }
}

#[derive(QueryableByName)]
struct FenceRow {
    #[diesel(sql_type = BigInt)]
    fence: i64,
}

// The row stays when a role is released, so that its fencing tokens never start again.
const TAKE: &str = "
INSERT INTO roles (name, fence, holder, until_ms) VALUES ($1, 1, $2, $3)
ON CONFLICT (name) DO UPDATE
SET fence = roles.fence + 1, holder = excluded.holder, until_ms = excluded.until_ms
WHERE roles.holder IS NULL OR roles.until_ms < $4
RETURNING fence";

fn take(
    c: &mut SqlConnection,
    role: &str,
    holder: &str,
    at: Timestamp,
    until: Timestamp,
) -> Result<Option<RoleFence>, SqlError> {
    let taken: Option<FenceRow> = statement(TAKE)
        .bind::<Text, _>(role)
        .bind::<Text, _>(holder)
        .bind::<BigInt, _>(until.millis())
        .bind::<BigInt, _>(at.millis())
        .get_result(c)
        .optional()?;
    Ok(taken.map(|row| RoleFence(row.fence)))
}

fn renew(c: &mut SqlConnection, role: &str, fence: RoleFence, until: Timestamp) -> Result<bool, SqlError> {
    let renewed =
        statement("UPDATE roles SET until_ms = $1 WHERE name = $2 AND fence = $3 AND holder IS NOT NULL")
            .bind::<BigInt, _>(until.millis())
            .bind::<Text, _>(role)
            .bind::<BigInt, _>(fence.0)
            .execute(c)?;
    Ok(renewed > 0)
}

fn holds(c: &mut SqlConnection, role: &str, fence: RoleFence) -> Result<bool, SqlError> {
    let held: Option<FenceRow> =
        statement("SELECT fence FROM roles WHERE name = $1 AND fence = $2 AND holder IS NOT NULL")
            .bind::<Text, _>(role)
            .bind::<BigInt, _>(fence.0)
            .get_result(c)
            .optional()?;
    Ok(held.is_some())
}

fn release(c: &mut SqlConnection, role: &str, fence: RoleFence) -> Result<(), SqlError> {
    statement("UPDATE roles SET holder = NULL WHERE name = $1 AND fence = $2")
        .bind::<Text, _>(role)
        .bind::<BigInt, _>(fence.0)
        .execute(c)?;
    Ok(())
}

fn release_all_of(c: &mut SqlConnection, holder: &str) -> Result<(), SqlError> {
    statement("UPDATE roles SET holder = NULL WHERE holder = $1").bind::<Text, _>(holder).execute(c)?;
    Ok(())
}
