import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import Synchronization
import TestSupport
import Testing

/// A disk that writes one bit of one write wrong and says nothing, in every kind of work that copies pages.
struct FlippedByteTests {
    enum Work: String, CaseIterable {
        case backup, copy, store, deferred, into, rollback, overDamage, missing

        static let grounds: [(Work, Bool)] =
            allCases.map { ($0, false) } + [Work.copy, .store, .rollback].map { ($0, true) }
    }

    /// What the work leaves is judged by the sqlite3 shell: the rows, the indexes, and those of every backup.
    @Test(arguments: Work.grounds)
    func `a wrong bit is noticed before the work is done, or has changed nothing`(work: Work, isWAL: Bool) throws {
        let ground = try FlipGround(work, isWAL: isWAL)
        let writes = try ground.writes()
        let count = writes.count
        // A backup is written in pieces of many pages.
        #expect(count > (work == .backup ? 1 : 3))
        var (noticed, harmless) = (0, 0)
        // Of each file that is written one page in the middle, in every tier.
        for (file, numbers) in Dictionary(grouping: 1...count, by: { writes[$0 - 1] }) {
            let isNoticed = try ground.isNoticed(flipping: numbers[numbers.count / 2], at: 3_000)
            if isNoticed { noticed += 1 } else { harmless += 1 }
            guard !file.contains(".moult") else { continue }
            // The copy still has what its commit has to write, and a log what is written back from it: that is written
            // once more.
            if work == .copy || isWAL && Path.name(of: file) == "Forum data.sqlite" { #expect(!isNoticed, "\(file)") }
        }
        for round in Tier.faults.rounds(quick: 2, full: 60, sharedBy: Work.grounds.count) {
            let number = 1 + (round * 7_919 + 3) % count
            if try ground.isNoticed(flipping: number, at: 97 + round * 389) { noticed += 1 } else { harmless += 1 }
        }
        print(
            "FlippedByteTests: \(work.rawValue): \(count) writes, \(noticed) flips noticed, \(harmless) without a trace"
        )
    }
}

/// A disk that copies and writes files wrong, and says nothing.
private struct FlippingFiles: ForwardingSystem {
    var flipsCopies = false
    /// A part of the paths of the files that it writes wrong.
    var flipped = "_EXTERNAL_DATA"

    private func flip(_ path: String) throws {
        var bytes = try real.read(path)
        bytes[bytes.count / 2] ^= 1
        try real.write(bytes, to: path)
    }

    func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
        try real.copy(path, to: copy, rights)
        if flipsCopies { try flip(copy) }
    }

    func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try real.write(bytes, to: path, rights)
        if path.contains(flipped) { try flip(path) }
    }
}

extension FlippedByteTests {
    @Test func `a file beside the store that is copied or written wrong is noticed before the work is done`() throws {
        let fixture = try EngineFixture()
        let before = try fixture.logicalHash()
        var migration = Pass(from: "1", to: "1")
        migration.newExternalFiles = [.init(name: "A", contents: Array(repeating: 7, count: 200_000))]
        let written = #expect(throws: MigrationError.self) {
            try Migrator(system: FlippingFiles()).run(migration, on: fixture.store)
        }
        #expect(written?.code == .inputOutput && written?.message.contains("is not read as it was written") == true)
        #expect(try fixture.logicalHash() == before)
        let external = fixture.folder.path + "/.Forum data_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 200_000).write(to: URL(fileURLWithPath: external + "/B"))
        let system = FlippingFiles(flipsCopies: true)
        let kept = try Migrator().backups(of: fixture.store).list()
        let copied = #expect(throws: MigrationError.self) {
            try Migrator(system: system).backUp(fixture.store, version: "1")
        }
        #expect(copied?.code == .inputOutput && copied?.message.contains("is not read as it was written") == true)
        #expect(try Migrator().backups(of: fixture.store).list() == kept)
        let described = #expect(throws: MigrationError.self) {
            try Migrator(system: FlippingFiles(flipped: "manifest.json")).backUp(fixture.store, version: "1")
        }
        #expect(described?.code == .inputOutput)
        #expect(described?.message.contains("manifest.json") == true)
        #expect(try Migrator().backups(of: fixture.store).list() == kept)
        // The copy of a store that is looked at is made once more.
        #expect(try !ReadOnlyStore.copy(fixture.store, to: fixture.folder.path + "/copy", system))
    }
}

