import MoultBasics
import MoultModel
import MoultStore

extension MigrationManager {
    /// Makes the object that the mapping's expressions define for the source object, and associates the two. Does
    /// nothing if the mapping has no destination entity.
    @discardableResult
    func createDestinationInstance(forSource source: SourceObject) throws -> DestinationObject? {
        guard let current else { return nil }
        guard let plan = current.plan, let entity = current.entity, source === currentSource else {
            if current.mapping.destinationEntityName == nil { return nil }
            throw MigrationError(
                .usage, "The object is not the one for which the policy was called.", place: source.entityName,
                remedy: "Call super with the source object that was passed to the call.")
        }
        current.hasMadeInstances = true
        let isFirst = !associated.contains { $0.destination.key == source.key && $0.destination.entity === entity }
        let isFurther = associated.contains { $0.mapping == current.position && $0.source === source }
        let key = try current.keepsKeys && isFirst ? source.key : entity.inserter.nextKey()
        let object = try make(entity, key: key, plan: plan)
        // A file of external data belongs to one row: a further part gets its own.
        if isFurther {
            for position in plan.files { object.change(position, to: .attribute(try plan.value(at: position))) }
        }
        associated.append((current.position, source, object))
        return object
    }

    /// Makes an object of the mapping's destination entity for the source object of the current call, with the values
    /// of the mapping's expressions, and associates the two.
    ///
    /// `super` does the same in ``EntityMigrationPolicy/createDestinationInstances(forSource:in:manager:)``. A policy
    /// that splits an object calls this method once for each part.
    public func makeDestinationInstance(forSource source: SourceObject) throws -> DestinationObject {
        guard let object = try createDestinationInstance(forSource: source) else {
            throw MigrationError(
                .usage, "The entity mapping \(current?.entityMapping.name ?? "") has no destination entity.",
                place: source.entityName, remedy: "Make the object with insertObject(forEntityName:).")
        }
        return object
    }

    /// Associates a destination object with its source object (`associateSourceInstance:withDestinationInstance:…`).
    ///
    /// - Throws: `usage` for a mapping that does not exist.
    public func associate(
        source: SourceObject, withDestination destination: DestinationObject, for mapping: EntityMapping
    ) throws {
        let mapping = try self.mapping(named: mapping.name)
        let isKnown = associated.contains {
            $0.mapping == mapping.position && $0.source.key == source.key && $0.destination === destination
        }
        if !isKnown { associated.append((mapping.position, source, destination)) }
    }

    // MARK: - The end of a call

    /// Writes the objects that a policy has made from a source object, and counts the outcome.
    func finish(_ source: SourceObject, _ mapping: RunningMapping) throws {
        var isPutAside = false
        switch source.outcome {
        case .dropped?, .quarantined?: isPutAside = true
        case .merged?, .kept?, nil: break
        }
        try throwFault(isPutAside: isPutAside)
        mapping.counts.sources += 1
        doneSources += 1
        if associated.count == 1, source.outcome == nil, isPlain(source, mapping) {
            mapping.counts.kept += 1
        } else {
            try settle(source, mapping)
        }
        associated.empty()
        try writeCreated(mapping)
        writtenEarly.empty()
    }

    /// Whether an object existed before the current call.
    private func isOld(_ object: DestinationObject) -> Bool {
        object.isWritten && !created.contains { $0 === object } && !writtenEarly.contains(object.reference)
    }

    /// Whether the result is one object with the same key, of the mapping's own entity.
    private func isPlain(_ source: SourceObject, _ mapping: RunningMapping) -> Bool {
        let only = associated[0]
        return only.mapping == mapping.position && only.source === source && only.destination.key == source.key
            && only.destination.entity.inserter.entity.number == mapping.destinationNumber
    }

