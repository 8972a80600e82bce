import MoultModel
import Synchronization

/// What a predicate has to know of a model, found once for each.
final class ModelProperties: @unchecked Sendable {
    struct Property {
        let name: String
        let shape: _PropertyShape
    }

    let entityName: String
    // Key paths of stored properties capture nothing, so that they can go from thread to thread.
    private let byKeyPath: [AnyKeyPath: Property]

    private init(_ model: any PersistentModel.Type) {
        let metadata = model.schemaMetadata
        entityName = metadata.name
        byKeyPath = Dictionary(
            metadata.properties.map { ($0.keyPath, Property(name: $0.name, shape: $0.shape)) }
        ) { first, _ in first }
    }

    subscript(keyPath: AnyKeyPath) -> Property? { byKeyPath[keyPath] }

    private static let known = Mutex<[ObjectIdentifier: ModelProperties]>([:])

    static func of(_ model: any PersistentModel.Type) -> ModelProperties {
        let key = ObjectIdentifier(model)
        if let found = known.withLock({ $0[key] }) { return found }
        let found = ModelProperties(model)
        return known.withLock { table in
            if let first = table[key] { return first }
            table[key] = found
            return found
        }
    }
}
