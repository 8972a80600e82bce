import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Large values in files beside the store, of objects that a policy makes: told by the cells and the files themselves.
@Suite("External data under policies") struct ExternalDataPolicyTests {  // tier: long
    private static func bytes(_ seed: Int, _ count: Int = 150_000) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* (seed * 2 + 1) &+ seed) }
    }

    /// Carries one over, changes one, makes one small, drops one, puts one aside.
    private class Photos: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            switch source.string("name") {
            case "drop": source.outcome = .dropped(reason: "dropped")
            case "aside": source.outcome = .quarantined(reason: "put aside")
            case "change":
                // What it holds is there to be read.
                guard source["image"] == .binary(ExternalDataPolicyTests.bytes(2)) else {
                    throw MigrationError(.dataConflict, "The old bytes are others.", remedy: "")
                }
                let photo = try manager.makeDestinationInstance(forSource: source)
                photo["image"] = .binary(ExternalDataPolicyTests.bytes(20, 220_000))
            case "small":
                let photo = try manager.makeDestinationInstance(forSource: source)
                photo["image"] = .binary([1, 2, 3])
            default: try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            }
        }
    }

    /// Makes two of each.
    private final class Splitting: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            for number in ["1", "2"] {
                let photo = try manager.makeDestinationInstance(forSource: source)
                photo["name"] = .string((source.string("name") ?? "") + number)
            }
        }
    }

    /// Fails when its files are written already.
    private final class Failing: Photos {
        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            throw MigrationError(.dataConflict, "Enough.", remedy: "")
        }
    }

    private static func model(_ more: AttributeDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Photo",
                attributes: [
                    .init(name: "name", type: .string),
                    .init(name: "image", type: .binary, allowsExternalBinaryDataStorage: true),
                ] + more)
        ])
    }

    private static let data = "/.Photos_SUPPORT/_EXTERNAL_DATA/"

    /// The bytes of each photo by name, from the cell or the file that it names.
    private static func images(_ folder: String) throws -> [String: [UInt8]] {
        let lines = try SQLiteShell.run(folder + "/Photos.sqlite", "SELECT ZNAME, hex(ZIMAGE) FROM ZPHOTO")
            .split(separator: "\n")
        var images: [String: [UInt8]] = [:]
        for line in lines {
            let parts = line.split(separator: "|").map(String.init)
            let digits = Array(parts[1])
            let cell = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
            let name = String(decoding: cell.dropFirst().dropLast(), as: UTF8.self)
            let isInline = cell.first == 1
            images[parts[0]] =
                isInline
                ? Array(cell.dropFirst())
                : [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + data + name)))
        }
        return images
    }

    private static func prepared(
        _ folder: String, _ versions: ModelVersions, _ policy: @escaping @Sendable () -> EntityMigrationPolicy
    ) throws -> PreparedMigration {
        var registry = MigrationRegistry()
        registry.register(policy: policy, named: "Photos")
        registry.register(
            mapping: MappingModel([
                EntityMapping(from: "Photo", to: "Photo", entityMigrationPolicyClassName: "Photos")
            ]), from: "1", to: "2")
        var options = PreparedMigration.Options(registry: registry)
        options.batchSize = 2
        options.continuesEarlierCall = true
        return try PreparedMigration(folder + "/Photos.sqlite", versions: versions, options: options)
    }

    private static func migrate(
        _ folder: String, _ versions: ModelVersions, _ policy: @escaping @Sendable () -> EntityMigrationPolicy
    ) throws -> MigrationOutcome {
        let migration = try prepared(folder, versions, policy).migration()
        return try Migrator().run(#require(migration), on: folder + "/Photos.sqlite")
    }

    /// A call that dies may leave a file of a piece that is then rolled back.
    @Test func `with a budget, the store gets the files that its objects name, and no others`() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try Self.model()),
            ModelVersion(names: ["2"], model: try Self.model(.init(name: "caption", type: .string))),
        ])
        try StoreCreator(versions.versions[0]).make(at: folder + "/Photos.sqlite")
        let objects = try ObjectStore(folder + "/Photos.sqlite", model: versions.versions[0].model)
        let names = ["keep", "change", "small", "drop", "aside"]
        _ = try objects.insertAll(
            "Photo", names.enumerated().map { ["name": .string($1), "image": .data(Self.bytes($0 + 1))] })
        objects.close()
        let stray = UUID().uuidString
        var (calls, strays) = (0, 0)
        while calls < 200,
            case .paused(let pause) = try Migrator().run(
                try Self.prepared(folder, versions) { Photos() }, within: .one)
        {
            calls += 1
            let new = folder + "/Photos.sqlite.moult/work-\(pause.run)/.new_external/_EXTERNAL_DATA"
            guard strays == 0, FileManager.default.fileExists(atPath: new) else { continue }
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: new + "/" + stray))
            strays += 1
        }
        #expect(strays == 1 && calls < 200)
        let after = ["keep": Self.bytes(1), "change": Self.bytes(20, 220_000), "small": [1, 2, 3]]
        #expect(try Self.images(folder) == after)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder + Self.data)
        #expect(files.count == 2 && !files.contains(stray))
    }

    @Test func `each part of an object that is split has a file of its own`() throws {
        let folder = try ScratchFolder()
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try Self.model()),
            ModelVersion(names: ["2"], model: try Self.model(.init(name: "caption", type: .string))),
        ])
        let store = folder.path + "/Photos.sqlite"
        try StoreCreator(versions.versions[0]).make(at: store)
        let objects = try ObjectStore(store, model: versions.versions[0].model)
        _ = try objects.insertAll(
            "Photo",
            [
                ["name": .string("large"), "image": .data(Self.bytes(1))],
                ["name": .string("small"), "image": .data([1, 2])], ["name": .string("none")],
            ])
        objects.close()
        _ = try Self.migrate(folder.path, versions) { Splitting() }
        let counts = "SELECT count(*), count(ZIMAGE), count(DISTINCT ZIMAGE) FROM ZPHOTO"
        #expect(try SQLiteShell.run(store, counts) == "6|4|3\n")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + Self.data)
        #expect(files.count == 2)
        for file in files {
            let contents = try Data(contentsOf: URL(fileURLWithPath: folder.path + Self.data + file))
            #expect([UInt8](contents) == Self.bytes(1))
        }
    }

    @Test func `files are right after a migration that fails, after one that does not, and after a rollback`() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try Self.model()),
            ModelVersion(names: ["2"], model: try Self.model(.init(name: "caption", type: .string))),
        ])
        try StoreCreator(versions.versions[0]).make(at: folder + "/Photos.sqlite")
        let objects = try ObjectStore(folder + "/Photos.sqlite", model: versions.versions[0].model)
        let names = ["keep", "change", "small", "drop", "aside"]
        _ = try objects.insertAll(
            "Photo", names.enumerated().map { ["name": .string($1), "image": .data(Self.bytes($0 + 1))] })
        objects.close()
        let before = try Self.images(folder)
        #expect(before == Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, Self.bytes($0 + 1)) }))
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder + Self.data).sorted()
        #expect(kept.count == 5)

        #expect(throws: MigrationError.self) { try Self.migrate(folder, versions) { Failing() } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + Self.data).sorted() == kept)
        #expect(try Self.images(folder) == before)

        let outcome = try Self.migrate(folder, versions) { Photos() }
        let after = ["keep": Self.bytes(1), "change": Self.bytes(20, 220_000), "small": [1, 2, 3]]
        #expect(try Self.images(folder) == after)
        // What was put aside has its bytes with it.
        let aside = try SQLiteShell.run(
            folder + "/Photos.sqlite.moult/quarantine.sqlite",
            "SELECT json_extract(object, '$.image.value') FROM quarantine")
        #expect(Data(base64Encoded: String(aside.dropLast())) == Data(Self.bytes(5)))

        _ = try Migrator().rollback(folder + "/Photos.sqlite", to: try #require(outcome.backup))
        #expect(try Self.images(folder) == before)
        _ = try Self.migrate(folder, versions) { Photos() }
        #expect(try Self.images(folder) == after)
    }

    @Test func `a mapping model reads the files that a policy has made in the pass before it`() throws {
        let scratch = try ScratchFolder()
        let store = scratch.path + "/Photos.sqlite"
        let caption = AttributeDescription(name: "caption", type: .string)
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try Self.model()),
            ModelVersion(names: ["2"], model: try Self.model(caption)),
            ModelVersion(names: ["3"], model: try Self.model(caption, .init(name: "size", type: .integer64))),
        ])
        try StoreCreator(versions.versions[0]).make(at: store)
        let objects = try ObjectStore(store, model: versions.versions[0].model)
        let names = ["keep", "change", "small"]
        _ = try objects.insertAll(
            "Photo", names.enumerated().map { ["name": .string($1), "image": .data(Self.bytes($0 + 1))] })
        objects.close()
        var registry = MigrationRegistry()
        registry.register(policy: { Photos() }, named: "Photos")
        registry.register(
            mapping: MappingModel([
                EntityMapping(from: "Photo", to: "Photo", entityMigrationPolicyClassName: "Photos")
            ]), from: "1", to: "2")
        var photo = EntityMapping(from: "Photo", to: "Photo")
        photo.attributeMappings = [
            PropertyMapping(
                "size", from: ["image"],
                ValueTransform("size") { values in
                    if case .binary(let bytes)?? = values.first { .integer(Int64(bytes.count)) } else { nil }
                })
        ]
        registry.register(mapping: MappingModel([photo]), from: "2", to: "3")
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registry: registry))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        #expect(
            try SQLiteShell.run(store, "SELECT ZNAME, ZSIZE FROM ZPHOTO ORDER BY ZNAME")
                == "change|220000\nkeep|150000\nsmall|3\n")
        #expect(try Self.images(scratch.path)["change"] == Self.bytes(20, 220_000))
    }
}
