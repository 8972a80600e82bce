import Foundation
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Policies that make their objects themselves, as Core Data's guide has them: the mapping's relationships are made for
/// what they associate. Rows and what is expected come from the sqlite3 shell, by what objects are called.
@Suite("Links of objects that policies insert") struct PolicyLinkTests {
    private typealias Make = (SourceObject, EntityMapping, MigrationManager) throws -> Void

    private final class Policy: EntityMigrationPolicy {
        private let make: Make
        init(_ make: @escaping Make) { self.make = make }
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws { try make(source, mapping, manager) }
    }

    /// One object of the same entity, inserted and associated.
    @discardableResult
    private static func insert(
        _ source: SourceObject, _ mapping: EntityMapping, _ manager: MigrationManager, as name: String? = nil
    ) throws -> DestinationObject {
        let made = try manager.insertObject(forEntityName: name ?? source.entityName)
        made["name"] = source["name"]
        try manager.associate(source: source, withDestination: made, for: mapping)
        return made
    }

    private static var inserting: Make { { try insert($0, $1, $2) } }

    // MARK: - The store

    /// Three forums; threads lead to a forum (or none), to tags, to a detail, to those that they follow, in an order, and
    /// to a mark without an inverse.
    private final class World {
        let folder: ScratchFolder
        let store: String
        let before: String

        init() throws {
            folder = try ScratchFolder()
            (store, before) = (folder.path + "/s.sqlite", folder.path + "/before.sqlite")
            try StoreCreator(PolicyLinkTests.version("1")).make(at: store)
            let keys = try SQLiteShell.run(
                store, "SELECT group_concat(Z_NAME || ' ' || Z_ENT, ',') FROM Z_PRIMARYKEY"
            ).split { ", \n".contains($0) }.map(String.init)
            let numbers = Dictionary(
                uniqueKeysWithValues: stride(from: 0, to: keys.count, by: 2).map { (keys[$0], keys[$0 + 1]) })
            func insert(_ entity: String, _ count: Int, _ columns: String = "", _ values: String = "") -> String {
                """
                INSERT INTO Z\(entity.uppercased()) (Z_PK, Z_ENT, Z_OPT, ZNAME\(columns))
                    SELECT value, \(numbers[entity] ?? "0"), 1, '\(entity) ' || value\(values)
                    FROM generate_series(1, \(count));
                UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_NAME = '\(entity)';
                """
            }
            _ = try SQLiteShell.run(
                store,
                """
                PRAGMA journal_mode = DELETE;
                \(insert("Forum", 3)) \(insert("Tag", 4)) \(insert("Mark", 2))
                \(insert("Detail", 20, ", ZTHREAD", ", value"))
                \(insert("Thread", 20, ", ZFORUM, Z_FOK_FORUM, ZDETAIL, ZMARK", """
                    , CASE WHEN value % 7 THEN value % 3 + 1 END, CASE WHEN value % 7 THEN 100 - value END, value,
                    CASE WHEN value % 2 THEN value % 2 + 1 END
                    """))
                """)
            let join = try join(store)
            _ = try SQLiteShell.run(
                store,
                """
                INSERT INTO \(join.table) (\(join.tag), \(join.thread))
                    SELECT a.value, b.value FROM generate_series(1, 4) a, generate_series(1, 20) b
                    WHERE (a.value + b.value) % 3 = 0
                """)
            try FileManager.default.copyItem(atPath: store, toPath: before)
        }

        func join(_ store: String) throws -> (table: String, tag: String, thread: String) {
            let table = try SQLiteShell.run(
                store, "SELECT name FROM sqlite_master WHERE name GLOB 'Z_[0-9]*' AND type = 'table'")
            let columns = try SQLiteShell.run(
                store, "SELECT name FROM pragma_table_info('\(table.dropLast())') ORDER BY cid"
            ).split(separator: "\n").map(String.init)
            return (
                String(table.dropLast()), columns.first { $0.contains("TAGS") } ?? "",
                columns.first { $0.contains("THREADS") } ?? ""
            )
        }

