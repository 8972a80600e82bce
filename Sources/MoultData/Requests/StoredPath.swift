import Foundation
import Synchronization

/// The properties that a key path traverses.
///
/// A key path of one step is looked up among the model's key paths. A longer key path cannot be inspected: it is
/// applied several times to a model that records which properties are read, and is understood if it always returns
/// exactly the value that the model supplied.
struct StoredPath: Sendable {
    let names: [String]
    let end: End

    enum End: Sendable {
        case attribute(Any.Type)
        /// The number of objects of a to-many relationship.
        case count
        case relationship
        /// The identity of the object: `persistentModelID`, or `id` if the model has no such property of its own.
        case identity
        case localizedOrder
        case localizedStandardOrder
    }

    /// Whether each object has a single value at the end, of a type that a store can sort.
    var hasOrder: Bool {
        switch end {
        case .attribute(let type): withoutOptionals(type) is any PersistentValue.Type
        case .count, .identity, .localizedOrder, .localizedStandardOrder: true
        case .relationship: false
        }
    }

    init?<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>) {
        let properties = ModelProperties.of(Model.self)
        if let property = properties[keyPath] {
            names = [property.name]
            if case .attribute = property.shape {
                end = .attribute(type(of: keyPath).valueType)
            } else {
                end = .relationship
            }
        } else if let found = properties.path(keyPath, otherwise: { PathProbe.walk(keyPath) }) {
            self = found
        } else {
            return nil
        }
    }

    init(_ names: [String], _ end: End) {
        self.names = names
        self.end = end
    }
}

/// The properties of a model for predicates and sorts, determined once for each model.
final class ModelProperties: @unchecked Sendable {
    struct Property {
        let name: String
        let shape: _PropertyShape
        let paths: [String]
        let valueType: Any.Type
    }

    let entityName: String
    // Key paths of stored properties capture nothing, so they can be shared between threads.
    private let byKeyPath: [AnyKeyPath: Property]
    private let byName: [String: Property]
    /// The stored paths of the longer key paths looked up so far.
    private let paths: Mutex<Paths>

    private struct Paths: @unchecked Sendable {
        var known: [AnyKeyPath: StoredPath?] = [:]
    }

    private init(_ model: any PersistentModel.Type) {
        let metadata = model.schemaMetadata
        entityName = metadata.name
        let properties = metadata.properties.map { found in
            let valueType = type(of: found.keyPath).valueType
            return (
                found.keyPath, Property(name: found.name, shape: found.shape, paths: found.paths, valueType: valueType)
            )
        }
        byKeyPath = Dictionary(properties) { first, _ in first }
        byName = Dictionary(properties.map { ($0.1.name, $0.1) }) { first, _ in first }
        var paths = Paths()
        for (keyPath, property) in properties {
            let orders: [(AnyKeyPath, StoredPath.End)] = [
                (\String._localizedOrder, .localizedOrder), (\String._localizedStandardOrder, .localizedStandardOrder),
                (\String?._localizedOrder, .localizedOrder),
                (\String?._localizedStandardOrder, .localizedStandardOrder),
            ]
            for (order, end) in orders {
                if let path = keyPath.appending(path: order) { paths.known[path] = StoredPath([property.name], end) }
            }
        }
        self.paths = Mutex(paths)
    }

    subscript(keyPath: AnyKeyPath) -> Property? { byKeyPath[keyPath] }
    subscript(name: String) -> Property? { byName[name] }

    /// Returns the stored path of a longer key path, determined once.
    func path(_ keyPath: AnyKeyPath, otherwise find: () -> StoredPath?) -> StoredPath? {
        if let known = paths.withLock({ $0.known[keyPath] }) { return known }
        let found = find()
        paths.withLock { $0.known[keyPath] = .some(found) }
        return found
    }

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
