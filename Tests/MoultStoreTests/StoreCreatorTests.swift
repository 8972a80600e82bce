import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite
import TestSupport
import Testing

@testable import MoultStore

@Suite("A new store")
struct StoreCreatorTests {
    private func make(framework: Int = 1526, history: Bool = false) throws -> (folder: ScratchFolder, path: String) {
        let folder = try ScratchFolder()
        let path = folder.path + "/Library.sqlite"
        let version = ModelVersion(names: ["Library"], model: try StoreLayoutTests.library())
        try StoreCreator(version, framework: framework, history: history).make(at: path)
        return (folder, path)
    }

    @Test func `the sqlite3 shell finds it sound, with the header Core Data writes`() throws {
        let (folder, path) = try make(history: true)
        defer { withExtendedLifetime(folder) {} }
        let names = ["integrity_check", "page_size", "auto_vacuum", "encoding", "user_version", "application_id"]
        let answers = try SQLiteShell.run(path, names.map { "PRAGMA \($0);" }.joined())
        #expect(answers == "ok\n4096\n2\nUTF-8\n0\n0\n")
        let header = try #require(FileManager.default.contents(atPath: path))
        #expect([header[18], header[19]] == [2, 2], "the journal is a write-ahead log")
        #expect(header[64 + 3] == 1, "incremental vacuum")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Library.sqlite"])
    }

    @Test func `its metadata is a property list that Foundation reads, with what the framework writes`() throws {
        let expected = [
            (1526, ["NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey", "_NSAutoVacuumLevel"], []),
            (1044, ["NSStoreModelVersionHashesDigest"], ["NSStoreModelVersionChecksumKey"]),
            (866, ["_NSAutoVacuumLevel"], ["NSStoreModelVersionHashesDigest"]),
            (230, ["NSStoreModelVersionHashes"], ["_NSAutoVacuumLevel"]),
        ]
        for (framework, present, absent) in expected {
            let (folder, path) = try make(framework: framework)
            defer { withExtendedLifetime(folder) {} }
            let hex = try SQLiteShell.run(path, "SELECT hex(Z_PLIST) FROM Z_METADATA")
            let bytes = stride(from: 0, to: hex.count - 1, by: 2).compactMap { offset in
                UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
            }
            let list = try #require(
                try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any])
            #expect(list["NSPersistenceFrameworkVersion"] as? Int == framework)
            #expect(list["NSStoreType"] as? String == "SQLite")
            #expect((list["NSStoreModelVersionHashes"] as? [String: Data])?["Page"]?.count == 32)
            for key in present { #expect(list[key] != nil, "\(key) at \(framework)") }
            for key in absent { #expect(list[key] == nil, "\(key) at \(framework)") }
            let uuid = try SQLiteShell.run(
                path, "SELECT Z_UUID, Z_VERSION, (SELECT count(*) FROM Z_METADATA) FROM Z_METADATA")
            #expect(uuid.wholeMatch(of: /[0-9A-F]{8}-([0-9A-F]{4}-){3}[0-9A-F]{12}\|1\|1\n/) != nil)
        }
    }

    @Test func `the tables of a large model are in the catalogue as if each had been made alone`() throws {
        let (folder, path) = (try ScratchFolder(), "/Large.sqlite")
        let model = try ManagedObjectModel(
            (0..<600).map { number in
                "E\(number) = name String, next > E\((number + 1) % 600).last, last >> E\((number + 599) % 600).next"
                    + (number == 0 ? ", all >> E1.none, none >> E599.all" : number == 1 ? ", none >> E0.all" : "")
                    + (number == 599 ? ", all >> E0.none" : "")
            }.joined(separator: "\n"))
        let creator = try StoreCreator(ModelVersion(names: ["Large"], model: model))
        #expect(creator.layout.tableGroups.count == 3 && creator.layout.joinTables.count == 2)
        try creator.make(at: folder.path + path)
        let names = ["integrity_check", "auto_vacuum", "freelist_count"]
        #expect(
            try SQLiteShell.run(folder.path + path, names.map { "PRAGMA \($0);" }.joined()) == "ok\n2\n0\n")
        let made = try SQLiteShell.run(
            folder.path + path, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql")
        #expect(made.split(separator: "\n").map(String.init) == creator.layout.createStatements.sorted())
    }

    @Test func `it carries its own model`() throws {
        let (folder, path) = try make()
        defer { withExtendedLifetime(folder) {} }
        let connection = try Connection(path, mode: .immutable)
        let cache = try #require(try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE")?.blob)
        var findings: [Finding] = []
        let model = try ManagedObjectModel(modelCache: cache, findings: &findings)
        #expect(VersionHashes(of: model) == VersionHashes(of: try StoreLayoutTests.library()))
        #expect(
            try StoreLayout(model: model).createStatements
                == StoreLayout(model: StoreLayoutTests.library()).createStatements)
    }

    @Test func `a path that is taken is refused and left alone`() throws {
        let (folder, path) = try make()
        defer { withExtendedLifetime(folder) {} }
        let before = FileManager.default.contents(atPath: path)
        let version = ModelVersion(names: ["Library"], model: try StoreLayoutTests.library())
        #expect(throws: MigrationError.self) { try StoreCreator(version).make(at: path) }
        #expect(FileManager.default.contents(atPath: path) == before)
    }

    @Test func `a model whose hashes are not certain is refused unless asked for`() throws {
        let model = try ManagedObjectModel(
            entities: [
                EntityDescription(
                    name: "Meal",
                    attributes: [
                        AttributeDescription(
                            name: "energy", type: .composite,
                            elements: [AttributeDescription(name: "kilojoule", type: .double)],
                            uncertainty: "is of a kind that no store shows")
                    ])
            ])
        let version = ModelVersion(names: ["1"], model: model)
        #expect { try StoreCreator(version) } throws: { ($0 as? MigrationError)?.code == .unsupported }
        let maker = try StoreCreator(version, experimental: true)
        #expect(maker.layout.tables.first?.columns.last?.name == "ZKILOJOULE")
    }

    @Test func `an application's own metadata survives a change of version`() throws {
        let version = ModelVersion(names: ["Library"], model: try StoreLayoutTests.library())
        var metadata = try StoreCreator(version, framework: 1044).metadata
        metadata.entries["com.example.token"] = .data([1, 2, 3])
        let read = try StoreMetadata(uuid: metadata.uuid, propertyList: metadata.propertyList)
        #expect(read == metadata)
        let other = ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: [EntityDescription(name: "A")]))
        metadata.setVersion(other, level: FrameworkLevel(1044))
        #expect(metadata.applicationEntries == ["com.example.token": .data([1, 2, 3])])
        #expect(metadata.hashes?.entities.keys.sorted() == ["A"])
        #expect(metadata.modelChecksum == nil)
    }
}
