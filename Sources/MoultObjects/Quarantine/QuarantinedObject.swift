import MoultBasics
import MoultModel
import MoultSQLite

/// An object that was taken out of a store, with all of its data.
package struct QuarantinedObject: Sendable, Hashable {
    package var entity: String
    package var key: Int64
    package var reason: String
    /// The rule or policy that quarantined it.
    package var origin: String
    /// The object as a JSON document: ``Swift/JSONValue/init(quarantining:_:unreadable:_:)``.
    package var object: String

    package init(entity: String, key: Int64, reason: String, origin: String, object: String) {
        (self.entity, self.key, self.reason, self.origin, self.object) = (entity, key, reason, origin, object)
    }
}

extension JSONValue {
    /// Creates the document of an object, with its properties by name: `{"type", "value"}` for an attribute, with a
    /// date's exact `"seconds"` since the reference date; `{"toOne": URI}` and `{"toMany": [URI]}` for a relationship.
    /// The value of an external file is its bytes. A stored value that the model cannot read is null, with its column's
    /// SQL literal as `"stored"`. `"place"` and `"places"` are the object's numbers in ordered lists at the other end,
    /// `"order"` those of the members of its own lists; ``incomingKey`` has the links to it from relationships without
    /// an inverse.
    ///
    /// - Parameters:
    ///   - shape: the shape of the object's own entity.
    ///   - values: one for each property of the shape; nil leaves the property out.
    ///   - unreadable: the SQL literals of values that the model cannot read, by property.
    init(
        quarantining shape: EntityShape, _ values: [ObjectValue?], unreadable: [String: String],
        _ surroundings: ObjectSurroundings
    ) {
        let properties = zip(shape.properties, values).compactMap { property, value -> Member? in
            if let literal = unreadable[property.name] {
                return Member(property.name, ["value": .null, "stored": .string(literal)])
            }
            guard let value else { return nil }
            return Member(property.name, Self.document(value, of: property, surroundings))
        }
        let incoming = surroundings.incoming.map { link -> JSONValue in
            .object(
                [.init("from", .string(link.owner.description)), .init("relationship", .string(link.relationship))]
                    + (link.place.map { [.init("place", .integer($0))] } ?? []))
        }
        self = .object(properties + (incoming.isEmpty ? [] : [Member(Self.incomingKey, .array(incoming))]))
    }

    /// The key of incoming links. No property can have this name.
    package static let incomingKey = "@from"

    private static func document(
        _ value: ObjectValue, of property: EntityShape.Property, _ surroundings: ObjectSurroundings
    ) -> JSONValue {
        switch (value, property) {
        case (.attribute(.date(let seconds)?), .attribute(_, let attribute)):
            return [
                "type": .string(attribute.type.name), "value": AttributeValue.date(seconds).document,
                "seconds": .double(seconds),
            ]
        case (.attribute(let value), .attribute(_, let attribute)):
            return ["type": .string(attribute.type.name), "value": value?.document ?? .null]
        case (.attribute(let value), .relationship): return ["value": value?.document ?? .null]
        case (.toOne(let id), _):
            let place = id.flatMap { surroundings.places[property.name]?[$0.key] }
            return .object(
                [.init("toOne", JSONValue(id?.description))] + (place.map { [.init("place", .integer($0))] } ?? []))
        case (.toMany(let ids), _):
            let numbers = [("order", surroundings.order), ("places", surroundings.places)].compactMap { key, all in
                all[property.name].map { numbers in
                    Member(key, .array(ids.map { numbers[$0.key].map(JSONValue.integer) ?? .null }))
                }
            }
            return .object([.init("toMany", JSONValue(ids.map(\.description)))] + numbers)
        }
    }
}

