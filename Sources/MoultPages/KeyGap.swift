/// Keys of a table of which some may have been lost.
package struct KeyGap: Equatable {
    /// Open ends are the least and the greatest number.
    var keys: ClosedRange<Int64>
    /// The page that cannot be read, or that has the rows that cannot.
    package var page: Int
    /// The depth of the page in the tree; 0 for the root.
    var depth: Int
    /// Rows of a page that can be read otherwise.
    var isWithinPage = false
    /// Whether the page is a leaf; nil where that is not known.
    var isLeaf: Bool?
}

/// Keys in ascending ranges that do not touch.
package struct KeyRanges: Equatable, Sendable {
    package private(set) var ranges: [ClosedRange<Int64>] = []

    /// Adds keys that are above all that are there, or belong to the last range.
    package mutating func append(_ range: ClosedRange<Int64>) {
        guard let last = ranges.last, last.upperBound == .max || last.upperBound + 1 >= range.lowerBound else {
            return ranges.append(range)
        }
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    }

    /// `3`, `5–8`.
    package var words: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }
            .joined(separator: ", ")
    }

    package init() {}

    package init(_ ranges: [ClosedRange<Int64>]) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { append(range) }
    }

    /// Of keys, the greatest number that could stand in their order: the longest ascending run.
    ///
    /// - Returns: their positions.
    static func ascending(_ keys: [Int64]) -> [Int] {
        // By length of a run, the position of its last key, where that key is the least.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: keys.count)
        for (position, key) in keys.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if keys[ends[middle]] < key { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[position] = ends[low - 1] }
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var run: [Int] = []
        var position = ends.last ?? -1
        while position >= 0 {
            run.append(position)
            position = previous[position]
        }
        return run.reversed()
    }
}
