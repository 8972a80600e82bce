import Foundation
import MoultModel
import MoultObjects
import TestSupport
import Testing

@testable import MoultEngine

@Suite("Migration policies") struct PolicyTests {  // tier: long
    /// Users are one for each userID; of two the greater score stays. Users without an ID go, those with an impossible
    /// one are put aside.
    final class Users: EntityMigrationPolicy {
        private var survivors: [Int64: DestinationObject] = [:]

        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard let id = source.integer("userID") else {
                source.outcome = .dropped(reason: "no user ID")
                return
            }
            guard id > 0 else {
                source.outcome = .quarantined(reason: "an impossible user ID")
                return
            }
            if let survivor = survivors[id] {
                let score = max(survivor["score"].integer ?? 0, source.integer("score") ?? 0)
                survivor["score"] = .integer(score)
                source.outcome = .merged(into: survivor)
            } else {
                let user = try manager.makeDestinationInstance(forSource: source)
                user["initials"] = source.string("username").map { .string(String($0.prefix(1))) }
                survivors[id] = user
            }
        }
    }

    /// Threads get a computed total; one of them splits, one is dropped. Who started a thread is found in the second
    /// pass, by way of the source.
    final class Threads: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let title = source.string("title") ?? ""
            if title.hasSuffix(" 99") {
                source.outcome = .dropped(reason: "spam")
                return
            }
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            let made = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
            let unread = (source.integer("postCount") ?? 0) - (source.integer("seenCount") ?? 0)
            made.first?["unread"] = .integer(max(0, unread))
            if title.hasSuffix(" 50") {
                let rest = try manager.makeDestinationInstance(forSource: source)
                rest["title"] = "the rest"
            }
        }

        override func createRelationships(
            forDestination destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
            let sources = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [destination])
            let author = sources.first?.object("author")
            let users = try manager.destinationInstances(
                forEntityMappingName: "UserToUser", sourceInstances: [author].compactMap { $0 })
            destination.setObject(users.first, for: "starter")
        }
    }

    static let policies: [String: @Sendable () -> EntityMigrationPolicy] = [
        "Users": { Users() }, "Threads": { Threads() },
    ]

    /// The first user of the same ID in the old store, as SQL over the key of one.
    private static func survivor(_ key: String) -> String {
        """
        (SELECT min(v.Z_PK) FROM old.ZUSER u JOIN old.ZUSER v ON v.ZUSERID = u.ZUSERID \
        WHERE u.Z_PK = \(key) AND u.ZUSERID > 0)
        """
    }

    @Test(arguments: [1, 7, 1_000])
    func `every source object is kept, split, merged, dropped or quarantined, and counted`(batchSize: Int) throws {
        let world = try PolicyWorld()
        let outcome = try world.migrate(Self.policies, batchSize: batchSize)
        let counts = Dictionary(uniqueKeysWithValues: outcome.policies.map { ($0.mapping, $0) })
        let users = try #require(counts["UserToUser"])
        let expected = try world.shell(
            "SELECT count(*), count(DISTINCT ZUSERID) FROM old.ZUSER WHERE ZUSERID > 0")
        #expect(expected == "58|40\n")
        #expect(
            [users.sources, users.kept, users.merged, users.dropped, users.quarantined, users.split]
                == [60, 40, 18, 1, 1, 0])
        #expect(users.reasons == ["no user ID": 1, "an impossible user ID": 1])
        let threads = try #require(counts["ThreadToThread"])
        #expect([threads.sources, threads.kept, threads.split, threads.dropped] == [100, 98, 1, 1])
        #expect(threads.made == 100)
    }

    @Test func `no trigger that an app has put on a table fires, and each is there afterwards`() throws {
        let events = ["ZUSER", "ZTHREAD"].flatMap { table in
            ["INSERT", "UPDATE", "DELETE"].map { event in
                """
                CREATE TRIGGER app_\(table)_\(event) AFTER \(event) ON \(table)
                    BEGIN INSERT INTO app_log VALUES ('\(event)'); END;
                """
            }
        }
        let world = try PolicyWorld(fill: "CREATE TABLE app_log (name); " + events.joined())
        try world.migrate(Self.policies)
        #expect(
            try world.shell(
                """
                SELECT (SELECT count(*) FROM main.app_log),
                    (SELECT count(*) FROM main.sqlite_master WHERE name LIKE 'app_Z%')
                """) == "0|6\n")
    }

    @Test func `a rehearsal counts what the run then does, and a run after it does not count twice`() throws {
        let world = try PolicyWorld()
        let prepared = try world.prepared(Self.policies)
        let migration = try #require(try prepared.migration())
        let rehearsed = try Migrator().rehearse(migration, on: world.store)
        #expect(rehearsed.policies.map(\.sources).sorted() == [60, 100])
        #expect(rehearsed.quarantined == 1)
        #expect(try Migrator().run(migration, on: world.store).policies == rehearsed.policies)
    }

    @Test func `rows are what the rules say, and links lead to what became of their ends`() throws {
        let world = try PolicyWorld()
        try world.migrate(Self.policies)
        let users = """
            SELECT min(Z_PK), ZUSERID, max(ZSCORE), 'u' FROM old.ZUSER WHERE ZUSERID > 0 GROUP BY ZUSERID ORDER BY 1
            """
        #expect(
            try world.shell("SELECT Z_PK, ZUSERID, ZSCORE, ZINITIALS FROM main.ZUSER ORDER BY 1") == world.shell(users))
        let threads = """
            SELECT Z_PK, ZTITLE, max(0, ZPOSTCOUNT - ZSEENCOUNT), \(Self.survivor("t.ZAUTHOR")),
            \(Self.survivor("t.ZAUTHOR")) FROM old.ZTHREAD t WHERE Z_PK != 99 ORDER BY 1
            """
        #expect(
            try world.shell(
                "SELECT Z_PK, ZTITLE, ZUNREAD, ZAUTHOR, ZSTARTER FROM main.ZTHREAD WHERE Z_PK <= 100 ORDER BY 1")
                == world.shell(threads))
        let split = try world.shell(
            "SELECT Z_PK, ZTITLE, ZPOSTCOUNT, ZAUTHOR, ZSTARTER FROM main.ZTHREAD WHERE Z_PK > 100")
        #expect(
            try split
                == world.shell(
                    "SELECT 101, 'the rest', ZPOSTCOUNT, \(Self.survivor("t.ZAUTHOR")), \(Self.survivor("t.ZAUTHOR")) FROM old.ZTHREAD t WHERE Z_PK = 50"
                ))
        let posts = """
            SELECT Z_PK, ZTEXT, nullif(ZTHREAD, 99), \(Self.survivor("p.ZWRITER")) FROM old.ZPOST p ORDER BY 1
            """
        #expect(
            try world.shell("SELECT Z_PK, ZTEXT, ZTHREAD, ZWRITER FROM main.ZPOST ORDER BY 1") == world.shell(posts))
        // Links to a thread that splits lead to its first part.
        #expect(
            try world.shell("SELECT * FROM main.Z_2THREADS WHERE Z_3THREADS <= 100 ORDER BY 1, 2")
                == world.shell("SELECT * FROM old.Z_2THREADS WHERE Z_3THREADS != 99 ORDER BY 1, 2"))
        #expect(
            try world.shell("SELECT Z_MAX FROM main.Z_PRIMARYKEY WHERE Z_NAME IN ('Thread', 'User') ORDER BY Z_NAME")
                == "101\n60\n")
        #expect(try world.shell("PRAGMA main.integrity_check") == "ok\n")
    }

    @Test func `what is not overridden does what the mapping's expressions say`() throws {
        let world = try PolicyWorld()
        let outcome = try world.migrate(["Users": { EntityMigrationPolicy() }, "Threads": { EntityMigrationPolicy() }])
        #expect(outcome.policies.map(\.kept).sorted() == [60, 100])
        for (table, columns) in [
            ("ZUSER", "Z_PK, ZUSERID, ZUSERNAME, ZSCORE"), ("ZTHREAD", "Z_PK, ZTITLE, ZPOSTCOUNT, ZAUTHOR"),
            ("ZPOST", "*"), ("ZTAG", "*"), ("Z_2THREADS", "*"),
        ] {
            #expect(
                try world.shell("SELECT \(columns) FROM main.\(table) ORDER BY 1, 2")
                    == world.shell("SELECT \(columns) FROM old.\(table) ORDER BY 1, 2"), "\(table)")
        }
    }

    @Test func `a policy may look at all of both sides, and wait for asynchronous work`() async throws {
        try await onThreadOfItsOwn { try Self().looking() }
    }

    private func looking() throws {
        final class Looking: EntityMigrationPolicy {
            override func createDestinationInstances(
                forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                let thread = try manager.makeDestinationInstance(forSource: source)
                let posts = source.objects("posts").compactMap { $0.string("text") }
                let author = source.object("author")?.string("username") ?? ""
                let text = try manager.wait { () async throws -> String in
                    await Task.yield()
                    let task = Task.detached { "\(posts.count)" }
                    return await task.value
                }
                thread["slug"] = .string("\(author)/\(text)/\(posts.joined(separator: ","))")
            }

            override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
                let threads = try manager.destinationObjects("Thread", where: "slug BEGINSWITH %@", .string("user 2/"))
                manager.userInfo["found"] = threads.count
                for thread in threads { thread["unread"] = .integer(Int64(threads.count)) }
            }
        }
        let world = try PolicyWorld()
        try world.migrate(["Users": { EntityMigrationPolicy() }, "Threads": { Looking() }])
        let expected = """
            SELECT t.Z_PK, 'user ' || t.ZAUTHOR || '/' || count(p.Z_PK) || '/' || ifnull(group_concat(p.ZTEXT), '')
            FROM old.ZTHREAD t LEFT JOIN (SELECT * FROM old.ZPOST ORDER BY Z_PK) p ON p.ZTHREAD = t.Z_PK
            GROUP BY t.Z_PK ORDER BY 1
            """
        #expect(try world.shell("SELECT Z_PK, ZSLUG FROM main.ZTHREAD ORDER BY 1") == world.shell(expected))
        let count = try world.shell("SELECT count(*) FROM old.ZTHREAD WHERE ZAUTHOR = 2")
        #expect(
            try world.shell("SELECT DISTINCT ZUNREAD FROM main.ZTHREAD WHERE ZAUTHOR = 2") == count)
    }

    @Test func `objects that statements have made can be changed, and others added to them`() throws {
        final class Changing: EntityMigrationPolicy {
            override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
                for post in try manager.destinationObjects("Post", where: "text ENDSWITH '7'") {
                    post["text"] = "seven"
                }
                let tag = try manager.insertObject(forEntityName: "Tag")
                tag["name"] = "new"
                let threads = try manager.destinationObjects("Thread", where: "postCount == 9")
                tag.setObjects(threads, for: "threads")
            }
        }
        let world = try PolicyWorld()
        try world.migrate(["Threads": { Changing() }], mapping: PolicyWorld.mapping(users: nil, threads: "Threads"))
        let posts = "SELECT Z_PK, Z_OPT, CASE WHEN ZTEXT LIKE '%7' THEN 'seven' ELSE ZTEXT END, ZTHREAD FROM old.ZPOST"
        #expect(
            try world.shell("SELECT Z_PK, Z_OPT, ZTEXT, ZTHREAD FROM main.ZPOST ORDER BY 1")
                == world.shell("\(posts) ORDER BY 1"))
        #expect(
            try world.shell("SELECT Z_2TAGS, Z_3THREADS FROM main.Z_2THREADS ORDER BY 1, 2")
                == world.shell(
                    """
                    SELECT Z_2TAGS, Z_3THREADS FROM old.Z_2THREADS UNION ALL
                    SELECT 6, Z_PK FROM old.ZTHREAD WHERE ZPOSTCOUNT = 9 ORDER BY 1, 2
                    """))
        #expect(try world.shell("SELECT ZNAME FROM main.ZTAG WHERE Z_PK = 6") == "new\n")
    }

    @Test func `objects that a policy holds stay what they are, while others stand for the next row`() throws {
        final class Holding: EntityMigrationPolicy {
            private var held: [(source: SourceObject, thread: DestinationObject)] = []

            override func createDestinationInstances(
                forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                let thread = try manager.makeDestinationInstance(forSource: source)
                if let count = source.integer("postCount"), count % 3 == 0 { held.append((source, thread)) }
                // What is set of one row must not be seen in the next.
                if source.integer("postCount") == 7 { thread["slug"] = "seven" }
            }

            override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
                for (source, thread) in held { thread["unread"] = source["postCount"] }
            }
        }
        let world = try PolicyWorld()
        try world.migrate(["Threads": { Holding() }], mapping: PolicyWorld.mapping(users: nil, threads: "Threads"))
        let expected = """
            SELECT Z_PK, ZTITLE, ZPOSTCOUNT, CASE WHEN ZPOSTCOUNT % 3 = 0 THEN ZPOSTCOUNT END,
            CASE WHEN ZPOSTCOUNT = 7 THEN 'seven' END, ZAUTHOR FROM old.ZTHREAD ORDER BY 1
            """
        #expect(
            try world.shell("SELECT Z_PK, ZTITLE, ZPOSTCOUNT, ZUNREAD, ZSLUG, ZAUTHOR FROM main.ZTHREAD ORDER BY 1")
                == world.shell(expected))
    }

    @Test func `nothing of 50,000 objects is kept that the policy does not keep`() throws {
        final class Watching: EntityMigrationPolicy {
            struct Weak {
                weak var source: SourceObject?
                weak var destination: DestinationObject?
            }
            private var seen: [Weak] = []

            override func createDestinationInstances(
                forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
            ) throws {
                let thread = try manager.makeDestinationInstance(forSource: source)
                thread["unread"] = source["postCount"]
                seen.append(Weak(source: source, destination: thread))
            }

            override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
                #expect(seen.count == 50_000)
                #expect(Set(seen.compactMap { $0.source.map(ObjectIdentifier.init) }).count <= 1)
                #expect(Set(seen.compactMap { $0.destination.map(ObjectIdentifier.init) }).count <= 1)
            }
        }
        let world = try PolicyWorld(threads: 50_000)
        try world.migrate(
            ["Threads": { Watching() }], mapping: PolicyWorld.mapping(users: nil, threads: "Threads"),
            batchSize: 1_000)
        #expect(
            try world.shell(
                "SELECT count(*) FROM main.ZTHREAD t JOIN old.ZTHREAD o USING (Z_PK) WHERE t.ZUNREAD = o.ZPOSTCOUNT")
                == "50000\n")
    }
}

extension AttributeValue? {
    var integer: Int64? { if case .integer(let number)? = self { number } else { nil } }
}
