import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultEngine

/// Files of external data follow the rows that name them: what goes with a commit, what comes back with a rollback, and
/// what nobody names.
@Suite("Files of external data that no row names")
struct UnnamedFilesTests {
    private let folder: ScratchFolder
    private let store: String
    private let versions: ModelVersions
    private let data: String

    private static func entity(_ name: String, hasImage: Bool) -> EntityDescription {
        EntityDescription(
            name: name,
            attributes: [.init(name: "title", type: .string)]
                + (hasImage ? [.init(name: "image", type: .binary, allowsExternalBinaryDataStorage: true)] : []))
    }

    /// Three shots and two scans with a file each, and one shot without.
    init() throws {
        folder = try ScratchFolder()
        store = folder.path + "/Shots.sqlite"
        data = folder.path + "/.Shots_SUPPORT/_EXTERNAL_DATA"
        versions = ModelVersions(versions: [
            ModelVersion(
                names: ["1"],
                model: try ManagedObjectModel(entities: [
                    Self.entity("Shot", hasImage: true), Self.entity("Scan", hasImage: true),
                ])),
            // The images of shots are removed, and the scans altogether.
            ModelVersion(
                names: ["2"], model: try ManagedObjectModel(entities: [Self.entity("Shot", hasImage: false)])),
        ])
        try StoreCreator(versions.versions[0]).make(at: store)
        try withContext { context in
            for number in 0..<6 {
                let object = try context.insert(number < 4 ? "Shot" : "Scan")
                try object.setAttribute("title", .string("Number \(number)"))
                let count = number == 3 ? 10 : 100_000 + number
                try object.setAttribute("image", .binary([UInt8](repeating: UInt8(number), count: count)))
            }
            try context.save()
        }
        try #require(files.count == 5)
    }

    private func withContext(
        on system: any System = POSIXSystem(), _ body: (ObjectContext) throws -> Void
    ) throws {
        let objects = try ObjectStore(store, model: versions.versions[0].model, on: system)
        defer { objects.close() }
        let coordinator = ObjectCoordinator(model: versions.versions[0].model)
        try coordinator.add(objects)
        try body(ObjectContext(coordinator: coordinator))
    }

