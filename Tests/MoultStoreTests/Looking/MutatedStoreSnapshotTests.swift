import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

/// Damaged stores: whatever is in them, looking ends with an answer or with an error of Moult's, never with a crash.
@Suite(.enabled(if: Corpus.isAvailable)) struct MutatedStoreSnapshotTests {  // tier: long
    /// Small stores with sub-entities, a many-to-many, derived attributes and history.
    private static let stores = Corpus.stores.filter { path in
        [
            "@6739d000/Tests/SampleModelV2.sqlite", "Tests/BookmarksTests/Resources/Bookmarks_V4.sqlite",
            "CartKitSwiftData_v1.sqlite",
        ].contains { path.hasSuffix($0) }
    }

    /// How many looks ended with an answer.
    private func look(_ path: String, model: ManagedObjectModel) throws -> Int {
        do {
            return try ReadOnlyStore.read(path) { probe in
                let snapshot = try StoreSnapshot(probe.connection)
                _ = try StoreRecognition(
                    of: snapshot, in: ModelVersions(versions: [ModelVersion(names: ["a"], model: model)]))
                let layout = try StoreLayout(actual: snapshot, model: model)
                let reader = StoreReader(connection: probe.connection, layout: layout, store: probe.path)
                for entity in model.entities { try reader.forEachObject(of: entity) { _ in } }
                return 1
            }
        } catch is MigrationError {
            return 0
        }
    }

    private func sound(_ path: String) throws -> ManagedObjectModel {
        try #require(try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection) }.cachedModel)
    }

    @Test(arguments: stores)
    func `bytes of the file are damaged`(store: String) throws {
        let model = try sound(store)
        let folder = try ScratchFolder()
        let bytes = try POSIXSystem().read(store)
        var answered = 0
        for seed in 0..<40 {
            let copy = folder.path + "/\(seed).sqlite"
            try POSIXSystem().write(bytes.mutated(seed: UInt64(seed)), to: copy)
            answered += try look(copy, model: model)
            try FileManager.default.removeItem(atPath: copy)
        }
        #expect((1..<40).contains(answered), "\(answered) of 40 looks ended with an answer")
    }

    @Test(arguments: stores, ["Z_METADATA.Z_PLIST", "Z_MODELCACHE.Z_CONTENT", "Z_PRIMARYKEY.Z_NAME"])
    func `what the store says of itself is damaged`(store: String, place: String) throws {
        let model = try sound(store)
        let folder = try ScratchFolder()
        let copy = try folder.copyStore(store)
        let parts = place.split(separator: ".").map(String.init)
        let (table, column) = (parts[0], parts[1])
        let connection = try Connection(copy, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = DELETE")
        let read = try connection.value("SELECT CAST(\(column) AS BLOB) FROM \(table) ORDER BY rowid DESC LIMIT 1")
        let sound = try #require(read?.blob)
        for seed in 0..<25 {
            let update = "UPDATE \(table) SET \(column) = ?1 WHERE rowid = (SELECT max(rowid) FROM \(table))"
            try connection.run(update, [.blob(sound.mutated(seed: UInt64(seed)))])
            _ = try look(copy, model: model)
        }
        connection.close()
    }
}