        @discardableResult
        func migrate(_ policies: [String: Make], batchSize: Int = 4) throws -> MigrationOutcome {
            let versions = ModelVersions(versions: [
                try PolicyLinkTests.version("1"), try PolicyLinkTests.version("2"),
            ])
            var registry = MigrationRegistry()
            let entities = ["Forum", "Tag", "Mark", "Detail", "Thread"]
            let mapping = MappingModel(
                entities.map {
                    EntityMapping(from: $0, to: $0, entityMigrationPolicyClassName: policies[$0] == nil ? nil : $0)
                })
            for (name, make) in policies {
                let box = Box(make)
                registry.policies[name] = { Policy(box.make) }
            }
            registry.register(mapping: mapping, from: "1", to: "2")
            var options = PreparedMigration.Options(registry: registry)
            options.batchSize = batchSize
            let prepared = try PreparedMigration(store, versions: versions, options: options)
            return try Migrator().run(#require(try prepared.migration()), on: store)
        }

        /// Each link of a kind as the names of its ends.
        func links(_ kind: Kind, before: Bool = false) throws -> [String] {
            let path = before ? self.before : store
            let sql =
                switch kind {
                case .forum, .mark, .detail:
                    "SELECT t.ZNAME || '>' || o.ZNAME FROM ZTHREAD t JOIN Z\(kind) o ON t.Z\(kind) = o.Z_PK ORDER BY 1"
                case .thread:
                    "SELECT t.ZNAME || '>' || o.ZNAME FROM ZTHREAD t JOIN ZDETAIL o ON o.ZTHREAD = t.Z_PK ORDER BY 1"
                case .order:
                    """
                    SELECT o.ZNAME || '>' || t.ZNAME FROM ZTHREAD t JOIN ZFORUM o ON t.ZFORUM = o.Z_PK
                    ORDER BY o.ZNAME, t.Z_FOK_FORUM
                    """
                case .tags:
                    """
                    SELECT t.ZNAME || '>' || o.ZNAME FROM \(try join(path).table) j
                    JOIN ZTHREAD t ON t.Z_PK = j.\(try join(path).thread)
                    JOIN ZTAG o ON o.Z_PK = j.\(try join(path).tag) ORDER BY 1
                    """
                }
            return try SQLiteShell.run(path, sql).split(separator: "\n").map(String.init)
        }
    }

    private struct Box: @unchecked Sendable {
        let make: Make
        init(_ make: @escaping Make) { self.make = make }
    }

    private enum Kind: String, CaseIterable { case forum, mark, detail, thread, order, tags }

    private static func version(_ name: String) throws -> ModelVersion {
        func entity(_ name: String, _ relationships: RelationshipDescription..., new: Bool = false) -> EntityDescription
        {
            EntityDescription(
                name: name,
                attributes: [AttributeDescription(name: "name", type: .string)]
                    + (new ? [AttributeDescription(name: "isPinned", type: .boolean)] : []),
                relationships: relationships)
        }
        func link(
            _ name: String, _ entity: String, _ inverse: String?, many: Bool = false, ordered: Bool = false
        ) -> RelationshipDescription {
            RelationshipDescription(
                name: name, destinationEntityName: entity, inverseName: inverse, maxCount: many ? 0 : 1,
                isOrdered: ordered)
        }
        return ModelVersion(
            names: [name],
            model: try ManagedObjectModel(
                entities: [
                    entity("Forum", link("threads", "Thread", "forum", many: true, ordered: true)),
                    entity("Tag", link("threads", "Thread", "tags", many: true)),
                    entity("Mark"),
                    entity("Detail", link("thread", "Thread", "detail")),
                    entity(
                        "Thread", link("forum", "Forum", "threads"), link("tags", "Tag", "threads", many: true),
                        link("detail", "Detail", "thread"), link("mark", "Mark", nil), new: name == "2"),
                ] + (name == "2" ? [entity("Special", link("aim", "Forum", nil), link("mark", "Mark", nil))] : [])))
    }

    // MARK: - What is promised

