import MoultBasics
import MoultModel

extension Object {
    /// Returns the value of an attribute; nil for no value.
    ///
    /// - Throws: `unknownKey` for a name that is not an attribute of the entity, `objectGone` if the row is gone,
    ///   `dataConflict` if the stored value does not fit the attribute's type.
    package func attribute(_ name: String) throws -> AttributeValue? {
        try kind.lock.withLock { try seenValue(at: try kind.position(of: name)) }
    }

    /// Returns the value of the attribute at a position of the shape.
    package func attribute(at position: Int) throws -> AttributeValue? {
        try kind.lock.withLock { try seenValue(at: position) }
    }

    private func seenValue(at position: Int) throws -> AttributeValue? {
        let value = try value(at: position)
        noteRead(position)
        return value
    }

    func value(at position: Int) throws -> AttributeValue? {
        kind.noteReading(position)
        if case .attribute(let value)? = partialValue(position) { return value }
        try fire()
        if case .attribute(let value)? = values[position] { return value }
        return try unusualAttribute(at: position)
    }

    private func unusualAttribute(at position: Int) throws -> AttributeValue? {
        let name = kind.shape.properties[position].name
        let place = "\(kind.entityName).\(name)"
        guard kind.links[position] == nil else {
            throw MigrationError(
                .unknownKey, "\(place) is a relationship, not an attribute.", place: place,
                remedy: "Read or set it as a relationship.")
        }
        if values[position] == nil, kind.derived.contains(position), !state.contains(.inserted) {
            try kind.liveContext().readDerived(of: self)
            if case .attribute(let value)? = values[position] { return value }
        }
        if let value = try fileValue(at: position) { return value }
        throw MigrationError(
            .dataConflict, "The store's value of \(place) does not fit its type.", place: "\(identity).\(name)",
            remedy: "Set another value, or repair the store.")
    }

    /// Reads the file of an attribute that could not be read with its row; returns nil if there is none.
    ///
    /// - Throws: an error of reading the file.
    private func fileValue(at position: Int) throws -> AttributeValue? {
        guard case .attribute(let name, let attribute) = kind.shape.properties[position],
            attribute.allowsExternalBinaryDataStorage, !identity.isTemporary,
            let bytes = try kind.liveContext().coordinator.store(of: identity).fileContents(of: name, in: identity)
        else { return nil }
        let value: AttributeValue = attribute.type == .transformable ? .transformable(bytes) : .binary(bytes)
        putRead(.attribute(value), asStored: .attribute(value), at: position)
        return value
    }

    /// Sets a value that was read after the row.
    ///
    /// - Parameter stored: the store's value, without the changes made to it before it was read.
    func putRead(_ value: ObjectValue, asStored stored: ObjectValue, at position: Int) {
        let isShared = isShared
        // `values` and `committed` keep sharing one buffer.
        if isShared { committed = [] }
        values[position] = value
        if isShared { committed = values } else if position < committed.count { committed[position] = stored }
    }

    /// Whether the property is an attribute whose value, or that of an element, may be in a file.
    package func isInFile(_ name: String) -> Bool {
        let start = name + "."
        return kind.shape.properties.contains { property in
            guard case .attribute(let path, let attribute) = property, path == name || path.hasPrefix(start) else {
                return false
            }
            return attribute.allowsExternalBinaryDataStorage
        }
    }

