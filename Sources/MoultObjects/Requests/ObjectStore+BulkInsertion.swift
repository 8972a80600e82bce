import MoultBasics
import MoultModel

extension ObjectStore {
    /// Inserts objects of one entity without creating them in memory: `NSBatchInsertRequest`.
    ///
    /// A property that a row does not name gets its default value. Validation rules are not checked.
    ///
    /// - Parameters:
    ///   - policy: the treatment of a row whose unique values another object has. If the policy favours the object, the
    ///     values that the row names are set on the other object; if it favours the store, the row is left out.
    ///   - next: returns the next row, by the names of attributes and to-one relationships; nil at the end. Only a few
    ///     thousand rows are in memory at once.
    /// - Returns: the new and changed objects, in the order of the rows.
    /// - Throws: `usage` for a property that the entity does not have; `dataConflict` for a value of another type and
    ///   for nil if a value is required, with the number of the row; `SaveConflicts` if a uniqueness constraint would
    ///   be broken. Nothing is inserted then.
    package func insertAll(
        _ entityName: String, policy: MergePolicy = .error, author: String? = nil, contextName: String? = nil,
        next: () throws -> [String: ExpressionValue]?
    ) throws -> [ObjectID] {
        let entity = try columns(of: entityName)
        let rows = BulkRows(entity)
        return try writing(author: author, contextName: contextName) {
            var inserted: [ObjectID] = []
            var part = BulkPart()
            func write() throws {
                try part.write(to: self, policy)
                inserted += part.written
                part = BulkPart()
            }
            var count = 0
            while let row = try next() {
                let key = try writer.keys.next(for: entity.root, table: entity.table)
                let id = id(entityName, key: key)
                count += 1
                let values = try rows.values(row, number: count)
                part.add(id, values, named: policy == .error ? [] : row.keys.sorted())
                if part.written.count == 4_096 { try write() }
            }
            try write()
            return inserted
        }
    }

    /// Inserts a sequence of rows, as ``insertAll(_:policy:author:contextName:next:)`` does.
    package func insertAll(
        _ entityName: String, _ rows: some Sequence<[String: ExpressionValue]>, policy: MergePolicy = .error,
        author: String? = nil, contextName: String? = nil
    ) throws -> [ObjectID] {
        var iterator = rows.makeIterator()
        return try insertAll(entityName, policy: policy, author: author, contextName: contextName) { iterator.next() }
    }
}

/// The values of new rows of one entity, by the positions of its shape.
private struct BulkRows {
    private let entity: EntityColumns
    private let defaults: [ObjectValue?]
    /// The properties that can be set, by position; nil for any other.
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

/// Rows that are inserted together, and the resolution of their uniqueness conflicts.
private struct BulkPart {
    private var changes = ObjectChanges()
    /// The properties that each row names, by its object.
    private var names: [ObjectID: [String]] = [:]
    /// The values that rows set on objects in the store, by object and property.
    private var updates: [ObjectID: [String: ObjectValue]] = [:]
    /// The objects of the rows, in their order.
    private(set) var written: [ObjectID] = []

    mutating func add(_ id: ObjectID, _ values: [ObjectValue?], named: [String]) {
        changes.inserted.append(ObjectChanges.Insertion(id: id, values: values))
        if !named.isEmpty { names[id] = named }
        written.append(id)
    }

    mutating func write(to store: ObjectStore, _ policy: MergePolicy) throws {
        var attempts = 0
        while true {
            do {
                _ = try ObjectSave(changes, in: store).run()
                return
            } catch let found as SaveConflicts {
                attempts += 1
                guard policy != .error, attempts < 16, try resolve(found.conflicts, policy, store) else { throw found }
            }
        }
    }

    /// - Returns: false if the rows cannot be merged.
    private mutating func resolve(
        _ conflicts: [SaveConflicts.Conflict], _ policy: MergePolicy, _ store: ObjectStore
    ) throws -> Bool {
        let storeWins = policy == .mergeByPropertyStoreTrump || policy == .rollback
        let places = Dictionary(changes.inserted.enumerated().map { ($1.id, $0) }) { first, _ in first }
        var keepers: [ObjectID: ObjectID] = [:]
        for case .constraint(_, let ids, let stored) in conflicts {
            let rows = ids.filter { places[$0] != nil && keepers[$0] == nil }
            guard rows.count == ids.count, let keeper = stored?.id ?? rows.first else { continue }
            for row in rows where row != keeper {
                // A row can hold only the properties of its own entity.
                guard store.isEntity(keeper, below: row) else { return false }
                keepers[row] = keeper
                if !storeWins, let place = places[row] { try set(place, of: keeper, at: places[keeper], in: store) }
            }
        }
        guard !keepers.isEmpty else { return false }
        changes.inserted.removeAll { keepers[$0.id] != nil }
        changes.updated = updates.map { ObjectChanges.Update(id: $0, version: nil, values: $1) }
        written = written.compactMap { id in
            guard let keeper = keepers[id] else { return id }
            return storeWins && places[keeper] == nil ? nil : keeper
        }.unique()
        return true
    }

