import MoultModel
import MoultPropertyList

/// A store's record of restores that took numbers back: kept in its own metadata under a key of an application's, so
/// that it comes in the same transaction as the restored pages.
///
/// Whoever has followed the store (a token of persistent history, a mirror) knows by it that what it has seen is gone.
package struct RestoreMark: Equatable, Sendable {
    package static let key = "MoultRestored"

    /// The last run that restored a backup.
    package var run: String
    /// The numbers of transactions that are gone, in ascending ranges.
    package var lost: [ClosedRange<Int64>]

    package init(run: String, lost: [ClosedRange<Int64>]) {
        (self.run, self.lost) = (run, lost)
    }

    /// Nil if no restore has taken numbers back.
    package init?(_ metadata: StoreMetadata) {
        guard let entry = metadata.entries[Self.key], let run = entry["run"]?.string else { return nil }
        let ranges = (entry["lost"]?.array ?? []).compactMap { range -> ClosedRange<Int64>? in
            guard let ends = range.array?.compactMap(\.integer), ends.count == 2, ends[0] <= ends[1] else { return nil }
            return ends[0]...ends[1]
        }
        self.init(run: run, lost: ranges)
    }

    package var entry: PropertyList {
        .dictionary([
            "run": .string(run),
            "lost": .array(lost.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }),
        ])
    }

    /// Adds the transactions that a restore has taken back.
    package mutating func lose(_ range: ClosedRange<Int64>) {
        lost.removeAll { range.contains($0.lowerBound) && range.contains($0.upperBound) }
        lost.append(range)
        lost.sort { $0.lowerBound < $1.lowerBound }
    }
}
