import MoultEngine
import MoultModel
import MoultSystem

/// A kind of migration as a trial needs it: what it begins with, and the work, which is begun again after each fault.
package struct FaultCase: Sendable {
    /// The folder next to the store where the work's temporary files go.
    static let temporaryName = "temporary"

    package var name: String
    package var storeName: String
    /// Makes, in an empty folder, the store and all that a trial begins with.
    package var prepare: @Sendable (_ store: String) throws -> Void
    /// The whole work as a program does it: look, plan, run. It makes the same calls in the same order each time.
    package var run: @Sendable (_ store: String, _ system: any System) throws -> Void
    /// Each takes a new store to a state on the way at which the work may stay.
    package var stops: [@Sendable (_ store: String, _ system: any System) throws -> Void] = []
    /// Recovers what a dead program has left, as the next start of a program does.
    package var recover: @Sendable (_ store: String, _ system: any System) throws -> Void = { store, system in
        _ = try Migrator(system: system).recover(store)
    }
    /// Reads, by plain SQL, what the old store and the new one must both hold; nil if the work is to change it.
    package var contents: (@Sendable (_ store: String) throws -> [String])?
    /// Describes the store at the path by a program that is not Moult: the description must be the same for equal
    /// states. Nil if the states differ in what is chosen at random.
    package var witness: (@Sendable (_ store: String) throws -> String)?
    /// The store that another program can have open during the work: this one, or one that the work reads. Nil if no
    /// store is there yet: SQLite would make an empty one for whoever opens it.
    package var opened: @Sendable (_ store: String) -> String? = { $0 }
    /// A table that is not compared, for its rows hold what is chosen at random.
    package var ignoredTable: String?
    /// Returns what is wrong outside the store, where the work does something there: nil when all is right. `said` is
    /// the error that the run ended with, in words; empty where it succeeded or died.
    package var outside: (@Sendable (_ store: String, _ isNew: Bool, _ said: String) throws -> String?)?
    /// Whether the code of an app runs, which may ask the clock or make identifiers: what two undisturbed runs leave
    /// different is not compared.
    package var hasCodeOfAnApp = false
    /// Whether the store itself says what is left to do, so that where the disk fails in the last commit, and continues
    /// failing, no journal need say that it was tried.
    package var tellsByItself = false
    /// Whether an error may leave the whole new store where the disk removes nothing any more: then it says so.
    package var namesWhatIsLeft = false
    /// Whether the work must end with an error and the old store, as one whose verification fails.
    package var isRefused = false

    package init(
        _ name: String, storeName: String = "store.sqlite", prepare: @escaping @Sendable (String) throws -> Void,
        run: @escaping @Sendable (String, any System) throws -> Void
    ) {
        self.name = name
        self.storeName = storeName
        self.prepare = prepare
        self.run = run
    }
}

extension MigrationOptions {
    /// For a trial: the same calls in the same order each time.
    package static var sequential: MigrationOptions {
        var options = MigrationOptions(patience: 0)
        options.isSequential = true
        return options
    }
}
