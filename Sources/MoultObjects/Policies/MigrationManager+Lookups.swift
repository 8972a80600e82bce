import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

// MARK: - Associations

extension MigrationManager {
    /// Returns the objects that source objects have become in the entity mapping of that name, in the order of the
    /// source objects; each object once.
    ///
    /// - Throws: `usage` if no entity mapping has the name.
    public func destinationInstances(
        forEntityMappingName name: String, sourceInstances: [SourceObject]
    ) throws -> [DestinationObject] {
        let mapping = try mapping(named: name)
        var found: [DestinationObject] = []
        for source in sourceInstances {
            for object in try destinations(of: mapping, source.entityName, source.key)
            where !found.contains(where: { $0 === object }) {
                found.append(object)
            }
        }
        return found
    }

    /// Returns the source objects from which the entity mapping of that name has made objects.
    public func sourceInstances(
        forEntityMappingName name: String, destinationInstances: [DestinationObject]
    ) throws -> [SourceObject] {
        let mapping = try mapping(named: name)
        guard let entityName = mapping.mapping.sourceEntityName else { return [] }
        var found: [SourceObject] = []
        for object in destinationInstances {
            for source in try sources(of: mapping, entityName, object)
            where !found.contains(where: { $0.key == source.key }) {
                found.append(source)
            }
        }
        return found
    }

    private func sources(
        of mapping: RunningMapping, _ entityName: String, _ object: DestinationObject
    ) throws -> [SourceObject] {
        var found = associated.filter { $0.mapping == mapping.position && $0.destination === object }.map(\.source)
        var keys = try associations.sources(
            mapping: mapping.position, entity: object.entity.columns.number, destination: object.key)
        if mapping.keepsKeys, object.entity.columns.number == mapping.destinationNumber,
            try associations.entries(mapping: mapping.position, source: object.key) == nil
        {
            keys.append(object.key)
        }
        for key in keys.sorted() where !found.contains(where: { $0.key == key }) {
            if let currentSource, currentSource.key == key, currentSource.entityName == entityName { continue }
            if let snapshot = try sources.snapshot(entityName, key) { found.append(try sources.object(snapshot)) }
        }
        return found
    }

    /// Returns the objects that a source object has become in a mapping.
    func destinations(of mapping: RunningMapping, _ entityName: String, _ key: Int64) throws -> [DestinationObject] {
        guard mapping.mapping.sourceEntityName == entityName else { return [] }
        let fresh = associated.filter {
            $0.mapping == mapping.position && $0.source.key == key && $0.source.entityName == entityName
        }
        if !fresh.isEmpty { return fresh.map(\.destination) }
        if let entries = try associations.entries(mapping: mapping.position, source: key) {
            return try entries.compactMap { entry in
                try self.entityName(entry.entity).map {
                    try object(ObjectReference(entityName: $0, primaryKey: entry.key))
                }
            }
        }
        guard mapping.keepsKeys, let name = mapping.mapping.destinationEntityName, try exists(key, mapping) else {
            return []
        }
        return [try object(ObjectReference(entityName: name, primaryKey: key))]
    }

    /// Whether the mapping's object with that key is written.
    private func exists(_ key: Int64, _ mapping: RunningMapping) throws -> Bool {
        guard let number = mapping.destinationNumber, let name = mapping.mapping.destinationEntityName else {
            return false
        }
        let statement: Statement
        if let known = lookups[mapping.position] {
            statement = known
        } else {
            let table = try entity(name).columns.table
            statement = try connection.prepare(
                "SELECT 1 FROM main.\(table.quotedName) WHERE Z_PK = ? AND Z_ENT = \(number)")
            lookups[mapping.position] = statement
        }
        try statement.bind(key, at: 1)
        defer { statement.reset() }
        return try statement.step()
    }

    // MARK: - Looking for objects

    /// Returns the objects of the old version that match a condition, by key, including those of sub-entities.
    ///
    /// - Parameters:
    ///   - format: a predicate in Core Data's format, such as `name BEGINSWITH %@`; nil for all objects.
    ///   - arguments: one for each placeholder.
    /// - Throws: `usage`, `invalidPredicate`, and `fetchUnsupported` for a condition that a store cannot evaluate.
    public func sourceObjects(
        _ entityName: String, where format: String? = nil, _ arguments: ExpressionValue..., limit: Int = 0
    ) throws -> [SourceObject] {
        try sourceObjects(Self.fetch(entityName, format, arguments, limit))
    }

    /// Returns the objects of the new version made so far that match a condition.
    ///
    /// A policy that looks up the same objects again and again is faster with a dictionary of its own.
    public func destinationObjects(
        _ entityName: String, where format: String? = nil, _ arguments: ExpressionValue..., limit: Int = 0
    ) throws -> [DestinationObject] {
        try destinationObjects(Self.fetch(entityName, format, arguments, limit))
    }

    /// Returns the objects of the old version that a fetch finds.
    package func sourceObjects(_ fetch: ObjectFetch) throws -> [SourceObject] {
        try sources.store.fetchSnapshots(fetch).map(sources.object)
    }

    /// Returns the objects of the new version made so far that a fetch finds.
    package func destinationObjects(_ fetch: ObjectFetch) throws -> [DestinationObject] {
        try writeAll()
        return try destinationStore.fetchIDs(fetch).map {
            try object(ObjectReference(entityName: $0.entityName, primaryKey: $0.key))
        }
    }

    private static func fetch(
        _ entityName: String, _ format: String?, _ arguments: [ExpressionValue], _ limit: Int
    ) throws -> ObjectFetch {
        let predicate = try format.map { try Predicate(parsing: $0, arguments: arguments.map(FormatArgument.value)) }
        var fetch = ObjectFetch(entityName: entityName, predicate: predicate)
        fetch.limit = limit
        return fetch
    }

    /// Returns the stored destinations of an object's relationship.
    func destinations(of relationship: String, _ object: DestinationObject) throws -> [ObjectReference] {
        try writeWaiting()
        let id = object.objectID
        return try destinationStore.destinations(of: relationship, owners: [id])[id, default: []].map {
            ObjectReference(entityName: $0.entityName, primaryKey: $0.key)
        }
    }

    func destinationSnapshot(of object: DestinationObject) throws -> ObjectSnapshot? {
        try destinationStore.snapshots(of: [object.objectID]).first
    }
}
