import Foundation
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// A store of the first of ``MirroredVersions`` with some objects, and its mirror.
final class MirrorFixture {
    let folder: ScratchFolder
    let store: String
    let second: String
    let versions: ModelVersions
    let first: ManagedObjectModel
    let other: ManagedObjectModel

    init(to version: String = "on", history: Bool = true, seed: UInt64 = 1, saves: Int = 4) throws {
        folder = try ScratchFolder()
        store = folder.path + "/Books.sqlite"
        second = folder.path + "/Library.store"
        versions = try MirroredVersions.make(to: version)
        (first, other) = (versions.versions[0].model, versions.versions[1].model)
        try StoreCreator(versions.versions[0], history: history).make(at: store)
        try write(saves: saves, seed: seed)
    }

    /// The first version, and one in which no two tags have the same word.
    func withUniqueWords() throws -> ModelVersions {
        var entities = first.entities
        let tag = try #require(entities.firstIndex { $0.name == "Tag" })
        entities[tag].uniquenessConstraints = [["word"]]
        return ModelVersions(versions: [
            versions.versions[0], ModelVersion(names: ["unique"], model: try ManagedObjectModel(entities: entities)),
        ])
    }

    func start() throws -> MirroredStore {
        try MirroredStore.start(
            .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
    }

    func mirror() throws -> MirroredStore { try MirroredStore(of: store, .init(versions)) }

    /// - Parameter isSecond: whether to write to the second store.
    func write(saves: Int = 3, of writes: Int = 12, seed: UInt64, isSecond: Bool = false) throws {
        let writer = try RandomWriter(isSecond ? second : store, model: isSecond ? other : first, seed: seed)
        defer { writer.close() }
        for _ in 0..<saves { try writer.save(writes: writes) }
    }

    // MARK: - The witness

    /// What the sqlite3 shell finds in every table of the second store, without the row that holds the mirror's mark, and the
    /// same of a fresh migration of the first.
    func hashes(_ options: PreparedMigration.Options = .init(losses: .asTheVersionsSay())) throws -> (
        second: String, fresh: String
    ) {
        let folder = try ScratchFolder()
        let fresh = try Self.copy(store, to: folder.path + "/fresh.sqlite")
        let support = self.folder.path + "/.Books_SUPPORT"
        if FileManager.default.fileExists(atPath: support) {
            try FileManager.default.copyItem(atPath: support, toPath: folder.path + "/.fresh_SUPPORT")
        }
        let prepared = try PreparedMigration(fresh, versions: versions, options: options)
        _ = try Migrator().run(prepared)
        return (try Self.hash(try Self.copy(second, to: folder.path + "/second.sqlite")), try Self.hash(fresh))
    }

    func expectEqual(
        _ note: String = "", options: PreparedMigration.Options = .init(losses: .asTheVersionsSay()),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (mine, fresh) = try hashes(options)
        #expect(mine == fresh, "\(note)", sourceLocation: sourceLocation)
    }

    static func copy(_ path: String, to copy: String) throws -> String {
        for suffix in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return copy
    }

    /// Everything in the tables and all their texts, in an order that does not depend on who was inserted first.
    static func hash(_ path: String) throws -> String {
        #expect(try SQLiteShell.run(path, "PRAGMA integrity_check") == "ok\n")
        let names = try SQLiteShell.run(
            path, "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'Z_METADATA' ORDER BY 1")
        let tables = try names.split(separator: "\n").map { name in
            let count = try SQLiteShell.run(path, "SELECT count(*) FROM pragma_table_info('\(name)')")
            let columns = (2...1 + max(1, Int(count.dropLast()) ?? 1)).map(String.init).joined(separator: ", ")
            return "SELECT '\(name)', * FROM \(name) ORDER BY \(columns)"
        }
        return try SQLiteShell.run(
            path, (["SELECT name, sql FROM sqlite_master ORDER BY 1"] + tables).joined(separator: "; "),
            arguments: ["-quote"])
    }
}
