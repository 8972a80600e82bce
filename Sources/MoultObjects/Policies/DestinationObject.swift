import MoultModel
import MoultStore

/// An object of the new version, with the property names of that version.
///
/// A new object is written when the policy's call for its source object returns; a change to a written object follows
/// with the batch. A property that cannot be set (an unknown name, a value of another type) then fails the migration
/// with the entity, key, property and value. Moult may reuse an object for another row after the call returns, unless
/// the policy keeps a reference to it.
public final class DestinationObject {
    let manager: MigrationManager
    let entity: DestinationEntity
    private let shape: EntityShape
    // A run belongs to one thread and never changes these during a read, so exclusivity is not checked for each value.
    @exclusivity(unchecked) private(set) var key: Int64
    /// The plan of an unwritten object: the values from its source object's row, or the defaults of its entity.
    @exclusivity(unchecked) private(set) var plan: InstancePlan?
    /// Whether its row is in the store.
    @exclusivity(unchecked) private(set) var isWritten: Bool
    /// Whether its changes wait for the end of the batch.
    @exclusivity(unchecked) var isWaiting = false
    /// Whether the policy asked for the mapping's relationships.
    @exclusivity(unchecked) var hasMappedRelationships = false
    @exclusivity(unchecked) private(set) var changes: [Change] = []
    /// The changed properties among the first 64, as a bit mask.
    @exclusivity(unchecked) private var mask: UInt64 = 0
    /// The stored state, once it has been read.
    @exclusivity(unchecked) private var stored: ObjectSnapshot?

    struct Change {
        let position: Int
        var value: Value

        enum Value {
            case attribute(AttributeValue?)
            case toOne(ObjectReference?)
            case toMany([ObjectReference])
        }

        var isOfAttribute: Bool { if case .attribute = value { true } else { false } }
    }

    init(_ manager: MigrationManager, _ entity: DestinationEntity, key: Int64, plan: InstancePlan?) {
        self.manager = manager
        self.entity = entity
        shape = entity.columns.shape
        self.key = key
        self.plan = plan
        isWritten = plan == nil
    }

    /// Makes this the object of another row of the entity; no one else may hold it.
    func begin(_ key: Int64, plan: InstancePlan?) {
        self.key = key
        // Usually, the plan is the same as for the row before.
        if self.plan !== plan { self.plan = plan }
        isWritten = plan == nil
        hasMappedRelationships = false
        changes.empty()
        mask = 0
        if case .some = stored { stored = nil }
    }

    /// The name of the object's own entity in the new version.
    public var entityName: String { entity.name }
    /// The object's identity in the new store; its key is fixed when the object is made.
    public var objectID: ObjectID { manager.destinationID(entityName, key) }
    var reference: ObjectReference { ObjectReference(entityName: entity.name, primaryKey: key) }

    // MARK: - Attributes

    /// The value of an attribute; nil for no value.
    public subscript(name: String) -> AttributeValue? {
        get {
            guard let position = position(of: name) else { return nil }
            return attribute(at: position)
        }
        set {
            guard let position = position(of: name) else { return }
            guard let type = entity.types[position]?.type else {
                manager.note("\(name) is not a stored attribute.", self, property: name)
                return
            }
            change(position, to: .attribute(newValue?.fitted(to: type)))
        }
    }

    private func attribute(at position: Int) -> AttributeValue? {
        if let change = change(at: position) {
            if case .attribute(let value) = change { return value }
            return nil
        }
        if let plan, !isWritten { return manager.noting(self) { try plan.value(at: position) } ?? nil }
        if case .attribute(let value)? = loaded()?.values[position] { return value }
        return nil
    }

    // MARK: - Relationships

    /// Sets a to-one relationship to an object of any entity that it allows, or to nil.
    public func setObject(_ object: DestinationObject?, for relationship: String) {
        guard let position = self.relationship(relationship, isToMany: false) else { return }
        change(position, to: .toOne(object?.reference))
    }

    /// Replaces the destinations of a to-many relationship with these objects, in this order.
    public func setObjects(_ objects: [DestinationObject], for relationship: String) {
        guard let position = self.relationship(relationship, isToMany: true) else { return }
        if !isWritten, objects.allSatisfy({ lead($0, backBy: position) }) { return }
        change(position, to: .toMany(objects.map(\.reference)))
    }

    /// Appends an object to the destinations of a to-many relationship.
    public func add(_ object: DestinationObject, to relationship: String) {
        guard let position = self.relationship(relationship, isToMany: true) else { return }
        if lead(object, backBy: position) { return }
        var members = references(at: position)
        if !members.contains(object.reference) { members.append(object.reference) }
        change(position, to: .toMany(members))
    }

    /// Returns the destination of a to-one relationship.
    public func object(_ relationship: String) -> DestinationObject? { objects(relationship).first }

