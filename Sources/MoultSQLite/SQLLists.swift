// SQLite takes no expression that is nested deeper than 1,000, no function with more than 127 arguments and no more than
// 500 parts of a UNION; a model may ask for more.
extension [String] {
    private static let short = 100

    /// The conditions joined by AND or OR: a long list halved and halved again in parentheses, for a plain one is nested as
    /// deep as it is long.
    package func conditions(joinedBy word: String) -> String {
        guard count > Self.short else { return joined(separator: " \(word) ") }
        let middle = count / 2
        let halves = [self[..<middle], self[middle...]].map { Array($0).conditions(joinedBy: word) }
        return "(\(halves[0])) \(word) (\(halves[1]))"
    }
}
