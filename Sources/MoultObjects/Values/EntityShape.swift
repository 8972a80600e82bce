import MoultBasics
import MoultModel
import MoultStore
import Synchronization

/// The properties of an entity by position, inherited ones included. Every object of the entity has values for them.
///
/// One shape is made for each entity when a model is first used, and all objects share it, so that an index is enough
/// to find a value. Fetched properties are not included, because they are fetched on demand and never stored.
package final class EntityShape: Sendable {
    package let entity: EntityDescription
    /// The properties, in the byte order of their names.
    package let properties: [Property]
    private let positions: [String: Int]
    /// The names, ordered by their length in UTF-8, with their positions. Few names have the same length, and a length
    /// needs no hashing: an app's code looks properties up by name for every object.
    private let names: [(name: String, position: Int)]
    /// The indexes in that list at which the names of each length begin, followed by the end of the list.
    private let starts: [Int]

    package enum Property: Sendable {
        /// An attribute, transient and derived ones included. A composite attribute is not one property but one for
        /// each of its elements, named by its path, `attribute.element`.
        case attribute(name: String, AttributeDescription)
        case relationship(RelationshipDescription, inverse: RelationshipDescription?)

        package var name: String {
            switch self {
            case .attribute(let name, _): name
            case .relationship(let relationship, _): relationship.name
            }
        }
    }

    package init(_ entity: EntityDescription, in model: ManagedObjectModel) {
        self.entity = entity
        let stored = model.storedAttributes(of: entity).map { Property.attribute(name: $0.name, $0.description) }
        let others = model.attributes(of: entity).filter { !$0.isStored || $0.type == .objectID }
            .map { Property.attribute(name: $0.name, $0) }
        let relationships = model.relationships(of: entity).map {
            Property.relationship($0, inverse: model.inverse(of: $0))
        }
        properties = (stored + others + relationships).inByteOrder { $0.name }
        positions = Dictionary(properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let names = positions.map { (name: $0, position: $1) }.sorted { $0.name.utf8.count < $1.name.utf8.count }
        let longest = names.last?.name.utf8.count ?? 0
        starts = (0...longest + 1).map { length in
            names.firstIndex { $0.name.utf8.count >= length } ?? names.count
        }
        self.names = names
    }

    package func position(of name: String) -> Int? {
        let length = name.utf8.count
        if length < starts.count - 1 {
            for index in starts[length]..<starts[length + 1] where names[index].name == name {
                return names[index].position
            }
        }
        // The same name in another form of Unicode may have another length.
        return positions[name]
    }

    /// Whether the path names a composite attribute, or one inside another. Only its elements are properties.
    package func isComposite(_ path: String) -> Bool {
        guard position(of: path) == nil else { return false }
        let start = path + "."
        return properties.contains { $0.name.hasPrefix(start) }
    }

    package func isTransientAttribute(_ name: String) -> Bool {
        if case .attribute(_, let attribute)? = self[name] { attribute.isTransient } else { false }
    }

    package subscript(name: String) -> Property? { position(of: name).map { properties[$0] } }
}

/// The properties that an app's code has read from the objects of a store, by concrete entity.
///
/// A property counts as read when code reads its value from an object, or when a fetch names it in its predicate, its
/// sort terms or its columns. Fetching an object alone reads nothing.
package final class PropertyReads: Sendable {
    private struct State {
        var read: [String: Set<String>] = [:]
        /// The properties that a mapping has carried over for code that called `super`.
        var carried: [String: Set<String>] = [:]
        var pauses = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// - Parameter name: the property; the path of a composite attribute's element.
    /// - Returns: false while recording is paused.
    @discardableResult
    package func note(_ name: String, of entity: String) -> Bool {
        state.withLock { state in
            guard state.pauses == 0 else { return false }
            state.read[entity, default: []].insert(name)
            return true
        }
    }

    package func noteCarried(_ name: String, of entity: String) {
        state.withLock { _ = $0.carried[entity, default: []].insert(name) }
    }

    /// The properties that code has read, by entity, and those that mappings have carried over.
    var all: (read: [String: Set<String>], carried: [String: Set<String>]) { state.withLock { ($0.read, $0.carried) } }

    /// Whether code has read the property, or a composite attribute that contains it.
    package func isRead(_ name: String, of entity: String) -> Bool {
        let keys = name.split(separator: ".")
        return state.withLock { state in
            guard let read = state.read[entity] else { return false }
            return keys.indices.contains { read.contains(keys[...$0].joined(separator: ".")) }
        }
    }

    package func isCarried(_ name: String, of entity: String) -> Bool {
        state.withLock { $0.carried[entity]?.contains(name) == true }
    }

    /// Runs code that reads values for its own purposes, such as a validation, without recording them as read.
    package func pausing<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.pauses += 1 }
        defer { state.withLock { $0.pauses -= 1 } }
        return try body()
    }

    /// Records the properties that a fetch names.
    package func note(_ fetch: ObjectFetch, in model: ManagedObjectModel) {
        guard let entity = model.entity(fetch.entityName) else { return }
        let kinds = fetch.includesSubentities ? [entity] + model.descendants(of: entity) : [entity]
        var paths = fetch.predicate?.keyPaths ?? []
        paths.formUnion(fetch.having?.keyPaths ?? [])
        for text in fetch.sort.map(\.keyPath) + fetch.groupBy {
            paths.formUnion((try? Expression(parsing: text))?.keyPaths ?? [])
        }
        for column in fetch.columns { paths.formUnion(column.expression.keyPaths) }
        for path in paths { note(path.split(separator: ".").map(String.init), from: kinds, in: model) }
    }

    /// Records all properties of an entity, as a fetch of dictionaries without columns reads them.
    package func noteAll(of fetch: ObjectFetch, in model: ManagedObjectModel) {
        guard let entity = model.entity(fetch.entityName) else { return }
        for kind in [entity] + (fetch.includesSubentities ? model.descendants(of: entity) : []) {
            for attribute in model.leaves(of: kind) { note(attribute.name, of: kind.name) }
            for relationship in model.relationships(of: kind) where !relationship.isToMany {
                note(relationship.name, of: kind.name)
            }
        }
    }

    private func note(_ path: [String], from kinds: [EntityDescription], in model: ManagedObjectModel) {
        var kinds = kinds
        let keys = path.filter { !$0.hasPrefix("@") }
        for (position, key) in keys.enumerated() {
            let next = kinds.first.flatMap { model.relationship(key, of: $0) }?.destinationEntityName
            guard let destination = next.flatMap(model.entity) else {
                for kind in kinds { note(keys[position...].joined(separator: "."), of: kind.name) }
                return
            }
            for kind in kinds { note(key, of: kind.name) }
            kinds = [destination] + model.descendants(of: destination)
        }
    }
}

extension ObjectContext {
    /// Runs code that does not read values for the app's code, without recording them as read.
    package func withoutNotingReads<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let reads = coordinator.reads else { return try body() }
        return try reads.pausing(body)
    }

    /// Records the properties that a fetch names, if reads are recorded.
    package func noteReads(of fetch: ObjectFetch) { coordinator.reads?.note(fetch, in: coordinator.model) }
}
