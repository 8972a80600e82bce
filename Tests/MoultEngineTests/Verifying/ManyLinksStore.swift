import Foundation
import MoultModel
import MoultStore
import TestSupport

/// A store with `count` objects at each end of every kind of relationship, made by the sqlite3 shell: several pairs for
/// each object where it is many-to-many.
struct ManyLinksStore {
    /// What a store may lack that Core Data's own have.
    enum Gap: String, CaseIterable, Sendable {
        case none, indexes
        /// What it counts in its tables for SQLite's planner is long out of date.
        case statistics
        /// The join tables' primary keys too.
        case keys
    }

    let folder: ScratchFolder
    let path: String

    init(_ version: ModelVersion, count: Int, gap: Gap = .none) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Posts.sqlite"
        let maker = try StoreCreator(version, history: true)
        try maker.make(at: path)
        _ = try SQLiteShell.run(path, Self.fill(count) + Self.pairs(maker.layout, count, gap))
        switch gap {
        case .none: return
        case .statistics:
            _ = try SQLiteShell.run(path, "ANALYZE; UPDATE sqlite_stat1 SET stat = '9 2 1' WHERE idx NOT NULL")
            return
        case .indexes, .keys: break
        }
        let drops = try SQLiteShell.run(
            path, "SELECT 'DROP INDEX \"' || name || '\";' FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
        _ = try SQLiteShell.run(path, drops)
    }

    private static func fill(_ count: Int) -> String {
        """
        BEGIN;
        INSERT INTO ZCOVER (Z_PK, Z_ENT, Z_OPT, ZCOLOUR, ZPOST)
            SELECT value, 1, 1, value, value FROM generate_series(1, \(count));
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBOSS)
            SELECT value, 2 + value % 2, 1, 'person ' || value, nullif(value / 7, 0) FROM generate_series(1, \(count));
        INSERT INTO ZPOST (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZRANK, ZAUTHOR, Z2_AUTHOR, ZCOVER)
            SELECT value, 4, 1, 'post ' || value, value, value, 2 + value % 2, value FROM generate_series(1, \(count));
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZWORD)
            SELECT value, 5, 1, 'word ' || value FROM generate_series(1, \(count));
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP)
            SELECT value, 16002, 1, value FROM generate_series(1, \(count / 4));
        INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
            SELECT value, 16001, 1, value % 2, 4, value, 1 + value / 4 FROM generate_series(1, \(count));
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_ENT < 16000;
        """
    }

    private static func pairs(_ layout: StoreLayout, _ count: Int, _ gap: Gap) -> String {
        layout.joinTables.map { join in
            let (own, other) = (join.keyColumns[0], join.keyColumns[1])
            let bare =
                "DROP TABLE \(join.name); CREATE TABLE \(join.name) (\(own) INTEGER, \(other) INTEGER);"
            return """
                \(gap == .keys ? bare : "")
                INSERT INTO \(join.name) (\(own), \(other)) SELECT a.value, 1 + (a.value * 7 + b.value * 31) % \(count)
                    FROM generate_series(1, \(count)) AS a, generate_series(1, 5) AS b ORDER BY 1, 2;
                """
        }.joined(separator: "\n") + "COMMIT"
    }

    func shell(_ sql: String) throws -> String { try SQLiteShell.run(path, sql) }
}

extension ManyLinksStore {
    /// The first version, and some that follow it: one that makes every table anew, one in which pairs become keys and
    /// parts leave.
    static func versions(to name: String) throws -> ModelVersions {
        let number = AttributeDescription(
            name: "added", type: .integer32, isOptional: false, defaultValue: .integer(7))
        let next: ManagedObjectModel
        switch name {
        case "rebuilt":
            var model = entities()
            for place in model.indices where model[place].superentityName == nil {
                model[place].attributes.append(number)
            }
            model.append(EntityDescription(name: "Aardvark", attributes: [number]))
            next = try ManagedObjectModel(entities: model)
        case "moved":
            // Objects that get new keys.
            var model = entities()
            model[model.count - 1].superentityName = "Cover"
            next = try ManagedObjectModel(entities: model)
        case "narrowed": next = try ManagedObjectModel(entities: entities(maxTags: 1, hasParts: false))
        default: next = try ManagedObjectModel(entities: entities(maxPosts: 1))
        }
        return ModelVersions(versions: [
            ModelVersion(names: ["first"], model: try ManagedObjectModel(entities: entities())),
            ModelVersion(names: [name], model: next),
        ])
    }

    private static func entities(maxTags: Int = 0, maxPosts: Int = 0, hasParts: Bool = true) -> [EntityDescription] {
        func link(_ name: String, _ destination: String, _ inverse: String, maxCount: Int = 1)
            -> RelationshipDescription
        { .init(name: name, destinationEntityName: destination, inverseName: inverse, maxCount: maxCount) }
        var post = EntityDescription(
            name: "Post",
            attributes: [
                .init(name: "title", type: .string),
                .init(name: "body", type: .binary, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                link("author", "Person", "posts"), link("cover", "Cover", "post"),
                link("tags", "Tag", "posts", maxCount: maxTags),
            ])
        if hasParts {
            post.attributes.append(.init(name: "rank", type: .integer64))
            post.relationships.append(link("related", "Post", "related", maxCount: 0))
        }
        return [
            post,
            EntityDescription("Cover = colour Integer32, post > Post.cover"),
            EntityDescription("Person = name String, posts >> Post.author, boss > Person.staff, staff >> Person.boss"),
            EntityDescription(name: "Reviewer", superentityName: "Person"),
            EntityDescription(
                name: "Tag", attributes: [.init(name: "word", type: .string)],
                relationships: [link("posts", "Post", "tags", maxCount: maxPosts)], uniquenessConstraints: [["word"]]),
        ]
    }
}