    @Test(arguments: [["Thread"], ["Forum"], ["Detail"], ["Tag"], ["Thread", "Forum", "Tag", "Detail", "Mark"]])
    func `every link of objects that are inserted and associated is there, in its order`(entities: [String]) throws {
        let world = try World()
        let outcome = try world.migrate(Dictionary(uniqueKeysWithValues: entities.map { ($0, Self.inserting) }))
        for kind in Kind.allCases {
            let old = try world.links(kind, before: true)
            #expect(!old.isEmpty)
            #expect(try world.links(kind) == old, "\(kind)")
        }
        #expect(outcome.losses.isEmpty, "\(outcome.losses)")
    }

    @Test func `a link that the policy sets itself stays, and none is made for it`() throws {
        let world = try World()
        let outcome = try world.migrate([
            "Thread": { source, mapping, manager in
                let thread = try Self.insert(source, mapping, manager)
                let forum = try manager.destinationObjects("Forum", where: "name == 'Forum 2'").first
                thread.setObject(forum, for: "forum")
            }
        ])
        #expect(try world.links(.forum) == (1...20).map { "Thread \($0)>Forum 2" }.sorted())
        #expect(try world.links(.tags) == world.links(.tags, before: true))
        #expect(outcome.losses.isEmpty)
    }

    @Test func `an object of another entity gets the links that it has a place for`() throws {
        let world = try World()
        try world.migrate([
            "Thread": { source, mapping, manager in
                try Self.insert(source, mapping, manager)
                try Self.insert(source, mapping, manager, as: "Special")
            }
        ])
        let marks = """
            SELECT s.ZNAME || '>' || m.ZNAME FROM ZSPECIAL s JOIN ZMARK m ON s.ZMARK = m.Z_PK ORDER BY 1;
            SELECT count(*) FROM ZSPECIAL WHERE ZAIM
            """
        let found = try SQLiteShell.run(world.store, marks).split(separator: "\n").map(String.init)
        #expect(try found == world.links(.mark, before: true) + ["0"])
    }

    /// The new objects have keys of their own table, which are those of the old ones.
    @Test func `links to what became an object of another entity go, and are counted`() throws {
        let world = try World()
        let outcome = try world.migrate([
            "Thread": { source, mapping, manager in try Self.insert(source, mapping, manager, as: "Special") }
        ])
        let counts = "SELECT (SELECT count(*) FROM ZTHREAD), (SELECT count(*) FROM ZSPECIAL)"
        #expect(try SQLiteShell.run(world.store, counts) == "0|20\n")
        #expect(try world.links(.tags).isEmpty && world.links(.detail).isEmpty)
        let marks = "SELECT s.ZNAME || '>' || m.ZNAME FROM ZSPECIAL s JOIN ZMARK m ON s.ZMARK = m.Z_PK ORDER BY 1"
        let found = try SQLiteShell.run(world.store, marks).split(separator: "\n").map(String.init)
        #expect(try found == world.links(.mark, before: true))
        for kind in [Kind.tags, .detail, .forum] {
            let number = try world.links(kind, before: true).count
            #expect(outcome.losses.contains { $0.place == "Thread.\(kind)" && $0.count == Int64(number) }, "\(kind)")
        }
    }

