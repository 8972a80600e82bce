import MoultModel
import MoultPlan

/// A kind of change as an app makes it between two versions, with the statements that SQLite needs for it alone.
struct ChangeKind {
    /// What `Benchmarks/Python/peers.py` calls it, too.
    let name: String
    let entities: [EntityDescription]
    /// The statements, without the transaction around them; nil for SQLite's documented way to rebuild a table.
    let statements: String?
    var answers = Answers.none
    /// What `moult migrate` is told beside; nothing for the default way.
    var options: [String] = []

    /// From what changes a few pages to what writes every row.
    static func all() throws -> [ChangeKind] {
        [
            ChangeKind(
                name: "add", entities: items(BenchmarkModel.attributes + [BenchmarkModel.text("tag")]),
                statements: "ALTER TABLE ZITEM ADD COLUMN ZTAG VARCHAR"),
            ChangeKind(
                name: "rename",
                entities: items(changing("note") { ($0.name, $0.renamingIdentifier) = ("remark", "note") }),
                statements: "ALTER TABLE ZITEM RENAME COLUMN ZNOTE TO ZREMARK"),
            ChangeKind(
                name: "drop", entities: items(BenchmarkModel.attributes.filter { $0.name != "payload" }),
                statements: "ALTER TABLE ZITEM DROP COLUMN ZPAYLOAD"),
            // SQLite has one INTEGER for both; what is left is the row with the version's hashes.
            ChangeKind(
                name: "type, equal storage", entities: items(changing("rank") { $0.type = .integer32 }),
                statements: "UPDATE Z_METADATA SET Z_PLIST = Z_PLIST || x''"),
            // Version hashes know nothing of indexes: the modifier is what an app changes with one.
            ChangeKind(
                name: "index",
                entities: items(changing("count") { ($0.isIndexed, $0.versionHashModifier) = (true, "2") }),
                statements: "CREATE INDEX Z_Item_count ON ZITEM (ZCOUNT COLLATE BINARY ASC)"),
            ChangeKind(
                name: "entity, last", entities: items(BenchmarkModel.attributes) + [named("Zone")],
                statements: table("ZZONE")),
            ChangeKind(
                name: "entity, first", entities: items(BenchmarkModel.attributes) + [named("Aisle")],
                statements: "\(table("ZAISLE")); UPDATE ZITEM SET Z_ENT = 2"),
            ChangeKind(
                name: "required", entities: items(BenchmarkModel.required),
                statements: "UPDATE ZITEM SET ZNOTE = 'none' WHERE ZNOTE IS NULL"),
            try otherStorage("type, other storage"),
            try otherStorage("type, rebuilt", options: ["--normalise"]),
        ]
    }

    private static func otherStorage(_ name: String, options: [String] = []) throws -> ChangeKind {
        ChangeKind(
            name: name, entities: items(BenchmarkModel.widened), statements: nil,
            answers: try Answers([
                Answer(from: "V1", to: "V2", entity: BenchmarkModel.entity, property: "count", is: .keep)
            ]), options: options)
    }

    private static func items(_ attributes: [AttributeDescription]) -> [EntityDescription] {
        [EntityDescription(name: BenchmarkModel.entity, attributes: attributes)]
    }

    private static func named(_ entity: String) -> EntityDescription {
        EntityDescription(name: entity, attributes: [BenchmarkModel.text("name")])
    }

    private static func table(_ name: String) -> String {
        "CREATE TABLE \(name) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)"
    }

    private static func changing(
        _ name: String, _ change: (inout AttributeDescription) -> Void
    ) -> [AttributeDescription] {
        BenchmarkModel.changing(name, in: BenchmarkModel.attributes, change)
    }
}
