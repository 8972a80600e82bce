import MoultCare
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Values derived from what a migration changes. The sqlite3 shell computes what is expected from the resulting tables.
struct DerivedValueTests {
    @Test(arguments: [
        (false, "first|FIRST\nTwo|TWO\n"), (true, "One!|ONE!\nTwo!|TWO!\n"),
    ])
    func `what is derived from a computed value is computed again`(byClosure: Bool, expected: String) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Notes.sqlite"
        let versions = try ModelVersions(
            "Note = title String, upper String derived=uppercase:(title)",
            "Note = title String, more String, upper String derived=uppercase:(title)")
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZUPPER)
                VALUES (1, 1, 1, 'One', 'ONE'), (2, 1, 1, 'Two', 'TWO');
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2
            """)
        var note = EntityMapping(from: "Note", to: "Note")
        note.attributeMappings = [
            try byClosure
                ? PropertyMapping("title", from: "title") { (title: String?) -> String? in title.map { $0 + "!" } }
                : PropertyMapping("title", "TERNARY($source.title == 'One', 'first', $source.title)")
        ]
        let mapping = MappingModel([note]).completed(from: versions.versions[0], to: versions.versions[1])
        let stage = try RegisteredStage(mapping, named: "titles", in: versions)
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registered: [stage]))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        #expect(try SQLiteShell.run(store, "SELECT ZTITLE, ZUPPER FROM ZNOTE ORDER BY Z_PK") == expected)
    }

    @Test(arguments: MappedDerivation.all)
    func `derived values are those of the tables that a mapping leaves`(_ derivation: MappedDerivation) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Store.sqlite"
        let versions = try ModelVersions(of: derivation.models.map { try ManagedObjectModel($0).entities })
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(store, derivation.rows)
        var registry = MigrationRegistry()
        registry.acceptedLosses = .all
        registry.register(policy: { HalvingPolicy() }, named: "Halving")
        let last = versions.versions.count
        registry.register(mapping: MappingModel(try derivation.mappings()), from: "\(last - 1)", to: "\(last)")
        func migrate(to version: Int) throws {
            let prepared = try PreparedMigration(
                store, versions: versions, to: "\(version)", options: .init(registry: registry))
            _ = try Migrator().run(#require(try prepared.migration()), on: store)
        }
        // Shells cannot fill a store whose triggers call functions of Core Data.
        if last > 2 { try migrate(to: last - 1) }
        let before = try SQLiteShell.run(store, derivation.derived)
        try migrate(to: last)
        let after = try SQLiteShell.run(store, derivation.derived)
        #expect(after != before)
        #expect(try after == SQLiteShell.run(store, derivation.computed))
    }

    @Test func `undoing computes what was derived again, but no time of a change`() throws {
        let versions = try ModelVersions(
            """
            Owner = name String, pets >> Pet.owner, count Integer64 derived=pets.@count, saved Date derived=now(),
                loud String derived=uppercase:(name), grown Integer64 derived=pets.@count filter=age>5
            Pet = age Integer32, owner > Owner.pets
            """,
            "Owner = name String, more String, pets >> Pet.owner\nPet = age Integer32, owner > Owner.pets")
        let store = try DeferredStore(versions.versions[0], rows: 4)
        _ = try store.shell("UPDATE ZOWNER SET ZSAVED = 5, ZGROWN = 3")
        #expect(try store.migrate(versions).deferral?.isPossible == true)
        _ = try store.shell(
            """
            UPDATE ZOWNER SET ZNAME = 'o' || Z_PK; UPDATE ZPET SET ZOWNER = 1;
            INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (99, 1, 1, 'new');
            UPDATE Z_PRIMARYKEY SET Z_MAX = 99 WHERE Z_NAME = 'Owner'
            """)
        let downgrade = try StoreDowngrade(store.path, versions: versions, to: "1")
        #expect(downgrade.findings.filter { $0.code == "derived-not-computed" }.map(\.place) == ["Owner.grown"])
        guard case .leftovers(let migration) = downgrade.way else {
            Issue.record("another way: \(downgrade.way)")
            return
        }
        _ = try Migrator().run(migration, on: store.path)
        let computed = "(SELECT count(*) FROM ZPET WHERE ZOWNER = o.Z_PK), upper(ZNAME)"
        #expect(
            try store.shell("SELECT ZCOUNT, ZLOUD FROM ZOWNER ORDER BY Z_PK")
                == store.shell("SELECT \(computed) FROM ZOWNER o ORDER BY Z_PK"))
        // Only the object made since has no time of its own.
        let isNew = "Z_PK = 99 AND abs(ZSAVED + 978307200 - strftime('%s', 'now')) < 60"
        #expect(
            try store.shell("SELECT count(ZGROWN), sum(ZSAVED = 5), sum(\(isNew)) FROM ZOWNER") == "0|4|1\n")
    }
}

/// Leaves out what is below 5, and makes two objects of anything else.
private final class HalvingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        guard case .integer(let age)? = source["age"], age >= 5 else {
            source.outcome = .dropped(reason: "below 5")
            return
        }
        for half in [age / 2, age - age / 2] {
            let made = try manager.insertObject(forEntityName: "Pet")
            made["age"] = .integer(half)
            try manager.associate(source: source, withDestination: made, for: mapping)
        }
    }
}

/// Versions, the mappings between the last two, and what is derived.
struct MappedDerivation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let models: [String]
    let rows: String
    let mappings: @Sendable () throws -> [EntityMapping]
    /// The derived values, followed by what they are computed from.
    let derived: String
    let computed: String

    private static func mapping(_ name: String, _ values: [String: String] = [:]) throws -> EntityMapping {
        var mapping = EntityMapping(from: name, to: name)
        mapping.attributeMappings = try values.map { try PropertyMapping($0, $1) }
        return mapping
    }

    static let all = [
        Self(
            testDescription: "attributes that swap their values",
            models: ["", ", c String"].map { "Note = a String, b String, upper String derived=uppercase:(a)\($0)" },
            rows: """
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZUPPER) VALUES (1, 1, 1, 'x', 'y', 'X'),
                    (2, 1, 1, 'z', NULL, 'Z');
                UPDATE Z_PRIMARYKEY SET Z_MAX = 2
                """,
            mappings: { [try mapping("Note", ["a": "$source.b", "b": "$source.a"])] },
            derived: "SELECT ZUPPER FROM ZNOTE ORDER BY Z_PK", computed: "SELECT upper(ZA) FROM ZNOTE ORDER BY Z_PK"),
        Self(
            testDescription: "a value that only a sub-entity changes",
            models: ["", ", size Integer32"].map {
                """
                Item = title String, upper String derived=uppercase:(title)
                Paper (Item) = lines Integer32
                Toy (Item) = age Integer32\($0)
                """
            },
            rows: """
                INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZUPPER) VALUES (1, 1, 1, 'a', 'A'), (2, 2, 1, 'b', 'B'),
                    (3, 3, 1, 'c', 'C');
                UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 1
                """,
            mappings: {
                [
                    try mapping("Item"), try mapping("Paper"),
                    try mapping("Toy", ["title": "TERNARY($source.title == 'c', 'cc', $source.title)"]),
                ]
            },
            derived: "SELECT ZUPPER FROM ZITEM ORDER BY Z_PK",
            computed: "SELECT upper(ZTITLE) FROM ZITEM ORDER BY Z_PK"),
        Self(
            testDescription: "what is derived from derived values",
            models: [
                "", ", place String derived=shelf.upper, loud String derived=lowercase:(place)",
                ", more String, place String derived=shelf.upper, loud String derived=lowercase:(place)",
            ].map {
                """
                Note = shelf > Shelf.notes, text String\($0)
                Shelf = name String, notes >> Note.shelf\($0.isEmpty ? "" : ", upper String derived=uppercase:(name)")
                """
            },
            rows: """
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZSHELF) VALUES (1, 1, 1, 'x', 2), (2, 1, 1, 'y', NULL);
                INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'one'), (2, 2, 1, 'two');
                UPDATE Z_PRIMARYKEY SET Z_MAX = 2
                """,
            mappings: {
                [
                    try mapping("Note"),
                    try mapping("Shelf", ["name": "TERNARY($source.name == 'two', 'second', $source.name)"]),
                ]
            },
            derived: "SELECT ZUPPER FROM ZSHELF ORDER BY Z_PK; SELECT ZPLACE, ZLOUD FROM ZNOTE ORDER BY Z_PK",
            computed: """
                SELECT upper(ZNAME) FROM ZSHELF ORDER BY Z_PK;
                SELECT upper(s.ZNAME), lower(s.ZNAME) FROM ZNOTE n LEFT JOIN ZSHELF s ON s.Z_PK = n.ZSHELF
                    ORDER BY n.Z_PK
                """),
        Self(
            testDescription: "links from an entity that is split, and one that is merged with it",
            models: ["", ", count Integer64 derived=pets.@count, ages Double derived=pets.@sum.age"].map {
                """
                Cat = age Integer32, owner > Owner.cats
                Owner = name String, cats >> Cat.owner, pets >> Pet.owner\($0)
                Pet = age Integer32, owner > Owner.pets
                """
            } + [
                """
                Cub = age Integer32
                Owner = name String, pets >> Pet.owner, count Integer64 derived=pets.@count,
                    ages Double derived=pets.@sum.age
                Pet = age Integer32, owner > Owner.pets
                """
            ],
            rows: """
                INSERT INTO ZCAT (Z_PK, Z_ENT, Z_OPT, ZAGE, ZOWNER) VALUES (1, 1, 1, 5, 1), (2, 1, 1, 6, 2);
                INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'a'), (2, 2, 1, 'b'), (3, 2, 1, 'c');
                INSERT INTO ZPET (Z_PK, Z_ENT, Z_OPT, ZAGE, ZOWNER) VALUES (1, 3, 1, 10, 1), (2, 3, 1, 2, 1),
                    (3, 3, 1, 1, 3);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 3
                """,
            mappings: {
                var owner = try mapping("Owner")
                // Its inverse fills it.
                owner.relationshipMappings = [PropertyMapping("pets")]
                return [
                    owner, EntityMapping(from: "Cat", to: "Pet"),
                    EntityMapping(from: "Pet", to: "Pet", sourcePredicate: try Predicate(parsing: "age > 5")),
                    EntityMapping(from: "Pet", to: "Cub", sourcePredicate: try Predicate(parsing: "age <= 5")),
                ]
            },
            derived: "SELECT ZCOUNT, ZAGES FROM ZOWNER ORDER BY Z_PK",
            computed: """
                SELECT count(p.Z_PK), total(p.ZAGE) FROM ZOWNER o LEFT JOIN ZPET p ON p.ZOWNER = o.Z_PK
                    GROUP BY o.Z_PK ORDER BY o.Z_PK
                """),
        Self(
            testDescription: "a time, which objects of another entity do not have",
            models: ["", ", more String"].map { "A = name String, saved Date derived=now()\($0)\nB = name String" },
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZNAME, ZSAVED) VALUES (1, 1, 1, 'a', 5);
                INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'b');
                UPDATE Z_PRIMARYKEY SET Z_MAX = 1
                """,
            mappings: { [try mapping("A"), EntityMapping(from: "B", to: "A")] },
            derived: """
                SELECT ZNAME, CASE WHEN ZSAVED = 5 THEN 'kept'
                    WHEN abs(ZSAVED + 978307200 - strftime('%s', 'now')) < 60 THEN 'new' END FROM ZA ORDER BY ZNAME
                """,
            computed: "SELECT ZNAME, iif(ZNAME = 'a', 'kept', 'new') FROM ZA ORDER BY ZNAME"),
        Self(
            testDescription: "objects that a policy makes, and links to them",
            models: ["", derivedOfPets, ", more String\(derivedOfPets)"].map {
                """
                Owner = name String, pets >> Pet.owners\($0)
                Pet = age Integer32, owners >> Owner.pets\($0.isEmpty ? "" : ", twice Integer32 derived=age*2")
                """
            },
            rows: """
                INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, '1'), (2, 1, 1, '2'), (3, 1, 1, '3');
                INSERT INTO ZPET (Z_PK, Z_ENT, Z_OPT, ZAGE) VALUES (1, 2, 1, 11), (2, 2, 1, 4), (3, 2, 1, 20);
                INSERT INTO Z_1PETS (Z_1OWNERS, Z_2PETS) VALUES (1, 1), (1, 2), (1, 3), (2, 2), (3, 1);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 3
                """,
            mappings: {
                let pet = EntityMapping(from: "Pet", to: "Pet", entityMigrationPolicyClassName: "Halving")
                return [try mapping("Owner"), pet]
            },
            derived: """
                SELECT ZCOUNT, ZAGES, ZOLDEST, ZNEXT FROM ZOWNER ORDER BY Z_PK; SELECT ZTWICE FROM ZPET ORDER BY Z_PK
                """,
            computed: """
                SELECT count(p.Z_PK), total(p.ZAGE), max(p.ZAGE), max(p.ZAGE) + 1 FROM ZOWNER o
                    LEFT JOIN Z_1PETS j ON j.Z_1OWNERS = o.Z_PK LEFT JOIN ZPET p ON p.Z_PK = j.Z_2PETS
                    GROUP BY o.Z_PK ORDER BY o.Z_PK;
                SELECT 2 * ZAGE FROM ZPET ORDER BY Z_PK
                """),
    ]

    private static let derivedOfPets = """
        , count Integer64 derived=pets.@count, ages Double derived=pets.@sum.age, \
        oldest Integer32 derived=pets.@max.age, next Integer32 derived=oldest+1
        """
}
