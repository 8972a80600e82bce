import MoultBasics
import MoultModel
import MoultStore

extension ObjectStore {
    /// Sets properties of every object that the fetch finds, without creating the objects in memory:
    /// `NSBatchUpdateRequest`.
    ///
    /// Increments `Z_OPT`, runs triggers and updates the other ends of relationships. Validation rules are not checked.
    ///
    /// - Parameter assignments: by the name of an attribute or to-one relationship, an expression over the object's
    ///   previous state.
    /// - Returns: the objects, in the order of the fetch.
    /// - Throws: `usage` for a property that cannot be set; `dataConflict` for a value of another type and for nil if a
    ///   value is required; `SaveConflicts` if a uniqueness constraint would be broken. Nothing is changed then.
    package func updateAll(
        _ fetch: ObjectFetch, set assignments: [String: Expression], author: String? = nil, contextName: String? = nil
    ) throws -> [ObjectID] {
        let entity = try columns(of: fetch.entityName)
        let names = assignments.keys.inByteOrder()
        let targets = try names.map { try BulkTarget($0, of: entity) }
        var computed = fetch
        computed.columns = [.init(Self.objectColumn, .evaluatedObject)]
        (computed.groupBy, computed.having, computed.returnsDistinct) = ([], nil, false)
        var constants: [String: ExpressionValue] = [:]
        for name in names {
            switch assignments[name] {
            case .constant(let value)?: constants[name] = value
            case let expression?: computed.columns.append(.init(name, expression))
            case nil: break
            }
        }
        return try writing(author: author, contextName: contextName) {
            var changes = ObjectChanges()
            try forEachRow(of: computed) { row in
                guard case .object(let id)? = row[Self.objectColumn] else { return }
                var values: [String: ObjectValue] = [:]
                for target in targets {
                    let value = constants[target.name] ?? row[target.name] ?? .null
                    values[target.name] = try target.value(value, of: id.description)
                }
                changes.updated.append(ObjectChanges.Update(id: id, version: nil, values: values))
            }
            _ = try ObjectSave(changes, in: self).run()
            return changes.updated.map(\.id)
        }
    }

    // No property has this name.
    private static let objectColumn = "SELF"

    /// Deletes every object that the fetch finds, without creating the objects in memory: `NSBatchDeleteRequest`.
    ///
    /// Delete rules apply as in Core Data's batch deletions: Cascade also deletes the destinations; Nullify and No
    /// Action clear the references to deleted objects, in foreign keys and join tables. Deny refuses the deletion, and
    /// so does a required to-one relationship that would be left empty. Validation code does not run. Files of large
    /// values are removed after the transaction.
    ///
    /// - Returns: the deleted objects, cascaded ones after those that the fetch finds.
    /// - Throws: `dataConflict` if a rule denies the deletion, and the errors of ``fetchIDs(_:)`` and ``writing(_:)``.
    ///   Nothing is deleted then.
    package func deleteAll(_ fetch: ObjectFetch, author: String? = nil, contextName: String? = nil) throws -> [ObjectID]
    {
        try writing(author: author, contextName: contextName) {
            var deletion = BulkDeletion(in: self)
            try deletion.add(try fetchIDs(fetch))
            try deletion.check()
            var changes = ObjectChanges()
            changes.deleted = deletion.objects.map { ObjectChanges.Deletion(id: $0, version: nil) }
            _ = try ObjectSave(changes, in: self).run()
            return deletion.objects
        }
    }
}

/// The objects that one deletion removes under the delete rules.
private struct BulkDeletion {
    private let store: ObjectStore
    private(set) var objects: [ObjectID] = []
    private var doomed: Set<ObjectID> = []

    init(in store: ObjectStore) { self.store = store }

    /// Adds objects, and those that cascade rules reach from them.
    mutating func add(_ found: [ObjectID]) throws {
        var frontier = found
        while !frontier.isEmpty {
            let fresh = frontier.filter { doomed.insert($0).inserted }
            objects += fresh
            frontier = try links(of: fresh) { $0.deleteRule == .cascade }.map(\.destination)
        }
    }

    /// Refuses a deletion that deny rules or required to-one relationships forbid.
    func check() throws {
        let binding = try links(of: objects) { $0.deleteRule == .deny || store.isNeeded($0) }
        guard let link = binding.first(where: { !doomed.contains($0.destination) }) else { return }
        let (owner, relationship, destination) = link
        let isDenied = relationship.deleteRule == .deny
        throw MigrationError(
            .dataConflict,
            isDenied
                ? "\(owner) cannot be deleted while \(relationship.name) leads to \(destination)."
                : "\(destination) needs \(owner) for its \(relationship.inverseName ?? "").",
            place: "\(owner.entityName).\(relationship.name)",
            remedy: isDenied
                ? "Delete or unlink those objects first." : "Delete both, or give it another object first.")
    }

    /// Returns the links from the objects over the relationships that `isIncluded` accepts.
    private func links(of objects: [ObjectID], where isIncluded: (RelationshipDescription) -> Bool) throws
        -> [(owner: ObjectID, relationship: RelationshipDescription, destination: ObjectID)]
    {
        var links: [(ObjectID, RelationshipDescription, ObjectID)] = []
        let groups = Dictionary(grouping: objects, by: \.entityName)
        for (entityName, owners) in groups.inByteOrder(of: { $0.key }) {
            guard let entity = store.model.entity(entityName) else { continue }
            for relationship in store.model.relationships(of: entity).filter(isIncluded)
            where store.layout.storage(ofRelationship: relationship.name, in: entity) != nil {
                let destinations = try store.destinations(of: relationship.name, owners: owners)
                for owner in owners { links += (destinations[owner] ?? []).map { (owner, relationship, $0) } }
            }
        }
        return links
    }
}

extension ObjectStore {
    /// Whether the destinations require the object that leads to them.
    fileprivate func isNeeded(_ relationship: RelationshipDescription) -> Bool {
        guard relationship.deleteRule == .nullify, let inverse = model.inverse(of: relationship) else { return false }
        return !inverse.isToMany && !inverse.isOptional
    }
}
