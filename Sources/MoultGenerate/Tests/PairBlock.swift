import MoultModel

/// The lines of one pair in a file of tests, after a comment with its name and their digest.
struct PairBlock: Equatable {
    let name: String
    private let digest: String
    private let body: [String]

    static let mark = "        // moult: "

    /// As it is generated.
    init(_ pair: MigrationTests.Pair) {
        name = pair.name.commentText
        body = pair.lines
        digest = Self.digest(of: body)
    }

    /// As it is in a file; nil if the first line is no mark.
    init?(_ lines: [String]) {
        guard let first = lines.first, first.hasPrefix(Self.mark) else { return nil }
        let words = first.dropFirst(Self.mark.count).split(separator: ", ", omittingEmptySubsequences: false)
        name = words.dropLast().joined(separator: ", ")
        digest = words.last.map(String.init) ?? ""
        body = Array(lines.dropFirst())
    }

    /// Whether nobody has edited the lines.
    var isAsGenerated: Bool { Self.digest(of: body) == digest }

    var lines: [String] { ["\(Self.mark)\(name), \(digest)"] + body }

    private static func digest(of lines: [String]) -> String {
        [UInt8](Digest.sha256(lines.joined(separator: "\n").utf8).prefix(4)).hexadecimal
    }
}

/// A file of tests that was generated earlier, around its list of pairs.
struct PairFile {
    private let head: [String]
    private let tail: [String]
    var blocks: [PairBlock] = []

    static let end = "        // moult: end"

    /// Nil for a file without such a list.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let end = lines.firstIndex(of: Self.end) else { return nil }
        let marks = lines[..<end].indices.filter { lines[$0].hasPrefix(PairBlock.mark) }
        head = Array(lines[..<(marks.first ?? end)])
        tail = Array(lines[end...])
        for (place, start) in marks.enumerated() {
            let next = place + 1 < marks.count ? marks[place + 1] : end
            if let block = PairBlock(Array(lines[start..<next])) { blocks.append(block) }
        }
    }

    /// Removes the block of a pair, and returns it.
    mutating func take(_ name: String) -> PairBlock? {
        blocks.firstIndex { $0.name == name.commentText }.map { blocks.remove(at: $0) }
    }

    var text: String { (head + blocks.flatMap(\.lines) + tail).joined(separator: "\n") }
}

extension MigrationTests.Pair {
    /// An element of the list of pairs, with a line or more for each entity.
    fileprivate var lines: [String] {
        let note =
            code.isEmpty
            ? []
            : ["        // Leave out what this code changes:"] + code.map { "        // - \($0.commentText)" }
        return note + [
            "        MigrationPair(", "            \(from.swiftLiteral), to: \(to.swiftLiteral),",
            "            keeps: [",
        ] + places.flatMap(Self.wrapped) + ["            ]),"]
    }

    private static func wrapped(_ entries: [String]) -> [String] {
        let indent = String(repeating: " ", count: 16)
        return entries.map { $0.swiftLiteral + "," }.reduce(into: [String]()) { lines, entry in
            if let last = lines.last, last.count + entry.count < 120 {
                lines[lines.count - 1] = "\(last) \(entry)"
            } else {
                lines.append(indent + entry)
            }
        }
    }
}

extension String {
    /// The text on one line.
    fileprivate var commentText: String { split(whereSeparator: \.isNewline).joined(separator: " ") }
}
