import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// What a policy's `super` makes of values whose attributes become of a wider type: what statements make of them.
struct PolicyConversionTests {
    private final class Plain: EntityMigrationPolicy {}

    private static func version(_ number: Int, _ types: [AttributeType]) throws -> ModelVersion {
        let attributes = types.enumerated().map { AttributeDescription(name: "a\($0)", type: $1) }
        return ModelVersion(
            names: ["\(number)"],
            model: try ManagedObjectModel(entities: [EntityDescription(name: "Row", attributes: attributes)]))
    }

    @Test(arguments: [false, true]) func `a wider type holds the same value, whoever makes the object`(
        hasPolicy: Bool
    ) throws {
        let (old, new): ([AttributeType], [AttributeType]) = (
            [.boolean, .boolean, .boolean, .boolean, .integer16, .integer32, .integer64, .float],
            [.decimal, .double, .float, .integer64, .decimal, .double, .decimal, .double]
        )
        let versions = ModelVersions(versions: [try Self.version(1, old), try Self.version(2, new)])
        let folder = try ScratchFolder()
        let store = folder.path + "/Rows.sqlite"
        try StoreCreator(versions.versions[0]).make(at: store)
        let rows = """
            (1,1,1,1,1,1,1,-7,99,9007199254740993,0.5), (2,1,1,0,0,0,0,32767,-2147483648,-1,0.0), \
            (3,1,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)
            """
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZROW (Z_PK, Z_ENT, Z_OPT, ZA0, ZA1, ZA2, ZA3, ZA4, ZA5, ZA6, ZA7) VALUES \(rows);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3
            """)
        var registry = MigrationRegistry()
        registry.register(policy: { Plain() }, named: "Plain")
        var mapping = EntityMapping(from: "Row", to: "Row")
        if hasPolicy { mapping.entityMigrationPolicyClassName = "Plain" }
        registry.register(mapping: MappingModel([mapping]), from: "1", to: "2")
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registry: registry))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        #expect(
            try SQLiteShell.run(
                store, "SELECT ZA0, ZA1, ZA2, ZA3, ZA4, ZA5, ZA6, ZA7, typeof(ZA6) FROM ZROW ORDER BY Z_PK")
                    == """
                    1|1.0|1.0|1|-7|99.0|9007199254740993|0.5|integer
                    0|0.0|0.0|0|32767|-2147483648.0|-1|0.0|integer
                    ||||||||null

                    """)
    }

    @Test(arguments: [false, true]) func `an expression gives an attribute of another type the equal value`(
        hasPolicy: Bool
    ) throws {
        let versions = ModelVersions(versions: [
            try Self.version(1, [.integer16, .string, .string]), try Self.version(2, [.string, .integer32, .decimal]),
        ])
        let folder = try ScratchFolder()
        let store = folder.path + "/Rows.sqlite"
        try StoreCreator(versions.versions[0]).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            INSERT INTO ZROW (Z_PK, Z_ENT, Z_OPT, ZA0, ZA1, ZA2)
            VALUES (1, 1, 1, -7, '42', '12.50'), (2, 1, 1, NULL, NULL, NULL);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2
            """)
        let registry = try Self.copying(hasPolicy: hasPolicy)
        let prepared = try PreparedMigration(store, versions: versions, options: .init(registry: registry))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        #expect(
            try SQLiteShell.run(store, "SELECT quote(ZA0), quote(ZA1), quote(ZA2) FROM ZROW ORDER BY Z_PK")
                == "'-7'|42|12.5\nNULL|NULL|NULL\n")
    }

    /// A mapping of version 1 to 2 that copies the three attributes, by statements or by a policy.
    private static func copying(hasPolicy: Bool) throws -> MigrationRegistry {
        var registry = MigrationRegistry()
        registry.register(policy: { Plain() }, named: "Plain")
        var mapping = EntityMapping(from: "Row", to: "Row")
        mapping.attributeMappings = try ["a0", "a1", "a2"].map { try PropertyMapping($0, "$source.\($0)") }
        if hasPolicy { mapping.entityMigrationPolicyClassName = "Plain" }
        registry.register(mapping: MappingModel([mapping]), from: "1", to: "2")
        return registry
    }

    @Test(arguments: [false, true]) func `a whole number that a Double or a Float would round stands in the way`(
        hasPolicy: Bool
    ) throws {
        let versions = ModelVersions(versions: [
            try Self.version(1, [.integer64, .integer32, .decimal]), try Self.version(2, [.double, .float, .double]),
        ])
        let registry = try Self.copying(hasPolicy: hasPolicy)
        let exact = ["9007199254740992", "16777216", "-9007199254740992"]
        let rounded = ["9007199254740993", "16777217", "-9007199254740993"]
        for place in [nil, 0, 1, 2] {
            let folder = try ScratchFolder()
            let store = folder.path + "/Rows.sqlite"
            try StoreCreator(versions.versions[0]).make(at: store)
            let values = exact.indices.map { $0 == place ? rounded[$0] : exact[$0] }
            _ = try SQLiteShell.run(
                store,
                """
                INSERT INTO ZROW (Z_PK, Z_ENT, Z_OPT, ZA0, ZA1, ZA2) VALUES (1, 1, 1, \(values.joined(separator: ", ")));
                UPDATE Z_PRIMARYKEY SET Z_MAX = 1
                """)
            let rows = "SELECT CAST(ZA0 AS INTEGER), CAST(ZA1 AS INTEGER), CAST(ZA2 AS INTEGER) FROM ZROW"
            func migrate() throws {
                let prepared = try PreparedMigration(store, versions: versions, options: .init(registry: registry))
                _ = try Migrator().run(#require(try prepared.migration()), on: store)
            }
            if place == nil {
                try migrate()
            } else {
                let error = try #require(throws: MigrationError.self) { try migrate() }
                #expect([.dataConflict, .policyFailed].contains(error.code), "\(error)")
            }
            #expect(try SQLiteShell.run(store, rows) == values.joined(separator: "|") + "\n")
        }
    }
}
