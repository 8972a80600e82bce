import MoultBasics
import MoultModel
import MoultSession
import MoultStore

extension Project {
    /// Inspects a store: its version, its entities with their objects, the framework that wrote it, its metadata. Does
    /// not change the store, which need not match any of the versions.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - withValues: whether to show the values of the app's own metadata entries.
    /// - Throws: what examining an unusable file throws.
    public func inspect(_ store: String, withValues: Bool = false) async throws -> StoreInspection {
        try await onThread { _ in try StoreInspection(of: store, in: versions, withValues: withValues) }
    }

    /// Reads the objects of a store, ordered by entity and key. Does not change the store; keeps one object in memory
    /// at a time.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - entityName: the entity; nil for all.
    ///   - includingSubentities: whether to include the objects of its sub-entities.
    ///   - body: called with each object, on the reading thread; an error from it ends the call, which throws it.
    /// - Throws: `storeUnknown` for a store of none of the versions; `usage` for an entity that does not exist;
    ///   `locked` if another process wrote to the store meanwhile, so that the objects may mix two states.
    public func dump(
        _ store: String, of entityName: String? = nil, includingSubentities: Bool = false,
        _ body: @escaping @Sendable (StoredObject) throws -> Void
    ) async throws {
        // Pass on the caller's own error unchanged.
        try await BlockingWork.run("Moult") { _ in
            try ReadOnlyStore.forEachObject(
                of: entityName, includingSubentities: includingSubentities, in: store, versions: versions
            ) { try body(StoredObject($0)) }
        }
    }
}

/// One object of a store, with its values.
public struct StoredObject: Sendable, Hashable, CustomStringConvertible {
    /// A reference to an object by its entity and its key.
    public struct Reference: Sendable, Hashable {
        /// The name of the object's own entity.
        public let entityName: String
        /// Its primary key, `Z_PK`.
        public let key: Int64

        init(_ reference: ObjectReference) { (entityName, key) = (reference.entityName, reference.primaryKey) }
    }

    private let row: ObjectRow

    init(_ row: ObjectRow) { self.row = row }

    /// The name of the object's own entity.
    public var entityName: String { row.entityName }
    /// Its primary key, `Z_PK`.
    public var key: Int64 { row.primaryKey }
    /// The names of its properties, in byte order; an element of a composite attribute as `attribute.element`.
    public var propertyNames: [String] { row.shape.properties }

    /// Returns the value of an attribute; nil for NULL, for another property, and for an unreadable value.
    public func value(of attribute: String) -> AttributeValue? {
        if case .attribute(let value)? = row[attribute] { value } else { nil }
    }

    /// Returns the destinations of a relationship: in order if it is ordered, otherwise by key; empty for another
    /// property.
    public func destinations(of relationship: String) -> [Reference] {
        switch row[relationship] {
        case .toOne(let destination?): [Reference(destination)]
        case .toMany(let destinations): destinations.map(Reference.init)
        case .toOne(nil), .attribute, .undecodable, nil: []
        }
    }

    /// Returns the reason why the value of a property cannot be read; nil if it can.
    public func fault(of property: String) -> String? {
        if case .undecodable(let value)? = row[property] { value.reason } else { nil }
    }

    /// The text that `moult dump` prints.
    public var description: String { row.lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult dump --json` prints, on one line.
    public var json: String { row.document.compact }
}

extension Project {
    /// Returns the changes between two versions.
    ///
    /// - Parameters:
    ///   - from: the name of the older version.
    ///   - to: the name of the newer version.
    /// - Throws: `noPath` for a version that does not exist; `usage` if a recorded answer fits no question.
    public func difference(from: String, to: String) throws -> ModelDifference {
        let (older, newer) = (try version(named: from), try version(named: to))
        return try ModelDifference(from: older, to: newer, answers: answers)
    }

    private func version(named name: String) throws -> ModelVersion {
        versions.versions[try versions.target(named: name)].named(name)
    }
}
