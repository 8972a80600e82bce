import MoultModel

/// The step in the number of a model's version that a difference calls for.
///
/// It is independent of the kind of migration: an additive change may need a mapping model, and a breaking one may be
/// inferred.
package struct VersionBump: Sendable, Equatable {
    package enum Level: String, Sendable, Comparable, CaseIterable {
        /// Nothing that a store notices.
        case patch
        /// Something is added, and what an older app or query uses is still there.
        case minor
        /// Something is removed, renamed or refused that older code or data has.
        case major

        package static func < (left: Level, right: Level) -> Bool {
            let all = allCases
            return (all.firstIndex(of: left) ?? 0) < (all.firstIndex(of: right) ?? 0)
        }
    }

    package let level: Level
    /// The changes for which the level is not lower.
    package let reasons: [ModelChange]

    /// Nil for equal versions.
    package init?(_ diff: ModelDiff) {
        guard let level = diff.changes.map(\.level).max() else { return nil }
        self.level = level
        reasons = diff.changes.filter { $0.level == level }
    }
}

extension ModelChange {
    fileprivate var level: VersionBump.Level {
        guard isHashed else { return .patch }
        return losesData || mayFail || Self.breaking.contains(kind) ? .major : .minor
    }

    private static let breaking: Set<Kind> = [
        .entityRemoved, .entityRenamed, .attributeRemoved, .attributeRenamed, .attributeMoved, .relationshipRemoved,
        .relationshipRenamed, .relationshipMoved, .type, .cardinality, .destination, .order, .parent, .abstract,
        .transient, .valueTransformer, .valueClass,
    ]
}

/// A version number of the form `1.2` or `1.2.3`.
package struct VersionNumber: Sendable, Equatable, Comparable, CustomStringConvertible {
    package var major: Int
    package var minor: Int
    package var patch: Int

    /// Nil for another text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isASCIIDigit) ? Int(part) : nil }
        guard (2...3).contains(parts.count), numbers.count == parts.count else { return nil }
        (major, minor, patch) = (numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    /// The next number at a level; a number that cannot rise stays.
    package func next(_ level: VersionBump.Level) -> VersionNumber {
        func risen(_ number: Int) -> Int { number == .max ? number : number + 1 }
        var next = self
        switch level {
        case .major: (next.major, next.minor, next.patch) = (risen(major), 0, 0)
        case .minor: (next.minor, next.patch) = (risen(minor), 0)
        case .patch: next.patch = risen(patch)
        }
        return next
    }

    package static func < (left: VersionNumber, right: VersionNumber) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