extension FlippedByteTests {
    /// An app that was killed has left a log, which SQLite writes back when the recovery closes the store, or a journal,
    /// which it plays back when the recovery opens it. The log or the journal stays until what was written is proven.
    @Test(arguments: [true, false])
    func `a wrong bit in what a recovery writes changes no value`(isLog: Bool) throws {
        let fixture = try EngineFixture(killable: 600, isWAL: isLog)
        if !isLog {
            let app = try SQLiteProcess(fixture.store)
            _ = try app.run(
                "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; BEGIN; UPDATE ZITEM SET ZNAME = 'not committed'")
            app.kill()
        }
        let name = Path.name(of: fixture.store)
        func fresh() throws -> ScratchFolder {
            let folder = try ScratchFolder()
            for name in [name, name + (isLog ? "-wal" : "-journal")] {
                try FileManager.default.copyItem(
                    atPath: "\(fixture.folder.path)/\(name)", toPath: "\(folder.path)/\(name)")
            }
            return folder
        }
        func hash(_ folder: ScratchFolder) throws -> String {
            try SQLiteShell.run("\(folder.path)/\(name)", ".sha3sum --schema")
        }
        let untouched = try fresh()
        let expected = try hash(untouched)
        let whole = try fresh()
        let counter = FlippingDisk(number: nil, place: 0)
        _ = try counter.watching(whole.path) { try Migrator().recover("\(whole.path)/\(name)") }
        #expect(try hash(whole) == expected)
        let count = counter.files.count
        try #require(count > 0)
        for number in stride(from: 1, through: count, by: max(1, count / 12)) {
            let folder = try fresh()
            let disk = FlippingDisk(number: number, place: 3_000)
            let result = try disk.watching(folder.path) {
                Result { try Migrator().recover("\(folder.path)/\(name)") }
            }
            #expect(!disk.met.isEmpty)
            // A store that cannot be opened is refused. One that is closed has its log.
            if case .failure(let error) = result { #expect((error as? MigrationError)?.code == .inputOutput) }
            #expect(try hash(folder) == expected, "write \(number), \(disk.met)")
        }
    }
}

/// A disk on which a page of a store changes after its commit was proven, and the next page is written wrong.
private final class AgeingDisk: FileWatcher {
    private let store: String
    private let state = Mutex((isChanged: false, isWrong: false))

    init(_ store: String) { self.store = store }

    /// Whether both have happened.
    var isOld: Bool { state.withLock { $0.isChanged && $0.isWrong } }

    func answer(_ call: FileCall) -> FileCall.Answer { .pass }
    func closed(_ path: String) {}

    /// Changes page 3 when SQLite writes zeros over the header of the journal, which ends a commit.
    func done(_ call: FileCall) {
        guard call.path == store + "-journal", call.operation == .write(offset: 0), call.bytes.count == 28 else {
            return
        }
        state.withLock { state in
            guard !state.isChanged, let file = FileHandle(forUpdatingAtPath: store) else { return }
            defer { try? file.close() }
            let place = UInt64(3 * 4_096 - 4)
            guard (try? file.seek(toOffset: place)) != nil, let byte = try? file.read(upToCount: 1)?.first,
                (try? file.seek(toOffset: place)) != nil, (try? file.write(contentsOf: [byte ^ 1])) != nil
            else { return }
            state.isChanged = true
        }
    }

    func altered(_ call: FileCall) -> [UInt8]? {
        state.withLock { state in
            guard call.path == store, state.isChanged, !state.isWrong, call.bytes.count >= 512 else { return nil }
            state.isWrong = true
            var bytes = Array(call.bytes)
            bytes[bytes.count - 8] ^= 1
            return bytes
        }
    }
}

extension FlippedByteTests {
    @Test func `a page that differs after the commit, and cannot be written again, is reported`() throws {
        let fixture = try EngineFixture(killable: 600, isWAL: false)
        _ = try SQLiteShell.run(fixture.store, "PRAGMA journal_mode = DELETE")
        let disk = AgeingDisk(try POSIXSystem().resolve(fixture.store))
        let folder = try POSIXSystem().resolve(fixture.folder.path)
        try #require(WatchedVFS.watch(folder, by: disk))
        defer { WatchedVFS.unwatch(folder) }
        let versions = try KillableVersions.make()
        let error = #expect(throws: MigrationError.self) {
            _ = try Migrator().run(PreparedMigration(fixture.store, versions: versions))
        }
        #expect(disk.isOld)
        #expect(error?.code == .verificationFailed && error?.message.contains("its page 3 is not") == true)
    }
}