extension QuarantineWriter {
    /// Adds objects of a store with all of their data, including their to-one and to-many relationships.
    ///
    /// - Parameter ids: no more than fit in memory at once.
    package func add(_ ids: [ObjectID], of store: ObjectStore, reason: String, by origin: String) throws {
        let snapshots = try store.snapshots(of: ids)
        for (entityName, snapshots) in Dictionary(grouping: snapshots, by: \.id.entityName)
            .inByteOrder(of: { $0.key })
        {
            let shape = try store.columns(of: entityName).shape
            let lists = try shape.properties.map { property -> [ObjectID: [ObjectID]]? in
                guard case .relationship(let relationship, _) = property, relationship.isToMany,
                    !relationship.isTransient
                else { return nil }
                return try store.destinations(of: relationship.name, owners: snapshots.map(\.id))
            }
            let surroundings = try ObjectSurroundings.all(
                of: snapshots.map(\.id), entity: shape.entity, in: store, connection)
            for snapshot in snapshots {
                let values = zip(snapshot.values, lists).map { value, lists in
                    lists.map { .toMany($0[snapshot.id] ?? []) } ?? value
                }
                var unreadable: [String: String] = [:]
                for (property, value) in zip(shape.properties, values) where value == nil {
                    unreadable[property.name] = try store.storedLiteral(of: property.name, in: snapshot.id)
                }
                try add(
                    entity: entityName, key: snapshot.id.key, reason: reason,
                    values: JSONValue(
                        quarantining: shape, values, unreadable: unreadable, surroundings[snapshot.id.key] ?? .init()),
                    by: origin)
            }
        }
    }
}

/// A collector of the objects that a pass of a migration takes out of the store, until the engine moves them to the
/// quarantine next to it.
///
/// They are in a temporary table of the working copy's connection, so that memory does not grow with their number and
/// an aborted run leaves nothing behind. The caller deletes each added object from the store.
package final class QuarantineWriter {
    let connection: Connection
    private let insert: Statement
    /// The number of objects added by this writer.
    package private(set) var count: Int64 = 0

    /// - Parameter schema: `main` for a run in pieces, whose next call needs the objects.
    package init(_ connection: Connection, in schema: String = "temp") throws {
        self.connection = connection
        try connection.execute(Self.table(schema))
        insert = try connection.prepare("INSERT INTO \(schema).moult_quarantine VALUES (?, ?, ?, ?, ?)")
    }

    static func table(_ schema: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS \(schema).moult_quarantine (
            entity TEXT NOT NULL, key INTEGER NOT NULL, reason TEXT NOT NULL, origin TEXT NOT NULL,
            object TEXT NOT NULL)
        """
    }

    /// - Parameters:
    ///   - entity: the object's own entity.
    ///   - key: its `Z_PK`.
    ///   - reason: one sentence for people.
    ///   - values: the whole object, from ``Swift/JSONValue/init(quarantining:_:unreadable:_:)``.
    ///   - origin: the rule or policy that quarantined it.
    package func add(entity: String, key: Int64, reason: String, values: JSONValue, by origin: String) throws {
        try insert.run([.text(entity), .integer(key), .text(reason), .text(origin), .text(values.compact)])
        insert.reset()
        count += 1
    }
}

extension QuarantinedObject {
    /// Calls `body` for each object that the connection's writers have collected, in their order.
    ///
    /// - Parameter schema: `main` for a file made by ``PolicyNotes/setAside(from:in:)``.
    package static func forEach(
        on connection: Connection, in schema: String = "temp", _ body: (QuarantinedObject) throws -> Void
    ) throws {
        guard try connection.hasTable("moult_quarantine", in: schema) else { return }
        try connection.forEachRow(
            "SELECT entity, key, reason, origin, object FROM \(schema).moult_quarantine ORDER BY rowid"
        ) { row in
            try body(
                QuarantinedObject(
                    entity: row.text(0) ?? "", key: row.integer(1), reason: row.text(2) ?? "",
                    origin: row.text(3) ?? "", object: row.text(4) ?? "{}"))
        }
    }
}
