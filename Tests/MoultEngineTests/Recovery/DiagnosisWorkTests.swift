import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import MoultVerify
import Synchronization
import TestSupport
import Testing

@testable import Moult
@testable import MoultCare
@testable import MoultEngine

/// What a diagnosis and an audit do once, however many of their checks need it.
struct DiagnosisWorkTests {
    /// A machine that counts how often each file is read as a whole.
    private final class CountingSystem: ForwardingSystem {
        private let counts = Mutex<[String: Int]>([:])

        func reads(of path: String) -> Int { counts.withLock { $0[path] ?? 0 } }
        private func count(_ path: String) { counts.withLock { $0[path, default: 0] += 1 } }

        func read(_ path: String, prefix count: Int) throws -> [UInt8] {
            self.count(path)
            return try real.read(path, prefix: count)
        }

        func digest(of path: String) throws -> [UInt8] {
            count(path)
            return try real.digest(of: path)
        }
    }

    @Test func `each backup is listed and verified once`() throws {
        let library = try LibraryStore()
        let versions = ModelVersions(versions: [library.version])
        let keeper = StoreKeeper(library.path, versions: { versions })
        for _ in 0..<3 { _ = try keeper.backUp() }
        let backups = try Migrator().backups(of: library.path).list()
        #expect(backups.count == 3)
        let system = CountingSystem()
        let diagnosis = StoreDiagnosis(library.path, versions: versions, on: system)
        #expect(diagnosis.isWell, "\(diagnosis.findings)")
        for backup in backups {
            #expect(system.reads(of: backup.folder + "/manifest.json") == 1)
            #expect(system.reads(of: backup.store) == 1)
        }
    }

    private func statements(_ library: LibraryStore) throws -> [String] {
        let versions = ModelVersions(versions: [library.version])
        return try StatementSteps.counting(below: library.folder.path) {
            _ = StoreDiagnosis(library.path, versions: versions)
        }.keys.sorted()
    }

    @Test func `a fault is searched for by its rows only if the audit has found one of its kind`() throws {
        let library = try LibraryStore()
        let sound = try statements(library)
        #expect(sound.filter { $0.contains("integrity_check") } == ["PRAGMA \"main\".integrity_check(0)"])
        // Derived values are counted anew by the audit itself.
        let searches = sound.filter {
            $0.hasPrefix("SELECT r.Z_PK FROM main.") && !$0.contains("BOOKCOUNT") || $0.contains("first_value")
        }
        #expect(searches == [])
        try library.shell("UPDATE ZBOOK SET ZCOVER = 1000 WHERE Z_PK = 7")
        let dangling = try statements(library)
        #expect(dangling.contains { $0.hasPrefix("SELECT r.Z_PK FROM main.\"ZBOOK\"") })
        #expect(!dangling.contains { $0.contains("first_value") })
    }

    /// The damages of one store after another, and the codes that a check of the rows gives them.
    private static let damages = [
        ("SELECT 1", ""), ("UPDATE ZBOOK SET ZCOVER = 1000 WHERE Z_PK = 7", "dangling-reference"),
        ("UPDATE ZLOAN SET ZBOOK = 1000 WHERE Z_PK % 7 = 0", "dangling-reference"),
        ("DELETE FROM ZTAG WHERE Z_PK = 3", "dangling-reference"),
        ("UPDATE ZBOOK SET ZCOVER = Z_PK % 100 + 1", "inverse-disagrees"),
        ("UPDATE ZCOVER SET ZBOOK = NULL, Z1_BOOK = NULL", "inverse-one-sided"),
        ("UPDATE ZBOOK SET ZSHELF = NULL WHERE Z_PK = 9", "required-missing"),
        ("UPDATE ZTAG SET Z_ENT = 99 WHERE Z_PK = 9", "stranger"),
        ("UPDATE ZTAG SET ZNAME = 'tag 1' WHERE Z_PK = 2", "not-unique"),
    ]

    @Test(arguments: damages)
    func `an index alone gives the faults that the rows give`(sql: String, code: String) throws {
        let library = try LibraryStore()
        try library.shell("DROP INDEX Z_Tag_UNIQUE_name; \(sql)")
        try ReadOnlyStore.read(library.path) { probe in
            let layout = try StoreLayout(actual: StoreSnapshot(probe.connection), model: library.version.model)
            let shape = StoreShape(layout, withObjects: false)
            let (rows, indexes) = (
                try StoreVerifier(probe.connection, shape: shape).rows(),
                try StoreVerifier(probe.connection, shape: shape, trustsIndexes: true).rows()
            )
            #expect(rows == indexes)
            #expect(rows.isEmpty == code.isEmpty && (code.isEmpty || rows.contains { $0.finding.code == code }))
        }
    }
}
