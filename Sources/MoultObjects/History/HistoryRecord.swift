import MoultModel

/// One transaction of a store's persistent history, with what it changed: `NSPersistentHistoryTransaction`.
package struct HistoryRecord: Sendable {
    /// `Z_PK` of `ATRANSACTION`: later transactions have greater ones.
    package let number: Int64
    /// Seconds since 2001-01-01 00:00:00 UTC.
    package let timestamp: Double
    package let author: String?
    package let bundleIdentifier: String?
    package let contextName: String?
    package let processName: String?
    package var changes: [Change] = []

    /// One object that was inserted, updated or deleted.
    package struct Change: Sendable {
        package enum Kind: Int64, Sendable { case insert, update, delete }

        /// `Z_PK` of `ACHANGE`
        package let number: Int64
        package let kind: Kind
        package let object: ObjectID
        /// The names of the properties that an update changed. Of several to-many relationships all are named where
        /// one changed, for the order of their bits is not known.
        package let properties: [String]
        /// The values of the object that a deletion kept, by attribute.
        package let tombstone: [String: AttributeValue]
    }
}