    private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: data).sorted()) ?? [] }

    /// What the rows name, by the sqlite3 shell.
    private func named(_ tables: [String] = ["ZSHOT", "ZSCAN"]) throws -> [String] {
        try tables.flatMap { table in
            try SQLiteShell.run(
                store, "SELECT CAST(substr(ZIMAGE, 2, 36) AS TEXT) FROM \(table) WHERE substr(ZIMAGE, 1, 1) = x'02'"
            ).split(separator: "\n").map(String.init)
        }.sorted()
    }

    private func contents() throws -> [String: Data] {
        try Dictionary(
            uniqueKeysWithValues: files.map { ($0, try Data(contentsOf: URL(fileURLWithPath: "\(data)/\($0)"))) })
    }

    private func plant(_ count: Int) throws -> [String] {
        try (0..<count).map { number in
            let name = UUID().uuidString
            try Data(repeating: 7, count: 300_000).write(to: URL(fileURLWithPath: "\(data)/\(name)"))
            return name
        }.sorted()
    }

    private var first: ModelVersion { versions.versions[0] }

    private func migrate() throws -> MigrationOutcome? {
        var options = PreparedMigration.Options()
        options.registry.acceptedLosses = .all
        let prepared = try PreparedMigration(store, versions: versions, options: options)
        return try prepared.migration().map { try Migrator().run($0, on: store) }
    }

    @Test func `they are counted with their size, and a repair moves them away and nothing else`() throws {
        let strays = try plant(4)
        let before = try contents()
        let note = try #require(
            StoreAudit(store, model: first.model).findings.first { $0.code == "external-files-unnamed" })
        #expect(note.severity == .note && note.message.contains("4 files") && note.message.contains("1.2 MB"))
        let repair = try StoreRepair(store, at: first)
        #expect(repair.found.faults.map(\.rule) == [.externalFiles] && repair.found.count == 4)
        // A rehearsal moves nothing.
        _ = try Migrator().rehearse(#require(repair.migration), on: store)
        #expect(try contents() == before)
        let outcome = try Migrator().run(#require(repair.migration), on: store)
        #expect(repair.report.isWell && repair.report.count == 4 && outcome.backup == nil)
        #expect(try files == named())
        let place = store + ".moult/external-files/" + outcome.run
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == strays)
        for name in strays {
            #expect(FileManager.default.contents(atPath: "\(place)/\(name)") == before[name])
        }
        #expect(try StoreRepair(store, at: first).migration == nil)
        #expect(try StoreAudit(store, model: first.model).findings.isEmpty)
    }

    @Test func `with faults of rows they are moved in the same run`() throws {
        let strays = try plant(1)
        _ = try SQLiteShell.run(store, "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Shot'")
        let repair = try StoreRepair(store, at: first)
        let outcome = try Migrator().run(#require(repair.migration), on: store)
        #expect(Set(repair.report.faults.map(\.rule)) == [.keyCounters, .externalFiles] && outcome.backup != nil)
        #expect(try files == named())
        let place = store + ".moult/external-files/" + outcome.run
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == strays)
    }

    @Test func `a store that shares the folder keeps its files`() throws {
        let other = folder.path + "/Shots.store"
        try FileManager.default.copyItem(atPath: store, toPath: other)
        let strays = try plant(2)
        _ = try SQLiteShell.run(store, "DELETE FROM ZSHOT")
        // Those of the shots are named by the other store alone.
        let repair = try StoreRepair(store, at: first)
        #expect(repair.found.count == 2)
        _ = try Migrator().run(#require(repair.migration), on: store)
        #expect(Set(strays).isDisjoint(with: files) && files.count == 5)
        // What may be anybody's stays.
        try Data("SQLite format 3\0 and nothing else".utf8).write(to: URL(fileURLWithPath: other))
        #expect(try StoreRepair(store, at: first).migration == nil && files.count == 5)
    }

    @Test func `the files of removed attributes and entities go with the commit, and a rollback has them again`() throws
    {
        let strays = try plant(1)
        let before = try contents()
        let backup = try #require(try migrate()?.backup)
        #expect(files == strays)
        let outcome = try Migrator().rollback(store, to: backup, currentVersion: "2")
        #expect(try contents() == before && outcome.saved != nil)
        #expect(try Set(named()).isSubset(of: files))
        // And what only the later state names goes with the way back.
        try withContext { context in
            let late = try context.insert("Shot")
            try late.setAttribute("image", .binary([UInt8](repeating: 9, count: 150_000)))
            try context.save()
        }
        #expect(files.count == before.count + 1)
        let saved = try #require(try Migrator().rollback(store, to: backup, currentVersion: "1").saved)
        #expect(try contents() == before)
        _ = try Migrator().rollback(store, to: saved, currentVersion: "1")
        #expect(files.count == before.count + 1)
        #expect(try Set(named()).isSubset(of: files))
    }

    @Test func `a run that dies before its commit leaves every file, and one that dies after it none too many`() throws
    {
        let before = try contents()
        let system = POSIXSystem()
        let resolved = try system.resolve(store)
        var journal = Journal(
            run: "20260101T000000Z-1", operation: .migrate, state: .committing, from: "1", to: "2",
            startedAt: "2026-01-01T00:00:00Z", schemaVersion: 0, oldChecksum: "", newChecksum: nil, backup: nil,
            backups: StoreRecords(store: resolved).backups, newExternalFiles: [])
        journal.droppedFiles = files
        let lock = try StoreLock(resolved, system)
        defer { lock.release() }
        let state = try StoreState(lock.connection)
        (journal.schemaVersion, journal.oldChecksum, journal.newChecksum) = (state.schemaVersion, state.checksum, "new")
        try journal.write(lock.sidecar, system)
        #expect(try Recovery.heal(lock, system) == .undone)
        #expect(try contents() == before)
        // The store is the new one; one of the files is named all the same.
        let kept = try #require(files.first)
        try lock.connection.execute("UPDATE ZSHOT SET ZIMAGE = NULL; UPDATE ZSCAN SET ZIMAGE = NULL")
        try lock.connection.run(
            "UPDATE ZSHOT SET ZIMAGE = ? WHERE Z_PK = 1", [.blob([2] + Array(kept.utf8) + [0])])
        (journal.oldChecksum, journal.newChecksum) = ("old", try StoreState(lock.connection).checksum)
        try journal.write(lock.sidecar, system)
        #expect(try Recovery.heal(lock, system) == .completed)
        #expect(files == [kept])
    }

    @Test func `what a writer that died has left is removed by the next one, and by no other means`() throws {
        let before = files
        let strays = try plant(2)
        // The list that a transaction keeps until it ends: one of the files is the store's by now.
        try ("\(strays[0])\n\(before[0])\n../../Shots.sqlite\n")
            .write(toFile: folder.path + "/.Shots.sqlite_UNSAVED", atomically: true, encoding: .utf8)
        try withContext { context in
            try context.insert("Shot").setAttribute("image", .binary([UInt8](repeating: 1, count: 120_000)))
            try context.save()
        }
        #expect(Set(before).isSubset(of: files) && !files.contains(strays[0]) && files.contains(strays[1]))
        #expect(files.count == before.count + 2)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.contains("Shots.sqlite") && !left.contains { $0.hasSuffix("_UNSAVED") })
    }

    @Test func `the store that follows keeps no file of an object that is gone`() throws {
        var shot = Self.entity("Shot", hasImage: true)
        shot.attributes.append(.init(name: "note", type: .string))
        let versions = ModelVersions(versions: [
            first,
            ModelVersion(
                names: ["3"], model: try ManagedObjectModel(entities: [shot, Self.entity("Scan", hasImage: true)])),
        ])
        var mirror = try MirroredStore.start(
            .init(store, .migrateInto(folder.path + "/Second.sqlite")), .init(versions))
        let data = folder.path + "/.Second_SUPPORT/_EXTERNAL_DATA"
        #expect(try FileManager.default.contentsOfDirectory(atPath: data).count == 5)
        try withContext { context in
            let scans = try context.fetch(ObjectFetch(entityName: "Scan"))
            for scan in scans { try context.delete(scan) }
            try context.save()
        }
        _ = try mirror.synchronise()
        #expect(try FileManager.default.contentsOfDirectory(atPath: data).count == 3)
    }

    /// Sees what the list of a transaction names whenever a file of external data is written.
    private final class Listening: ForwardingSystem {
        let list: String
        let noted = Mutex<[Bool]>([])

        init(list: String) { self.list = list }

        func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
            if path.contains("_EXTERNAL_DATA") {
                let names = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
                noted.withLock { $0.append(names.contains(Path.name(of: path))) }
            }
            try real.write(bytes, to: path, rights)
        }
    }

    @Test func `a file is listed before it is written, so that the next run on the store can remove it`() throws {
        let list = folder.path + "/.Shots.sqlite_UNSAVED"
        let system = Listening(list: list)
        try withContext(on: system) { context in
            for _ in 0..<2 {
                try context.insert("Shot").setAttribute("image", .binary([UInt8](repeating: 1, count: 120_000)))
            }
            try context.save()
        }
        #expect(system.noted.withLock { $0 } == [true, true])
        let before = files
        let stray = try #require(try plant(1).first)
        try "\(stray)\n".write(toFile: list, atomically: true, encoding: .utf8)
        _ = try Migrator().run(Pass(from: "1", to: "1"), on: store)
        #expect(files == before && !FileManager.default.fileExists(atPath: list))
    }

    @Test func `deleting and changing objects removes their files, in saves and in batches`() throws {
        let objects = try ObjectStore(store, model: first.model)
        defer { objects.close() }
        _ = try objects.deleteAll(ObjectFetch(entityName: "Scan"))
        #expect(try files == named() && files.count == 3)
        _ = try objects.updateAll(
            ObjectFetch(entityName: "Shot", predicate: try MoultModel.Predicate(parsing: "title == \"Number 0\"")),
            set: ["image": .constant(.null)])
        #expect(try files == named() && files.count == 2)
    }

    @Test func `a part of a transaction that is taken back removes no file of a row that stays`() throws {
        let objects = try ObjectStore(store, model: first.model)
        defer { objects.close() }
        let before = try contents()
        struct Stop: Error {}
        try objects.writing {
            do {
                try objects.writing {
                    _ = try objects.deleteAll(ObjectFetch(entityName: "Scan"))
                    throw Stop()
                }
            } catch is Stop {}
        }
        #expect(try contents() == before)
        #expect(try files == named())
    }
}
