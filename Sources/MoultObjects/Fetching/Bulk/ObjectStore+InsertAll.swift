import MoultModel
import MoultStore

extension ObjectStore {
    /// Inserts objects of one entity without making objects of them: `NSBatchInsertRequest`.
    ///
    /// A property that a row does not name has its default value. Rules of validation are not asked.
    ///
    /// - Parameter next: the next row, by the names of attributes and to-one relationships; nil at the end. Only some
    ///   thousand rows are in memory at once.
    /// - Returns: the new objects, one for each row.
    /// - Throws: `usage` for a property that the entity does not have; `dataConflict` for a value of another type and
    ///   for nil if a value is required, with the number of the row; `SaveConflicts` if a uniqueness constraint would
    ///   be broken; nothing is inserted then.
    package func insertAll(
        _ entityName: String, author: String? = nil, contextName: String? = nil,
        next: () throws -> [String: ExpressionValue]?
    ) throws -> [ObjectID] {
        let entity = try columns(of: entityName)
        let rows = BulkRows(entity)
        return try writing(author: author, contextName: contextName) {
            var inserted: [ObjectID] = []
            var changes = ObjectChanges()
            func write() throws {
                _ = try ObjectSave(changes, in: self).run()
                changes.inserted.removeAll(keepingCapacity: true)
            }
            while let row = try next() {
                let key = try writer.keys.next(for: entity.root, table: entity.table)
                let id = id(entityName, key: key)
                let values = try rows.values(row, number: inserted.count + 1)
                changes.inserted.append(ObjectChanges.Insertion(id: id, values: values))
                inserted.append(id)
                if changes.inserted.count == 4_096 { try write() }
            }
            try write()
            return inserted
        }
    }

    /// As ``insertAll(_:author:contextName:next:)``, of rows that are all there.
    package func insertAll(
        _ entityName: String, _ rows: some Sequence<[String: ExpressionValue]>, author: String? = nil,
        contextName: String? = nil
    ) throws -> [ObjectID] {
        var iterator = rows.makeIterator()
        return try insertAll(entityName, author: author, contextName: contextName) { iterator.next() }
    }
}

/// The values of new rows of one entity, by the positions of its shape.
private struct BulkRows {
    private let entity: EntityColumns
    private let defaults: [ObjectValue?]
    /// By position; nil for what cannot be given.
    private let targets: [BulkTarget?]

    init(_ entity: EntityColumns) {
        self.entity = entity
        defaults = entity.shape.properties.map { property in
            guard case .attribute(_, let attribute) = property, attribute.derivation == nil,
                let value = attribute.defaultValue
            else { return nil }
            return .attribute(value)
        }
        targets = entity.shape.properties.map { try? BulkTarget($0.name, of: entity) }
    }

    func values(_ row: [String: ExpressionValue], number: Int) throws -> [ObjectValue?] {
        var values = defaults
        for (name, value) in row {
            guard let position = entity.shape.position(of: name), let target = targets[position] else {
                _ = try BulkTarget(name, of: entity)
                continue
            }
            values[position] = try target.value(value, of: "row \(number)")
        }
        for (position, target) in targets.enumerated() where values[position] == nil {
            if let target, target.isRequired { throw target.missing(in: "row \(number)") }
        }
        return values
    }
}
