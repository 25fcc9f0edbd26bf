//! Reserves quota for running uploads, whose bytes the store does not count yet.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::AccountId;

use crate::{ImportError, Ingest};

/// How many bytes are reserved at once while a body of unknown length arrives. The store is queried for each reservation.
const STEP_BYTES: u64 = 256 * 1024;

/// The bytes that are reserved for the uploads of each account, in this process.
#[derive(Debug, Default, Clone)]
pub(crate) struct ReservedBytes(Arc<Mutex<HashMap<AccountId, u64>>>);

/// What an upload needs room for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RoomFor {
    /// A file. The account may store the same file already, so while nothing else is reserved, the file may be as long as
    /// the quota.
    File,
    /// A part of a file. While nothing else is reserved, it may use the room of the bytes that it replaces.
    Part { replaced_bytes: u64 },
}

/// The bytes that are reserved for one upload until the store counts them. Dropping it frees them.
#[derive(Debug)]
pub(crate) struct Reservation {
    reserved: ReservedBytes,
    account: AccountId,
    /// `None` if the upload has no limit; then nothing is reserved.
    quota_bytes: Option<u64>,
    room_for: RoomFor,
    bytes: u64,
}

impl ReservedBytes {
    fn by_account(&self) -> MutexGuard<'_, HashMap<AccountId, u64>> {
        // No change under the lock can stop half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// The bytes that other uploads of the account have reserved.
    fn of_others(&self, by_account: &HashMap<AccountId, u64>) -> u64 {
        by_account.get(&self.account).copied().unwrap_or_default().saturating_sub(self.bytes)
    }

    /// Reserves this many bytes instead of those that are reserved now; `false` if they do not fit beside the stored
    /// bytes and the other uploads. `of_others_before` is what other uploads had reserved just before the store was
    /// queried. It counts as well, because an upload that has ended since then may be missing from `stored_bytes`.
    fn try_reserve(&mut self, stored_bytes: u64, of_others_before: u64, bytes: u64) -> bool {
        let Some(quota_bytes) = self.quota_bytes else { return true };
        let mut by_account = self.reserved.by_account();
        let of_others_now = self.of_others(&by_account);
        let of_others = of_others_now.max(of_others_before);
        let fits = stored_bytes.saturating_add(of_others).saturating_add(bytes) <= quota_bytes;
        let fits_alone = match self.room_for {
            RoomFor::File => bytes <= quota_bytes,
            RoomFor::Part { replaced_bytes } => {
                stored_bytes.saturating_sub(replaced_bytes).saturating_add(bytes) <= quota_bytes
            }
        };
        let is_full = matches!(self.room_for, RoomFor::File) && stored_bytes >= quota_bytes;
        let fits = !is_full && (fits || (of_others == 0 && fits_alone));
        if fits {
            self.bytes = bytes;
            by_account.insert(self.account, of_others_now.saturating_add(bytes));
        }
        fits
    }

    /// Queries the store, and reserves the first of these numbers of bytes that fits.
    ///
    /// # Errors
    /// [`ImportError::QuotaExceeded`], or the store failed.
    async fn reserve_one_of(&mut self, ingest: &Ingest, numbers: &[u64]) -> Result<(), ImportError> {
        let Some(quota_bytes) = self.quota_bytes else { return Ok(()) };
        let before = self.of_others(&self.reserved.by_account());
        let stored = ingest.parts.store.stored_bytes(self.account).await?;
        let has_room = numbers.iter().any(|bytes| self.try_reserve(stored, before, *bytes));
        if has_room { Ok(()) } else { Err(ImportError::QuotaExceeded { quota_bytes }) }
    }

