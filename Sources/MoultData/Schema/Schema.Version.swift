extension Schema {
    /// The identifier of a version: three numbers, compared one after the other.
    public struct Version: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
        /// The first number, compared before the others.
        public let major: Int
        /// The second number.
        public let minor: Int
        /// The third number.
        public let patch: Int

        /// A version of these three numbers.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        /// `1.0.0`, as `NSStoreModelVersionIdentifiers` of a store has it.
        public var description: String { "\(major).\(minor).\(patch)" }

        /// Whether the left version is earlier.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }
    }
}
