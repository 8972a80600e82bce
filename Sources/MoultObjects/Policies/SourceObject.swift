import MoultBasics
import MoultModel
import MoultStore

/// An object of the original store, with the property names of its version. It is read-only.
///
/// Values are read on demand. An unknown name, and a value that does not fit the declared type, give nil, and the
/// migration fails when the policy's call returns. Moult may reuse an object for the next row after the call returns,
/// unless the policy keeps a reference to it.
public final class SourceObject {
    let manager: MigrationManager
    let entity: EntityColumns
    private let shape: EntityShape
    // A run belongs to one thread and never changes these during a read, so exclusivity is not checked for each value.
    @exclusivity(unchecked) private(set) var key: Int64
    /// The reader whose current row may be this object's.
    private let reader: InstanceReader?
    @exclusivity(unchecked) private var hasLeftReader = false
    @exclusivity(unchecked) private var snapshot: ObjectSnapshot?

    /// The outcome of the object; nil if it simply becomes the objects associated with it.
    public var outcome: InstanceOutcome?

    init(_ manager: MigrationManager, _ entity: EntityColumns, key: Int64, reader: InstanceReader? = nil) {
        self.manager = manager
        self.entity = entity
        shape = entity.shape
        self.key = key
        self.reader = reader
    }

    init(_ manager: MigrationManager, _ entity: EntityColumns, _ snapshot: ObjectSnapshot) {
        self.manager = manager
        self.entity = entity
        shape = entity.shape
        key = snapshot.id.key
        reader = nil
        self.snapshot = snapshot
    }

    /// Moves to another row; no one else may hold the object.
    func move(to key: Int64) {
        self.key = key
        if case .some = outcome { outcome = nil }
        if case .some = snapshot { snapshot = nil }
    }

    /// Makes the object read its values by key from now on, because the reader moves on to other rows.
    func leaveReader() { hasLeftReader = true }

    /// The name of the object's own entity in the old version.
    public var entityName: String { entity.shape.entity.name }
    /// The object's identity in the original store.
    public var objectID: ObjectID { manager.sources.id(entityName, key) }

    // MARK: - Attributes

    /// The value of an attribute; nil for no value.
    public subscript(name: String) -> AttributeValue? {
        guard let position = position(of: name) else { return nil }
        if !entity.isRead[position] { noteReading(position) }
        return value(at: position)
    }

    /// Records, once for each property, that code reads it.
    private func noteReading(_ position: Int) {
        entity.isRead[position] = true
        manager.run.reads?.note(entity.shape.properties[position].name, of: entityName)
    }

    /// Returns the text of a String or URI attribute.
    public func string(_ name: String) -> String? {
        switch self[name] {
        case .string(let text), .uri(let text): return text
        case let other: return refuse(other, name, "a text")
        }
    }

    /// Returns the number of an Integer attribute.
    public func integer(_ name: String) -> Int64? {
        if case .integer(let number) = self[name] { return number }
        return refuse(self[name], name, "an integer")
    }

    /// Returns the value of a Boolean attribute; nil for no value.
    public func bool(_ name: String) -> Bool? {
        if case .boolean(let flag) = self[name] { return flag }
        return refuse(self[name], name, "a Boolean")
    }

    /// Returns the number of a Double, Float or Integer attribute.
    public func double(_ name: String) -> Double? {
        switch self[name] {
        case .double(let number): return number
        case .integer(let number): return Double(number)
        case let other: return refuse(other, name, "a number")
        }
    }

    /// Returns the exact digits of a Decimal attribute.
    public func decimal(_ name: String) -> String? {
        if case .decimal(let digits) = self[name] { return digits }
        return refuse(self[name], name, "a Decimal")
    }

    /// Returns a date in seconds since 2001-01-01 00:00:00 UTC.
    public func date(_ name: String) -> Double? {
        if case .date(let seconds) = self[name] { return seconds }
        return refuse(self[name], name, "a date")
    }

    /// Returns the bytes of a Binary, Transformable or UUID attribute.
    public func bytes(_ name: String) -> [UInt8]? {
        switch self[name] {
        case .binary(let bytes), .transformable(let bytes), .uuid(let bytes): return bytes
        case let other: return refuse(other, name, "bytes")
        }
    }

    /// Whether an attribute's value is nil or fits the declared type. An object with an unreadable value can still be
    /// dropped or quarantined.
    public func isReadable(_ name: String) -> Bool {
        guard let position = position(of: name) else { return false }
        if let reader = presentReader {
            if case .undecodable? = reader.value(position) { return false }
            return true
        }
        return loaded()?.values[position] != nil || entity.isToMany(position)
    }

    private func refuse<Value>(_ value: AttributeValue?, _ name: String, _ wanted: String) -> Value? {
        guard let value else { return nil }
        manager.note("\(name) was read as \(wanted); it is \(value.kindPhrase).", self, property: name)
        return nil
    }

    // MARK: - Relationships

    /// Returns the destination of a to-one relationship; nil if it has none.
    public func object(_ relationship: String) -> SourceObject? { objects(relationship).first }

