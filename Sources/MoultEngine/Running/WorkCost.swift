/// About how many seconds each kind of work takes: for the phases of a whole run (``RunEstimate``), and for the units
/// of one with a budget (``MigrationUnits``).
///
/// Measured with optimisation on two slow cores, next to Documentation/Performance.md. A run finds out how fast its
/// machine is (``RunClock``, ``MigrationPace``); what counts before it is how long one kind of work takes next to
/// another.
enum WorkCost {
    // MARK: A byte of the store

    /// All pages through SQLite.
    static let backup = 1.25e-9
    /// Synchronising what was written, and checking its pages.
    static let soundness = 1.8e-9
    static let digest = 1.0e-9
    static let proof = soundness + digest
    static let copy = 1.2e-9
    /// All of the verification, its pages checked next to it.
    static let verify = 6.3e-9
    /// The pages through a log, synchronised, and from there into the store's own file.
    static let commit = 2.6e-9
    /// The second part of it, for a store in WAL mode.
    static let writeBack = 0.8e-9
    /// Synchronising what a call has written.
    static let synchronisation = 1.5e-9
    static let write = 2.5e-9

    // MARK: A row

    /// Counting it, and what a plan asks before anything is done.
    static let look = 0.2e-6
    static let insert = 0.3e-6
    static let update = 0.55e-6
    static let drop = 0.2e-6
    /// A large sort, as for an index.
    static let sort = 0.45e-6
    static let comparison = 0.6e-6
    /// One question to all rows, such as whether what they refer to is there.
    static let question = 0.1e-6
    /// A pair of keys looked up on both sides.
    static let link = 0.5e-6

    // MARK: An object

    /// Through an app's migration policy. All others are SQLite's work, which a build without optimisation does as fast.
    #if DEBUG
        static let object = 2e-5
    #else
        static let object = 6e-6
    #endif
    /// Through a step.
    static let step = 1e-5

    // MARK: What takes some time whatever the size

    /// A statement that touches no row.
    static let statement = 1e-3
    /// Files opened, written and synchronised.
    static let files = 5e-3
    /// The work that every call with a budget does before its first unit.
    static let call = 0.03
}
