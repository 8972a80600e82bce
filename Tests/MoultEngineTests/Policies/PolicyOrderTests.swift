import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Lists that had no order, whoever makes their members: statements, policies, or both.
struct PolicyOrderTests {
    /// Puts the fifth pet into the first list itself.
    private final class Moving: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let pet = try manager.makeDestinationInstance(forSource: source)
            guard source.objectID.key == 5 else { return }
            pet.setObject(try manager.destinationObjects("Owner", where: "name == 'first'").first, for: "owner")
        }
    }

    private func migrated(_ policies: [String: @Sendable () -> EntityMigrationPolicy]) throws -> String {
        let folder = try ScratchFolder()
        let store = folder.path + "/Pets.sqlite"
        let versions = try ModelVersions(
            """
            Owner = name String, pets >> Pet.owner
            Pet = owner > Owner.pets
            Dog (Pet) = size Integer16
            """,
            """
            Owner = name String, pets >> Pet.owner ordered
            Pet = owner > Owner.pets
            Dog (Pet) = size Integer16
            """)
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME)
                SELECT k.column1, p.Z_ENT, 1, k.column2 FROM (VALUES (1, 'first'), (2, 'second')) k, Z_PRIMARYKEY p
                WHERE p.Z_NAME = 'Owner';
            INSERT INTO ZPET (Z_PK, Z_ENT, Z_OPT, ZOWNER)
                SELECT k.value, p.Z_ENT, 1, k.value / 4 + 1 FROM generate_series(1, 6) k, Z_PRIMARYKEY p
                WHERE p.Z_NAME = CASE k.value % 2 WHEN 1 THEN 'Pet' ELSE 'Dog' END;
            UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Owner' THEN 2 WHEN 'Pet' THEN 6 ELSE 0 END
            """)
        var registry = MigrationRegistry()
        registry.policies = policies
        let mapping = MappingModel(
            ["Owner", "Pet", "Dog"].map {
                EntityMapping(from: $0, to: $0, entityMigrationPolicyClassName: policies[$0] == nil ? nil : $0)
            })
        registry.register(mapping: mapping, from: "1", to: "2")
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registry: registry))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        return try SQLiteShell.run(store, "SELECT ZOWNER, Z_PK, Z_FOK_OWNER FROM ZPET ORDER BY 1, 3")
    }

    @Test(arguments: [["Pet"], ["Dog"], ["Owner"], ["Pet", "Dog"], ["Owner", "Pet", "Dog"]])
    func `members of a list that gets an order are in it by key`(makers: [String]) throws {
        let policies = makers.map { ($0, { @Sendable in EntityMigrationPolicy() }) }
        let lists = try migrated(Dictionary(uniqueKeysWithValues: policies))
        #expect(lists == "1|1|2048\n1|2|3072\n1|3|4096\n2|4|2048\n2|5|3072\n2|6|4096\n")
    }

    @Test func `members without a place come after those that a policy has placed`() throws {
        let lists = try migrated(["Pet": { Moving() }])
        #expect(lists == "1|5|2048\n1|1|3072\n1|2|4096\n1|3|5120\n2|4|2048\n2|6|3072\n")
    }
}
