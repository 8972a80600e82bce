import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// What a migration does not carry over is counted wherever it is told of; what both versions have is refused, unless
/// code has read it or the loss is declared. Rows are made and counted by the sqlite3 shell.
@Suite struct LossTests {  // tier: long
    private let folder: ScratchFolder
    private let store: String

    /// Thirty items, of which ten have a price and fifteen a note; six owners, each item with one.
    init() throws {
        folder = try ScratchFolder()
        store = folder.path + "/items.sqlite"
        try StoreCreator(Self.version("1", price: .string, note: true)).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            PRAGMA journal_mode = DELETE;
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPRICE, ZNOTE, ZOWNER)
                SELECT value, 1, 1, 'item ' || value, iif(value % 3 = 0, value, NULL), iif(value % 2 = 0, 'n', NULL),
                    value % 6 + 1 FROM generate_series(1, 30);
            INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 2, 1, 'owner ' || value
                FROM generate_series(1, 6);
            UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Item' THEN 30 ELSE 6 END;
            """)
    }

    // MARK: - Versions

    private static func version(
        _ name: String, price: AttributeType, note: Bool = false, hasOwner: Bool = true
    ) throws -> ModelVersion {
        ModelVersion(
            names: [name],
            model: try ManagedObjectModel(
                """
                Item = name String, price \(price.word)\(note ? ", note String" : "")\(hasOwner ? ", owner > Owner.items" : "")
                Owner = name String\(hasOwner ? ", items >> Item.owner" : "")
                """))
    }

    private static func versions(
        _ price: AttributeType = .string, note: Bool = false, hasOwner: Bool = true
    ) throws -> ModelVersions {
        ModelVersions(versions: [
            try version("1", price: .string, note: true),
            try version("2", price: price, note: note, hasOwner: hasOwner),
        ])
    }

    private func prepared(_ versions: ModelVersions, _ options: PreparedMigration.Options) throws -> PreparedMigration {
        try PreparedMigration(store, versions: versions, options: options)
    }

    private func registry(
        _ mappings: [EntityMapping], accepting: AcceptedLosses = .none,
        policy: (@Sendable () -> EntityMigrationPolicy)? = nil
    ) -> MigrationRegistry {
        var registry = MigrationRegistry()
        registry.policies["Policy"] = policy
        registry.register(mapping: MappingModel(mappings), from: "1", to: "2", named: "shop")
        registry.acceptedLosses = accepting
        return registry
    }

    private func run(_ versions: ModelVersions, _ options: PreparedMigration.Options) throws -> [String] {
        let migration = try #require(try prepared(versions, options).migration())
        let rehearsal = try Migrator().rehearse(migration, on: store)
        let outcome = try Migrator().run(migration, on: store)
        #expect(rehearsal.losses == outcome.losses)
        let record = try #require(try RunHistory(StoreRecords(store: store)).records().last)
        #expect(record.losses.map(\.sentence) == outcome.losses.map(\.sentence))
        let log = try MigrationLog(StoreRecords(store: store)).read()
        for loss in outcome.losses { #expect(log.contains(loss.sentence), "\(log)") }
        return Self.texts(outcome.losses)
    }

    private static func texts(_ losses: [MigrationLoss]) -> [String] {
        losses.map { "\($0.kind) \($0.place) \($0.count ?? -1) \($0.reason)" }
    }

    private func refusal(_ versions: ModelVersions, _ options: PreparedMigration.Options) throws -> MigrationError {
        let before = try SQLiteShell.run(store, ".sha3sum --schema")
        let error = try #require(throws: MigrationError.self) {
            try Migrator().run(#require(try prepared(versions, options).migration()), on: store)
        }
        #expect(try SQLiteShell.run(store, ".sha3sum --schema") == before)
        return error
    }

    // MARK: - Inference

    @Test(arguments: ["items", "wares"])
    func `a to-one keeps one link of many, and the others are counted by the older name`(_ name: String) throws {
        let narrow = ModelVersion(
            names: ["2"],
            model: try ManagedObjectModel(
                """
                Item = name String, price String, note String, owner > Owner.\(name)
                Owner = name String, \(name) > Item.owner was=items
                """))
        let versions = ModelVersions(versions: [try Self.version("1", price: .string, note: true), narrow])
        var accepting = MigrationRegistry()
        accepting.acceptedLosses = ["Owner.items"]
        #expect(try prepared(versions, .init(registry: accepting)).foreseenLosses().map(\.isDeclared) == [true])
        #expect(try run(versions, .init(losses: .asTheVersionsSay())) == ["links Owner.items 24 narrowed"])
        #expect(try SQLiteShell.run(store, "SELECT count(ZOWNER) FROM ZITEM") == "6\n")
    }

    @Test func `links to objects that stay but are no kind of the new destination are counted`() throws {
        func version(_ name: String, to destination: String) throws -> ModelVersion {
            ModelVersion(
                names: [name],
                model: try ManagedObjectModel(
                    "Animal = name String\nCat (Animal)\nDog (Animal)\nHome = pet > \(destination)"))
        }
        let versions = ModelVersions(versions: [try version("1", to: "Animal"), try version("2", to: "Cat")])
        let path = folder.path + "/pets.sqlite"
        try StoreCreator(versions.versions[0]).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            PRAGMA journal_mode = DELETE;
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME)
                SELECT value, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = iif(value <= 4, 'Cat', 'Dog')), 1, 'a'
                FROM generate_series(1, 10);
            INSERT INTO ZHOME (Z_PK, Z_ENT, Z_OPT, ZPET)
                SELECT value, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Home'), 1, value
                FROM generate_series(1, 9);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 10;
            """)
        let mappings = ["Animal", "Cat", "Dog", "Home"].map { EntityMapping(from: $0, to: $0) }
        let prepared = try PreparedMigration(
            path, versions: versions, options: .init(registry: registry(mappings)))
        let foreseen = try prepared.foreseenLosses()
        #expect(Self.texts(foreseen.map(\.loss)) == ["links Home.pet 5 redirected"])
        #expect(
            try SQLiteShell.run(
                path,
                """
                SELECT count(*) FROM ZHOME h JOIN ZANIMAL a ON a.Z_PK = h.ZPET JOIN Z_PRIMARYKEY k ON k.Z_ENT = a.Z_ENT
                WHERE k.Z_NAME <> 'Cat'
                """) == "5\n")
    }

    /// The objects of its old parent keep the attribute, and say nothing of those that no longer have it.
    @Test func `what an entity no longer inherits is counted`() throws {
        let path = folder.path + "/zebras.sqlite"
        let versions = try ModelVersions(
            "Item = price Double\nZebra (Item) = name String", "Item = price Double\nZebra = name String")
        try StoreCreator(versions.versions[0]).make(at: path)
        _ = try SQLiteShell.run(
            path,
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZPRICE) VALUES (1, 1, 1, 2), (2, 2, 1, 3), (3, 2, 1, NULL);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Item'
            """)
        let foreseen = try PreparedMigration(path, versions: versions).foreseenLosses()
        #expect(Self.texts(foreseen.map(\.loss)) == ["values Zebra.price 1 removed"])
    }

    // MARK: - Mapping models

    @Test func `a mapping that gives a property no value is refused with the code to write, unless it is declared`()
        throws
    {
        var item = EntityMapping(from: "Item", to: "Item")
        item.attributeMappings = [PropertyMapping("price", nil as MoultModel.Expression?)]
        let mappings = [item, EntityMapping(from: "Owner", to: "Owner")]
        let versions = try Self.versions(note: true)
        let prepared = try prepared(versions, .init(registry: registry(mappings)))
        let error = try refusal(versions, .init(registry: registry(mappings)))
        #expect(error.code == .lossNotAccepted && error.exitCode == 3)
        #expect(error.place == "Item.price")
        #expect(error.message.contains("10 values of Item.price are lost"), "\(error.message)")
        #expect(
            error.remedy.contains(#"PropertyMapping("price", from: "price") { (old: String?) in … }"#),
            "\(error.remedy)")
        #expect(!FileManager.default.fileExists(atPath: store + ".moult/backups"))
        let foreseen = try prepared.foreseenLosses()
        #expect(foreseen.map(\.fate) == [.refused])
        let report = try StoreSession(
            StoreRequest(store, .plan), StoreSession.Context(versions, registry: registry(mappings))
        ).plan()
        #expect(report.lines(style: .plain).contains { $0.contains("10 values of Item.price are lost") })
        #expect(report.document["losses"]?.array?.first?["count"]?.integer == 10)
        #expect(
            try run(versions, .init(registry: registry(mappings, accepting: ["Item.price"])))
                == ["values Item.price 10 dropped"])
    }

    @Test func `a closure that reads the old property carries it, whatever becomes of the values`() throws {
        var item = EntityMapping(from: "Item", to: "Item")
        item.attributeMappings = [PropertyMapping("price", from: "price") { (old: String?) in old.flatMap { Int($0) } }]
        let mappings = [item, EntityMapping(from: "Owner", to: "Owner")]
        #expect(try run(try Self.versions(.integer64, note: true), .init(registry: registry(mappings))) == [])
        #expect(try SQLiteShell.run(store, "SELECT sum(ZPRICE) FROM ZITEM") == "165\n")
    }

    @Test
    func `objects that both versions have and no entity mapping takes are refused, but for a mapping that says so`()
        throws
    {
        let mappings = [EntityMapping(from: "Item", to: "Item")]
        let versions = try Self.versions(note: true)
        let error = try refusal(versions, .init(registry: registry(mappings)))
        #expect(error.code == .lossNotAccepted && error.place == "Owner")
        #expect(error.message.contains("6 objects of Owner"), "\(error.message)")
        #expect(error.remedy.contains(#"EntityMapping(from: "Owner", to: "Owner")"#), "\(error.remedy)")
        let copy = folder.path + "/copy.sqlite"
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        let accepted = try PreparedMigration(
            copy, versions: versions, options: .init(registry: registry(mappings, accepting: ["Owner"])))
        let outcome = try Migrator().run(#require(try accepted.migration()), on: copy)
        #expect(Self.texts(outcome.losses).first == "rows Owner 6 dropped")
        let removing = mappings + [EntityMapping(removing: "Owner")]
        #expect(try run(versions, .init(registry: registry(removing))).first == "rows Owner 6 dropped")
    }

    @Test func `objects that no predicate picks are refused, those without a value among them`() throws {
        let mappings = [
            EntityMapping(
                from: "Item", to: "Item", sourcePredicate: try MoultModel.Predicate(parsing: "price != NULL")),
            EntityMapping(from: "Owner", to: "Owner"),
        ]
        let versions = try Self.versions(note: true)
        let error = try refusal(versions, .init(registry: registry(mappings)))
        #expect(error.code == .lossNotAccepted && error.message.contains("20 objects of Item"), "\(error)")
        let losses = try run(versions, .init(registry: registry(mappings, accepting: .all)))
        #expect(losses == ["rows Item 20 dropped"])
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZITEM") == "10\n")
    }

    @Test func `a property that one of two mappings of an entity carries over is lost for the objects of the other`()
        throws
    {
        func item(to name: String, _ format: String, _ price: MoultModel.Expression?) throws -> EntityMapping {
            EntityMapping(
                from: "Item", to: name, sourcePredicate: try MoultModel.Predicate(parsing: format),
                attributeMappings: [PropertyMapping("price", price)])
        }
        let second = try Self.version("2", price: .string, note: true)
        let rest = EntityDescription(
            name: "Rest", attributes: ["name", "note", "price"].map { .init(name: $0, type: .string) })
        let versions = ModelVersions(versions: [
            try Self.version("1", price: .string, note: true),
            ModelVersion(names: ["2"], model: try ManagedObjectModel(entities: second.model.entities + [rest])),
        ])
        let mappings = try [
            item(to: "Item", "name == \"item 3\"", MoultModel.Expression(parsing: "$source.price")),
            item(to: "Rest", "name != \"item 3\"", nil), EntityMapping(from: "Owner", to: "Owner"),
        ]
        let error = try refusal(versions, .init(registry: registry(mappings)))
        #expect(error.code == .lossNotAccepted && error.message.contains("9 values of Item.price"), "\(error)")
        let losses = try run(versions, .init(registry: registry(mappings, accepting: ["Item.price"])))
        #expect(losses.contains("values Item.price 9 dropped"), "\(losses)")
        #expect(
            try SQLiteShell.run(
                store, "SELECT group_concat(ZPRICE) FROM ZITEM; SELECT count(ZPRICE), count(ZNAME) FROM ZREST")
                == "3\n0|29\n")
    }

    // MARK: - Policies

    /// Makes an item of its name, and of what else it is told to take.
    private final class NamePolicy: EntityMigrationPolicy {
        let taken: [String]
        init(_ taken: [String]) { self.taken = taken }

        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let item = try manager.insertObject(forEntityName: "Item")
            for name in taken { item[name] = source[name] }
            try manager.associate(source: source, withDestination: item, for: mapping)
        }
    }

    private func policyMappings() -> [EntityMapping] {
        [
            EntityMapping(from: "Item", to: "Item", entityMigrationPolicyClassName: "Policy"),
            EntityMapping(from: "Owner", to: "Owner"),
        ]
    }

    @Test func `a policy that leaves out a property both versions have is refused, and one that reads it is not`()
        throws
    {
        let versions = try Self.versions(note: true)
        let blind = registry(policyMappings(), policy: { NamePolicy(["name", "note"]) })
        let error = try refusal(versions, .init(registry: blind))
        #expect(error.code == .lossNotAccepted && error.place == "Item.price", "\(error)")
        #expect(error.remedy.contains(#"source["price"]"#), "\(error.remedy)")
        let whole = registry(policyMappings(), policy: { NamePolicy(["name", "note", "price"]) })
        #expect(try run(versions, .init(registry: whole)) == [])
        #expect(try SQLiteShell.run(store, "SELECT count(ZPRICE), count(ZNOTE) FROM ZITEM") == "10|15\n")
    }

    @Test func `a policy that calls super loses nothing of what its mapping carries over`() throws {
        let plain = registry(policyMappings(), policy: { EntityMigrationPolicy() })
        #expect(try run(try Self.versions(note: true), .init(registry: plain)) == [])
        #expect(
            try SQLiteShell.run(store, "SELECT count(ZPRICE), count(ZNOTE), count(ZOWNER) FROM ZITEM") == "10|15|30\n")
    }

    // MARK: - Stages

    private func staged(
        _ read: @escaping @Sendable (ObjectContext) throws -> Void, style: RegisteredStage.Style = .handlers
    ) throws -> PreparedMigration.Options {
        var registry = MigrationRegistry()
        registry.steps["before"] = StepCode(execute: read)
        var stage = RegisteredStage(
            from: "1", to: "2", name: "retype", sentence: "Prices become numbers.",
            before: [CodeStep(name: "before", sentence: "Prices are read.")])
        stage.style = style
        registry.stages = [stage]
        let answers = try Answers([Answer(from: "1", to: "2", entity: "Item", property: "price", is: .drop)])
        return .init(answers: answers, registry: registry)
    }

    @Test(arguments: ["attribute", "predicate", "sort", "columns", "expression", "committed values"])
    func `code before the change that asks for the values has read them`(_ way: String) throws {
        let options = try staged { context in
            var fetch = ObjectFetch(entityName: "Item")
            switch way {
            case "attribute": _ = try context.fetch(fetch).first?.attribute("price")
            case "predicate":
                fetch.predicate = try MoultModel.Predicate(parsing: "price == \"3\"")
                _ = try context.count(fetch)
            case "sort":
                fetch.sort = [.init("price")]
                _ = try context.fetchIDs(fetch)
            case "columns":
                _ = try context.fetchRows(fetch)
            case "expression":
                _ = try context.fetch(fetch).first.map {
                    try context.value(of: MoultModel.Expression(parsing: "price"), for: $0)
                }
            default: _ = try context.fetch(fetch).first?.committedValues(["price"])
            }
        }
        let versions = try Self.versions(.integer64)
        let foreseen = try prepared(versions, options).foreseenLosses()
        #expect(foreseen.map(\.loss.place) == ["Item.note", "Item.price"])
        #expect(foreseen.map(\.fate) == [.allowed, .leftToCode])
        #expect(foreseen.map(\.loss.count) == [15, 10])
        #expect(try run(versions, options) == ["values Item.note 15 removed"])
    }

    @Test(arguments: ["nothing", "another property", "a change", "a relationship", "a deletion"])
    func `code before the change that does anything else has not read them`(_ way: String) throws {
        let options = try staged { context in
            let items = try context.fetch(ObjectFetch(entityName: "Item"))
            switch way {
            case "another property": for item in items { _ = try item.attribute("name") }
            case "a change": for item in items { try item.setAttribute("name", .string("x")) }
            case "a relationship": for item in items { _ = try item.toOne("owner") }
            case "a deletion": for item in items.prefix(3) { try context.delete(item) }
            default: break
            }
        }
        let error = try refusal(try Self.versions(.integer64), options)
        #expect(error.code == .lossNotAccepted && error.place == "Item.price", "\(error)")
        #expect(error.remedy.contains(#"object.value(forKey: "price")"#), "\(error.remedy)")
        let record = try #require(try RunHistory(StoreRecords(store: store)).records().last)
        #expect(record.result == .failed && record.losses.isEmpty)
    }

    @Test func `objects that a step deletes are counted, but for those of a save that failed`() throws {
        struct Refused: Error {}
        let options = try staged { context in
            let items = try context.fetch(ObjectFetch(entityName: "Item"))
            _ = try items.first?.attribute("price")
            let store = try #require(context.coordinator.stores.first)
            _ = try? store.writing {
                var fetch = ObjectFetch(entityName: "Item")
                fetch.limit = 9
                _ = try store.deleteAll(fetch)
                throw Refused()
            }
            for item in items.prefix(4) { try context.delete(item) }
        }
        let losses = try run(try Self.versions(.integer64, note: true), options)
        #expect(losses == ["rows Item 4 byCode"])
        #expect(try SQLiteShell.run(store, "SELECT count(*) FROM ZITEM") == "26\n")
    }

    // MARK: - Other ways to run

    @Test func `a run with a budget counts the same, over all of its calls`() throws {
        let options = { () -> PreparedMigration.Options in
            var options = PreparedMigration.Options(losses: .asTheVersionsSay())
            options.continuesEarlierCall = true
            return options
        }()
        let versions = try Self.versions(hasOwner: false)
        var calls = 0
        while calls < 300 {
            calls += 1
            let outcome = try Migrator().run(try prepared(versions, options), within: .one)
            guard let finished = outcome.finished else { continue }
            #expect(Self.texts(finished.losses).contains("values Item.note 15 removed"))
            break
        }
        #expect(calls > 3 && calls < 300)
        let record = try #require(try RunHistory(StoreRecords(store: store)).records().last)
        #expect(Self.texts(record.losses).contains("links Item.owner 30 removed"))
    }

    @Test func `a deferred migration names what leaves, and the call that drops it counts it`() throws {
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        let versions = try Self.versions()
        let outcome = try Migrator().run(#require(try prepared(versions, options).migration()), on: store)
        #expect(outcome.losses.map(\.place) == ["Item.note"] && outcome.losses.map(\.count) == [nil])
        let finished = try Migrator().finishDeferred(store, versions: versions)
        #expect(Self.texts(finished.losses) == ["values ZITEM.ZNOTE 15 unexplained"])
        let record = try #require(try RunHistory(StoreRecords(store: store)).records().last)
        #expect(record.operation == .finish && Self.texts(record.losses) == ["values ZITEM.ZNOTE 15 unexplained"])
    }

    @Test func `every loss reads the same after a way through JSON`() throws {
        for kind in MigrationLoss.Kind.allCases {
            for reason in MigrationLoss.Reason.allCases {
                for count in [nil, 0, 1, 2] as [Int64?] {
                    var loss = MigrationLoss(
                        kind, reason, entity: "E", property: kind == .rows ? nil : "p", count: count, version: "2",
                        detail: count == 1 ? "code" : nil)
                    loss.isReadByCode = count == 2
                    #expect(MigrationLoss(loss.document) == loss)
                    #expect(loss.sentence.hasSuffix(".") && loss.sentence.contains("E"))
                }
            }
        }
        #expect(MigrationLoss(["kind": "unheard of"]) == nil)
    }
}
