/// The right side of `MATCHES`.
package struct RegularExpression: Sendable {
    private nonisolated(unsafe) let regex: Regex<AnyRegexOutput>
    private let options: Predicate.Options

    package init(_ pattern: String, _ options: Predicate.Options = []) throws(MigrationError) {
        self.options = options
        do {
            regex = try Regex(pattern.folded(options.intersection(.diacriticInsensitive)))
                .matchingSemantics(.unicodeScalar).ignoresCase(options.contains(.caseInsensitive))
        } catch {
            throw .predicate(
                "\(pattern) is no regular expression: \(error).", remedy: "Correct the pattern behind MATCHES.")
        }
    }

    package static func cached(
        _ pattern: String, _ options: Predicate.Options
    ) throws(MigrationError) -> RegularExpression { try RegularExpression(pattern, options) }

    package func matches(_ text: String) -> Bool {
        (try? regex.wholeMatch(in: text.folded(options.intersection(.diacriticInsensitive)))) != nil
    }
}
