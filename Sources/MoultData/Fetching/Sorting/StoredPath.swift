import Foundation
import MoultModel

/// The properties that a key path goes through.
///
/// A key path of one step is found among those of the model. A longer one tells nothing of itself: it is walked by a
/// model that notes what it is asked for, several times, and is understood where it always gives the very value that
/// was handed out.
struct StoredPath: Sendable {
    let names: [String]
    let end: End

    enum End: Sendable {
        case attribute(Any.Type)
        /// The number of objects of a to-many relationship.
        case count
        case relationship
        /// The identity of the object: `persistentModelID`, or `id` where that is not a property of its own.
        case identity
        case localizedOrder
        case localizedStandardOrder
    }

    /// Whether each object has one value at the end, of a type whose order a store has too.
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
