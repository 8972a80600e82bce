import Foundation
import Moult
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// Names of a model are never taken for SQL: a store with the worst of them is made, migrated, repaired and rolled back.
struct HostileNameTests {
    private static let entity = "It's \"quoted\"; DROP TABLE Z_METADATA; --"
    private static let attribute = "a\"b'c; DELETE FROM Z_PRIMARYKEY"
    private static let link = "to) SELECT 1; /* \\"
    private static let back = "from`[x]`, (SELECT 1)"

    private static func versions() throws -> ModelVersions {
        let models = try [
            [],
            [AttributeDescription(name: "' OR '1'='1", type: .integer32, isOptional: false, defaultValue: .integer(4))],
        ]
        .map { more in
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: entity, attributes: [.init(name: attribute, type: .string)] + more,
                    relationships: [
                        .init(name: link, destinationEntityName: entity, inverseName: back),
                        .init(
                            name: back, destinationEntityName: entity, inverseName: link, maxCount: 0, isOrdered: true),
                    ], uniquenessConstraints: [[attribute]])
            ])
        }
        return ModelVersions(versions: models.enumerated().map { ModelVersion(names: ["V'\($0)\""], model: $1) })
    }

    @Test func `the worst names are quoted wherever they come`() throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/names.sqlite"
        let versions = try Self.versions()
        let maker = try StoreCreator(versions.versions[0], history: true)
        try maker.make(at: store)
        let objects = try ObjectStore(store, model: versions.versions[0].model)
        let coordinator = ObjectCoordinator(model: versions.versions[0].model)
        try coordinator.add(objects)
        let context = ObjectContext(coordinator: coordinator)
        let rows = try ["one", "two's \"", "three"].map { text in
            let object = try context.insert(Self.entity)
            try object.setAttribute(Self.attribute, .string(text))
            return object
        }
        try rows[0].setToMany(Self.back, [rows[2], rows[1]])
        try context.save()
        let found = try objects.fetchIDs(
            ObjectFetch(
                entityName: Self.entity,
                predicate: .comparison(
                    .init(.keyPath(Self.attribute), .equal, .constant(.string("two's \""))))))
        #expect(found.count == 1)
        objects.close()
        let table = try #require(maker.layout.tables.first).name.replacingOccurrences(of: "\"", with: "\"\"")
        let prepared = try PreparedMigration(store, versions: versions)
        let outcome = try Migrator().run(try #require(try prepared.migration()), on: store)
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM \"\(table)\"; PRAGMA integrity_check") == "3\nok\n")
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM Z_METADATA") == "1\n")
        let version = versions.versions[1]
        #expect(try StoreAudit(store, model: version.model, full: true).findings.filter { $0.severity > .note }.isEmpty)
        #expect(try StoreRepair(store, at: version).found.faults.isEmpty)
        let rule = ValidationRule(
            "x'; --", of: Self.entity,
            .predicate(.comparison(.init(.keyPath(Self.attribute), .notEqual, .constant(.string("three"))))),
            fix: .quarantine)
        _ = try Migrator().run(
            try #require(try RuleAudit(store, [rule], version: version).mending()), on: store)
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM \"\(table)\"") == "2\n")
        let restoration = try Restoration(into: store, at: version)
        _ = try Migrator().run(restoration.migration, on: store)
        #expect(restoration.report.restored.count == 1 && restoration.report.restored[0].lostLinks.isEmpty)
        _ = try Migrator().rollback(store, to: try #require(outcome.backup))
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM \"\(table)\"; PRAGMA integrity_check") == "3\nok\n")
    }
}
