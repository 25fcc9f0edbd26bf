/// What a write excludes other writes from until it ends.
///
/// SQLite runs one write at a time anyway. On Postgres, a write first takes its lock; what it then reads cannot change
/// before it ends. A write that learns only while it runs which account it changes takes the lock of that account then,
/// and looks again at what it read before. Whoever changes what refers to an original first locks the row of its blob.
///
/// Locks are taken in the order of this list, and those of several accounts by ascending id, apart from the sweeps: of
/// these, one runs at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Nothing: each statement decides by the key of its row, and a later one does not depend on an earlier one.
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
    /// The list of stages. Whoever completes or queues jobs of stages shares this lock with others who do.
    Stages,
    SharedStages,
    /// The version of the word index. A write that marks an image for a newer version shares this lock.
    Words,
    SharedWords,
}
