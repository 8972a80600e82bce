import MoultBasics
import MoultModel
import MoultObjects
import MoultStore

/// The model, the store and the rows of the group "objects": items with ten attributes, each with an owner.
///
/// `Benchmarks/Python/objects.py` gives the same rows.
enum ObjectsData {
    static let owners = 1000

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Item", attributes: BenchmarkModel.attributes,
                relationships: [
                    RelationshipDescription(name: "owner", destinationEntityName: "Owner", inverseName: "items")
                ],
                fetchIndexes: ["createdAt", "title"].map {
                    FetchIndexDescription(name: "by\($0)", elements: [.init(subject: .property($0))])
                }),
            EntityDescription(
                name: "Owner", attributes: [AttributeDescription(name: "name", type: .string)],
                relationships: [
                    RelationshipDescription(
                        name: "items", destinationEntityName: "Item", inverseName: "owner", maxCount: 0)
                ]),
        ])
    }

    /// A store with the owners and no items.
    static func makeStore(at path: String) throws {
        let maker = try StoreCreator(ModelVersion(names: ["1"], model: model()))
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        for owner in 0..<owners { try writer.insert("Owner", ["name": .attribute(.string("owner \(1000 + owner)"))]) }
        try writer.finish()
    }

    static let names = BenchmarkModel.attributes.map(\.name)

    /// In the order of ``names``.
    static func values(_ row: Int) -> [AttributeValue?] {
        let bytes = withUnsafeBytes(of: UInt64(row).littleEndian) { Array($0) }
        let hundredths = row % 100
        return [
            .decimal("\(row * 7919 % 1_000_000).\(hundredths < 10 ? "0" : "")\(hundredths)"),
            .integer(Int64(row)),
            .date(Double(row * 104_729 % 1_000_000_000) + (row.isMultiple(of: 2) ? 0 : 0.5)),
            .uuid(bytes + bytes),
            .boolean(row.isMultiple(of: 2)),
            row.isMultiple(of: 3) ? nil : .string("A note of some words about item \(row)"),
            .binary(bytes + bytes + bytes + bytes + bytes),
            .double(Double(row * 31 % 1_000_000) / 7),
            .integer(Int64(row % 1000)),
            .string(title(row)),
        ]
    }

    static func title(_ row: Int) -> String { "Item \(row * 7919 % 1_000_003) of the shelf" }
}