    /// Sets an attribute.
    ///
    /// - Parameters:
    ///   - isChange: whether the next save writes the object for it.
    ///   - touches: whether setting the same value makes the object changed, as an app expects. A save writes no row
    ///     for it.
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`; `usage` for a derived attribute.
    package func setAttribute(
        _ name: String, _ value: AttributeValue?, isChange: Bool = true, touches: Bool = false
    ) throws {
        try kind.lock.withLock {
            let position = try kind.position(of: name)
            try refuseUnread(position)
            try fire()
            let fitting = try fitting(value, at: position)
            guard isChange, !state.contains(.isFilling) else {
                if !isPending { state.insert(.ahead) }
                values[position] = .attribute(fitting)
                return
            }
            try refuseDeleted()
            if case .attribute(let current)? = values[position], current == fitting, !isAhead(position) {
                if touches { noteUpdate() }
                return
            }
            noteUpdate()
            values[position] = .attribute(fitting)
        }
    }

    /// Whether a value was set that is no change, and differs from the committed one.
    private func isAhead(_ position: Int) -> Bool {
        state.contains(.ahead) && state.isDisjoint(with: [.inserted, .updated])
            && values[position] != committed[position]
    }

    /// Whether ``values`` and ``committed`` are the same.
    var isShared: Bool { !isPending && !state.contains(.ahead) }

    /// Forgets values, which are read again on demand.
    func forgetValues(at positions: [Int]) {
        let isShared = isShared
        if isShared { committed = [] }
        for position in positions {
            values[position] = nil
            if !isShared, position < committed.count { committed[position] = nil }
        }
        if isShared { committed = values }
    }

    /// Sets attributes of an object that was just inserted.
    ///
    /// - Parameter refuse: called with each attribute that cannot be set, and the error.
    package func setNew(
        _ attributes: [(name: String, value: AttributeValue?)], refuse: (String, MigrationError) -> Void
    ) {
        kind.lock.withLock {
            // Copies the defaults once instead of once per value.
            var list = values.list
            values = []
            for (name, value) in attributes {
                do throws(MigrationError) {
                    let position = try kind.position(of: name)
                    list[position] = .attribute(try fitting(value, at: position))
                } catch {
                    refuse(name, error)
                }
            }
            values = PositionedValues(list)
        }
    }

    /// Returns the value in the form in which the attribute's type stores it.
    private func fitting(_ value: AttributeValue?, at position: Int) throws(MigrationError) -> AttributeValue? {
        guard let type = kind.settableTypes[position] else { throw notSettable(position) }
        guard let value else { return nil }
        switch (type, value) {
        case (.string, .string), (.integer64, .integer), (.boolean, .boolean), (.double, .double), (.date, .date),
            (.decimal, .decimal), (.uri, .uri), (.binary, .binary), (.transformable, .transformable):
            return value
        case (.integer16, .integer(let number)) where Int16(exactly: number) != nil: return value
        case (.integer32, .integer(let number)) where Int32(exactly: number) != nil: return value
        case (.float, .double(let number)): return .double(Double(Float(number)))
        case (.uuid, .uuid(let bytes)) where bytes.count == 16: return value
        // Transient attributes may be of any type.
        case (.undefined, _): return value
        default:
            throw wrongType(
                kind.shape.properties[position].name, "It is of type \(type.name) and cannot hold \(value.kindPhrase).")
        }
    }

    private func notSettable(_ position: Int) -> MigrationError {
        let name = kind.shape.properties[position].name
        guard kind.links[position] == nil else { return wrongType(name, "It is a relationship.") }
        return MigrationError(
            .usage, "\(kind.entityName).\(name) is derived: the store computes it.",
            place: "\(kind.entityName).\(name)", remedy: "Set what it is derived from. The next save updates it.")
    }

    func wrongType(_ name: String, _ reason: String) -> MigrationError {
        MigrationError(
            .wrongType, "\(kind.entityName).\(name) was given a value that it cannot hold. \(reason)",
            place: "\(kind.entityName).\(name)", remedy: "Give a value of the property's own type.")
    }

    func refuseDeleted() throws {
        guard state.contains(.deleted) else { return }
        throw MigrationError(
            .usage, "\(identity) is deleted and cannot be changed.", place: identity.description,
            remedy: "Roll back the context to restore it.")
    }

    /// Adds the object to those that the next save writes.
    func noteUpdate() {
        kind.recorder?.note(self)
        if kind.tracksEvents { kind.context?.noteInEvent(self) }
        if state.isDisjoint(with: [.inserted, .updated]) { state.insert(.updated) }
        if !state.contains(.listed) {
            state.insert(.listed)
            kind.context?.changed.append(self)
        }
    }

    /// Returns the destination of a to-one relationship: a fault until one of its values is read.
    package func toOne(_ name: String) throws -> Object? {
        try kind.lock.withLock {
            try toOneID(name).map { try kind.liveContext().destination(with: $0) }
        }
    }

    /// Returns the identity of the destination of a to-one relationship.
    package func toOneID(_ name: String) throws -> ObjectID? {
        try kind.lock.withLock {
            let link = try kind.link(name, isToMany: false)
            kind.noteReading(link.position)
            try kind.context?.settle()
            let id = try destination(link)
            noteRead(link.position)
            return id
        }
    }

    /// Sets the destination, and updates the inverse. A one-to-one relationship takes the destination away from another
    /// object.
    ///
    /// - Parameter touches: as for an attribute.
    /// - Throws: `wrongType` for an object of another entity, `usage` for a deleted object or one of another context,
    ///   `externalRelationship` for one of another store.
    package func setToOne(_ name: String, _ object: Object?, touches: Bool = false) throws {
        try kind.lock.withLock {
            let link = try kind.link(name, isToMany: false)
            try refuseUnread(link.position)
            let context = try prepareChange()
            if let object { try context.check(object, for: link, of: self) }
            try setDestination(link, object?.identity, in: context)
            if touches { noteUpdate() }
        }
    }

    /// Returns the destinations of a to-many relationship, in order if the relationship is ordered.
    package func toMany(_ name: String) throws -> [Object] {
        try kind.lock.withLock {
            let ids = try toManyIDs(name)
            return try kind.liveContext().objects(with: ids)
        }
    }

    /// Returns the identities of the destinations of a to-many relationship.
    package func toManyIDs(_ name: String) throws -> [ObjectID] {
        try kind.lock.withLock {
            let link = try kind.link(name, isToMany: true)
            kind.noteReading(link.position)
            try kind.context?.settle()
            let ids = try list(link)
            noteRead(link.position)
            return ids
        }
    }

    /// Replaces the destinations with these objects, in this order if the relationship is ordered.
    ///
    /// - Parameter touches: as for an attribute.
    package func setToMany(_ name: String, _ objects: [Object], touches: Bool = false) throws {
        try changeList(name) { link, context in
            try refuseUnread(link.position)
            for object in objects { try context.check(object, for: link, of: self) }
            try setList(link, objects.map(\.identity), in: context)
            if touches { noteUpdate() }
        }
    }

    /// Appends a destination; one that is already there stays where it is.
    package func add(_ object: Object, to name: String) throws {
        try changeList(name) { link, context in
            try context.check(object, for: link, of: self)
            try append(object, to: link, in: context)
        }
    }

    /// Removes a destination; does nothing if it is not there.
    package func remove(_ object: Object, from name: String) throws {
        try changeList(name) { link, context in
            try context.check(object, for: link, of: self, isLeaving: true)
            try remove(object.identity, from: link, in: context)
        }
    }

    /// Inserts a destination at an index of an ordered relationship, or moves it there if it is already a destination.
    ///
    /// - Throws: `usage` for a relationship without order and for an index beyond the end.
    package func insert(_ object: Object, in name: String, at place: Int) throws {
        try changeList(name) { link, context in
            try context.check(object, for: link, of: self)
            var ids = try orderedList(link)
            ids.removeAll { $0 == object.identity }
            try checkPlace(place, in: 0...ids.count, of: name)
            ids.insert(object.identity, at: place)
            try append(object, to: link, in: context)
            replaceList(link, ids)
        }
    }

    /// Moves one destination of an ordered relationship; `target` is the index after the destination is removed.
    package func move(in name: String, from source: Int, to target: Int) throws {
        try changeList(name) { link, _ in
            var ids = try orderedList(link)
            try checkPlace(source, in: 0...max(ids.count - 1, 0), of: name)
            guard !ids.isEmpty else { return }
            let id = ids.remove(at: source)
            try checkPlace(target, in: 0...ids.count, of: name)
            ids.insert(id, at: target)
            if source != target { replaceList(link, ids) }
        }
    }

    private func changeList(_ name: String, _ body: (RelationshipLink, ObjectContext) throws -> Void) throws {
        try kind.lock.withLock {
            let link = try kind.link(name, isToMany: true)
            try body(link, try prepareChange())
        }
    }

    private func prepareChange() throws -> ObjectContext {
        let context = try kind.liveContext()
        try context.settle()
        try fire()
        try refuseDeleted()
        return context
    }

    private func orderedList(_ link: RelationshipLink) throws -> [ObjectID] {
        guard link.isOrdered else {
            throw MigrationError(
                .usage, "\(kind.entityName).\(link.name) has no order.", place: "\(kind.entityName).\(link.name)",
                remedy: "Add the object without an index.")
        }
        return try list(link)
    }

    private func checkPlace(_ place: Int, in places: ClosedRange<Int>, of name: String) throws {
        guard !places.contains(place) else { return }
        throw MigrationError(
            .usage, "There is no place \(place) in \(kind.entityName).\(name) of \(identity).",
            place: "\(kind.entityName).\(name)",
            remedy: "Give a place from \(places.lowerBound) to \(places.upperBound).")
    }
}
