extension String {
    /// Whether the version name sorts before `other`: runs of digits compare by value, letters ignore case, and a
    /// prefix comes first. For example `Model`, `Model 2`, `Model 10`.
    package func precedesNaturally(_ other: String) -> Bool {
        let (left, right) = (NaturalChunk.chunks(of: self), NaturalChunk.chunks(of: other))
        if left == right { return precedesInByteOrder(other) }
        return left.lexicographicallyPrecedes(right)
    }
}

/// A character or a run of digits.
private enum NaturalChunk: Comparable {
    /// The digits without leading zeros, so that a longer number is a greater one.
    case number([UInt8])
    case character(UInt8)

    static func chunks(of text: String) -> [NaturalChunk] {
        var chunks: [NaturalChunk] = []
        var digits: [UInt8]?
        for byte in text.lowercased().utf8 {
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                digits = (digits ?? []) + (digits ?? [] == [] && byte == UInt8(ascii: "0") ? [] : [byte])
            } else {
                if let run = digits { chunks.append(.number(run)) }
                digits = nil
                chunks.append(.character(byte))
            }
        }
        if let run = digits { chunks.append(.number(run)) }
        return chunks
    }

    static func < (left: NaturalChunk, right: NaturalChunk) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)):
            left.count != right.count ? left.count < right.count : left.lexicographicallyPrecedes(right)
        case (.character(let left), .character(let right)): left < right
        case (.number, .character(let right)): UInt8(ascii: "0") < right
        case (.character(let left), .number): left < UInt8(ascii: "0")
        }
    }
}

extension String {
    /// Compares by UTF-8 bytes, as Core Data sorts names. Swift's order differs for some characters.
    package func precedesInByteOrder(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

    /// The entity and the property of `Entity.property`; the property is nil for `Entity`.
    package var entityAndProperty: (entity: String, property: String?) {
        let parts = split(separator: ".", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.dropFirst().first)
    }
}

extension StringProtocol {
    /// The text with its first letter in upper case.
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// The noun with its indefinite article: an Integer 64, a UUID, a uniqueness constraint.
    package var withArticle: String { first.map { "aeioAEIO".contains($0) } == true ? "an \(self)" : "a \(self)" }

    /// The text with a lowercase first letter, to stand within a sentence. A capitalised abbreviation stays as it is.
    package var lowercasedFirst: String {
        guard let first, dropFirst().first?.isUppercase != true else { return String(self) }
        return first.lowercased() + dropFirst()
    }
}

extension [String] {
    /// Returns the elements as `A`, `A and B` or `A, B and C`.
    package func listed(_ word: String = "and") -> String {
        guard let last, count > 1 else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) \(word) \(last)"
    }
}

extension Sequence where Element: Hashable {
    /// Returns each element once, at its first position.
    @inlinable package func unique() -> [Element] {
        let all = Array(self)
        // A search of a few is faster than a set of them.
        guard all.count > 8 else { return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
        var seen: Set<Element> = []
        return all.filter { seen.insert($0).inserted }
    }
}

/// Suggestions for a mistyped word.
package enum Suggestion {
    /// Returns the candidate with the fewest edits from `typed`, if few; otherwise the first that begins with `typed`, or
    /// the only one whose last word it is, as 3 of `Model 3`.
    package static func nearest(to typed: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { (name: $0, edits: distance(typed.lowercased(), $0.lowercased())) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }) else { return nil }
        if best.edits <= max(1, typed.count / 3) { return best.name }
        let bare = typed.drop { $0 == "-" }
        if bare.count >= 3, let first = candidates.first(where: { $0.drop { $0 == "-" }.hasPrefix(bare) }) {
            return first
        }
        let ending = candidates.filter { $0.hasSuffix(" " + typed) }
        return ending.count == 1 ? ending[0] : nil
    }

    /// Returns a sentence, with a leading space, that asks for the nearest candidate; empty if none is near.
    package static func sentence(for typed: String, among candidates: [String]) -> String {
        sentence(nearest(to: typed, among: candidates))
    }

    /// Returns a sentence, with a leading space, that asks for a word; empty for nil.
    package static func sentence(_ word: String?) -> String { word.map { " Did you mean \($0)?" } ?? "" }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbours between two words.
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

extension Sequence {
    /// Returns the elements ordered by the bytes of a name; those with equal names stay as they were.
    ///
    /// Only positions are sorted: a sort of its own for each type and closure is a kilobyte of code at every call.
    package func inByteOrder(of name: (Element) -> String) -> [Element] {
        let elements = Array(self)
        let names = elements.map(name)
        return names.indices.sorted { names[$0].precedesInByteOrder(names[$1]) }.map { elements[$0] }
    }
}

extension Sequence<String> {
    /// Returns the names ordered by their bytes.
    package func inByteOrder() -> [String] { inByteOrder { $0 } }
}
