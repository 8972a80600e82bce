import MoultModel
import MoultStore

extension ObjectStore {
    /// Sets properties of every object that the fetch finds without making objects of them: `NSBatchUpdateRequest`.
    ///
    /// `Z_OPT` goes up by one, triggers and the other ends of relationships follow, rules of validation are not asked.
    ///
    /// - Parameter assignments: by the name of an attribute or to-one relationship, an expression over the object as it
    ///   was before.
    /// - Returns: the objects, in the order of the fetch.
    /// - Throws: `usage` for a property that cannot be set; `dataConflict` for a value of another type and for nil if a
    ///   value is required; `SaveConflicts` if a uniqueness constraint would be broken; nothing is changed then.
    package func updateAll(
        _ fetch: ObjectFetch, set assignments: [String: Expression], author: String? = nil, contextName: String? = nil
    ) throws -> [ObjectID] {
        let entity = try columns(of: fetch.entityName)
        let names = assignments.keys.sorted { $0.precedesInByteOrder($1) }
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

    // No property is called so.
    private static let objectColumn = "SELF"
}
