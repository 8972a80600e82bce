import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// Join tables with both ends in one entity, which Core Data names after either relationship. The sqlite3 shell makes
/// the orientation that Moult would not choose, and says afterwards what is there.
struct JoinNameTests {
    /// A store of clients who trust each other: `Z_1TRUSTEDBY` holds what `Z_1TRUSTS` would hold in a fresh store.
    private final class Clients {
        let folder: ScratchFolder
        let path: String
        let versions: ModelVersions

        init(_ later: [EntityDescription] = [JoinNameTests.client()], history: Bool = false) throws {
            folder = try ScratchFolder()
            path = folder.path + "/Clients.sqlite"
            versions = ModelVersions(versions: [
                ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [JoinNameTests.client()])),
                ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: later)),
            ])
            try StoreCreator(versions.versions[0], history: history).make(at: path)
            try shell(
                """
                DROP TABLE Z_1TRUSTS;
                CREATE TABLE Z_1TRUSTEDBY ( Z_1TRUSTS INTEGER, Z_1TRUSTEDBY INTEGER, PRIMARY KEY (Z_1TRUSTS, Z_1TRUSTEDBY) );
                CREATE INDEX Z_1TRUSTEDBY_Z_1TRUSTEDBY_INDEX ON Z_1TRUSTEDBY (Z_1TRUSTEDBY, Z_1TRUSTS);
                INSERT INTO ZCLIENT (Z_PK, Z_ENT, Z_OPT, ZLABEL) SELECT value, 1, 1, 'c' || value FROM generate_series(1, 9);
                INSERT INTO Z_1TRUSTEDBY SELECT value, value % 3 + 7 FROM generate_series(1, 5);
                INSERT INTO Z_1FRIENDS VALUES (1, 2), (2, 1), (3, 4);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_ENT = 1
                """)
        }

        @discardableResult
        func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }

        func migrate(inPlace: Bool = false) throws -> PreparedMigration {
            let prepared = try PreparedMigration(path, versions: versions, to: "2")
            if inPlace {
                _ = try Migrator().run(try #require(try prepared.choosing(.inPlace).migration()), on: path)
            } else {
                _ = try Migrator().run(prepared)
            }
            return prepared
        }
    }

    private static func client(_ attributes: [String] = [], renaming: Bool = false) -> EntityDescription {
        EntityDescription(
            name: renaming ? "Peer" : "Client",
            attributes: (["label"] + attributes).map { .init(name: $0, type: .string) },
            relationships: [
                ("friends", "friends"), ("trustedBy", "trusts"), ("trusts", "trustedBy"),
            ].map {
                .init(name: $0.0, destinationEntityName: renaming ? "Peer" : "Client", inverseName: $0.1, maxCount: 0)
            }, renamingIdentifier: renaming ? "Client" : nil)
    }

    /// Sorts before Client, so that Client gets another number.
    private static let book = EntityDescription(name: "Book", attributes: [.init(name: "title", type: .string)])

    private static let pairs = "1|8\n2|9\n3|7\n4|8\n5|9\n"

    private func codes(_ findings: [Finding]) -> [String] { findings.map(\.code).filter { $0.hasPrefix("join-name") } }

    // MARK: - Reading and repairing

    @Test func `a store with the other orientation is sound, and a pair in one direction is only noted`() throws {
        let clients = try Clients()
        let audit = try StoreAudit(clients.path, model: clients.versions.versions[0].model)
        #expect(audit.isSound)
        #expect(audit.findings.map(\.code) == ["pair-one-sided"])
        #expect(audit.findings.first?.message.contains("1 pair of Client.friends") == true)
    }

    @Test func `a repair ends dangling pairs of the table that the store has`() throws {
        let clients = try Clients()
        try clients.shell("INSERT INTO Z_1TRUSTEDBY VALUES (1, 4711)")
        let repair = try StoreRepair(clients.path, at: clients.versions.versions[0])
        _ = try Migrator().run(try #require(repair.migration), on: clients.path)
        #expect(try clients.shell("SELECT * FROM Z_1TRUSTEDBY ORDER BY 1") == Self.pairs)
        #expect(try clients.shell("SELECT count(*) FROM sqlite_master WHERE name = 'Z_1TRUSTS'") == "0\n")
    }

    @Test func `a salvage keeps pairs under the name that the store has, and says which table is missing`() throws {
        let clients = try Clients()
        try clients.shell("DROP TABLE Z_1FRIENDS")
        let path = clients.folder.path + "/new.sqlite"
        let report = try StoreSalvage(clients.versions.versions[0]).run(clients.path, into: path)
        #expect(report.tables.filter { $0.cause != nil }.map(\.name) == ["Z_1FRIENDS"])
        #expect(try SQLiteShell.run(path, "SELECT * FROM Z_1TRUSTEDBY ORDER BY 1") == Self.pairs)
        #expect(
            try SQLiteShell.run(path, "SELECT sql FROM sqlite_master WHERE name LIKE 'Z_1TRUST%' AND type = 'table'")
                == "CREATE TABLE Z_1TRUSTEDBY ( Z_1TRUSTS INTEGER, Z_1TRUSTEDBY INTEGER, PRIMARY KEY (Z_1TRUSTS, Z_1TRUSTEDBY) )\n"
        )
    }

    @Test func `a salvage reads columns that have the numbers of an earlier version`() throws {
        let clients = try Clients()
        try clients.shell(
            """
            ALTER TABLE Z_1TRUSTEDBY RENAME TO Z_7TRUSTEDBY; ALTER TABLE Z_7TRUSTEDBY RENAME COLUMN Z_1TRUSTS TO Z_7TRUSTS
            """)
        let path = clients.folder.path + "/new.sqlite"
        _ = try StoreSalvage(clients.versions.versions[0]).run(clients.path, into: path)
        #expect(try SQLiteShell.run(path, "SELECT Z_1TRUSTS, Z_1TRUSTEDBY FROM Z_1TRUSTEDBY ORDER BY 1") == Self.pairs)
    }

    // MARK: - Migrating

    @Test func `a migration keeps the orientation, whatever number the entity gets`() throws {
        let clients = try Clients([Self.client(), Self.book])
        let prepared = try clients.migrate()
        #expect(codes(prepared.bound?.findings ?? []) == [])
        #expect(try clients.shell("SELECT Z_2TRUSTS, Z_2TRUSTEDBY FROM Z_2TRUSTEDBY ORDER BY 1") == Self.pairs)
        #expect(try clients.shell("SELECT * FROM Z_2FRIENDS ORDER BY 1") == "1|2\n2|1\n3|4\n")
        #expect(try clients.shell("SELECT name FROM sqlite_master WHERE name LIKE 'Z_2TRUSTS%'") == "")
    }

    @Test func `an entity that is renamed keeps the orientation of its join table`() throws {
        let clients = try Clients([Self.client(renaming: true)])
        let prepared = try clients.migrate()
        #expect(codes(prepared.bound?.findings ?? []) == [])
        #expect(try clients.shell("SELECT Z_1TRUSTS, Z_1TRUSTEDBY FROM Z_1TRUSTEDBY ORDER BY 1") == Self.pairs)
    }

    @Test func `other properties keep the orientation too, with a finding that it is not certain`() throws {
        let clients = try Clients([Self.client(["note"])])
        let prepared = try clients.migrate()
        #expect(codes(prepared.bound?.findings ?? []) == ["join-name-uncertain"])
        #expect(try clients.shell("SELECT * FROM Z_1TRUSTEDBY ORDER BY 1") == Self.pairs)
        let layout = try ReadOnlyStore.read(clients.path, system: POSIXSystem()) {
            try StoreLayout(actual: StoreSnapshot($0.connection), model: clients.versions.versions[1].model)
        }
        #expect(layout.findings.map(\.code) == [])
    }

    @Test func `a migration in place leaves the table as it is`() throws {
        let clients = try Clients([Self.client(["note"])])
        let before = try clients.shell("SELECT rootpage, sql FROM sqlite_master WHERE name = 'Z_1TRUSTEDBY'")
        _ = try clients.migrate(inPlace: true)
        #expect(try clients.shell("SELECT rootpage, sql FROM sqlite_master WHERE name = 'Z_1TRUSTEDBY'") == before)
        #expect(try clients.shell("SELECT * FROM Z_1TRUSTEDBY ORDER BY 1") == Self.pairs)
    }

    @Test func `a mirror has the orientation of the store that it follows`() throws {
        let clients = try Clients([Self.client(["note"])])
        let second = clients.folder.path + "/second.sqlite"
        var mirror = try MirroredStore.start(
            .init(clients.path, .migrateInto(second)), .init(clients.versions, losses: .asTheVersionsSay()))
        #expect(try SQLiteShell.run(second, "SELECT * FROM Z_1TRUSTEDBY ORDER BY 1") == Self.pairs)
        try clients.shell(
            "DELETE FROM Z_1TRUSTEDBY WHERE Z_1TRUSTS = 5; UPDATE ZCLIENT SET Z_OPT = 2 WHERE Z_PK IN (5, 9)")
        _ = try mirror.synchronise()
        #expect(try SQLiteShell.run(second, "SELECT * FROM Z_1TRUSTEDBY ORDER BY 1") == "1|8\n2|9\n3|7\n4|8\n")
    }

    // MARK: - Clashing columns

    /// A user with a many-to-many relationship to each of the entities, whose inverses are all called `users`.
    private static func users(of others: [String]) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: others.map { name in
                EntityDescription(
                    name: name, attributes: [.init(name: "name", type: .string)],
                    relationships: [
                        .init(name: "users", destinationEntityName: "User", inverseName: name.lowercased(), maxCount: 0)
                    ])
            } + [
                EntityDescription(
                    name: "User", attributes: [.init(name: "name", type: .string)],
                    relationships: others.map {
                        .init(name: $0.lowercased(), destinationEntityName: $0, inverseName: "users", maxCount: 0)
                    })
            ])
    }

    /// The join tables and their indexes.
    private static let joins = """
        SELECT sql FROM sqlite_master WHERE tbl_name GLOB 'Z_[0-9]USERS' AND sql NOT NULL ORDER BY name
        """

    private func migrated(
        _ before: [String], to after: [String], in folder: ScratchFolder, first: String = ""
    ) throws -> (path: String, prepared: PreparedMigration, versions: ModelVersions) {
        let versions = ModelVersions(versions: [
            ModelVersion(names: ["1"], model: try Self.users(of: before)),
            ModelVersion(names: ["2"], model: try Self.users(of: after)),
        ])
        let path = folder.path + "/Users.sqlite"
        try StoreCreator(versions.versions[0]).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT) SELECT value, \(before.count + 1), 1 FROM generate_series(1, 9);
            INSERT INTO ZSYSTEM (Z_PK, Z_ENT, Z_OPT)
                SELECT value, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'System'), 1 FROM generate_series(1, 9);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_NAME IN ('User', 'System'); \(first)
            """)
        let prepared = try PreparedMigration(path, versions: versions, to: "2")
        _ = try Migrator().run(prepared)
        return (path, prepared, versions)
    }

    @Test(arguments: [
        (["System"], ["Reaction", "System"]), (["Reaction", "System"], ["System"]),
        (["Reaction", "System"], ["Badge", "Reaction", "System"]),
        (["System", "Thread"], ["Badge", "System", "Thread"]),
    ])
    func `where other columns clash than before, all have the names of a fresh store`(
        before: [String], after: [String]
    ) throws {
        let folder = try ScratchFolder()
        let own = "Z_\((before.firstIndex(of: "System") ?? 0) + 1)USERS"
        let link = "INSERT INTO \(own) SELECT value, 10 - value FROM generate_series(1, 4)"
        let (path, prepared, versions) = try migrated(before, to: after, in: folder, first: link)
        let fresh = folder.path + "/fresh.sqlite"
        try StoreCreator(versions.versions[1]).make(at: fresh)
        #expect(try SQLiteShell.run(path, Self.joins) == SQLiteShell.run(fresh, Self.joins))
        #expect(codes(prepared.bound?.findings ?? []) == [])
        let now = "Z_\((after.firstIndex(of: "System") ?? 0) + 1)USERS"
        #expect(try SQLiteShell.run(path, "SELECT * FROM \(now) ORDER BY 1") == "1|9\n2|8\n3|7\n4|6\n")
    }

    @Test func `a new clash in a store that does not number by name is not certain, with a finding`() throws {
        let folder = try ScratchFolder()
        // The suffix is on the other side than in a fresh store.
        let turned = """
            ALTER TABLE Z_1USERS RENAME COLUMN Z_3USERS TO Z_3USERS9; ALTER TABLE Z_2USERS RENAME COLUMN Z_3USERS1 TO Z_3USERS;
            ALTER TABLE Z_1USERS RENAME COLUMN Z_3USERS9 TO Z_3USERS1
            """
        let (path, prepared, _) = try migrated(
            ["Reaction", "System"], to: ["Reaction", "System", "Thread"], in: folder, first: turned)
        #expect(codes(prepared.bound?.findings ?? []) == ["join-name-uncertain"])
        #expect(prepared.bound?.findings.first { $0.code == "join-name-uncertain" }?.place == "User.reaction")
        #expect(
            try SQLiteShell.run(path, "SELECT name FROM pragma_table_info('Z_2USERS')") == "Z_2SYSTEM\nZ_4USERS1\n")
    }

    // MARK: - Fresh stores

    @Test func `a fresh store takes the greater name and says that it is not certain`() throws {
        let layout = try StoreLayout(model: ManagedObjectModel(entities: [Self.client()]))
        #expect(layout.joinTables.map(\.name).sorted() == ["Z_1FRIENDS", "Z_1TRUSTS"])
        #expect(layout.findings.map(\.code) == ["join-name-uncertain"])
        #expect(layout.findings.first?.place == "Client.trusts")
    }
}