    private func settle(_ source: SourceObject, _ mapping: RunningMapping) throws {
        let own = associated.filter { $0.mapping == mapping.position && $0.source === source }
        switch source.outcome {
        case nil, .kept?:
            guard let first = own.first else { throw nothingMade(source) }
            if own.count > 1 {
                mapping.counts.split += 1
            } else if isOld(first.destination) {
                // An existing object represents this one too.
                mapping.counts.merged += 1
            } else {
                mapping.counts.kept += 1
            }
            try keepAssociations()
        case .dropped(let reason)?:
            try refuse(own.map(\.destination), source, "dropped")
            mapping.counts.dropped += 1
            mapping.counts.note(reason)
            try associations.keep([], mapping: mapping.position, source: source.key)
        case .quarantined(let reason)?:
            try refuse(own.map(\.destination), source, "quarantined")
            mapping.counts.quarantined += 1
            mapping.counts.note(reason)
            try quarantine(source, reason, mapping)
            try associations.keep([], mapping: mapping.position, source: source.key)
        case .merged(let survivor)?:
            try refuse(own.map(\.destination).filter { $0 !== survivor }, source, "merged")
            mapping.counts.merged += 1
            try associations.keep([entry(survivor, isMerged: true)], mapping: mapping.position, source: source.key)
        }
    }

    /// Keeps the associations made in the call, except the plain ones.
    func keepAssociations() throws {
        guard !associated.isEmpty else { return }
        var order: [(mapping: Int, source: Int64)] = []
        var entries: [[Associations.Entry]] = []
        for one in associated {
            let new = entry(one.destination, isMerged: isOld(one.destination))
            if let known = order.firstIndex(where: { $0.mapping == one.mapping && $0.source == one.source.key }) {
                entries[known].append(new)
            } else {
                order.append((one.mapping, one.source.key))
                entries.append([new])
            }
        }
        for (place, entries) in zip(order, entries) {
            let mapping = mappings[place.mapping]
            let isPlain =
                entries.count == 1 && entries[0].key == place.source && entries[0].entity == mapping.destinationNumber
            if !isPlain { try associations.keep(entries, mapping: place.mapping, source: place.source) }
        }
        if currentSource == nil {
            try writeCreated(current)
            associated.empty()
        }
    }

    private func entry(_ object: DestinationObject, isMerged: Bool) -> Associations.Entry {
        Associations.Entry(entity: object.entity.columns.number, key: object.key, isMerged: isMerged)
    }

    private func refuse(_ made: [DestinationObject], _ source: SourceObject, _ what: String) throws {
        guard let object = made.first else { return }
        throw PolicyFault(
            message: "The object is \(what), but \(object.entityName) \(object.key) was made from it.",
            entityName: source.entityName, key: source.key)
    }

    private func nothingMade(_ source: SourceObject) -> PolicyFault {
        var fault = PolicyFault(
            message: "Nothing was made from the object, and no outcome was set.", entityName: source.entityName,
            key: source.key)
        fault.remedy = "Call super, associate an object with it, or set its outcome to dropped, merged or quarantined."
        return fault
    }

    private func quarantine(_ source: SourceObject, _ reason: String, _ mapping: RunningMapping) throws {
        let writer = try quarantineWriter ?? QuarantineWriter(connection, in: schema)
        quarantineWriter = writer
        try writer.add([source.objectID], of: sources.store, reason: reason, by: mapping.policyName)
    }

    // MARK: - Writing

    /// Inserts the rows of new objects.
    func writeCreated(_ mapping: RunningMapping?) throws {
        guard !created.isEmpty else { return }
        mapping?.counts.made += Int64(created.count)
        for object in created {
            try write(object)
            if object.entity.isMadeByStatements { try noteForeignRow(object, isMade: true) }
        }
        while var object = created.popLast() { leave(&object) }
    }