    @Test func `of an object that is split each part has the links, but for those that only one can have`() throws {
        let world = try World()
        let outcome = try world.migrate([
            "Thread": { source, mapping, manager in
                let first = try Self.insert(source, mapping, manager)
                let second = try Self.insert(source, mapping, manager)
                first["isPinned"] = true
                second["isPinned"] = false
            }
        ])
        for kind in [Kind.forum, .mark, .tags] {
            let twice = try world.links(kind, before: true).flatMap { [$0, $0] }
            #expect(try world.links(kind) == twice, "\(kind)")
        }
        for kind in [Kind.detail, .thread] { #expect(try world.links(kind) == world.links(kind, before: true)) }
        let pinned = "SELECT count(*) FROM ZTHREAD WHERE ZISPINNED AND ZDETAIL"
        #expect(try SQLiteShell.run(world.store, pinned) == "20\n")
        #expect(outcome.losses.isEmpty, "\(outcome.losses)")
    }

    @Test func `an object that stands for several has the links of all, and what it cannot have is counted`() throws {
        let world = try World()
        var survivors: [Bool: DestinationObject] = [:]
        let outcome = try world.migrate([
            "Thread": { source, mapping, manager in
                guard case .string(let name)? = source["name"] else { return }
                let isEven = (Int(name.dropFirst(7)) ?? 0) % 2 == 0
                if let known = survivors[isEven] {
                    try manager.associate(source: source, withDestination: known, for: mapping)
                } else {
                    survivors[isEven] = try Self.insert(source, mapping, manager)
                }
            }
        ])
        survivors = [:]
        // The first of each kind: threads 1 and 2, with forums 2 and 3.
        #expect(try world.links(.forum) == ["Thread 1>Forum 2", "Thread 2>Forum 3"])
        #expect(try world.links(.detail) == ["Thread 1>Detail 1", "Thread 2>Detail 2"])
        let tags = """
            SELECT DISTINCT 'Thread ' || (2 - t.Z_PK % 2) || '>' || o.ZNAME FROM \(try world.join(world.before).table) j
            JOIN ZTHREAD t ON t.Z_PK = j.\(try world.join(world.before).thread)
            JOIN ZTAG o ON o.Z_PK = j.\(try world.join(world.before).tag) ORDER BY 1
            """
        #expect(
            try world.links(.tags) == SQLiteShell.run(world.before, tags).split(separator: "\n").map(String.init))
        let lost = Dictionary(uniqueKeysWithValues: outcome.losses.map { ($0.place, $0.count) })
        let others = """
            SELECT count(*) FROM ZTHREAD WHERE ZFORUM IS NOT NULL
            AND ZFORUM <> CASE Z_PK % 2 WHEN 1 THEN 2 ELSE 3 END
            """
        let forums = try SQLiteShell.run(world.before, others).dropLast()
        #expect(lost["Thread.forum"] == Int64(forums), "\(outcome.losses)")
        #expect(lost["Thread.detail"] == 18)
        #expect(lost["Thread.tags"] == nil)
    }

    @Test func `a link that the policy has read is not counted as lost`() throws {
        let world = try World()
        var survivor: DestinationObject?
        let outcome = try world.migrate([
            "Thread": { source, mapping, manager in
                _ = source.object("forum")
                if let survivor {
                    try manager.associate(source: source, withDestination: survivor, for: mapping)
                } else {
                    survivor = try Self.insert(source, mapping, manager)
                }
            }
        ])
        survivor = nil
        #expect(outcome.losses.map(\.place) == ["Thread.detail"], "\(outcome.losses)")
    }

    @Test func `a policy that says nothing of the mapping's relationships keeps those that it has set before`() throws {
        final class Silent: EntityMigrationPolicy {
            override func createDestinationInstances(
                forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                let thread = try PolicyLinkTests.insert(source, mapping, manager)
                let mark = try manager.destinationObjects("Mark", where: "name == 'Mark 1'").first
                if source["name"] == "Thread 3" { thread.setObject(mark, for: "mark") }
            }
            override func createRelationships(
                forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {}
        }
        let world = try World()
        var registry = MigrationRegistry()
        registry.policies["Silent"] = { Silent() }
        registry.acceptedLosses = ["Thread.mark"]
        registry.register(
            mapping: MappingModel(
                ["Forum", "Tag", "Mark", "Detail", "Thread"].map {
                    EntityMapping(from: $0, to: $0, entityMigrationPolicyClassName: $0 == "Thread" ? "Silent" : nil)
                }), from: "1", to: "2")
        let versions = ModelVersions(versions: [try Self.version("1"), try Self.version("2")])
        let prepared = try PreparedMigration(
            world.store, versions: versions, options: PreparedMigration.Options(registry: registry))
        _ = try Migrator().run(#require(try prepared.migration()), on: world.store)
        // Only the mapping of Thread has a mark, and the policy does not ask for it.
        #expect(try world.links(.mark) == ["Thread 3>Mark 1"])
        #expect(try world.links(.forum) == world.links(.forum, before: true))
    }
}
