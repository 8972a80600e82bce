import MoultModel

/// Where the values of a model are: in ``OwnValues`` until a context takes the object in, then with the context.
public protocol BackingData: AnyObject {
    var persistentModelID: PersistentIdentifier { get }

    /// The value of an attribute; nil for NULL.
    func attribute(_ key: String) -> AttributeValue?
    func setAttribute(_ key: String, _ value: AttributeValue?)

    func toOne(_ key: String) -> (any PersistentModel)?
    func setToOne(_ key: String, _ model: (any PersistentModel)?)

    /// The objects of a to-many relationship; nil where an optional one was never set.
    func toMany(_ key: String) -> [any PersistentModel]?
    func setToMany(_ key: String, _ models: [any PersistentModel]?)

    /// Remembers that a value cannot be kept. The property has its old value; the next save throws the error.
    func refuse(_ key: String, _ error: MigrationError)

    /// The context that took the object in or read it; nil where none has it.
    var _context: AnyObject? { get }
    /// Whether the next save of the context writes the object.
    var hasChanges: Bool { get }
    /// Whether the next save of the context deletes the object.
    var isDeleted: Bool { get }
}

extension BackingData {
    public var _context: AnyObject? { nil }
    public var hasChanges: Bool { false }
    public var isDeleted: Bool { false }
}