extension FlippedByteTests {
    /// SQLite writes the frames back that the reader does not need, and does not synchronise the database.
    @Test func `a write-back that a reader cuts short is proven`() throws {
        let folder = try ScratchFolder()
        let path = try POSIXSystem().resolve(folder.path) + "/numbers.sqlite"
        let writer = try SQLiteProcess(path)
        _ = try writer.run("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(20000))")
        let reader = try SQLiteProcess(path)
        _ = try reader.run("BEGIN; SELECT count(*) FROM t")
        _ = try writer.run("INSERT INTO t VALUES (2)")
        let disk = FlippingDisk(number: 1, place: 3_000)
        try disk.watching(folder.path) {
            let connection = try Connection(path, mode: .readWrite, isProven: true)
            defer { connection.close() }
            let error = #expect(throws: MigrationError.self) { try connection.writeBackLog(POSIXSystem()) }
            #expect(error?.code == .inputOutput && error?.message.contains("is not read as it was written") == true)
        }
        #expect(disk.met.hasPrefix("numbers.sqlite write"))
        reader.end()
        writer.end()
    }
}

/// A store, and some work on it that can be done again and again.
private struct FlipGround {
    let work: FlippedByteTests.Work
    let template: ScratchFolder
    let versions: ModelVersions
    /// The hash of all rows that each file has to have after the work.
    private let (old, new): (String, String)

    init(_ work: FlippedByteTests.Work, isWAL: Bool) throws {
        (self.work, template) = (work, try ScratchFolder())
        let fixture = try EngineFixture(killable: 600, isWAL: isWAL)
        if !isWAL { _ = try SQLiteShell.run(fixture.store, "PRAGMA journal_mode = DELETE") }
        versions = work == .store ? try Self.additions() : try KillableVersions.make()
        old = try fixture.logicalHash()
        if work == .deferred {
            let folder = fixture.folder.path + "/whole"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let copy = folder + "/Forum data.sqlite"
            try FileManager.default.copyItem(atPath: fixture.store, toPath: copy)
            try Self.migrateLater(copy, versions)
            new = try SQLiteShell.run(copy, ".sha3sum --schema")
            try FileManager.default.removeItem(atPath: folder)
        } else if ![.backup, .copy, .store, .into].contains(work) {
            _ = try Self.migrate(fixture.store, versions)
            new = try fixture.logicalHash()
        } else {
            let copy = fixture.folder.path + "/new.sqlite"
            _ = try Migrator().run(PreparedMigration(fixture.store, versions: versions), into: copy)
            new = try SQLiteShell.run(copy, ".sha3sum --schema")
            for name in ["new.sqlite", "new.sqlite.moult"] {
                try FileManager.default.removeItem(atPath: fixture.folder.path + "/" + name)
            }
        }
        try FileManager.default.removeItem(atPath: template.path)
        try FileManager.default.copyItem(atPath: fixture.folder.path, toPath: template.path)
    }

    /// A version that a store is brought to without rebuilding a table.
    private static func additions() throws -> ModelVersions {
        let versions = try KillableVersions.make()
        let model = try ManagedObjectModel(
            entities: versions.versions[0].model.entities.map { entity in
                var entity = entity
                if entity.name == "Item" {
                    entity.attributes.append(.init(name: "word", type: .string, isIndexed: true))
                }
                return entity
            })
        return ModelVersions(versions: [versions.versions[0], ModelVersion(names: ["2"], model: model)])
    }

    private static func migrate(_ store: String, _ versions: ModelVersions) throws -> MigrationOutcome? {
        try Migrator().run(PreparedMigration(store, versions: versions)).last
    }

    /// Defers what can wait, and finishes it.
    private static func migrateLater(_ store: String, _ versions: ModelVersions) throws {
        var options = PreparedMigration.Options()
        (options.defersWork, options.choice) = (true, .normalised)
        _ = try Migrator().run(PreparedMigration(store, versions: versions, options: options))
        _ = try Migrator().finishDeferred(store, .all)
    }