    /// Sets the values that a row names on another object.
    private mutating func set(_ row: Int, of keeper: ObjectID, at place: Int?, in store: ObjectStore) throws {
        let insertion = changes.inserted[row]
        let shape = try store.columns(of: insertion.id.entityName).shape
        for name in names[insertion.id] ?? [] {
            guard let position = shape.position(of: name) else { continue }
            if let place {
                changes.inserted[place].values[position] = insertion.values[position]
                names[keeper, default: []].append(name)
            } else {
                let none: ObjectValue = shape.properties[position].isRelationship ? .toOne(nil) : .attribute(nil)
                updates[keeper, default: [:]][name] = insertion.values[position] ?? none
            }
        }
    }
}

extension ObjectStore {
    /// Whether an object has all the properties of another.
    fileprivate func isEntity(_ id: ObjectID, below other: ObjectID) -> Bool {
        if id.entityName == other.entityName { return true }
        guard let entity = model.entity(id.entityName), let above = model.entity(other.entityName) else { return false }
        return model.isKind(entity, of: above)
    }
}

extension EntityShape.Property {
    fileprivate var isRelationship: Bool {
        if case .relationship = self { true } else { false }
    }
}

/// A property that a bulk insert or update sets.
struct BulkTarget {
    let name: String
    let isRequired: Bool
    private let place: String
    /// The attribute; nil for a to-one relationship.
    private let attribute: AttributeDescription?

    /// - Throws: `usage` for a property that is neither a stored attribute nor a to-one relationship.
    init(_ name: String, of entity: EntityColumns) throws {
        self.name = name
        let entityName = entity.shape.entity.name
        place = "\(entityName).\(name)"
        guard let position = entity.shape.position(of: name) else {
            let names = entity.shape.properties.map(\.name).joined(separator: ", ")
            throw MigrationError(
                .usage, "\(entityName) has no property \(name).", place: place, remedy: "Use one of: \(names).")
        }
        switch entity.places[position] {
        case .attribute(_, let attribute) where attribute.derivation == nil:
            self.attribute = attribute
            isRequired = !attribute.isOptional
        case .toOne(_, _, let relationship):
            attribute = nil
            isRequired = !relationship.description.isOptional
        case .attribute, .none, .toMany:
            throw MigrationError(
                .usage, "\(place) is derived, transient or to many: it cannot be set in bulk.", place: place,
                remedy: "Set a stored attribute or a to-one relationship.")
        }
    }

    /// - Parameter object: the object or row of the value, for errors.
    func value(_ value: ExpressionValue, of object: String) throws -> ObjectValue {
        if value.isNull {
            guard !isRequired else { throw missing(in: object) }
            return attribute == nil ? .toOne(nil) : .attribute(nil)
        }
        if let attribute {
            if let converted = AttributeValue(value, as: attribute.type) { return .attribute(converted) }
        } else if case .object(let id) = value {
            return .toOne(id)
        }
        throw MigrationError(
            .dataConflict, "\(place) cannot hold the value that was given.", place: "\(place), \(object)",
            remedy: "Give a value of the property's own type.")
    }

    func missing(in object: String) -> MigrationError {
        MigrationError(
            .dataConflict, "\(place) needs a value.", place: "\(place), \(object)",
            remedy: "Give it one, or make the property optional.")
    }
}

extension AttributeValue {
    /// Converts a value to an attribute's type; nil for null, and for a value that cannot be converted without loss.
    init?(_ value: ExpressionValue, as type: AttributeType) {
        switch (type, value) {
        case (.integer16, _), (.integer32, _), (.integer64, _):
            guard let whole = value.number?.whole else { return nil }
            self = .integer(whole)
        case (.boolean, .boolean(let flag)): self = .boolean(flag)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: self = .boolean(number == 1)
        case (.double, _), (.float, _):
            guard let number = value.number else { return nil }
            self = .double(number.double)
        case (.decimal, .decimal(let digits)): self = .decimal(digits)
        case (.decimal, .integer(let number)): self = .decimal(String(number))
        case (.decimal, .real(let number)) where number.isFinite: self = .decimal("\(number)")
        case (.date, _):
            guard let seconds = value.number else { return nil }
            self = .date(seconds.double)
        case (.string, .string(let text)): self = .string(text)
        case (.uri, .uri(let text)), (.uri, .string(let text)): self = .uri(text)
        case (.uuid, .uuid(let bytes)): self = .uuid(bytes)
        case (.uuid, .data(let bytes)) where bytes.count == 16: self = .uuid(bytes)
        case (.binary, .data(let bytes)): self = .binary(bytes)
        case (.transformable, .data(let bytes)): self = .transformable(bytes)
        default: return nil
        }
    }
}
