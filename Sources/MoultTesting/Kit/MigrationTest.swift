import MoultBasics
import MoultEngine
import MoultObjects

/// A test of an app's own migration on copies of a store.
///
/// ```swift
/// let test = try MigrationTest(ofStoreAt: path, registry: registry)
/// try test.migrate { copy in /* open the copy, look at its objects */ }
/// let report = try test.withFaults(seconds: 20)
/// #expect(report.broken == [])
/// ```
///
/// The store itself and all files next to it are not changed. The app's code runs each time, with its effects outside
/// the store. It may call `Date()` and `UUID()`: if two undisturbed runs leave different values in a column, a
/// comparison only checks whether a row has a value there (``FaultReport/changingColumns``).
public struct MigrationTest: Sendable {
    private let store: String
    private let run: @Sendable (_ store: String, _ system: any System) throws -> Void

    /// - Parameters:
    ///   - path: a store of any version; a store from real use is better than one made for the test.
    ///   - registry: the app's models and the code of its migrations, as the app's tool and containers get it.
    ///   - target: the version to migrate to; nil for the current one.
    /// - Throws: `modelNotFound` if the registry has no models, and the errors of its models.
    public init(ofStoreAt path: String, registry: MigrationRegistry, to target: String? = nil) throws {
        guard let versions = try registry.models?() else {
            throw MigrationError(
                .modelNotFound, "The registry has no models.", place: path,
                remedy: "Make it with MigrationRegistry(models: …).")
        }
        store = path
        // Accept the losses that the two versions imply: the app has both.
        let options = PreparedMigration.Options(registry: registry, losses: .asTheVersionsSay())
        run = { store, system in
            let prepared = try PreparedMigration(
                store, versions: versions, to: target, options: options, system: system)
            _ = try Migrator(options: .sequential, system: system).run(prepared)
        }
    }

    /// Migrates a copy without faults. The copy is removed after `check`.
    ///
    /// - Throws: the errors of the migration, and those of `check`.
    public func migrate<Result>(_ check: (_ copy: String) throws -> Result) throws -> Result {
        let system = POSIXSystem()
        let folder = try TemporaryFolder("test", system)
        defer { folder.remove() }
        let copy = Path.join(folder.path, Path.name(of: store))
        try StoreCopy.make(of: store, at: copy)
        try run(copy, system)
        return try check(copy)
    }

    /// Migrates a copy repeatedly, with a fault at a different moment each time: the process dies, the power is cut, a
    /// write is torn, the disk fails or is full, the clock jumps.
    ///
    /// After each fault, the store must be the complete old one or the complete new one, recover, and become the new
    /// one when the migration runs again, with nothing lost and no file left over. Other tests may run in parallel.
    ///
    /// - Parameter seconds: the time limit; without one, every moment of every fault is tried. With a short limit,
    ///   moments are taken from all parts of the migration, the same ones each time.
    /// - Throws: the errors of an undisturbed migration.
    public func withFaults(seconds: Double = .infinity) throws -> FaultReport {
        FaultReport(try CrashTest(of: store, run: run).run(seconds: seconds, countsAllocations: false))
    }
}

/// The results of the faults at the moments of a migration.
public struct FaultReport: Sendable, CustomStringConvertible {
    private let matrix: FaultMatrix

    init(_ matrix: FaultMatrix) { self.matrix = matrix }

    /// The number of faults that were tried.
    public var tried: Int { matrix.tried }
    /// Whether every possible fault was tried.
    public var isComplete: Bool { matrix.rows.allSatisfy(\.isWhole) }
    /// The broken promises, each with its fault; empty if no data can be lost.
    public var broken: [String] { matrix.broken }
    /// The columns, as `ZTABLE.ZCOLUMN`, in which two undisturbed runs left different values, because the app's code
    /// reads the clock or makes identifiers. A comparison only checks whether a row has a value there.
    public var changingColumns: [String] { matrix.changing.sorted().map(\.place) }
    /// A table of the kinds of fault, as Markdown, and the columns that were not compared.
    public var description: String {
        ([matrix.markdown] + [ChangingColumn.sentence(matrix.changing)].compactMap { $0 }).joined(separator: "\n\n")
    }
}

/// The contents of a store as lines of text: its schema, each row, the bytes of external data.
///
/// Two stores with equal contents hold the same data, whatever their pages, journals and free space. Contents are read
/// by plain SQL from a copy, without the migration engine, and the store is not touched.
public struct StoreContents: Sendable, Hashable {
    /// A line for each entry of the schema and each row, in byte order.
    public let lines: [String]

    /// - Parameters:
    ///   - path: a store that is not being written to.
    ///   - tables: the tables to leave out, such as `Z_METADATA` if two stores should differ in their UUID.
    /// - Throws: `fileNotFound` if there is no file, `storeCorrupted` if SQLite finds it damaged.
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

    /// Returns the lines that only one of two stores has, in readable form; nil if the contents are equal.
    ///
    /// - Parameter limit: the number of lines to show of each store; the total is always given.
    public func difference(from old: StoreContents, limit: Int = 10) -> String? {
        let (gone, come) = (Self.surplus(of: old, over: self), Self.surplus(of: self, over: old))
        if gone.isEmpty, come.isEmpty { return nil }
        let shown = gone.prefix(limit).map { "- \($0)" } + come.prefix(limit).map { "+ \($0)" }
        return (["\(gone.count) lines removed, \(come.count) added:"] + shown).joined(separator: "\n")
    }

    /// Returns the surplus lines, counting repetitions: a line that occurs twice instead of once is one too many.
    private static func surplus(of contents: StoreContents, over other: StoreContents) -> [String] {
        var left = other.lines.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        return contents.lines.filter { line in
            guard let count = left[line], count > 0 else { return true }
            left[line] = count - 1
            return false
        }
    }
}
