import MoultModel

/// The outcome for objects of the quarantine that were to be put back.
public struct RestorationResult: Sendable, Hashable {
    /// The objects that are in the store again, or would be.
    public package(set) var restored: [Restored] = []
    /// The objects that stay.
    public package(set) var refused: [Refused] = []

    package init() {}

    /// An object that is in the store again.
    public struct Restored: Sendable, Hashable {
        /// Its number in the quarantine.
        public package(set) var id: Int64
        package var object: ObjectID
        /// The key that it had, if another object has that now.
        public package(set) var oldKey: Int64?
        /// The links that were left out, because their destination is gone or belongs to another object.
        public package(set) var lostLinks: [String] = []

        /// The name of its entity.
        public var entityName: String { object.entityName }
        /// Its primary key now.
        public var key: Int64 { object.key }
    }

    /// An object that stays in the quarantine.
    public struct Refused: Sendable, Hashable {
        /// Its number in the quarantine.
        public package(set) var id: Int64
        /// The name of its entity.
        public package(set) var entityName: String
        /// The primary key that it had.
        public package(set) var key: Int64
        /// The reason why it does not fit, as half a sentence.
        public package(set) var reason: String
    }
}
