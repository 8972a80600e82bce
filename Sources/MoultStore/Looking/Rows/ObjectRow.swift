import MoultModel

/// One object of a store, its values decoded by the types that the model declares.
package struct ObjectRow: Sendable, Hashable {
    package let shape: ObjectShape
    /// `Z_PK`
    package let primaryKey: Int64
    /// `Z_OPT`: 1 when the object was made, one more for each time it was saved.
    package let saves: Int64
    /// One for each of the shape's properties, in its order.
    package let values: [PropertyValue]

    package var entityName: String { shape.entityName }
    package var reference: ObjectReference { ObjectReference(entityName: entityName, primaryKey: primaryKey) }

    /// The value of a property; nil for a name that the entity does not store.
    package subscript(name: String) -> PropertyValue? { shape.position(of: name).map { values[$0] } }
}

/// The stored properties of an entity, inherited ones included: what each of its rows has values for.
package struct ObjectShape: Sendable, Hashable {
    package let entityName: String
    /// Names in byte order; an element of a composite attribute by its path, `attribute.element`.
    package let properties: [String]

    func position(of name: String) -> Int? {
        let place = properties.partitioningIndex { !$0.precedesInByteOrder(name) }
        return place < properties.count && properties[place] == name ? place : nil
    }
}

/// An object by its entity's name and its key in that entity's table.
package struct ObjectReference: Sendable, Hashable {
    package let entityName: String
    package let primaryKey: Int64

    package init(entityName: String, primaryKey: Int64) {
        self.entityName = entityName
        self.primaryKey = primaryKey
    }
}

/// The value of one property in a row.
package enum PropertyValue: Sendable, Hashable {
    /// Nil if the store has NULL.
    case attribute(AttributeValue?)
    case toOne(ObjectReference?)
    /// In the order of an ordered relationship, otherwise by key.
    case toMany([ObjectReference])
    /// A value that is not what the model declares, as it is stored.
    case undecodable(UndecodableValue)
}

/// A value that does not fit the model's type, with the reason and its bytes.
package struct UndecodableValue: Sendable, Hashable {
    package let reason: String
    /// The blob or the text as stored, a number as its digits; empty where the store has nothing.
    package let bytes: [UInt8]
    /// Whether it is the name of a file of external data that is not there.
    package let isMissingFile: Bool

    package init(reason: String, bytes: [UInt8], isMissingFile: Bool = false) {
        self.reason = reason
        self.bytes = bytes
        self.isMissingFile = isMissingFile
    }
}

extension Array {
    /// The first place from which on `isSecond` holds, in an array that has all such elements behind the others.
    fileprivate func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
