import MoultModel

/// The result of putting objects from the quarantine back into their store.
package struct RestorationReport: Sendable, Hashable {
    package var restored: [Restored] = []
    package var refused: [Refused] = []

    package init() {}

    package struct Restored: Sendable, Hashable {
        /// The number of the quarantine's entry.
        package var entry: Int64
        package var id: ObjectID
        /// The key that it had, where another object has that now.
        package var oldKey: Int64?
        /// Links that lead to what is gone, or to what is another object's by now: they were left out.
        package var lostLinks: [String] = []
    }

    /// An object that stays in the quarantine.
    package struct Refused: Sendable, Hashable {
        package var entry: Int64
        package var entityName: String
        package var key: Int64
        /// The reason, as half a sentence.
        package var reason: String
    }
}
