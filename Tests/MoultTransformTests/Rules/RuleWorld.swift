import MoultModel
import MoultObjects
import MoultStore
import MoultTransform
import TestSupport

/// A forum's store whose rows are written by the sqlite3 shell, so that they can be wrong in every way.
///
/// `Z_ENT`: Forum 1, Subforum 2, Post 3, Topic 4.
final class RuleWorld {
    let folder: ScratchFolder
    let path: String
    let model: ManagedObjectModel
    let store: ObjectStore

    /// - Parameter rows: SQL that fills the tables.
    init(_ rows: String, history: Bool = false) throws {
        folder = try ScratchFolder()
        path = folder.path + "/Forum.sqlite"
        model = try Self.makeModel()
        try StoreMaker(ModelVersion(names: ["1"], model: model), history: history).make(at: path)
        _ = try SQLiteShell.run(
            path,
            "\(rows); UPDATE Z_PRIMARYKEY SET Z_MAX = 10000000 WHERE Z_ENT < 16000")
        store = try ObjectStore(path, model: model)
    }

    static func makeModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Forum",
                attributes: [
                    .init(name: "name", type: .string), .init(name: "postCount", type: .integer32),
                    .init(name: "icon", type: .binary, allowsExternalBinaryDataStorage: true),
                ],
                relationships: [
                    .init(name: "parent", destinationEntityName: "Forum", inverseName: "children"),
                    .init(name: "children", destinationEntityName: "Forum", inverseName: "parent", maxCount: 0),
                    .init(name: "topics", destinationEntityName: "Topic", inverseName: "forum", maxCount: 0),
                ]),
            EntityDescription(name: "Subforum", superentityName: "Forum"),
            EntityDescription(
                name: "Topic", attributes: [.init(name: "title", type: .string)],
                relationships: [
                    .init(name: "forum", destinationEntityName: "Forum", inverseName: "topics"),
                    .init(
                        name: "posts", destinationEntityName: "Post", inverseName: "topic", maxCount: 0,
                        isOrdered: true),
                    .init(name: "related", destinationEntityName: "Topic", inverseName: "relatedBy", maxCount: 0),
                    .init(name: "relatedBy", destinationEntityName: "Topic", inverseName: "related", maxCount: 0),
                ]),
            EntityDescription(
                name: "Post",
                attributes: [
                    .init(name: "body", type: .string), .init(name: "number", type: .integer32),
                    .init(name: "rate", type: .double), .init(name: "sent", type: .date),
                    .init(name: "price", type: .decimal), .init(name: "tag", type: .uuid),
                ],
                relationships: [.init(name: "topic", destinationEntityName: "Topic", inverseName: "posts")]),
        ])
    }

    /// What the shell prints for a query, without the last line break.
    func shell(_ sql: String) throws -> String {
        String(try SQLiteShell.run(path, sql).dropLast())
    }

    func findings(_ rules: [ValidationRule], source: ((String) throws -> Int)? = nil) throws -> [RuleFinding] {
        try RuleCheck(rules, on: store, source: source).run()
    }

    func finding(_ kind: ValidationRule.Kind, of entityName: String) throws -> RuleFinding {
        try findings([ValidationRule("rule", of: entityName, kind)])[0]
    }
}
