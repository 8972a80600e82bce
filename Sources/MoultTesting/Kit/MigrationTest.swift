import MoultBasics
import MoultEngine
import MoultObjects

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

/// The results of the faults at the moments of a migration.
public struct FaultReport: Sendable, CustomStringConvertible {
    private let matrix: FaultMatrix

    init(_ matrix: FaultMatrix) { self.matrix = matrix }

    /// Faults that were tried.
    public var tried: Int { matrix.tried }
    /// Whether all were that there are.
    public var isComplete: Bool { matrix.rows.allSatisfy(\.isWhole) }
    /// The promises that were not kept, each with its fault; empty when nothing can be lost.
    public var broken: [String] { matrix.broken }
    /// The columns, as `ZTABLE.ZCOLUMN`, in which two undisturbed runs left other values, because the app's code asks the
    /// clock or makes identifiers: of these only whether a row has a value was compared.
    public var changingColumns: [String] { matrix.changing.sorted().map(\.place) }
    /// A table of the kinds of fault, as Markdown, and what was not compared.
    public var description: String {
        ([matrix.markdown] + [ChangingColumn.sentence(matrix.changing)].compactMap { $0 }).joined(separator: "\n\n")
    }
}

/// Everything that a store says, as lines of text: its schema, each row, the bytes of external data.
///
/// Two stores with equal contents hold the same, whatever their pages, journals and free space look like. Contents are
/// read by plain SQL over a copy, without the engine that migrates, and the store is not touched.
public struct StoreContents: Sendable, Hashable {
    /// A line for each entry of the schema and each row, in byte order.
    public let lines: [String]

    /// - Parameters:
    ///   - path: a store that is not being written to.
    ///   - tables: left out, such as `Z_METADATA` if two stores are to differ in their UUID.
    /// - Throws: `fileNotFound` if there is none, `storeCorrupted` if SQLite finds it damaged.
    public init(ofStoreAt path: String, exceptTables tables: Set<String> = []) throws {
        let system = POSIXSystem()
        guard try system.exists(path) else {
            throw MigrationError(
                .fileNotFound, "Nothing is at \(path).", place: path, remedy: "Check the path.")
        }
        let temporary = try TemporaryFolder("contents", system)
        defer { temporary.remove() }
        let rows = try LogicalState(of: path, scratch: Path.join(temporary.path, "look")).rows
        if let first = rows.first, first.hasPrefix("damaged: ") {
            throw MigrationError(
                .storeCorrupted, "The store at \(path) is damaged.", place: path,
                remedy: MigrationError.damagedStoreRemedy, cause: rows.dropFirst().first)
        }
        let prefixes = tables.map { "row \($0) " }
        lines = rows.filter { line in !prefixes.contains { line.hasPrefix($0) } }
    }

    /// SHA-256 of the lines, in hexadecimal.
    public var hash: String {
        var stream = SHA256Stream()
        for line in lines { Array("\(line)\n".utf8).withUnsafeBytes { stream.update($0) } }
        return stream.finish().hexadecimal
    }

    /// Returns the lines that only one of two stores has, for a person; nil if they hold the same.
    ///
    /// - Parameter limit: lines of each store that are shown; how many there are is always said.
    public func difference(from old: StoreContents, limit: Int = 10) -> String? {
        let (gone, come) = (Self.surplus(of: old, over: self), Self.surplus(of: self, over: old))
        if gone.isEmpty, come.isEmpty { return nil }
        let shown = gone.prefix(limit).map { "- \($0)" } + come.prefix(limit).map { "+ \($0)" }
        return (["\(gone.count) lines removed, \(come.count) added:"] + shown).joined(separator: "\n")
    }

    /// A line that is there twice and was there once is a line too many.
    private static func surplus(of contents: StoreContents, over other: StoreContents) -> [String] {
        var left = other.lines.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        return contents.lines.filter { line in
            guard let count = left[line], count > 0 else { return true }
            left[line] = count - 1
            return false
        }
    }
}
