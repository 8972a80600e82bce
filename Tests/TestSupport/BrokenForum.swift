import MoultModel
import MoultObjects
import MoultStore

/// A forum's store whose rows are written by the sqlite3 shell, so that they can be wrong in every way.
///
/// `Z_ENT`: Forum 1, Subforum 2, Post 3, Topic 4.
package final class BrokenForum {
    package let folder: ScratchFolder
    package let path: String
    package let model: ManagedObjectModel
    package let store: ObjectStore

    /// - Parameter rows: SQL that fills the tables.
    package init(_ rows: String, history: Bool = false) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Forum.sqlite"
        model = try Self.makeModel()
        try StoreCreator(ModelVersion(names: ["1"], model: model), history: history).make(at: path)
        _ = try SQLiteShell.run(
            path,
            "\(rows); UPDATE Z_PRIMARYKEY SET Z_MAX = 10000000 WHERE Z_ENT < 16000")
        store = try ObjectStore(path, model: model)
    }

    /// That of the store, and one in which a post counts its likes.
    package static func versions() throws -> ModelVersions {
        let first = try makeModel()
        var second = first
        try second.updateEntity("Post") { post in
            post.attributes.append(
                .init(name: "likes", type: .integer32, isOptional: false, defaultValue: .integer(3)))
        }
        return ModelVersions(versions: [
            ModelVersion(names: ["1"], model: first), ModelVersion(names: ["2"], model: second),
        ])
    }

    /// Ends the connection, so that a run may have the store.
    package func close() { store.close() }

    /// A hundred topics, every tenth without a forum; four posts each, and a forum whose count is wrong.
    package static let smallRows = """
        INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPOSTCOUNT, ZPARENT)
            VALUES (1, 1, 1, 'one', 90, 2), (2, 2, 1, 'two', 1, 1), (3, 1, 1, 'three', 0, 1);
        INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM)
            SELECT value, 4, 1, 't' || value, iif(value % 10 = 0, NULL, 1) FROM generate_series(1, 100);
        INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZBODY, ZNUMBER, ZTOPIC, Z_FOK_TOPIC)
            SELECT value, 3, 1, 'b' || value, value % 13, (value - 1) / 4 + 1, value FROM generate_series(1, 400);
        INSERT INTO Z_4RELATEDBY (Z_4RELATED, Z_4RELATEDBY)
            SELECT value, value % 100 + 1 FROM generate_series(1, 100)
        """

    package static func makeModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Forum = name String, postCount Integer32, icon Binary external, parent > Forum.children,
                children >> Forum.parent, topics >> Topic.forum
            Subforum (Forum)
            Topic = title String, forum > Forum.topics, posts >> Post.topic ordered, related >> Topic.relatedBy,
                relatedBy >> Topic.related
            Post = body String, number Integer32, rate Double, sent Date, price Decimal, tag UUID, topic > Topic.posts
            """)
    }

    /// What the shell prints for a query, without the last line break.
    package func shell(_ sql: String) throws -> String {
        String(try SQLiteShell.run(path, sql).dropLast())
    }
}
