import Foundation
import MoultBasics
import MoultModel

/// Objects in a table: two authors, three books and a composite address.
struct Bookshelf: ObjectValues {
    static let store = UUID()
    static let ann = ObjectID(store: store, entityName: "Author", key: 1)
    static let bob = ObjectID(store: store, entityName: "Author", key: 2)
    static let first = ObjectID(store: store, entityName: "Book", key: 1)
    static let second = ObjectID(store: store, entityName: "Book", key: 2)
    static let orphan = ObjectID(store: store, entityName: "Novel", key: 3)

    var now: Double { 1000 }

    private let values: [ObjectID: [String: ExpressionValue]] = [
        ann: [
            "name": .string("Ann"), "age": .integer(40), "nickname": .null, "isActive": .boolean(true),
            "books": .collection([.object(first), .object(second)]), "address.city": .string("Oslo"),
            "address.geo.latitude": .real(59.9), "rating": .decimal("4.10"), "born": .date(0),
        ],
        bob: [
            "name": .string("Björn"), "age": .null, "nickname": .string("Bo"), "isActive": .boolean(false),
            "books": .collection([]), "address.city": .null, "address.geo.latitude": .null, "rating": .null,
            "born": .null,
        ],
        first: [
            "title": .string("Zebra"), "pages": .integer(100), "price": .decimal("0.1"), "author": .object(ann),
            "tags": .collection([.string("a"), .string("b")]),
        ],
        second: [
            "title": .string("apple"), "pages": .null, "price": .decimal("0.2"), "author": .object(ann),
            "tags": .collection([.string("b"), .null]),
        ],
        orphan: [
            "title": .null, "pages": .integer(7), "price": .null, "author": .null, "tags": .collection([]),
        ],
    ]

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue {
        guard let value = values[object]?[key] else {
            throw MigrationError.predicate("\(object.entityName) has no property \(key).", place: key)
        }
        return value
    }

    func isComposite(_ key: String, of object: ObjectID) -> Bool {
        object.entityName == "Author" && ["address", "address.geo"].contains(key)
    }
}
