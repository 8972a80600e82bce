import MoultModel

/// The storage of a model's values: ``OwnValues`` until a context takes the object in, then storage of the context.
public protocol BackingData: AnyObject {
    var persistentModelID: PersistentIdentifier { get }

    /// The value of an attribute; nil for NULL.
    func attribute(_ key: String) -> AttributeValue?
    func setAttribute(_ key: String, _ value: AttributeValue?)
    /// Sets the columns of one property, each by its path: all of them, or none where one cannot be kept.
    func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)])

    func toOne(_ key: String) -> (any PersistentModel)?
    func setToOne(_ key: String, _ model: (any PersistentModel)?)

    /// The objects of a to-many relationship; nil if an optional one was never set.
    func toMany(_ key: String) -> [any PersistentModel]?
    func setToMany(_ key: String, _ models: [any PersistentModel]?)

    /// Remembers that a value cannot be kept. The property has its old value; the next save throws the error.
    func refuse(_ key: String, _ error: MigrationError)

    /// Remembers that a property showed a value that stands for none, or for one that its type cannot have. The next
    /// save throws the error, unless the property was set before.
    func _noteUnreadable(_ key: String)

    /// The value that the source of the model gives a property; nil if it gives none.
    func _initialValue(_ key: String) -> Any?

    /// Called when a property of the model was set, and at the end of its initialiser: a new model that leads to one of
    /// a context, which leads back to it, belongs to that context.
    func _wasWritten<Model: PersistentModel>(by model: Model)

    /// The context that took the object in or read it; nil if none has it.
    var _context: AnyObject? { get }
    /// Whether the next save of the context writes the object.
    var hasChanges: Bool { get }
    /// Whether the next save of the context deletes the object.
    var isDeleted: Bool { get }
}

extension BackingData {
    /// Sets the columns one after the other with ``setAttribute(_:_:)``.
    public func setElements(_ key: String, _ values: [(path: String, value: AttributeValue?)]) {
        for (path, value) in values { setAttribute(path, value) }
    }
    /// Does nothing: nothing is remembered.
    public func _noteUnreadable(_ key: String) {}
    /// No value, as if the source gave none.
    public func _initialValue(_ key: String) -> Any? { nil }
    /// Does nothing: no context is looked for.
    public func _wasWritten<Model: PersistentModel>(by model: Model) {}
    /// No context.
    public var _context: AnyObject? { nil }
    /// False: no save writes the object.
    public var hasChanges: Bool { false }
    /// False: no save deletes the object.
    public var isDeleted: Bool { false }
}