    /// Returns the destinations of a relationship: in order if it is ordered, otherwise by key. Links set from the
    /// other end are included once the batch is written.
    public func objects(_ relationship: String) -> [DestinationObject] {
        guard let position = position(of: relationship) else { return [] }
        return references(at: position).compactMap { reference in
            manager.noting(self) { try manager.object(reference) }
        }
    }

    /// Sets the relationship at the member's end, if the members' rows hold it and it is unordered; otherwise returns
    /// false.
    private func lead(_ member: DestinationObject, backBy position: Int) -> Bool {
        guard let inverse = entity.backwardToOnes[position] else { return false }
        member.setObject(self, for: inverse)
        return true
    }

    private func references(at position: Int) -> [ObjectReference] {
        switch change(at: position) {
        case .toOne(let reference)?: return [reference].compactMap { $0 }
        case .toMany(let references)?: return references
        case .attribute?: return []
        case nil: break
        }
        if let plan, !isWritten {
            return manager.noting(self) { try plan.reference(at: position) }.map { [$0].compactMap { $0 } } ?? []
        }
        return manager.noting(self) {
            try manager.destinations(of: entity.columns.shape.properties[position].name, self)
        } ?? []
    }

    private func relationship(_ name: String, isToMany: Bool) -> Int? {
        guard let position = position(of: name) else { return nil }
        guard case .relationship(let description, _) = entity.columns.shape.properties[position],
            description.isToMany == isToMany
        else {
            manager.note("\(name) is not a to-\(isToMany ? "many" : "one") relationship.", self, property: name)
            return nil
        }
        return position
    }

    // MARK: - Changes

    private func position(of name: String) -> Int? {
        if let position = shape.position(of: name) { return position }
        manager.note("\(entityName) has no property \(name) in the new version.", self, property: name)
        return nil
    }

    func isChanged(_ position: Int) -> Bool {
        position < 64 ? mask & (1 << UInt64(position)) != 0 : changes.contains { $0.position == position }
    }

    private func change(at position: Int) -> Change.Value? {
        isChanged(position) ? changes.first { $0.position == position }?.value : nil
    }

    func change(_ position: Int, to value: Change.Value) {
        if isChanged(position), let known = changes.firstIndex(where: { $0.position == position }) {
            changes[known].value = value
        } else {
            changes.append(Change(position: position, value: value))
            if position < 64 { mask |= 1 << UInt64(position) }
        }
        if isWritten { manager.wait(for: self) }
    }

    /// Forgets the written changes, and keeps those that still wait.
    func written(keeping waiting: [Change] = []) {
        isWritten = true
        if case .some = stored { stored = nil }
        if waiting.isEmpty { changes.empty() } else { changes = waiting }
        mask = waiting.reduce(0) { $1.position < 64 ? $0 | (1 << UInt64($1.position)) : $0 }
    }

    private func loaded() -> ObjectSnapshot? {
        if let stored { return stored }
        stored = manager.noting(self) { try manager.destinationSnapshot(of: self) } ?? nil
        return stored
    }
}

extension Array {
    /// Removes the few elements left from a row and keeps the capacity; faster than `removeAll(keepingCapacity:)`.
    mutating func empty() {
        while !isEmpty { removeLast() }
    }
}

/// An entity of the new version, with everything that a run needs to make its objects.
final class DestinationEntity {
    let name: String
    /// Whether statements also make objects of it.
    let isMadeByStatements: Bool
    let columns: EntityColumns
    let inserter: RowInserter
    /// The key that those of new objects exceed: no source object that may become one of the table has a greater one.
    var reservedKey: Int64 = 0
    /// The stored attributes by position; nil for any other property.
    let attributes: [AttributeDescription?]
    /// The type of each stored attribute, and whether it must have a value.
    let types: [(type: AttributeType, isRequired: Bool)?]
    /// By position, the to-one relationship at the other end, for an unordered to-many relationship stored in its
    /// members' rows.
    let backwardToOnes: [String?]
    /// The default values of a new object, for properties without a value.
    private(set) lazy var defaults = InstancePlan(defaultsOf: self)

    init(_ name: String, in store: ObjectStore, isMadeByStatements: Bool) throws {
        self.name = name
        self.isMadeByStatements = isMadeByStatements
        columns = try store.columns(of: name)
        let columns = columns
        inserter = try store.newInserter(name)
        let positions = columns.shape.properties.indices
        attributes = positions.map { position in
            columns.attribute(at: position).flatMap { $0.description.derivation == nil ? $0.description : nil }
        }
        types = attributes.map { $0.map { ($0.type, !$0.isOptional) } }
        backwardToOnes = positions.map { position in
            guard case .relationship(let relationship, _) = columns.shape.properties[position], !relationship.isOrdered
            else { return nil }
            return columns.inverseToOne(of: position)?.name
        }
    }

    /// Whether an attribute is required.
    func isRequired(_ position: Int) -> Bool { types[position]?.isRequired == true }
}
