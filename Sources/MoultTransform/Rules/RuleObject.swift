import MoultModel
import MoultObjects

/// One object as the code of a rule sees it, its values by name; good only while the code is called.
public struct RuleObject {
    let snapshot: ObjectSnapshot
    let store: ObjectStore

    /// The identity of the object in the store that is checked.
    public var id: ObjectID { snapshot.id }

    /// The value of an attribute; nil for none.
    ///
    /// - Throws: `unknownKey` for a name that is no stored attribute of the entity, `dataConflict` if the store holds
    ///   what the attribute cannot be.
    public func attribute(_ name: String) throws -> AttributeValue? {
        switch try value(name) {
        case .attribute(let value)?: return value
        case nil:
            throw MigrationError(
                .dataConflict, "The store's value of \(place(name)) does not fit its type.",
                place: "\(id).\(name)", remedy: "Repair the store first.")
        case .toOne?, .toMany?: throw unknown(name, "is not an attribute")
        }
    }

    /// The destination of a to-one relationship; nil for none, and for one that is not there.
    public func destination(_ relationship: String) throws -> RuleObject? {
        guard case .toOne(let id)? = try value(relationship) else {
            throw unknown(relationship, "is not a to-one relationship")
        }
        return try id.flatMap { try store.snapshots(of: [$0]).first }.map { RuleObject(snapshot: $0, store: store) }
    }

    /// The destinations of a to-many relationship, in their order where it has one.
    public func destinations(_ relationship: String) throws -> [RuleObject] {
        let ids = try store.destinations(of: relationship, owners: [id])[id] ?? []
        return try store.snapshots(of: ids).map { RuleObject(snapshot: $0, store: store) }
    }

    private func value(_ name: String) throws -> ObjectValue? {
        guard let position = try store.columns(of: id.entityName).shape.position(of: name) else {
            throw unknown(name, "is not a property")
        }
        return snapshot.values[position]
    }

    private func place(_ name: String) -> String { "\(id.entityName).\(name)" }

    private func unknown(_ name: String, _ fault: String) -> MigrationError {
        MigrationError(
            .unknownKey, "\(place(name)) \(fault).", place: place(name),
            remedy: "Use a property of the entity.")
    }
}
