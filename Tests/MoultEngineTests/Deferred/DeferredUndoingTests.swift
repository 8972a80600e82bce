import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultCare
@testable import MoultEngine

/// The way back from a deferred migration, as long as its work is pending.
@Suite("The way back from a deferred migration")
struct DeferredUndoingTests {
    let versions: ModelVersions

    init() throws { versions = try DeferrableVersions.make() }

    private func goBack(_ store: DeferredStore) throws -> StoreDowngrade {
        let downgrade = try StoreDowngrade(store.path, versions: versions, to: "1")
        if case .leftovers(let migration) = downgrade.way { _ = try Migrator().run(migration, on: store.path) }
        return downgrade
    }

    @Test func `nothing written since: finished, the store is the one that it was`() throws {
        let store = try DeferredStore(versions.versions[0])
        let before = try store.contents()
        try store.migrate(versions)
        let downgrade = try goBack(store)
        guard case .leftovers = downgrade.way else {
            Issue.record("another way: \(downgrade.way)")
            return
        }
        // What the newer version had added is what waits now.
        #expect(try store.tasks().contains { $0.name == "ZITEM" && $0.columns == ["ZSCORE"] })
        try store.finish()
        #expect(try store.contents() == before)
    }

    @Test func `a store that cannot be read is not said to have no deferred work`() throws {
        struct Unreadable: ForwardingSystem {
            let store: String

            func status(of path: String) throws -> FileStatus? {
                if path.hasSuffix(store) { throw MigrationError.system("read", path, error: 5) }
                return try real.status(of: path)
            }
        }
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        for (migrator, code) in [
            (Migrator(), MigrationError.Code.deferredWork),
            (Migrator(system: Unreadable(store: Path.name(of: store.path))), .inputOutput),
        ] {
            let error = #expect(throws: MigrationError.self) {
                try migrator.backup(named: nil, of: store.path, in: { nil })
            }
            #expect(error?.code == code)
        }
    }

    @Test func `what was written since is there, with defaults for what the newer version does not know`() throws {
        let store = try DeferredStore(versions.versions[0])
        let words = try store.shell("SELECT Z_PK, ZWORD FROM ZTAG ORDER BY 1")
        try store.migrate(versions)
        _ = try store.shell(
            """
            UPDATE ZITEM SET ZTITLE = 'changed' WHERE Z_PK = 1;
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSCORE) VALUES (41, 2, 1, 'new', 7);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 41 WHERE Z_NAME = 'Item'
            """)
        _ = try goBack(store)
        #expect(
            try store.shell("SELECT ZNAME, ZRATE IS NULL FROM ZITEM WHERE Z_PK IN (1, 41) ORDER BY Z_PK").hasSuffix(
                "\nnew|1\n"))
        #expect(try store.shell("SELECT ZNAME FROM ZITEM WHERE Z_PK = 1") == "changed\n")
        #expect(try store.shell("SELECT Z_PK, ZWORD FROM ZTAG ORDER BY 1") == words)
        #expect(try store.shell("SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") == "40\n41\n40\n40\n")
        #expect(try StoreAudit(store.path, model: versions.versions[0].model).isSound)
    }

    @Test func `what only the newer version has is a loss, as without work that waits`() throws {
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        _ = try store.shell(
            "UPDATE ZITEM SET ZSCORE = 8 WHERE Z_PK IN (1, 2); UPDATE ZAUTHOR SET ZAGE = 9 WHERE Z_PK = 1")
        let before = try store.shell("SELECT Z_PK, ZSCORE FROM ZITEM; SELECT Z_PK, ZAGE FROM ZAUTHOR")
        let downgrade = try goBack(store)
        guard case .impossible = downgrade.way else {
            Issue.record("another way: \(downgrade.way)")
            return
        }
        #expect(
            downgrade.losses == [
                "1 value of Author.age is deleted: 1 does not store the attribute.",
                "40 values of Item.score are deleted: 1 does not store the attribute.",
            ], "\(downgrade.losses)")
        #expect(try store.shell("SELECT Z_PK, ZSCORE FROM ZITEM; SELECT Z_PK, ZAGE FROM ZAUTHOR") == before)
    }

    @Test func `objects of an entity that only the newer version has are a loss`() throws {
        let models = try [false, true].map { hasZebra in
            try ManagedObjectModel(
                entities: [
                    EntityDescription(
                        name: "Cat",
                        attributes: (hasZebra ? ["name"] : ["name", "old"]).map { .init(name: $0, type: .string) })
                ]
                    + (hasZebra
                        ? [EntityDescription(name: "Zebra", attributes: [.init(name: "word", type: .string)])] : []))
        }
        let versions = ModelVersions(
            versions: models.enumerated().map { ModelVersion(names: ["\($0 + 1)"], model: $1) })
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        _ = try store.shell("INSERT INTO ZZEBRA (Z_PK, Z_ENT, Z_OPT, ZWORD) VALUES (1, 2, 1, 'stripe')")
        let losses = try StoreDowngrade(store.path, versions: versions, to: "1").losses
        #expect(losses == ["1 object of Zebra is deleted: 1 does not have the entity."])
        _ = try store.shell("DELETE FROM ZZEBRA")
        guard case .leftovers = try StoreDowngrade(store.path, versions: versions, to: "1").way else {
            Issue.record("nothing would be lost")
            return
        }
    }

    @Test func `links to objects that were deleted since are cleared`() throws {
        let models = try [true, false].map { hasOwner in
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Cat", attributes: [.init(name: "name", type: .string)],
                    relationships: hasOwner
                        ? [.init(name: "owner", destinationEntityName: "Person", inverseName: "cats")] : []),
                EntityDescription(
                    name: "Person", attributes: [.init(name: "name", type: .string)],
                    relationships: hasOwner
                        ? [.init(name: "cats", destinationEntityName: "Cat", inverseName: "owner", maxCount: 0)] : []),
            ])
        }
        let versions = ModelVersions(
            versions: models.enumerated().map { ModelVersion(names: ["\($0 + 1)"], model: $1) })
        let store = try DeferredStore(versions.versions[0])
        _ = try store.shell("UPDATE ZCAT SET ZOWNER = 1 + Z_PK % 2")
        try store.migrate(versions)
        _ = try store.shell("DELETE FROM ZPERSON WHERE Z_PK = 1")
        let downgrade = try StoreDowngrade(store.path, versions: versions, to: "1")
        guard case .leftovers(let migration) = downgrade.way else {
            Issue.record("another way: \(downgrade.way)")
            return
        }
        _ = try Migrator().run(migration, on: store.path)
        #expect(try store.shell("SELECT ZOWNER, count(*) FROM ZCAT GROUP BY 1 ORDER BY 1") == "|20\n2|20\n")
    }

    @Test(arguments: [("ZE", true), ("ZOLD", false)])
    func `only former copies of links that the newer version has are no loss`(
        column: String, goesBack: Bool
    ) throws {
        let models = try [false, true].map { isLater in
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Note", attributes: [],
                    relationships: [.init(name: "ent", destinationEntityName: "Zebra", inverseName: "e")]),
                EntityDescription(
                    name: "Zebra", attributes: isLater ? [] : [.init(name: "old", type: .string)],
                    relationships: [
                        .init(
                            name: "e", destinationEntityName: "Note", inverseName: "ent", maxCount: isLater ? 0 : 1)
                    ]),
            ])
        }
        let versions = ModelVersions(
            versions: models.enumerated().map { ModelVersion(names: ["\($0 + 1)"], model: $1) })
        let store = try DeferredStore(versions.versions[0])
        _ = try store.shell(
            """
            UPDATE ZZEBRA SET ZOLD = NULL, ZE = NULL; UPDATE ZNOTE SET ZENT = NULL;
            UPDATE ZZEBRA SET ZE = 2 WHERE Z_PK = 1; UPDATE ZNOTE SET ZENT = 1 WHERE Z_PK = 2;
            UPDATE ZZEBRA SET \(column) = 2 WHERE Z_PK = 1
            """)
        try store.migrate(versions)
        #expect(try store.tasks().contains { $0.name == "ZZEBRA" && Set($0.columns) == ["ZE", "ZOLD"] })
        // The copy is out of date.
        _ = try store.shell("UPDATE ZNOTE SET ZENT = CASE Z_PK WHEN 3 THEN 1 END")
        let downgrade = try StoreDowngrade(store.path, versions: versions, to: "1")
        guard case .mapping(let migration) = downgrade.way else {
            #expect(!goesBack && downgrade.losses.count == 1, "\(downgrade.losses)")
            #expect(downgrade.losses.first?.hasPrefix("1 value in the column ZOLD of ZZEBRA is deleted") == true)
            return
        }
        #expect(goesBack)
        _ = try Migrator().run(migration, on: store.path)
        #expect(try store.shell("SELECT Z_PK, ZE FROM ZZEBRA WHERE ZE IS NOT NULL") == "1|3\n")
        #expect(try StoreAudit(store.path, model: versions.versions[0].model).isSound)
    }

    @Test(arguments: [true, false])
    func `entity numbers and derived values that were left are no loss`(isDerived: Bool) throws {
        let derived = "loud String derived=uppercase:(word)"
        let versions = try ModelVersions(
            """
            Note = ent > Zebra.e
            Nub (Note)
            Zebra = e > Note.ent, word String, \(isDerived ? derived : "loud String")
            Zub (Zebra) abstract
            """,
            """
            Cat = name String
            Note = ent > Zebra.e, more String
            Nub (Note)
            Zebra = e > Note.ent, word String, \(derived)
            Zub (Zebra) abstract
            """,
            """
            Note = ent > Zebra.e
            Nub (Note)
            Zebra = e >> Note.ent, word String
            """)
        let store = try DeferredStore(versions.versions[0])
        _ = try store.shell(
            """
            UPDATE ZNOTE SET ZENT = NULL, Z3_ENT = NULL;
            UPDATE ZZEBRA SET ZE = NULL, Z1_E = NULL, ZWORD = 'word', ZLOUD = 'WORD';
            UPDATE ZNOTE SET ZENT = 1, Z3_ENT = 3 WHERE Z_PK = 2;
            UPDATE ZZEBRA SET ZE = 2, Z1_E = (SELECT Z_ENT FROM ZNOTE WHERE Z_PK = 2) WHERE Z_PK = 1
            """)
        try store.migrate(versions)
        let tasks = try store.tasks()
        #expect(tasks.contains { $0.name == "ZNOTE" && $0.columns == ["Z3_ENT"] })
        #expect(tasks.contains { $0.name == "ZZEBRA" && Set($0.columns) == ["ZE", "Z1_E", "ZLOUD"] })
        let downgrade = try StoreDowngrade(store.path, versions: versions, to: "2")
        let loss = "40 values in the column ZLOUD of ZZEBRA are deleted"
        #expect(downgrade.losses.count == (isDerived ? 0 : 1), "\(downgrade.losses)")
        #expect(downgrade.losses.allSatisfy { $0.hasPrefix(loss) }, "\(downgrade.losses)")
        guard isDerived, case .mapping(let migration) = downgrade.way else {
            #expect(!isDerived)
            return
        }
        _ = try Migrator().run(migration, on: store.path)
        let links = """
            SELECT z.ZE, z.Z2_E = n.Z_ENT, n.ZENT, n.Z4_ENT, z.ZLOUD FROM ZZEBRA AS z JOIN ZNOTE AS n ON n.Z_PK = z.ZE
            """
        #expect(try store.shell(links) == "2|1|1|4|WORD\n")
        #expect(try StoreAudit(store.path, model: versions.versions[1].model).isSound)
    }

    @Test func `what is gone for good is brought back by the backup that finishing made`() throws {
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        try store.finish(.one, isFrugal: false)
        let downgrade = try StoreDowngrade(store.path, versions: versions, to: "1")
        if case .leftovers = downgrade.way { Issue.record("the table of the tags is gone") }
    }
}