    /// Returns the destinations of a relationship: in order if it is ordered, otherwise by key.
    ///
    /// The first access by an object of a batch reads the relationship for the whole batch.
    public func objects(_ relationship: String) -> [SourceObject] {
        guard let position = position(of: relationship) else { return [] }
        guard case .relationship = entity.shape.properties[position] else {
            manager.note("\(relationship) is not a relationship.", self, property: relationship)
            return []
        }
        if !entity.isRead[position] { noteReading(position) }
        return manager.noting(self, property: relationship) {
            try manager.sources.destinations(of: relationship, self, isInBatch: reader != nil && !hasLeftReader)
        } ?? []
    }

    // MARK: - Values

    private func position(of name: String) -> Int? {
        if let position = shape.position(of: name) { return position }
        manager.note("\(entityName) has no property \(name) in the source's version.", self, property: name)
        return nil
    }

    /// The reader, while its current row is this object's.
    private var presentReader: InstanceReader? {
        guard !hasLeftReader, let reader, reader.isAt(key) else { return nil }
        return reader
    }

    /// Returns the value of an attribute.
    func value(at position: Int) -> AttributeValue? {
        if let reader = presentReader {
            switch reader.value(position) {
            case .attribute(let value)?: return value
            case .undecodable(let value)?: noteUnreadable(position, value.reason)
            case .toOne?, .toMany?, nil: noteNoAttribute(position)
            }
            return nil
        }
        switch loaded()?.values[position] {
        case .attribute(let value)?: return value
        case .toOne?, .toMany?: noteNoAttribute(position)
        case nil: noteUnreadable(position, "it is not what the model declares")
        }
        return nil
    }

    private func loaded() -> ObjectSnapshot? {
        if let snapshot { return snapshot }
        snapshot = manager.noting(self, property: nil) { try manager.sources.snapshot(entityName, key) }
        return snapshot
    }

    private func noteUnreadable(_ position: Int, _ reason: String) {
        let name = entity.shape.properties[position].name
        manager.note("The value of \(name) cannot be read: \(reason).", self, property: name, isData: true)
    }

    private func noteNoAttribute(_ position: Int) {
        let name = entity.shape.properties[position].name
        manager.note(
            "\(name) is not a stored attribute: a relationship is read with objects(_:).", self, property: name)
    }
}

/// The objects of the unchanged store, as a run looks them up.
final class SourceObjects {
    let store: ObjectStore
    weak var manager: MigrationManager?
    /// The reader of the current batch, whose relationships are read together.
    private var reader: InstanceReader?
    private var batch: (after: Int64, count: Int) = (0, 0)
    private var owners: [ObjectID]?
    /// The destinations read so far, by relationship, then by the owner's key.
    private var destinations: [String: [Int64: [SourceObject]]] = [:]

    init(_ store: ObjectStore) { self.store = store }

    func begin(_ reader: InstanceReader, after key: Int64, count: Int) {
        self.reader = reader
        batch = (key, count)
        owners = nil
        destinations = [:]
    }

    func endBatches() {
        reader = nil
        owners = nil
        destinations = [:]
    }

    func id(_ entityName: String, _ key: Int64) -> ObjectID { store.id(entityName, key: key) }

    /// Returns the state of an object; nil if the store does not have it.
    func snapshot(_ entityName: String, _ key: Int64) throws -> ObjectSnapshot? {
        try store.snapshots(of: [id(entityName, key)]).first
    }

    func object(_ snapshot: ObjectSnapshot) throws -> SourceObject {
        guard let manager else {
            throw MigrationError(
                .usage, "The migration is over.", place: snapshot.id.entityName,
                remedy: "Do not keep a source object after the run of its policy.")
        }
        return SourceObject(manager, try store.columns(of: snapshot.id.entityName), snapshot)
    }

    /// Returns the destinations of an object's relationship. If the object is in the batch, reads them for all of its
    /// objects.
    func destinations(of relationship: String, _ object: SourceObject, isInBatch: Bool) throws -> [SourceObject] {
        guard isInBatch, let reader, reader.entity === object.entity else {
            return try load(relationship, owners: [object.objectID])[object.key] ?? []
        }
        if destinations[relationship] == nil {
            if owners == nil {
                owners = try reader.keys(after: batch.after, count: batch.count).map { id(object.entityName, $0) }
            }
            destinations[relationship] = try load(relationship, owners: owners ?? [])
        }
        return destinations[relationship]?[object.key] ?? []
    }

    private func load(_ relationship: String, owners: [ObjectID]) throws -> [Int64: [SourceObject]] {
        let found = try store.destinations(of: relationship, owners: owners)
        let wanted = Set(found.values.joined())
        var objects: [ObjectID: SourceObject] = [:]
        objects.reserveCapacity(wanted.count)
        for snapshot in try store.snapshots(of: Array(wanted)) { objects[snapshot.id] = try object(snapshot) }
        return Dictionary(
            found.map { owner, ids in (owner.key, ids.compactMap { objects[$0] }) },
            uniquingKeysWith: { first, _ in first })
    }
}
