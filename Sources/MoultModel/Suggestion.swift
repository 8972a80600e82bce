/// Finds what somebody may have meant.
package enum Suggestion {
    /// The candidate with the fewest edits from `typed`, if that is few for its length or one begins with the other.
    package static func nearest(to typed: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { (name: $0, edits: distance(typed.lowercased(), $0.lowercased())) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }) else { return nil }
        if best.edits <= max(1, typed.count / 3) { return best.name }
        let bare = typed.drop { $0 == "-" }
        return bare.count >= 3 ? candidates.first { $0.drop { $0 == "-" }.hasPrefix(bare) } : nil
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours between two words.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.prefix(64)), Array(right.prefix(64)))
        var rows = [Array(0...right.count)]
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
