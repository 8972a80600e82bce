import MoultModel
import MoultObjects
import MoultStore
import MoultTools
import TestSupport

/// A store with a value of every type, a hierarchy, every kind of relationship and names that other languages take for
/// their own.
struct SampleStore {
    let folder: ScratchFolder
    let model: ManagedObjectModel
    var path: String { folder.path + "/sample.sqlite" }

    /// A name that ends strings, labels, comments and statements of every language that a picture or a view is in.
    static let hostile = "x\"]; DROP TABLE ZDISH --\n%%'</TD>\\N{}<br>&#;`,:"

    /// The same for a name that a column has: without blanks, `=` and line breaks, which the witness prints between values.
    static let hostileColumn = "x\"];--%%'</TD>\\N{}<br>&#|`"

    static func makeModel() throws -> ManagedObjectModel {
        let types: [AttributeType] = [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid,
            .uri, .transformable,
        ]
        var attributes = types.map { AttributeDescription(name: "a\($0.name.filter { $0 != " " })", type: $0) }
        attributes.append(AttributeDescription(name: "photo", type: .binary, allowsExternalBinaryDataStorage: true))
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Dish", attributes: attributes,
                relationships: [
                    .init(
                        name: "ingredients", destinationEntityName: "Ingredient", inverseName: "dish", maxCount: 0,
                        isOrdered: true),
                    .init(
                        name: "tags", destinationEntityName: "Tag", inverseName: "dishes", maxCount: 0, isOrdered: true),
                    .init(name: "goesWith", destinationEntityName: "Dish", inverseName: "goesWith", maxCount: 0),
                ]),
            EntityDescription("Soup (Dish) = isHot Boolean"),
            EntityDescription("Ingredient = name String, dish > Dish.ingredients"),
            // The name of a table of the store, and of a column that every view has.
            EntityDescription("ZDISH = Entity String, z_pk Integer32"),
            EntityDescription(
                name: "Tag", attributes: [.init(name: hostileColumn, type: .string)],
                relationships: [.init(name: "dishes", destinationEntityName: "Dish", inverseName: "tags", maxCount: 0)]),
        ])
    }

    init(count: Int = 40, isHostile: Bool = true) throws {
        folder = try ScratchFolder()
        model = try Self.makeModel()
        let maker = try StoreCreator(ModelVersion(names: ["sample"], model: model))
        try maker.make(at: folder.path + "/sample.sqlite")
        let writer = try ObjectWriter(store: folder.path + "/sample.sqlite", layout: maker.layout, speed: .reckless)
        try SampleData(count: count, isHostile: isHostile).fill(writer)
        try writer.finish()
    }
}
