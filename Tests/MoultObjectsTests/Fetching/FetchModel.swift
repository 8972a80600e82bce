import MoultModel
import TestSupport

/// A model with every way in which a store keeps attributes and relationships.
enum FetchModel {
    /// - Parameter attribute: one of Writer's, which gets an index `byName`.
    static func make(indexing attribute: String? = nil) throws -> ManagedObjectModel {
        var writer = writer
        writer.fetchIndexes =
            attribute.map {
                [FetchIndexDescription(name: "byName", elements: [.init(subject: .property($0))])]
            } ?? []
        return try ManagedObjectModel(
            entities: [
                writer, EntityDescription("Poet (Writer) = metre String"),
                EntityDescription("Laureate (Poet) = since Date"),
                EntityDescription(
                    """
                    Book = title String, year Integer16, price Decimal, stars Double, published Date,
                        author > Writer.books, tags >> Tag.books
                    """),
                EntityDescription(
                    "Tag = label String, rank Integer64, writers >> Writer.tags, books >> Book.tags ordered"),
                EntityDescription("House = number Integer32, street String, owner > Writer.home"),
            ],
            composites: [
                CompositeDescription(
                    name: "Address",
                    elements: [
                        AttributeDescription(name: "city", type: .string),
                        AttributeDescription(name: "zip", type: .integer32),
                        AttributeDescription(name: "point", type: .composite, compositeName: "Point"),
                    ]),
                CompositeDescription(
                    name: "Point",
                    elements: [
                        AttributeDescription(name: "lat", type: .double),
                        AttributeDescription(name: "lon", type: .double),
                    ]),
            ])
    }

    private static var writer: EntityDescription {
        // One to many, ordered, from an entity with sub-entities; one to one; many to many, with itself and with another;
        // a tree inside one table; without inverse.
        var writer = EntityDescription(
            """
            Writer = name String, motto String, age Integer16, count Integer32, big Integer64, born Date, score Double,
                weight Float, fee Decimal, isActive Boolean, token UUID, site URI, mark Binary, memo Transformable,
                photo Binary external, passing String transient, books >> Book.author ordered, home > House.owner,
                friends >> Writer.friends, tags >> Tag.writers ordered, mentor > Writer.pupils, pupils >> Writer.mentor,
                lastRead > Book, shelf >> Book ordered
            """)
        writer.attributes.append(AttributeDescription(name: "address", type: .composite, compositeName: "Address"))
        return writer
    }
}
