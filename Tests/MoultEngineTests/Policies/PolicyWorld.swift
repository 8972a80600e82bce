import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// A small forum: users and threads are made by policies, posts and tags by statements. Rows are made by the sqlite3
/// shell; what is expected is computed by it too, over a copy of the store as it was.
final class PolicyWorld {
    let folder: ScratchFolder
    let store: String
    let before: String

    /// - Parameter fill: further SQL over the store as it is at first.
    init(threads: Int = 100, fill: String = "") throws {
        folder = try ScratchFolder()
        store = folder.path + "/forum.sqlite"
        before = folder.path + "/before.sqlite"
        try StoreCreator(Self.old.get()).make(at: store)
        _ = try SQLiteShell.run(
            store,
            """
            PRAGMA journal_mode = DELETE;
            INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT, ZUSERID, ZUSERNAME, ZSCORE)
                SELECT value, 4, 3, CASE value WHEN 7 THEN NULL WHEN 13 THEN -1 ELSE (value - 1) % 40 + 1 END,
                    'user ' || value, value * 17 % 101 FROM generate_series(1, 60);
            INSERT INTO ZTHREAD (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPOSTCOUNT, ZSEENCOUNT, ZAUTHOR)
                SELECT value, 3, 2, 'Thread &amp; ' || value, value * 3 % 50, value % 40, value % 60 + 1
                FROM generate_series(1, \(threads));
            INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZTHREAD, ZWRITER)
                SELECT value, 1, 1, 'Post ' || value, value % 100 + 1, value % 60 + 1 FROM generate_series(1, 300);
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 2, 1, 'tag ' || value FROM generate_series(1, 5);
            INSERT INTO Z_2THREADS (Z_2TAGS, Z_3THREADS)
                SELECT a.value, b.value FROM generate_series(1, 5) a, generate_series(1, 100) b
                WHERE (a.value + b.value) % 3 = 0;
            UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'User' THEN 60 WHEN 'Thread' THEN \(threads)
                WHEN 'Post' THEN 300 WHEN 'Tag' THEN 5 END;
            \(fill)
            """)
        try FileManager.default.copyItem(atPath: store, toPath: before)
    }

    /// Runs the migration with the policies given, each under its name.
    @discardableResult
    func migrate(
        _ policies: [String: @Sendable () -> EntityMigrationPolicy], mapping: MappingModel? = nil, batchSize: Int = 16
    ) throws -> MigrationOutcome {
        let prepared = try prepared(policies, mapping: mapping, batchSize: batchSize)
        return try Migrator().run(#require(try prepared.migration()), on: store)
    }

    func prepared(
        _ policies: [String: @Sendable () -> EntityMigrationPolicy], mapping: MappingModel? = nil, batchSize: Int = 16
    ) throws -> PreparedMigration {
        let versions = ModelVersions(versions: [try Self.old.get(), try Self.new.get()])
        var registry = MigrationRegistry()
        registry.policies = policies
        registry.register(mapping: mapping ?? Self.mapping(users: "Users", threads: "Threads"), from: "1", to: "2")
        var options = PreparedMigration.Options(registry: registry)
        options.batchSize = batchSize
        return try PreparedMigration(store, versions: versions, options: options)
    }

    /// The error that the migration ends with; the store must be as it was, byte for byte of its rows.
    func failure(
        _ policies: [String: @Sendable () -> EntityMigrationPolicy], mapping: MappingModel? = nil
    ) throws -> MigrationError? {
        let hash = try SQLiteShell.run(store, ".sha3sum --schema")
        let error = #expect(throws: MigrationError.self) { try migrate(policies, mapping: mapping) }
        #expect(try SQLiteShell.run(store, ".sha3sum --schema") == hash)
        return error
    }

    /// What the shell says of the new store, with the one before as `old`.
    func shell(_ sql: String) throws -> String {
        try SQLiteShell.run(store, "ATTACH '\(before)' AS old; \(sql)")
    }

    // MARK: - Models

    static func mapping(users: String?, threads: String?) -> MappingModel {
        MappingModel([
            EntityMapping(from: "User", to: "User", entityMigrationPolicyClassName: users),
            EntityMapping(from: "Thread", to: "Thread", entityMigrationPolicyClassName: threads),
            EntityMapping(from: "Post", to: "Post"), EntityMapping(from: "Tag", to: "Tag"),
        ])
    }

    static let old = Result {
        try version("1", user: [], thread: [attribute("seenCount", .integer32)], relationships: [])
    }

    static let new = Result {
        try version(
            "2", user: [attribute("initials", .string)],
            thread: [attribute("unread", .integer32), attribute("slug", .string)],
            relationships: [one("starter", "User", "started")],
            userRelationships: [many("started", "Thread", "starter")])
    }

    private static func version(
        _ name: String, user: [AttributeDescription], thread: [AttributeDescription],
        relationships: [RelationshipDescription], userRelationships: [RelationshipDescription] = []
    ) throws -> ModelVersion {
        let entities = [
            EntityDescription(
                name: "User",
                attributes: [
                    attribute("userID", .integer64), attribute("username", .string), attribute("score", .integer32),
                ]
                    + user,
                relationships: [many("threads", "Thread", "author"), many("written", "Post", "writer")]
                    + userRelationships),
            EntityDescription(
                name: "Thread", attributes: [attribute("title", .string), attribute("postCount", .integer32)] + thread,
                relationships: [
                    one("author", "User", "threads"), many("posts", "Post", "thread"), many("tags", "Tag", "threads"),
                ] + relationships),
            EntityDescription("Post = text String, thread > Thread.posts, writer > User.written"),
            EntityDescription("Tag = name String, threads >> Thread.tags"),
        ]
        return ModelVersion(names: [name], model: try ManagedObjectModel(entities: entities))
    }

    private static func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
        AttributeDescription(name: name, type: type)
    }

    private static func one(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
        RelationshipDescription(name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 1)
    }

    private static func many(_ name: String, _ entity: String, _ inverse: String) -> RelationshipDescription {
        RelationshipDescription(name: name, destinationEntityName: entity, inverseName: inverse, maxCount: 0)
    }
}
