import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

struct StoreRecognitionTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder.path + "/a.sqlite"
    }

    /// A version whose one entity has so many attributes, and beside it a log entity in a configuration of its own.
    private static func version(_ number: Int) throws -> ModelVersion {
        let attributes = (1...number).map { AttributeDescription(name: "a\($0)", type: .string) }
        let model = try ManagedObjectModel(
            entities: [
                EntityDescription(name: "Item", attributes: attributes),
                EntityDescription(name: "Log", attributes: [AttributeDescription(name: "text", type: .string)]),
            ],
            configurations: [
                Configuration(name: "Items", entityNames: ["Item"]), Configuration(name: "Logs", entityNames: ["Log"]),
            ])
        return ModelVersion(names: ["V\(number)"], model: model)
    }

    private static func versions(_ numbers: ClosedRange<Int>) throws -> ModelVersions {
        ModelVersions(versions: try numbers.map(version))
    }

    private func make(_ version: ModelVersion, cache: Bool = false) throws {
        try StoreCreator(version).make(at: path)
        if !cache { _ = try SQLiteShell.run(path, "UPDATE Z_MODELCACHE SET Z_CONTENT = NULL") }
    }

    private func recognise(_ versions: ModelVersions, target: String? = nil) throws -> StoreRecognition {
        try ReadOnlyStore.read(path) { probe in
            try StoreRecognition(of: StoreSnapshot(probe.connection), in: versions, target: target)
        }
    }

    private func removeHashes() throws {
        let connection = try Connection(path, mode: .readWrite)
        defer { connection.close() }
        var metadata = try StoreMetadata(from: connection)
        metadata.entries[StoreMetadata.Key.hashes] = nil
        try metadata.write(to: connection)
    }

    @Test func `a store is current, behind or ahead by its hashes`() throws {
        try make(Self.version(2))
        let found = try recognise(Self.versions(1...3))
        #expect(found.status == .behind(version: "V2", by: 1, target: "V3"))
        #expect(found.basis == .hashes)
        #expect(found.position == 1)
        #expect(found.configuration == nil)
        #expect(found.model == (try Self.version(2)).model)
        #expect(try recognise(Self.versions(1...2)).status == .current(version: "V2"))
        #expect(
            try recognise(Self.versions(1...3), target: "V1").status == .ahead(version: "V2", by: 1, target: "V1"))
    }

    @Test func `a store of no version is unknown, with the nearest version and the model it carries`() throws {
        try make(Self.version(4), cache: true)
        let found = try recognise(Self.versions(1...3))
        guard case .unknown(let nearest?) = found.status else {
            Issue.record("\(found.status)")
            return
        }
        #expect(nearest.version == "V3")
        #expect(nearest.changed == ["Item"])
        #expect(found.basis == .none)
        #expect(found.position == nil)
        #expect(found.model?.entity("Item")?.attributes.count == 4)
        #expect(found.findings == [])
    }

    @Test func `a store that was opened with a configuration is of the last version that it fits`() throws {
        let whole = try Self.version(2).model
        let part = try ManagedObjectModel(entities: [try #require(whole.entity("Item"))])
        try make(ModelVersion(names: ["part"], model: part))
        let found = try recognise(Self.versions(1...3))
        #expect(found.status == .behind(version: "V2", by: 1, target: "V3"))
        #expect(found.configuration == "Items")
        let layout = try ReadOnlyStore.read(path) { probe in
            try StoreLayout(actual: StoreSnapshot(probe.connection), model: try #require(found.model))
        }
        #expect(layout.tables.map(\.name) == ["ZITEM"])
        #expect(layout.findings == [])

        let log = folder.path + "/log.sqlite"
        let logs = try ManagedObjectModel(entities: [try #require(whole.entity("Log"))])
        try StoreCreator(ModelVersion(names: ["log"], model: logs)).make(at: log)
        let snapshot = try ReadOnlyStore.read(log) { try StoreSnapshot($0.connection) }
        // The entity is the same in every version: no migration is due, whichever is aimed at.
        #expect(try StoreRecognition(of: snapshot, in: Self.versions(1...3)).status == .current(version: "V3"))
        let older = try StoreRecognition(of: snapshot, in: Self.versions(1...3), target: "V1")
        #expect(older.status == .current(version: "V1"))
    }

    @Test func `without hashes the model in the store tells the version`() throws {
        try make(Self.version(2), cache: true)
        try removeHashes()
        let found = try recognise(Self.versions(1...3))
        #expect(found.basis == .modelCache)
        #expect(found.status == .behind(version: "V2", by: 1, target: "V3"))
    }

    @Test func `without hashes and model the tables tell the version`() throws {
        try make(Self.version(2))
        try removeHashes()
        let found = try recognise(Self.versions(1...3))
        #expect(found.basis == .tables)
        #expect(found.position == 1)
        #expect(found.model == (try Self.version(2)).model)
        let none = try recognise(Self.versions(3...4))
        #expect(none.position == nil)
        #expect(none.model == nil)
    }

    @Test func `a cache of another model is told and not read with`() throws {
        try make(Self.version(2))
        let cache = try Self.version(3).model.modelCache()
        let connection = try Connection(path, mode: .readWrite)
        try connection.run("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(cache)])
        connection.close()
        let found = try recognise(Self.versions(1...1))
        #expect(found.findings.map(\.code) == ["model-cache-stale"])
        #expect(found.model == nil)
    }

    @Test(arguments: [
        ("CREATE TABLE a (b)", MigrationError.Code.notAStore),
        ("CREATE TABLE Z_METADATA (a)", .notAStore),
        ("CREATE VIEW Z_METADATA AS SELECT 1; CREATE TABLE Z_PRIMARYKEY (a)", .notAStore),
        ("CREATE TABLE Z_METADATA (a); CREATE TABLE Z_PRIMARYKEY (a)", .metadataInvalid),
    ])
    func `what is no store says why`(sql: String, code: MigrationError.Code) throws {
        _ = try SQLiteShell.run(path, sql)
        let connection = try Connection(path, mode: .immutable)
        defer { connection.close() }
        let error = #expect(throws: MigrationError.self) { try StoreSnapshot(connection) }
        #expect(error?.code == code)
        if let error, code == .notAStore {
            #expect(VersionStatus(error) == .notCoreData(reason: error.message))
            #expect(error.message.contains("not a Core Data store"))
        }
    }

    @Test(arguments: [
        ("UPDATE Z_METADATA SET Z_PLIST = NULL", "NULL"), ("UPDATE Z_METADATA SET Z_PLIST = x'00'", "damaged"),
        ("DELETE FROM Z_METADATA", "no row"), ("UPDATE Z_METADATA SET Z_PLIST = 7", "damaged"),
    ])
    func `metadata that cannot be read are an error of their own`(sql: String, reason: String) throws {
        try make(Self.version(1))
        _ = try SQLiteShell.run(path, sql)
        let error = #expect(throws: MigrationError.self) { try recognise(Self.versions(1...1)) }
        #expect(error?.code == .metadataInvalid)
        #expect(error?.message.contains(reason) == true)
    }

    @Test(arguments: [
        "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0011'", "DELETE FROM Z_MODELCACHE", "DROP TABLE Z_MODELCACHE",
        "UPDATE Z_MODELCACHE SET Z_CONTENT = 'text'",
    ])
    func `a store needs no model cache`(sql: String) throws {
        try make(Self.version(1), cache: true)
        _ = try SQLiteShell.run(path, sql)
        let snapshot = try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection) }
        #expect(snapshot.cachedModel == nil)
        #expect(snapshot.findings.filter { $0.code != "model-cache" || $0.severity == .error } == [])
        #expect(try recognise(Self.versions(1...1)).status == .current(version: "V1"))
    }
}

/// Real stores against the versions of their own projects.
struct CorpusRecognitionTests {  // tier: long
    @Test(
        .enabled(if: Corpus.isAvailable),
        arguments: [
            (
                "duckduckgo__BrowserServicesKit/Tests/BookmarksTests/Resources/Bookmarks_V%.sqlite",
                "duckduckgo__BrowserServicesKit/Sources/Bookmarks/BookmarksModel.xcdatamodeld", 1...5,
                "BookmarksModel %"
            ),
            (
                "wibosco__CoreDataMigrationRevised-Example/CoreDataMigration-ExampleTests/Resources/SQLite/"
                    + "CoreDataMigration_Example_%.sqlite",
                "wibosco__CoreDataMigrationRevised-Example/CoreDataMigration-Example/CoreData/Model/"
                    + "CoreDataMigration_Example.xcdatamodeld", 1...3, "CoreDataMigration_Example %"
            ),
        ])
    func `a store that its project names by version is of that version`(
        store: String, model: String, numbers: ClosedRange<Int>, name: String
    ) throws {
        let root = try #require(Corpus.root?.path)
        let versions = try Corpus.versions(root + "/" + model)
        for number in numbers {
            let path = root + "/" + store.replacing("%", with: "\(number)")
            let found = try ReadOnlyStore.read(path) { probe in
                try StoreRecognition(of: StoreSnapshot(probe.connection), in: versions)
            }
            let expected = number == 1 ? name.replacing(" %", with: "") : name.replacing("%", with: "\(number)")
            #expect(found.position.map { versions.versions[$0].names.contains(expected) } == true, "\(path)")
        }
    }

    @Test(.enabled(if: Corpus.isAvailable))
    func `every real store has a model: its own or one of its project with its hashes`() throws {
        var cached = 0
        var matched = 0
        for path in Corpus.stores {
            try ReadOnlyStore.read(path) { probe in
                let snapshot = try StoreSnapshot(probe.connection)
                let candidates = ModelVersions(joining: StoreModels.versions(matching: snapshot, of: path))
                let found = try StoreRecognition(of: snapshot, in: candidates)
                #expect(found.model != nil, "\(path)")
                #expect(found.findings == [])
                if snapshot.cachedModel != nil { cached += 1 }
                if found.basis == .hashes { matched += 1 }
            }
        }
        print("Stores with a model of their own: \(cached); with a model of the project by hash: \(matched)")
        #expect(cached == CorpusStores.withModel.count && (cached == 46 || !Corpus.isWhole))
    }
}
