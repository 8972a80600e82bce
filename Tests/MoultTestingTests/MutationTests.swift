import FaultCases
import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultTesting

/// Each guarantee broken on purpose: the harness must see it.
struct MutationTests {  // tier: long
    private static func ground(_ faultCase: FaultCase) throws -> (folder: ScratchFolder, ground: FaultFixture) {
        let folder = try ScratchFolder()
        return (folder, try FaultFixture(faultCase, in: POSIXSystem().resolve(folder.path)))
    }

    private static func faultCase(_ words: String) throws -> FaultCase {
        try #require(try FaultCases.all.first { $0.name.contains(words) })
    }

    @Test(arguments: ["rollback journal", "rows in the WAL", "quarantine restored"])
    func `a run that skips every synchronisation is caught`(words: String) throws {
        let (folder, ground) = try Self.ground(Self.faultCase(words))
        defer { withExtendedLifetime(folder) {} }
        ground.lie = .everywhere
        let row = try FaultSeries(ground, .powerLoss, seeds: [0, 1, 2]).run(seconds: 60, limit: 1)
        #expect(!row.broken.isEmpty, "\(row.tried) of \(row.moments) were tried")
    }

    @Test func `an engine that skips the synchronisation of its own files is caught`() throws {
        let (folder, ground) = try Self.ground(Self.faultCase("rolled back"))
        defer { withExtendedLifetime(folder) {} }
        ground.lie = .besideSQLite
        // Seeds that spare most of the changes: then there is a backup, and something of it is missing.
        let row = try FaultSeries(ground, .powerLoss, seeds: [2, 5, 8]).run(seconds: 60, limit: 1)
        #expect(!row.broken.isEmpty, "\(row.tried) of \(row.moments) were tried")
    }

    // MARK: - A migration that is refused

    private static let loss = Pass(
        StoreScript(statements: [
            .init(.delete, "ZITEM", "DELETE FROM main.ZITEM WHERE Z_PK = 3", "A row is lost", rows: 1)
        ]),
        from: "1", to: "2", verification: Verification(AllItems()))

    private struct AllItems: StoreCheck {
        let sentence = "Count the items."

        func check(_ connection: Connection) throws {
            guard try connection.integer("SELECT count(*) FROM main.ZITEM") == 24 else {
                throw MigrationError(.verificationFailed, "A row is missing.", place: "Item", remedy: "Look for it.")
            }
        }
    }

    /// - Parameter run: how the store is changed by a script that loses a row, which the verification sees.
    private static func refused(
        _ name: String, run: @escaping @Sendable (String, any System) throws -> Void
    ) throws -> FaultCase {
        var refused = FaultCase(name, prepare: try faultCase("rollback journal").prepare, run: run)
        refused.isRefused = true
        return refused
    }

    @Test func `a migration that fails its verification leaves the old store at every moment`() throws {
        let refused = try Self.refused("refused") { store, system in
            _ = try Migrator(options: .sequential, system: system).run(Self.loss, on: store)
        }
        let (folder, ground) = try Self.ground(refused)
        defer { withExtendedLifetime(folder) {} }
        for kind in [Fault.Kind.stop, .powerLoss, .inputOutputOnce] {
            let row = try FaultSeries(ground, kind).run(seconds: 0.3)
            #expect(row.broken == [] && row.tried > 0 && row.new == 0)
        }
    }

    @Test func `committing before verifying is caught`() throws {
        let careless = try Self.refused("careless") { store, _ in
            let connection = try Connection(store, mode: .readWrite)
            defer { connection.close() }
            try connection.execute("BEGIN; DELETE FROM ZITEM WHERE Z_PK = 3; COMMIT")
            try AllItems().check(connection)
        }
        let error = #expect(throws: MigrationError.self) { try Self.ground(careless) }
        #expect(error?.message.contains("A refused run changes the store") == true)
    }

    /// Where the store itself says what is left, a run may end without knowing of its commit only while the disk goes on
    /// failing.
    @Test func `an error after the last commit is caught, also where the store tells by itself`() throws {
        var late = FaultCase("late", prepare: try Self.faultCase("rollback journal").prepare) { store, system in
            let connection = try Connection(store, mode: .readWrite)
            defer { connection.close() }
            try connection.execute("DELETE FROM ZITEM WHERE Z_PK = 3")
            try system.append([10], to: store + ".log")
        }
        late.tellsByItself = true
        late.recover = { _, _ in }
        let (folder, ground) = try Self.ground(late)
        defer { withExtendedLifetime(folder) {} }
        let end = try #require(ground.operations.lastIndex(of: .append)) + 1
        for kind in [Fault.Kind.inputOutputOnce, .fullOnce, .inputOutputOn, .fullOn] {
            let outcome = try FaultTrial(ground, Fault(kind, at: end)).run()
            #expect((outcome == .kept(state: ground.last)) == kind.persists, "\(kind): \(outcome)")
        }
    }

    // MARK: - Swaps

    /// Changes a copy of the store's own file and renames it over the store; the WAL is forgotten.
    private static func swap(_ store: String, _ system: any System, synchronises: Bool) throws {
        let copy = store + ".new"
        try system.remove(copy)
        try system.copy(store, to: copy)
        let connection = try Connection(copy, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        if try connection.columns(of: "ZITEM").allSatisfy({ $0.name != "ZEXTRA" }) {
            try connection.execute("ALTER TABLE ZITEM ADD COLUMN ZEXTRA; UPDATE ZITEM SET ZEXTRA = 1")
        }
        connection.close()
        if synchronises { try system.synchronise(copy) }
        try system.rename(copy, to: store)
        try system.synchronise(Path.folder(of: store))
        for suffix in ["-wal", "-shm"] { try system.remove(store + suffix) }
    }

    private static func swapping(_ words: String, synchronises: Bool) throws -> FaultCase {
        let model = try faultCase(words)
        var swapping = FaultCase("swapping", prepare: model.prepare) { store, system in
            try swap(store, system, synchronises: synchronises)
        }
        swapping.contents = model.contents
        swapping.recover = { store, system in _ = try system.remove(store + ".new") }
        return swapping
    }

    @Test func `forgetting the WAL is caught`() throws {
        let error = #expect(throws: MigrationError.self) {
            try Self.ground(Self.swapping("rows in the WAL", synchronises: true))
        }
        #expect(error?.message.contains("changes what it must not") == true || error?.code == .storeCorrupted)
    }

    @Test(arguments: [false, true])
    func `a swap by rename is caught where the copy was not synchronised first`(synchronises: Bool) throws {
        let (folder, ground) = try Self.ground(
            Self.swapping("rollback journal", synchronises: synchronises))
        defer { withExtendedLifetime(folder) {} }
        let row = try FaultSeries(ground, .powerLoss, seeds: [0, 1, 2]).run(limit: 1)
        #expect(row.broken.isEmpty == synchronises, "\(row.broken)")
    }
}
