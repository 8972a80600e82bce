import MoultModel
import MoultSystem

/// The values of the context's objects for predicates and sort terms, unsaved changes included.
struct ContextValues: ObjectValues {
    let context: ObjectContext
    let now: Double

    init(_ context: ObjectContext) {
        self.context = context
        now = POSIXSystem().now.sinceReferenceDate
    }

    func isComposite(_ key: String, of id: ObjectID) -> Bool {
        (try? context.object(with: id))?.shape.isComposite(key) ?? false
    }

    /// A destination whose row is gone is nil, as it is for a join.
    func value(_ key: String, of id: ObjectID) throws -> ExpressionValue {
        let object = try context.object(with: id)
        guard let position = object.shape.position(of: key) else {
            if key == "self" || key == "SELF" { return .object(id) }
            // A path may lead through a property that only some entities of the tree have.
            if context.coordinator.model.hasProperty(key, inTreeOf: object.shape.entity) { return .null }
            throw MigrationError(
                .unknownKey, "\(object.entityName) has no property \(key).", place: "\(object.entityName).\(key)",
                remedy: "Use one of: \(object.shape.properties.map(\.name).joined(separator: ", ")).")
        }
        do {
            guard let link = object.kind.links[position] else {
                return ExpressionValue(try object.attribute(at: position))
            }
            object.kind.noteReading(position)
            if link.isToMany { return .collection(try object.list(link).map(ExpressionValue.object)) }
            return try object.destination(link).map(ExpressionValue.object) ?? .null
        } catch let error as MigrationError where error.code == .objectGone {
            return .null
        }
    }
}

extension ManagedObjectModel {
    fileprivate func hasProperty(_ name: String, inTreeOf entity: EntityDescription) -> Bool {
        let root = root(of: entity)
        return ([root] + descendants(of: root)).contains { $0.propertyNames.contains(name) }
    }
}
