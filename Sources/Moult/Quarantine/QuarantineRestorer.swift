import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

/// A restorer of quarantined objects into a copy of a store. It does not ask for confirmation.
///
/// It inserts the objects first and links them in a second pass. An object keeps its key if that is free. An object
/// that does not fit the version is refused with a reason, and so is every object that requires it. The documents are
/// read several times, but never all at once.
package final class QuarantineRestorer {
    /// A function that calls its argument with each entry's number and object, oldest first.
    package typealias Entries = ((Int64, MoultObjects.QuarantinedObject) throws -> Void) throws -> Void

    let store: ObjectStore
    let connection: Connection
    let ledger: RuleLedger
    var candidates: [Candidate] = []
    /// The index in `candidates` of each object, by its old identity.
    var places: [OldIdentity: Int] = [:]
    private let checkpoint: () throws -> Void

    struct Candidate {
        let entry: Int64
        let old: OldIdentity
        var id: ObjectID
        /// The destinations that the object requires.
        var needed: [OldIdentity] = []
        var lostLinks: [String] = []
        var refusal: String?
        var isInserted = false
    }

    /// The identity of an object in documents, without the store's UUID, which may differ in a restored backup.
    struct OldIdentity: Hashable {
        let entityName: String
        let key: Int64

        init(_ entityName: String, _ key: Int64) { (self.entityName, self.key) = (entityName, key) }
        init(_ id: ObjectID) { self.init(id.entityName, id.key) }
    }

    /// - Parameter checkpoint: called for each object; it throws if the run is cancelled.
    package init(_ store: ObjectStore, _ connection: Connection, checkpoint: @escaping () throws -> Void = {}) throws {
        (self.store, self.connection, self.checkpoint) = (store, connection, checkpoint)
        ledger = try RuleLedger(store, connection)
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS moult_restored (entry INTEGER PRIMARY KEY)")
    }

    /// Restores the objects that fit, in one transaction.
    package func run(_ entries: Entries) throws -> RestorationResult {
        try store.writing(author: "Moult", contextName: "quarantine restore") {
            try entries { entry, object in
                try checkpoint()
                try insert(entry, object)
            }
            try refuseDependents()
            try entries { entry, object in
                try checkpoint()
                try link(entry, object)
            }
            try refuseDependents()
            try entries { entry, object in try clearSeats(entry, object) }
            try entries { entry, object in
                try checkpoint()
                try takeSeats(entry, object)
            }
            try note()
        }
        return report
    }

    private var report: RestorationResult {
        var report = RestorationResult()
        for candidate in candidates {
            if let reason = candidate.refusal {
                report.refused.append(
                    .init(
                        id: candidate.entry, entityName: candidate.old.entityName, key: candidate.old.key,
                        reason: reason))
            } else {
                let isKept = candidate.id.key == candidate.old.key
                report.restored.append(
                    .init(
                        id: candidate.entry, object: candidate.id, oldKey: isKept ? nil : candidate.old.key,
                        lostLinks: candidate.lostLinks))
            }
        }
        return report
    }

    /// Records the restored objects, for the verification and for the quarantine.
    private func note() throws {
        let statement = try connection.prepare("INSERT INTO temp.moult_restored VALUES (?)")
        defer { statement.finalise() }
        for candidate in candidates where candidate.refusal == nil {
            try ledger.noteInsertion(of: [candidate.id])
            try statement.run([.integer(candidate.entry)])
            statement.reset()
        }
    }

    // MARK: - The first pass

    private func insert(_ entry: Int64, _ object: MoultObjects.QuarantinedObject) throws {
        let old = OldIdentity(object.entity, object.key)
        var candidate = Candidate(entry: entry, old: old, id: store.id(object.entity, key: object.key))
        do {
            // The object was quarantined twice, with a rollback in between; its last state counts.
            if let earlier = places[old] {
                try refuse(earlier, "entry \(entry) holds a later state of the same object")
            }
            try insert(object, &candidate)
            candidate.isInserted = true
        } catch  where Self.isOfObject(error) {
            candidate.refusal = Self.reason(error)
        }
        places[old] = candidates.count
        candidates.append(candidate)
    }

    private func insert(_ object: MoultObjects.QuarantinedObject, _ candidate: inout Candidate) throws {
        guard let entity = try? store.columns(of: object.entity) else {
            throw Refusal("this version has no entity \(object.entity)")
        }
        var values = [ObjectValue?](repeating: nil, count: entity.shape.properties.count)
        var (named, needed): (Set<String>, Set<String>) = ([], [])
        for (name, value) in try object.values() {
            named.insert(name)
            guard let position = entity.shape.position(of: name) else {
                if value.isEmpty { continue }
                throw Refusal("this version of \(object.entity) has no property \(name)")
            }
            switch (value, entity.shape.properties[position]) {
            case (.attribute(let value), .attribute(_, let attribute)):
                if attribute.derivation == nil { values[position] = .attribute(value?.fitted(to: attribute.type)) }
            case (.toOne(let id), .relationship(let relationship, _)) where !relationship.isToMany:
                if let id, !relationship.isOptional {
                    candidate.needed.append(OldIdentity(id))
                    needed.insert(name)
                }
            case (.toMany, .relationship(let relationship, _)) where relationship.isToMany: break
            default:
                if !value.isEmpty { throw Refusal("\(name) is of another kind in this version") }
            }
        }
        for (position, property) in entity.shape.properties.enumerated() {
            try complete(&values[position], property, isNew: !named.contains(property.name))
            if case .relationship(let relationship, _) = property, relationship.isRequired,
                !needed.contains(relationship.name)
            {
                throw Refusal("\(relationship.name) is required and has no destination")
            }
        }
        let key = try key(for: object, entity, values)
        candidate.id = store.id(object.entity, key: key)
        var changes = ObjectChanges()
        changes.inserted = [.init(id: candidate.id, values: values)]
        _ = try store.save(changes)
    }

    /// Sets the default value of an attribute that the version has and the object does not name. Refuses an object
    /// without a required value.
    private func complete(_ value: inout ObjectValue?, _ property: EntityShape.Property, isNew: Bool) throws {
        guard case .attribute(let name, let attribute) = property, attribute.isStored, attribute.derivation == nil
        else { return }
        if isNew, value == nil, let substitute = attribute.defaultValue { value = .attribute(substitute) }
        switch value {
        case .attribute(_?)?: break
        default: if !attribute.isOptional { throw Refusal("\(name) is required and has no value") }
        }
    }

    /// Returns the object's own key, or a new one if another object has it.
    private func key(for object: MoultObjects.QuarantinedObject, _ entity: EntityColumns, _ values: [ObjectValue?])
        throws -> Int64
    {
        let inserter = try store.newInserter(object.entity)
        guard
            let number = try connection.integer(
                "SELECT ifnull(Z_ENT, 0) FROM \(entity.table.quotedName) WHERE Z_PK = ?", [.integer(object.key)])
        else {
            try inserter.claim(object.key)
            return object.key
        }
        if number == entity.number, try isSame(object, values) { throw Refusal("it is already in the store") }
        return try inserter.nextKey()
    }

    /// Whether the store holds the object with exactly these attributes, as after a rollback.
    private func isSame(_ object: MoultObjects.QuarantinedObject, _ values: [ObjectValue?]) throws -> Bool {
        let id = store.id(object.entity, key: object.key)
        guard let present = try store.snapshots(of: [id]).first else { return false }
        return zip(present.values, values).allSatisfy { present, value in
            if case .attribute(let value)? = value { present == .attribute(value) } else { true }
        }
    }
}

