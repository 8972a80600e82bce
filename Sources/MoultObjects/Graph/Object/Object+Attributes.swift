import MoultModel

extension Object {
    /// The value of an attribute; nil for none.
    ///
    /// - Throws: `unknownKey` for a name that is no attribute of the entity, `objectGone` if the row is gone,
    ///   `dataConflict` if the store holds something that the attribute cannot be.
    package func attribute(_ name: String) throws -> AttributeValue? {
        try kind.lock.withLock { try value(at: try kind.position(of: name)) }
    }

    /// The value of the attribute at a position of the shape.
    package func attribute(at position: Int) throws -> AttributeValue? {
        try kind.lock.withLock { try value(at: position) }
    }

    private func value(at position: Int) throws -> AttributeValue? {
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
        throw MigrationError(
            .dataConflict, "The store's value of \(place) does not fit its type.", place: "\(identity).\(name)",
            remedy: "Set another value, or repair the store.")
    }

    /// Sets an attribute. A value equal to the present one is no change.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`; `usage` for a derived attribute.
    package func setAttribute(_ name: String, _ value: AttributeValue?) throws {
        try kind.lock.withLock {
            let position = try kind.position(of: name)
            try fire()
            try refuseDeleted()
            let fitting = try fitting(value, at: position)
            if case .attribute(let current)? = values[position], current == fitting { return }
            noteUpdate()
            values[position] = .attribute(fitting)
        }
    }

    /// Sets attributes of an object that was just inserted.
    ///
    /// - Parameter refuse: called with each that cannot be set, and why.
    package func setNew(
        _ attributes: [(name: String, value: AttributeValue?)], refuse: (String, MigrationError) -> Void
    ) {
        kind.lock.withLock {
            // The defaults are copied once, and not for each value.
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

    /// The value as the type of the attribute at a position keeps it.
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
                kind.shape.properties[position].name,
                "It is of type \(type.name) and cannot hold \(value.kindPhrase).")
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

    /// Makes the object one of those that the next save writes.
    func noteUpdate() {
        kind.recorder?.note(self)
        if kind.tracksEvents { kind.context?.noteInEvent(self) }
        if state.isDisjoint(with: [.inserted, .updated]) { state.insert(.updated) }
        if !state.contains(.listed) {
            state.insert(.listed)
            kind.context?.changed.append(self)
        }
    }
}
