/// A name in two parts: the last word is the last name, and a single word is the first.
struct PersonName {
    let first: String
    let last: String?

    /// Nil where there is no name.
    init?(_ name: String?) {
        let words = (name ?? "").split(whereSeparator: \.isWhitespace)
        guard let last = words.last else { return nil }
        first = words.count == 1 ? String(last) : words.dropLast().joined(separator: " ")
        self.last = words.count == 1 ? nil : String(last)
    }
}