extension RelationshipDescription {
    /// Whether this is a stored to-one relationship that must have a destination.
    var isRequired: Bool { !isToMany && !isOptional && !isTransient }
}

// MARK: - Refusing

extension QuarantineRestorer {
    /// The reason why an object stays in the quarantine.
    struct Refusal: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// Whether an error concerns the object. An error of the disk or of memory ends the restoration instead.
    static func isOfObject(_ error: any Error) -> Bool {
        let codes: [MigrationError.Code] = [
            .dataConflict, .metadataInvalid, .unknownKey, .wrongType, .objectGone, .externalRelationship, .unsupported,
        ]
        return error is Refusal || error is SaveConflicts
            || (error as? MigrationError).map { codes.contains($0.code) } ?? false
    }

    static func reason(_ error: any Error) -> String {
        switch error {
        case let refusal as Refusal: return refusal.reason
        case let conflicts as SaveConflicts:
            for case .constraint(let properties, _, let stored) in conflicts.conflicts {
                let other =
                    stored.map { "\($0.id.entityName) \($0.id.key) of the store" } ?? "another object to restore"
                return "\(other) has the same \(properties.joined(separator: " and ")), which must be unique"
            }
            return "an object that it refers to is gone"
        case let error as MigrationError: return error.message
        default: return "it threw \(type(of: error))"
        }
    }

    func refuse(_ position: Int, _ reason: String) throws {
        candidates[position].refusal = reason
        guard candidates[position].isInserted else { return }
        candidates[position].isInserted = false
        var changes = ObjectChanges()
        changes.deleted = [.init(id: candidates[position].id, version: nil)]
        _ = try store.save(changes)
    }

    /// Refuses objects that require an object neither in the store nor restored.
    private func refuseDependents() throws {
        var isDone = false
        while !isDone {
            isDone = true
            for position in candidates.indices where candidates[position].refusal == nil {
                guard let missing = try candidates[position].needed.first(where: { try present($0) == nil }) else {
                    continue
                }
                try refuse(position, "it requires \(missing.entityName) \(missing.key), which does not exist")
                isDone = false
            }
        }
    }

    /// Returns the current identity of an object with an old identity; nil if there is none.
    func present(_ old: OldIdentity) throws -> ObjectID? {
        if let place = places[old], candidates[place].refusal == nil { return candidates[place].id }
        guard let entity = try? store.columns(of: old.entityName) else { return nil }
        let number = try connection.integer(
            "SELECT Z_ENT FROM \(entity.table.quotedName) WHERE Z_PK = ?", [.integer(old.key)])
        guard let name = number.flatMap({ store.layout.entityName(number: Int(clamping: $0)) }) else { return nil }
        return store.id(name, key: old.key)
    }
}

/// The result of restoring objects from the quarantine.
public struct RestorationResult: Sendable, Hashable {
    /// The objects restored to the store; after a dry run, those that would be.
    public package(set) var restored: [Restored] = []
    /// The objects that stay in the quarantine.
    public package(set) var refused: [Refused] = []

    package init() {}

    /// An object that is in the store again.
    public struct Restored: Sendable, Hashable {
        /// Its number in the quarantine.
        public package(set) var id: Int64
        package var object: ObjectID
        /// The key that it had, if another object has that key now.
        public package(set) var oldKey: Int64?
        /// The links that were left out, because their destination is gone or belongs to another object.
        public package(set) var lostLinks: [String] = []

        /// The name of its entity.
        public var entityName: String { object.entityName }
        /// Its primary key now.
        public var key: Int64 { object.key }
    }

    /// An object that stays in the quarantine.
    public struct Refused: Sendable, Hashable {
        /// Its number in the quarantine.
        public package(set) var id: Int64
        /// The name of its entity.
        public package(set) var entityName: String
        /// The primary key that it had.
        public package(set) var key: Int64
        /// The reason for the refusal, as half a sentence.
        public package(set) var reason: String
    }
}