    private func write(_ object: DestinationObject) throws {
        guard !object.isWritten, let plan = object.plan else { return }
        let inserter = object.entity.inserter
        var waiting: [DestinationObject.Change] = []
        do {
            try inserter.begin(object.key)
            try plan.write(object, inserter)
            for change in object.changes {
                switch change.value {
                case .attribute(let value?): try inserter.set(value, at: change.position)
                case .attribute(nil):
                    if object.entity.isRequired(change.position) { throw object.lacking(change.position) }
                case .toOne(let destination):
                    if object.entity.columns.isOneToOne(change.position) {
                        waiting.append(change)
                    } else {
                        if let destination { try inserter.set(destination, at: change.position) }
                        try links.note(change.position, of: object)
                    }
                case .toMany: waiting.append(change)
                }
            }
            try inserter.insert()
        } catch {
            throw PolicyFault(error, object.reference)
        }
        object.written(keeping: waiting)
        if !waiting.isEmpty { wait(for: object) }
    }

    /// Adds a written object to those with unwritten changes.
    func wait(for object: DestinationObject) {
        guard !object.isWaiting else { return }
        object.isWaiting = true
        waiting.append(object)
    }

    /// Writes new objects and changes to written ones, so that fetches find them.
    func writeAll() throws {
        try throwFault()
        writtenEarly += created.map(\.reference)
        try writeCreated(current)
        try writeWaiting()
    }

    /// Writes the changes to objects that are already written.
    func writeWaiting() throws {
        guard !waiting.isEmpty else { return }
        var changes = ObjectChanges()
        changes.keepsVersions = true
        for object in waiting {
            if !isMakingLinks {
                for change in object.changes where !change.isOfAttribute { try links.note(change.position, of: object) }
            }
            // The last of several changes to a property counts.
            let values = Dictionary(object.changes.map { ($0.position, value($0.value)) }) { $1 }
                .map { (position: $0, value: $1) }.sorted { $0.position < $1.position }
            changes.updated.append(ObjectChanges.Update(id: object.objectID, version: nil, values: .positioned(values)))
        }
        do {
            _ = try destinationStore.save(changes)
        } catch let conflicts as SaveConflicts {
            throw PolicyFault(conflicts)
        }
        for object in waiting {
            object.isWaiting = false
            object.written()
            if object.entity.isMadeByStatements { try noteForeignRow(object, isMade: false) }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Records a row for verification to leave out when it compares the results of statements with the source.
    private func noteForeignRow(_ object: DestinationObject, isMade: Bool) throws {
        if foreignRows == nil {
            try connection.execute(Self.tableOfRows(schema))
            foreignRows = try connection.prepare("INSERT OR IGNORE INTO \(schema).moult_policy_rows VALUES (?, ?, ?)")
        }
        try foreignRows?.run([.integer(object.entity.columns.number), .integer(object.key), .integer(isMade ? 1 : 0)])
    }

    static func tableOfRows(_ schema: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS \(schema).moult_policy_rows (
            entity INTEGER, key INTEGER, made INTEGER, PRIMARY KEY (entity, key)) WITHOUT ROWID
        """
    }

    private func value(_ value: DestinationObject.Change.Value) -> ObjectValue {
        switch value {
        case .attribute(let value): .attribute(value)
        case .toOne(let reference): .toOne(reference.map(id))
        case .toMany(let references): .toMany(references.map(id))
        }
    }

    private func id(_ reference: ObjectReference) -> ObjectID {
        destinationID(reference.entityName, reference.primaryKey)
    }
}

extension PolicyFault {
    fileprivate init(_ conflicts: SaveConflicts) {
        switch conflicts.conflicts.first {
        case .constraint(let properties, let objects, _)?:
            self.init(
                message: "Two objects have the same \(properties.joined(separator: " and ")), which must be unique.",
                entityName: objects.first?.entityName, key: objects.first?.key, property: properties.first)
        case .missingDestination(let object, let relationship, let destination)?:
            self.init(
                message: "\(relationship) leads to \(destination.entityName) \(destination.key), which does not exist.",
                entityName: object.entityName, key: object.key, property: relationship)
        case .version(let object, _, _)?:
            self.init(message: "The object does not exist.", entityName: object.entityName, key: object.key)
        case nil: self.init(message: "The changes could not be written.")
        }
    }
}
