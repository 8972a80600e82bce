import MoultEngine
import MoultModel
import MoultSystem
import MoultTransform

/// A migration of an app's own, tried on copies of a store.
///
/// ```swift
/// let test = try MigrationTest(ofStoreAt: path, registry: registry)
/// try test.migrate { copy in /* open the copy, look at its objects */ }
/// let report = try test.withFaults(seconds: 20)
/// #expect(report.broken == [])
/// ```
///
/// The store itself, and all that lies beside it, stay as they are. The code of the app runs each time, with all that it
/// does outside of the store. It may call `Date()` and `UUID()`: the columns in which two undisturbed runs leave other
/// values are compared by whether a row has one (``FaultReport/changingColumns``).
public struct MigrationTest: Sendable {
    private let store: String
    private let run: @Sendable (_ store: String, _ system: any System) throws -> Void

    /// - Parameters:
    ///   - path: a store of any version; one that an app has left is better than one that was made for the test.
    ///   - registry: the app's models and the code of its migrations, as its tool and its containers are given it.
    ///   - target: the version to migrate to; the current one when nil.
    /// - Throws: `modelNotFound` if the registry has no models, and what its models throw.
    public init(ofStoreAt path: String, registry: MigrationRegistry, to target: String? = nil) throws {
        guard let versions = try registry.models?() else {
            throw MigrationError(
                .modelNotFound, "The registry has no models.", place: path,
                remedy: "Make it with MigrationRegistry(models: …).")
        }
        store = path
        // The app has both versions.
        let options = PreparedMigration.Options(registry: registry, losses: .asTheVersionsSay())
        run = { store, system in
            let prepared = try PreparedMigration(
                store, versions: versions, to: target, options: options, system: system)
            _ = try Migrator(options: .sequential, system: system).run(prepared)
        }
    }

    /// Migrates a copy, undisturbed; after `check` the copy is gone.
    ///
    /// - Throws: what the migration throws, and what `check` throws.
    public func migrate<Result>(_ check: (_ copy: String) throws -> Result) throws -> Result {
        let system = POSIXSystem()
        let folder = try TemporaryFolder("test", system)
        defer { folder.remove() }
        let copy = Path.join(folder.path, Path.name(of: store))
        try StoreCopy.make(of: store, at: copy)
        try run(copy, system)
        return try check(copy)
    }

    /// Migrates a copy again and again, and each time something goes wrong at another moment: the process dies, the
    /// power is cut, a write is torn, the disk fails or is full, the clock jumps.
    ///
    /// After each, the store must be the complete old one or the complete new one, heal, and become the new one when
    /// the migration runs again, with nothing lost and no file left over. Other tests may run next to it.
    ///
    /// - Parameter seconds: how long it may continue; without an end every moment of every fault is tried. Where the
    ///   time is short, moments are taken from all parts of the migration, the same ones each time.
    /// - Throws: what an undisturbed migration throws.
    public func withFaults(seconds: Double = .infinity) throws -> FaultReport {
        FaultReport(try CrashTest(of: store, run: run).run(seconds: seconds, countsAllocations: false))
    }
}
