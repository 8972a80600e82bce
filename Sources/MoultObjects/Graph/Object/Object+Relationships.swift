import MoultModel

extension Object {
    /// The destination of a to-one relationship, a fault until a value of it is asked for.
    package func toOne(_ name: String) throws -> Object? {
        try kind.lock.withLock {
            try toOneID(name).map { try kind.liveContext().destination(with: $0) }
        }
    }

    /// The identity of the destination of a to-one relationship.
    package func toOneID(_ name: String) throws -> ObjectID? {
        try kind.lock.withLock {
            let link = try kind.link(name, isToMany: false)
            kind.noteReading(link.position)
            try kind.context?.settle()
            return try destination(link)
        }
    }

    /// Makes `object` the destination, and this object one of its inverse: a one-to-one takes it from another.
    ///
    /// - Throws: `wrongType` for an object of another entity, `usage` for one of another context or that is deleted,
    ///   `externalRelationship` for one of another store.
    package func setToOne(_ name: String, _ object: Object?) throws {
        try kind.lock.withLock {
            let link = try kind.link(name, isToMany: false)
            let context = try prepareChange()
            if let object { try context.check(object, for: link, of: self) }
            try setDestination(link, object?.identity, in: context)
        }
    }

    /// The destinations of a to-many relationship, in their order where it has one.
    package func toMany(_ name: String) throws -> [Object] {
        try kind.lock.withLock {
            let ids = try toManyIDs(name)
            return try kind.liveContext().objects(with: ids)
        }
    }

    /// The identities of the destinations of a to-many relationship.
    package func toManyIDs(_ name: String) throws -> [ObjectID] {
        try kind.lock.withLock {
            let link = try kind.link(name, isToMany: true)
            kind.noteReading(link.position)
            try kind.context?.settle()
            return try list(link)
        }
    }

    /// Makes exactly these objects the destinations, in that order where the relationship has one.
    package func setToMany(_ name: String, _ objects: [Object]) throws {
        try changeList(name) { link, context in
            for object in objects { try context.check(object, for: link, of: self) }
            try setList(link, objects.map(\.identity), in: context)
        }
    }

    /// Adds a destination behind the others; one that is there stays where it is.
    package func add(_ object: Object, to name: String) throws {
        try changeList(name) { link, context in
            try context.check(object, for: link, of: self)
            try append(object, to: link, in: context)
        }
    }

    /// Takes a destination away; one that is not there is no mistake.
    package func remove(_ object: Object, from name: String) throws {
        try changeList(name) { link, context in
            try context.check(object, for: link, of: self, isLeaving: true)
            try remove(object.identity, from: link, in: context)
        }
    }

    /// Adds a destination at a place of an ordered relationship; one that is there moves to it.
    ///
    /// - Throws: `usage` for a relationship without order and for a place beyond the end.
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

    /// Moves one destination of an ordered relationship; `target` counts without it.
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