    /// The file of each write.
    func writes() throws -> [String] {
        let folder = try fresh()
        let disk = FlippingDisk(number: nil, place: 0)
        try disk.watching(folder.path) { try perform(in: folder.path) }
        return disk.files
    }

    /// - Returns: whether the work failed. The store is then the old one or the new one.
    func isNoticed(flipping number: Int, at place: Int) throws -> Bool {
        let folder = try fresh()
        let disk = FlippingDisk(number: number, place: place)
        let result = try disk.watching(folder.path) { Result { try perform(in: folder.path) } }
        let store = folder.path + "/Forum data.sqlite"
        let remark = Comment(rawValue: "write \(number), byte \(place), \(disk.met)")
        guard case .success = result else {
            // Deferred work that fails leaves the store between the two.
            if work == .deferred { _ = try hash(store) }
            if ![.deferred, .overDamage, .missing].contains(work) {
                #expect(!FileManager.default.fileExists(atPath: store + "-journal"), remark)
                #expect([old, new].contains(try? hash(store)), remark)
            }
            return true
        }
        let isNew = [.copy, .store, .deferred].contains(work)
        #expect((try? hash(store)) == (isNew ? new : old), remark)
        if work == .into { #expect((try? hash(folder.path + "/into.sqlite")) == new, remark) }
        for backup in try Migrator().backups(of: store).list() {
            #expect([old, new].contains(try? hash(backup.store)), remark)
        }
        return false
    }

    private func hash(_ path: String) throws -> String {
        #expect(try SQLiteShell.run(path, "PRAGMA integrity_check") == "ok\n")
        return try SQLiteShell.run(path, ".sha3sum --schema")
    }

    private func fresh() throws -> ScratchFolder {
        let folder = try ScratchFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: template.path) {
            try FileManager.default.copyItem(atPath: "\(template.path)/\(name)", toPath: "\(folder.path)/\(name)")
        }
        let store = folder.path + "/Forum data.sqlite"
        if work == .overDamage {
            var bytes = try POSIXSystem().read(store)
            for place in 4_096..<12_288 { bytes[place] = 0xEE }
            try POSIXSystem().write(bytes, to: store)
        }
        if work == .missing { try FileManager.default.removeItem(atPath: store) }
        return folder
    }

    private func perform(in folder: String) throws {
        let store = folder + "/Forum data.sqlite"
        switch work {
        case .backup: _ = try Migrator().backUp(store, version: "1")
        case .copy, .store: _ = try Self.migrate(store, versions)
        case .deferred: try Self.migrateLater(store, versions)
        case .into:
            _ = try Migrator().run(PreparedMigration(store, versions: versions), into: folder + "/into.sqlite")
        case .rollback, .overDamage, .missing:
            let backup = try #require(try Migrator().backups(of: store).list().first)
            _ = try Migrator().rollback(store, to: backup)
        }
    }
}

/// Counts SQLite's writes of pages below a folder, and writes one of them wrong.
private final class FlippingDisk: FileWatcher {
    private let number: Int?
    private let place: Int
    private let state = Mutex((files: [String](), met: ""))

    init(number: Int?, place: Int) { (self.number, self.place) = (number, place) }

    var files: [String] { state.withLock(\.files) }
    var met: String { state.withLock(\.met) }

    func watching<Result>(_ folder: String, _ body: () throws -> Result) throws -> Result {
        let folder = try POSIXSystem().resolve(folder)
        #expect(WatchedVFS.watch(folder, by: self))
        defer { WatchedVFS.unwatch(folder) }
        return try body()
    }

    func answer(_ call: FileCall) -> FileCall.Answer { call.operation == .sync ? .pretend : .pass }
    func done(_ call: FileCall) {}
    func closed(_ path: String) {}

    func altered(_ call: FileCall) -> [UInt8]? {
        guard call.bytes.count >= 512 else { return nil }
        return state.withLock { state in
            state.files.append(call.path)
            guard state.files.count == number else { return nil }
            state.met = "\(Path.name(of: call.path)) \(call.operation)"
            var bytes = Array(call.bytes)
            bytes[place % bytes.count] ^= 1
            return bytes
        }
    }
}
