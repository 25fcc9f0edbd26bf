/// What a write locks against other writes until it ends.
///
/// SQLite runs one write at a time anyway. On Postgres, a write first takes its lock; the data that it then reads
/// cannot change before it ends. If a write finds out which account it changes only while it runs, it takes the lock of
/// that account then, and repeats its earlier reads. A write that changes the references to an original first locks the
/// row of the original's blob.
///
/// Locks are taken in the order of this list, and locks of several accounts by ascending id. Sweeps may use another
/// order, because only one sweep runs at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// No lock: each statement checks its conditions on the row with its key, and no statement depends on an earlier
    /// one.
    Nothing,
    /// All other writes, for repairs.
    Everything,
    /// Writes of the account with this id.
    Account(i64),
    /// Creation of the first account.
    Setup,
    /// Registration of clients.
    Clients,
    /// Attempts to sign in from one network.
    SignIn([u8; 32]),
    SigningKeys,
    /// The list of stages. Writes that complete or queue jobs of stages take `SharedStages`, which they share.
    Stages,
    SharedStages,
    /// The version of the word index. Writes that mark an image for a newer version take `SharedWords`, which they
    /// share.
    Words,
    SharedWords,
}
