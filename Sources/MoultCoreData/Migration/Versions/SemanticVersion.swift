import MoultModel

/// A version by number, such as 1.2.0: a change of the first breaks, of the second adds, of the third repairs.
public struct SemanticVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The first number, which changes with the meaning of the data.
    public let major: Int
    /// The second number, which changes with additions.
    public let minor: Int
    /// The third number, which changes with repairs.
    public let patch: Int

    /// A version of these numbers; 1.2 is 1.2.0.
    public init(_ major: Int, _ minor: Int, _ patch: Int = 0) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Reads `1.2.0`, or `1.2` for it; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isNumber) ? Int(part) : nil }
        guard numbers.count == parts.count, (2...3).contains(parts.count) else { return nil }
        self.init(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }

    /// All three numbers, such as `1.2.0`.
    public var description: String { "\(major).\(minor).\(patch)" }

    /// Whether the left version is earlier; numbers are compared one after the other.
    public static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}
