import MoultModel

/// The state of one object in its store at one moment: `NSIncrementalStoreNode`.
package struct ObjectSnapshot: Sendable, Hashable {
    package let id: ObjectID
    /// `Z_OPT`: 1 when the object was made, one more for each save.
    package let version: Int64
    /// One for each property of the object's ``EntityShape``; nil for a to-many relationship, which is read by itself,
    /// for a transient property, and for a value of the store that cannot be what the model declares.
    package let values: PositionedValues

    package init(id: ObjectID, version: Int64, values: PositionedValues) {
        self.id = id
        self.version = version
        self.values = values
    }
}
