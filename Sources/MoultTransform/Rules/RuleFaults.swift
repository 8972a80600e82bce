import MoultModel

/// Everything that is wrong with a set of rules, so that it is said at once and before a row is read.
package struct RuleFaults {
    package private(set) var sentences: [String] = []

    package init() {}

    /// - Parameter place: the rule by name, or where it stands in a file.
    package mutating func add(_ place: String, _ sentence: String) { sentences.append("\(place): \(sentence)") }

    /// - Throws: `usage` with all faults, where there are any.
    package func check(place: String) throws {
        guard !sentences.isEmpty else { return }
        let intro = sentences.count == 1 ? "The rules have an error:" : "The rules have \(sentences.count) errors:"
        throw MigrationError(
            .usage, ([intro] + sentences).joined(separator: "\n"), place: place,
            remedy: "Correct them; nothing was read or changed.")
    }
}
