import MoultModel
import MoultStore

/// An object of the new version, by the names of that version.
///
/// A new one is written when the policy's call for its source object returns; a change to one that is written follows
/// with the batch. What cannot be set (a name that the entity does not have, a value of another type) fails the
/// migration then, with the entity, key, property and value. An object that the policy does not hold on to stands for
/// another row when its call has returned.
public final class DestinationObject {
    let manager: MigrationManager
    let entity: DestinationEntity
    private let shape: EntityShape
    // A run belongs to one thread, and nobody changes these while they are read: that is not checked for each value.
    @exclusivity(unchecked) private(set) var key: Int64
    /// The plan of an unwritten object: the values from its source object's row, or the defaults of its entity.
    @exclusivity(unchecked) private(set) var plan: InstancePlan?
    /// Whether its row is in the store.
    @exclusivity(unchecked) private(set) var isWritten: Bool
    /// Whether it waits for the end of the batch.
    @exclusivity(unchecked) var isWaiting = false
    /// Whether the relationships of the mapping were asked for.
    @exclusivity(unchecked) var hasMappedRelationships = false
    @exclusivity(unchecked) private(set) var changes: [Change] = []
    /// The changed properties among the first 64.
    @exclusivity(unchecked) private var mask: UInt64 = 0
    /// The state that the store has, once it was asked for.
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

    /// Becomes the object of another row of the entity; nobody else may hold it.
    func begin(_ key: Int64, plan: InstancePlan?) {
        self.key = key
        // Most often the plan of the row before.
        if self.plan !== plan { self.plan = plan }
        isWritten = plan == nil
        hasMappedRelationships = false
        changes.empty()
        mask = 0
        if case .some = stored { stored = nil }
    }

    /// The object's own entity, by its name in the new version.
    public var entityName: String { entity.name }
    /// The identity that the object has in the new store; its key is settled when the object is made.
    public var objectID: ObjectID { manager.destinationID(entityName, key) }
    var reference: ObjectReference { ObjectReference(entityName: entity.name, primaryKey: key) }

    // MARK: - Attributes

    /// The value of an attribute; nil for none.
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

    /// Leads a to-one relationship to an object of any entity that it may lead to, or to none.
    public func setObject(_ object: DestinationObject?, for relationship: String) {
        guard let position = self.relationship(relationship, isToMany: false) else { return }
        change(position, to: .toOne(object?.reference))
    }

    /// Makes the objects the destinations of a to-many relationship, in their order; those it had leave.
    public func setObjects(_ objects: [DestinationObject], for relationship: String) {
        guard let position = self.relationship(relationship, isToMany: true) else { return }
        if !isWritten, objects.allSatisfy({ lead($0, backBy: position) }) { return }
        change(position, to: .toMany(objects.map(\.reference)))
    }

    /// Adds an object behind the destinations of a to-many relationship.
    public func add(_ object: DestinationObject, to relationship: String) {
        guard let position = self.relationship(relationship, isToMany: true) else { return }
        if lead(object, backBy: position) { return }
        var members = references(at: position)
        if !members.contains(object.reference) { members.append(object.reference) }
        change(position, to: .toMany(members))
    }

    /// The destination of a to-one relationship.
    public func object(_ relationship: String) -> DestinationObject? { objects(relationship).first }

    /// The destinations of a relationship, in the order of an ordered one, otherwise by key. What other objects were
    /// made to lead back counts when the batch is written.
    public func objects(_ relationship: String) -> [DestinationObject] {
        guard let position = position(of: relationship) else { return [] }
        return references(at: position).compactMap { reference in
            manager.noting(self) { try manager.object(reference) }
        }
    }

    /// Makes the member lead back, where the members' rows hold the relationship and no order is kept; otherwise
    /// returns false.
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

    /// Forgets the changes, which are written, but for those that wait.
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
    /// Removes the few elements that a row leaves and keeps the space for those of the next; faster than
    /// `removeAll(keepingCapacity:)`.
    mutating func empty() {
        while !isEmpty { removeLast() }
    }
}

/// One entity of the new version, with what a run needs to make objects of it.
final class DestinationEntity {
    let name: String
    /// Whether statements make objects of it too.
    let isMadeByStatements: Bool
    let columns: EntityColumns
    let inserter: RowInserter
    /// By position; nil for what is no stored attribute.
    let attributes: [AttributeDescription?]
    /// The type of each stored attribute, and whether it must have a value.
    let types: [(type: AttributeType, isRequired: Bool)?]
    /// The to-one at the other end, for an unordered to-many whose members' rows hold it; by position.
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

    /// Whether an attribute must have a value.
    func isRequired(_ position: Int) -> Bool { types[position]?.isRequired == true }
}
