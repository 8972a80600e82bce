import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Several entity mappings from one entity and into one, with conditions, checked by plain SQL.
@Suite("Splitting and merging entities") struct SplitAndMergeTests {  // tier: long
    @Test func `objects are split by conditions and merged with others, and links follow`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        let old = folder.path + "/before.sqlite"
        let prepared = try Self.prepare(store)
        let shifted = (prepared.bound?.findings ?? []).filter { $0.code == "keys-shifted" }
        #expect(shifted.count == 2, "\(shifted)")
        let dropped = (prepared.bound?.findings ?? []).filter { $0.code == "rows-dropped" }
        #expect(dropped.map(\.place) == ["Pet"])
        _ = try Migrator().run(#require(try prepared.migration()), on: store)

        let text = try SQLiteShell.run(
            store,
            """
            ATTACH '\(old)' AS old;
            -- People by their kind, firms beside them, a shadow of each child: all in one table.
            SELECT 'rows', count(*) FROM ZPARTY;
            SELECT 'expected', (SELECT count(*) FROM old.ZPERSON) + (SELECT count(*) FROM old.ZCOMPANY)
              + (SELECT count(*) FROM old.ZPERSON WHERE ZAGE < 18);
            SELECT 'adult', p.Z_PK FROM ZPARTY p JOIN Z_PRIMARYKEY k ON k.Z_ENT = p.Z_ENT JOIN old.ZPERSON o USING (Z_PK)
              WHERE k.Z_NAME <> iif(o.ZAGE >= 18, 'Adult', 'Child') OR p.ZNAME IS NOT o.ZNAME;
            SELECT 'firms', group_concat(ZNAME, ',') FROM (SELECT p.ZNAME FROM ZPARTY p JOIN Z_PRIMARYKEY k
              ON k.Z_ENT = p.Z_ENT WHERE k.Z_NAME = 'Firm' ORDER BY p.Z_PK);
            SELECT 'wanted', group_concat(ZTITLE, ',') FROM (SELECT ZTITLE FROM old.ZCOMPANY ORDER BY Z_PK);
            SELECT 'max', Z_MAX >= (SELECT max(Z_PK) FROM ZPARTY) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Party';
            -- A person's employer is a firm now, under its new key.
            SELECT 'employer', p.Z_PK FROM old.ZPERSON o JOIN ZPARTY p USING (Z_PK)
              LEFT JOIN old.ZCOMPANY c ON c.Z_PK = o.ZEMPLOYER LEFT JOIN ZPARTY f ON f.Z_PK = p.ZEMPLOYER
              LEFT JOIN Z_PRIMARYKEY k ON k.Z_ENT = f.Z_ENT
              WHERE f.ZNAME IS NOT c.ZTITLE OR (f.Z_PK IS NOT NULL AND k.Z_NAME <> 'Firm');
            SELECT 'employers', count(ZEMPLOYER) > 5 FROM ZPARTY;
            -- A shadow knows whose it is, and its owner knows it.
            SELECT 'shadow', s.Z_PK FROM ZPARTY s JOIN Z_PRIMARYKEY k ON k.Z_ENT = s.Z_ENT
              LEFT JOIN ZPARTY p ON p.Z_PK = s.ZBODY
              WHERE k.Z_NAME = 'Shadow' AND (p.ZNAME IS NOT s.ZNAME OR p.ZSHADOW IS NOT s.Z_PK OR p.Z_PK = s.Z_PK);
            SELECT 'shadows', count(ZBODY) > 3 FROM ZPARTY;
            -- Friends among the people, by a join table; cats only, with their owners.
            SELECT 'cats', count(*) - (SELECT count(*) FROM old.ZPET WHERE ZSPECIES = 'cat') FROM ZPET;
            SELECT 'owner', c.Z_PK FROM ZPET c JOIN old.ZPET o USING (Z_PK) WHERE c.ZOWNER IS NOT o.ZOWNER;
            """)
        let lines = Dictionary(
            text.split(separator: "\n").map { line -> (String, String) in
                let parts = line.split(separator: "|", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }, uniquingKeysWith: { "\($0) \($1)" })
        #expect(lines["rows"] == lines["expected"])
        #expect(lines["firms"] == lines["wanted"])
        for name in ["max", "employers", "shadows"] { #expect(lines[name] == "1", "\(name)") }
        #expect(lines["cats"] == "0")
        for name in ["adult", "employer", "shadow", "owner"] { #expect(lines[name] == nil, "\(name)") }
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
        try Self.expectFriends(store, old)
    }

    /// Pairs of a join table, by names, for keys may have moved.
    private static func expectFriends(_ store: String, _ old: String) throws {
        func pairs(_ store: String, _ entity: String) throws -> String {
            let table = try SQLiteShell.run(
                store, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*FRIENDS*'"
            ).trimmingCharacters(in: .newlines)
            let columns = try SQLiteShell.run(
                store, "SELECT name FROM pragma_table_info('\(table)') WHERE name NOT GLOB '*FOK*'"
            ).split(separator: "\n")
            return try SQLiteShell.run(
                store,
                """
                SELECT DISTINCT min(a.ZNAME, b.ZNAME) AS x, max(a.ZNAME, b.ZNAME) AS y FROM \(table) j
                JOIN \(entity) a ON a.Z_PK = j.\(columns[0]) JOIN \(entity) b ON b.Z_PK = j.\(columns[1]) ORDER BY 1, 2
                """)
        }
        let expected = try pairs(old, "ZPERSON")
        #expect(expected.count > 20)
        #expect(try pairs(store, "ZPARTY") == expected)
    }

    @Test func `a writer that is wrong is found out`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        // Each statement spoils what the script made, behind its back.
        for spoil in [
            "UPDATE main.ZPARTY SET ZEMPLOYER = 21 WHERE ZEMPLOYER IS NOT NULL",
            "UPDATE main.ZPARTY SET ZTAG = 'x' WHERE Z_PK = 3",
            "DELETE FROM main.ZPET WHERE Z_PK = (SELECT min(Z_PK) FROM main.ZPET)",
            "UPDATE main.ZPARTY SET ZBODY = 2 WHERE ZBODY IS NOT NULL", "CREATE TABLE main.STRANGE (a)",
        ] {
            let prepared = try Self.prepare(store)
            var migration = try #require(try prepared.migration())
            migration.script.statements.append(.init(.update, "", spoil, "Spoil it."))
            let error = #expect(throws: MigrationError.self, "\(spoil)") { try Migrator().run(migration, on: store) }
            #expect(error?.code == .verificationFailed, "\(spoil): \(String(describing: error))")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test func `several conditions of one entity lead into one entity, each with its own values`() throws {
        let folder = try ScratchFolder()
        let store = try Self.makeStore(in: folder)
        func prepare() throws -> PreparedMigration {
            let version = try Self.before()
            let next = try ManagedObjectModel(
                entities: version.model.entities.map { entity in
                    var entity = entity
                    if entity.name == "Person" {
                        entity.attributes.append(AttributeDescription(name: "former", type: .string))
                    }
                    return entity
                })
            let versions = ModelVersions(versions: [version, ModelVersion(names: ["2"], model: next)])
            var adult = EntityMapping(
                from: "Person", to: "Person", sourcePredicate: try Predicate(parsing: "age >= 18"))
            adult.name = "Adults"
            var child = EntityMapping(
                from: "Person", to: "Person", sourcePredicate: try Predicate(parsing: "age < 18"))
            child.name = "Children"
            child.attributeMappings = [
                try PropertyMapping("name", "uppercase:($source.name)"), try PropertyMapping("former", "$source.name"),
            ]
            let cats = EntityMapping(
                from: "Pet", to: "Pet", sourcePredicate: try Predicate(parsing: "species == 'cat'"))
            let mapping = MappingModel([adult, child, EntityMapping(from: "Company", to: "Company"), cats])
                .completed(from: versions.versions[0], to: versions.versions[1])
            var registry = MigrationRegistry()
            registry.acceptedLosses = .all
            return try PreparedMigration(
                store, versions: versions,
                options: .init(
                    registered: [try RegisteredStage(mapping, named: "one", in: versions)], registry: registry))
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        // An adult with a child's values is as neither mapping says.
        for spoil in [
            "UPDATE main.ZPERSON SET ZAGE = 99 WHERE Z_PK = 3", "DELETE FROM main.ZPERSON WHERE Z_PK = 15",
            "UPDATE main.ZPERSON SET ZFORMER = 'x', ZNAME = 'y' WHERE Z_PK = 12",
        ] {
            var migration = try #require(try prepare().migration())
            migration.script.statements.append(.init(.update, "", spoil, "Spoil it."))
            let error = #expect(throws: MigrationError.self, "\(spoil)") { try Migrator().run(migration, on: store) }
            #expect(error?.code == .verificationFailed, "\(spoil): \(String(describing: error))")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        _ = try Migrator().run(#require(try prepare().migration()), on: store)
        let wrong = try SQLiteShell.run(
            store,
            """
            ATTACH '\(folder.path)/before.sqlite' AS old;
            SELECT count(*) FROM ZPERSON p JOIN old.ZPERSON o USING (Z_PK)
              WHERE p.ZAGE = o.ZAGE AND p.ZEMPLOYER IS o.ZEMPLOYER
              AND p.ZNAME = iif(o.ZAGE < 18, upper(o.ZNAME), o.ZNAME)
              AND p.ZFORMER IS iif(o.ZAGE < 18, o.ZNAME, NULL);
            SELECT (SELECT count(*) FROM ZPERSON) = 20, (SELECT count(*) FROM ZPET) =
              (SELECT count(*) FROM old.ZPET WHERE ZSPECIES = 'cat');
            """)
        #expect(wrong == "20\n1|1\n")
    }

    // MARK: The store

    private static func prepare(_ store: String) throws -> PreparedMigration {
        let versions = ModelVersions(versions: [try before(), try after()])
        let named = Expression.DestinationInstances.ofEntityMapping
        func person(_ entity: String, _ condition: String) throws -> EntityMapping {
            var mapping = EntityMapping(
                from: "Person", to: entity, sourcePredicate: try Predicate(parsing: condition))
            mapping.attributeMappings = [try PropertyMapping("tag", "uppercase:($source.name)")]
            return mapping
        }
        let adult = try person("Adult", "age >= 18")
        var child = try person("Child", "age < 18")
        child.relationshipMappings = [
            PropertyMapping("shadow", .destinationInstances(named, named: "PersonToShadow", for: .variable("source")))
        ]
        var shadow = try person("Shadow", "age < 18")
        shadow.relationshipMappings = [
            PropertyMapping("friends"), PropertyMapping("employer"), PropertyMapping("pets"),
            PropertyMapping("body", .destinationInstances(named, named: "PersonToChild", for: .variable("source"))),
        ]
        var firm = EntityMapping(from: "Company", to: "Firm")
        firm.attributeMappings = [try PropertyMapping("name", "$source.title")]
        var pet = EntityMapping(from: "Pet", to: "Pet", sourcePredicate: try Predicate(parsing: "species == 'cat'"))
        pet.relationshipMappings = [
            PropertyMapping(
                "owner", .destinationInstances(.ofSourceRelationship, named: "owner", for: .source("owner")))
        ]
        let mapping = MappingModel([adult, child, firm, shadow, pet])
            .completed(from: versions.versions[0], to: versions.versions[1])
        let stage = try RegisteredStage(mapping, named: "split", in: versions)
        // Dogs are left behind on purpose.
        var registry = MigrationRegistry()
        registry.acceptedLosses = ["Pet"]
        return try PreparedMigration(
            store, versions: versions, options: .init(registered: [stage], registry: registry))
    }

    private static func makeStore(in folder: ScratchFolder) throws -> String {
        let store = folder.path + "/people.sqlite"
        let maker = try StoreCreator(try before())
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        try SampleData(seed: 3, count: 20, counts: ["Company": 6, "Pet": 30], isHostile: false).fill(writer)
        try writer.finish()
        _ = try SQLiteShell.run(
            store,
            """
            UPDATE ZPERSON SET ZNAME = 'p' || Z_PK, ZAGE = 10 + Z_PK, ZEMPLOYER = iif(Z_PK % 3 = 0, NULL, 1 + Z_PK % 6);
            UPDATE ZCOMPANY SET ZTITLE = 'firm ' || Z_PK;
            UPDATE ZPET SET ZSPECIES = iif(Z_PK % 3 = 0, 'dog', 'cat'), ZOWNER = 1 + Z_PK % 20;
            """)
        try FileManager.default.copyItem(atPath: store, toPath: folder.path + "/before.sqlite")
        return store
    }

    private static func one(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
        RelationshipDescription(name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 1)
    }

    private static func before() throws -> ModelVersion {
        ModelVersion(
            names: ["1"],
            model: try ManagedObjectModel(
                """
                Person = name String, age Integer16, employer > Company.staff, pets >> Pet.owner,
                    friends >> Person.friendOf, friendOf >> Person.friends
                Company = title String, staff >> Person.employer
                Pet = species String, owner > Person.pets
                """))
    }

    private static func after() throws -> ModelVersion {
        ModelVersion(
            names: ["2"],
            model: try ManagedObjectModel(
                """
                Party abstract = name String
                Human (Party) abstract = tag String, employer > Firm.staff, pets >> Pet.owner,
                    friends >> Human.friendOf, friendOf >> Human.friends
                Adult (Human)
                Child (Human) = shadow > Shadow.body
                Shadow (Human) = body > Child.shadow
                Firm (Party) = staff >> Human.employer
                Pet = species String, owner > Human.pets
                """))
    }
}