    /// Makes sure that the first `received_bytes` of the upload are reserved.
    ///
    /// # Errors
    /// [`ImportError::QuotaExceeded`], or the store failed.
    pub(crate) async fn cover(&mut self, ingest: &Ingest, received_bytes: u64) -> Result<(), ImportError> {
        if self.quota_bytes.is_none() || received_bytes <= self.bytes {
            return Ok(());
        }
        let step = received_bytes.checked_next_multiple_of(STEP_BYTES).unwrap_or(received_bytes);
        self.reserve_one_of(ingest, &[step, received_bytes]).await
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut by_account = self.reserved.by_account();
        let Some(of_account) = by_account.get_mut(&self.account) else { return };
        *of_account = of_account.saturating_sub(self.bytes);
        if *of_account == 0 {
            by_account.remove(&self.account);
        }
    }
}

impl Ingest {
    /// Reserves room for an upload that announced this many bytes, before they are received. `quota_bytes` is the maximum
    /// number of bytes that the account may store, if there is one.
    ///
    /// # Errors
    /// [`ImportError::QuotaExceeded`], or the store failed.
    pub(crate) async fn reserve(
        &self,
        account: AccountId,
        quota_bytes: Option<u64>,
        room_for: RoomFor,
        announced_bytes: u64,
    ) -> Result<Reservation, ImportError> {
        let reserved = self.parts.reserved_bytes.clone();
        let mut reservation = Reservation { reserved, account, quota_bytes, room_for, bytes: 0 };
        reservation.reserve_one_of(self, &[announced_bytes]).await?;
        Ok(reservation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reservations of one account with a quota of 100 bytes.
    fn reservation(reserved: &ReservedBytes, room_for: RoomFor) -> Reservation {
        let (reserved, account) = (reserved.clone(), AccountId(1));
        Reservation { reserved, account, quota_bytes: Some(100), room_for, bytes: 0 }
    }

    #[test]
    fn uploads_of_an_account_share_its_quota() {
        let reserved = ReservedBytes::default();
        let new = || reservation(&reserved, RoomFor::File);
        let (mut first, mut second) = (new(), new());
        assert!(
            first.try_reserve(40, 0, 40) && !second.try_reserve(40, 0, 21) && second.try_reserve(40, 0, 20)
        );
        assert!(!first.try_reserve(40, 0, 41), "the other one has the rest");
        assert!(!new().try_reserve(40, 0, 1) && new().try_reserve(40, 0, 0));
        let mut of_another = new();
        of_another.account = AccountId(2);
        assert!(of_another.try_reserve(0, 0, 100));
        drop(first);
        assert!(second.try_reserve(40, 0, 60));
        drop((second, of_another));
        assert!(reserved.by_account().is_empty());
    }

    #[test]
    fn a_single_file_may_be_as_long_as_the_quota_because_it_may_be_a_duplicate() {
        let reserved = ReservedBytes::default();
        let (mut alone, mut other) =
            (reservation(&reserved, RoomFor::File), reservation(&reserved, RoomFor::File));
        assert!(!alone.try_reserve(99, 0, 101) && alone.try_reserve(99, 0, 100));
        assert!(!other.try_reserve(99, 0, 1));
        drop(alone);
        assert!(!other.try_reserve(100, 0, 1), "the account is full");
        let mut part = reservation(&reserved, RoomFor::Part { replaced_bytes: 0 });
        assert!(!part.try_reserve(99, 0, 2) && part.try_reserve(99, 0, 1));
    }

    #[test]
    fn a_single_part_may_use_the_room_of_the_part_it_replaces() {
        let reserved = ReservedBytes::default();
        let new = || reservation(&reserved, RoomFor::Part { replaced_bytes: 50 });
        let (mut first, mut second) = (new(), new());
        assert!(!first.try_reserve(90, 0, 61) && first.try_reserve(90, 0, 60));
        assert!(!second.try_reserve(90, 0, 1), "the part that is replaced is stored until then");
        drop(first);
        assert!(!second.try_reserve(90, 60, 50), "an upload that ended meanwhile may not be stored yet");
        assert!(second.try_reserve(90, 0, 50));
    }
}
