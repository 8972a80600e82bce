import MoultBasics
import MoultModel

/// The state that the objects of one entity in one context share.
final class ObjectKind {
    let shape: EntityShape
    /// The origin of the temporary identities of new objects.
    let newOrigin: ObjectID.Origin
    let lock: RecursiveLock
    private let contextReference: WeakReference<ObjectContext>
    /// The approximate number of entries in the context's registry whose objects are gone.
    var deadObjects = 0
    /// The values of a new object: defaults, and no destinations.
    let newValues: PositionedValues
    /// The relationships by position; nil for an attribute.
    let links: [RelationshipLink?]
    /// The types of the attributes that may be set, by position; nil for derived ones and for relationships.
    let settableTypes: [AttributeType?]
    /// The positions of derived attributes. Core Data's triggers write their values; assignments never do.
    let derived: [Int]
    let transient: [Int]
    /// The positions of relationships that are stored.
    let relationships: [Int]
    /// The positions of properties that a save writes.
    let persistent: [Int]
    /// The same, without lists stored as the to-one relationship at the other end.
    let ownPersistent: [Int]
    /// The positions of lists stored as the to-one relationship at the other end.
    let keptByInverse: [Int]
    let rules: ValidationRules
    /// See ``ObjectContext/noteChange``.
    var noteChange: ((Object, Int?) -> Void)?
    /// The recorder, which notes each object before it changes; nil unless undo is enabled.
    var recorder: ChangeRecorder?
    /// See ``ObjectContext/tracksEvents``.
    var tracksEvents: Bool
    private let reads: PropertyReads?
    /// By position, whether a read of the property has been recorded.
    private var isNoted: [Bool]

    init(_ shape: EntityShape, context: ObjectContext, model: ManagedObjectModel) throws {
        self.shape = shape
        newOrigin = ObjectID.Origin(store: nil, entityName: shape.entity.name)
        contextReference = WeakReference(context)
        lock = context.lock
        links = shape.properties.enumerated().map { RelationshipLink($1, at: $0, model: model) }
        newValues = PositionedValues(shape.properties.map(\.newValue))
        let positions = shape.properties.indices
        settableTypes = shape.properties.map { property in
            guard case .attribute(_, let attribute) = property, attribute.derivation == nil else { return nil }
            return attribute.type
        }
        derived = positions.filter { shape.properties[$0].isDerived }
        transient = positions.filter { shape.properties[$0].isTransient }
        relationships = positions.filter { [links] in links[$0] != nil }
        persistent = positions.filter { !shape.properties[$0].isDerived && !shape.properties[$0].isTransient }
        keptByInverse = positions.filter { [links] in links[$0]?.isKeptByInverse == true }
        ownPersistent = persistent.filter { [links] in links[$0]?.isKeptByInverse != true }
        rules = try ValidationRules(shape)
        noteChange = context.noteChange
        recorder = context.recorder
        tracksEvents = context.tracksEvents
        reads = context.coordinator.reads
        isNoted = reads == nil ? [] : Array(repeating: false, count: shape.properties.count)
    }

    /// Records that code reads a property, if reads are recorded. The caller holds the lock.
    func noteReading(_ position: Int) {
        guard let reads, !isNoted[position] else { return }
        isNoted[position] = reads.note(shape.properties[position].name, of: entityName)
    }

    /// The context; nil once it is gone.
    var context: ObjectContext? { contextReference.object }
    var entityName: String { shape.entity.name }

    func position(of name: String) throws(MigrationError) -> Int {
        if let position = shape.position(of: name) { return position }
        throw MigrationError(
            .unknownKey, "\(entityName) has no property \(name).", place: "\(entityName).\(name)",
            remedy: "Use one of: \(shape.properties.map(\.name).joined(separator: ", ")).")
    }

    /// - Throws: `unknownKey` for a name that is not a relationship of the entity.
    func link(_ name: String, isToMany: Bool) throws -> RelationshipLink {
        let position = try position(of: name)
        let place = "\(entityName).\(name)"
        guard let link = links[position] else {
            throw MigrationError(
                .unknownKey, "\(place) is an attribute, not a relationship.", place: place,
                remedy: "Read or set it as an attribute.")
        }
        guard link.isToMany == isToMany else {
            throw MigrationError(
                .unknownKey, "\(place) is a \(link.isToMany ? "to-many" : "to-one") relationship.", place: place,
                remedy: "Read or set it as one.")
        }
        return link
    }

    /// Returns the context, which objects need for everything that they do not hold themselves.
    func liveContext() throws -> ObjectContext {
        if let context { return context }
        throw MigrationError(
            .objectGone, "The context of this object of \(entityName) is gone.", place: entityName,
            remedy: "Keep the context as long as its objects are used.")
    }
}

extension EntityShape.Property {
    fileprivate var newValue: ObjectValue? {
        switch self {
        case .attribute(_, let attribute): .attribute(attribute.derivation == nil ? attribute.defaultValue : nil)
        case .relationship(let relationship, _): relationship.isToMany ? .toMany([]) : .toOne(nil)
        }
    }

    fileprivate var isDerived: Bool {
        if case .attribute(_, let attribute) = self { attribute.derivation != nil } else { false }
    }

    fileprivate var isTransient: Bool {
        switch self {
        case .attribute(_, let attribute): attribute.isTransient
        case .relationship(let relationship, _): relationship.isTransient
        }
    }
}

/// A relationship at its position in an entity's shape, with the facts needed to maintain both of its ends.
final class RelationshipLink: Sendable {
    let position: Int
    let name: String
    let isToMany: Bool
    let isOrdered: Bool
    let deleteRule: DeleteRule
    /// The relationship at the other end; nil if there is none.
    let inverseName: String?
    let isInverseToMany: Bool
    let destination: String
    /// The entities whose objects it may have as destinations.
    let destinations: Set<String>

    /// Returns nil for an attribute.
    init?(_ property: EntityShape.Property, at position: Int, model: ManagedObjectModel) {
        guard case .relationship(let relationship, let inverse) = property else { return nil }
        self.position = position
        name = relationship.name
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered && relationship.isToMany
        deleteRule = relationship.deleteRule
        inverseName = inverse?.name
        isInverseToMany = inverse?.isToMany ?? false
        destination = relationship.destinationEntityName
        let below = model.entity(destination).map { model.descendants(of: $0).map(\.name) } ?? []
        destinations = Set([destination] + below)
    }

    /// Whether the to-one relationship at the other end holds all of this relationship's contents.
    var isKeptByInverse: Bool { isToMany && !isOrdered && inverseName != nil && !isInverseToMany }

    func leads(to entityName: String) -> Bool { entityName == destination || destinations.contains(entityName) }
}
