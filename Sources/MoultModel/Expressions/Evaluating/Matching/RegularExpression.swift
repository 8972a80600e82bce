import Synchronization

/// The right side of `MATCHES`: a regular expression that a text has to fit as a whole.
///
/// The syntax is ICU's, as far as the answer can be found without going back over a text: literals and their escapes,
/// `.`, classes with ranges, `\d \w \s \h \v`, categories as `\p{Lu}` and POSIX names, groups, alternatives, greedy and
/// lazy quantifiers, anchors, `\b`, looking ahead and behind, `(?i)`, `(?s)`, `(?m)` and `\Q…\E`. Back references,
/// possessive quantifiers, atomic groups and scripts are refused. So no pattern can take forever: the work is the length of
/// the text times that of the pattern, for each of what looks ahead or behind once more the length of the text.
package struct RegularExpression: Sendable {
    package let pattern: String
    private let options: Predicate.Options
    private let program: Program

    /// - Parameter options: `[c]` makes no difference between the cases of a letter, `[d]` folds the pattern and each
    ///   text (``Swift/String/folded(_:)``).
    /// - Throws: `MigrationError` with code `invalidPredicate` that shows the pattern and says where it is wrong.
    package init(_ pattern: String, _ options: Predicate.Options = []) throws(MigrationError) {
        self.pattern = pattern
        self.options = options.contains(.normalized) ? [] : options.intersection(.diacriticInsensitive)
        var parser = Parser(
            pattern.folded(self.options),
            ignoresCase: options.contains(.caseInsensitive) && !options.contains(.normalized))
        do throws(Fault) {
            program = try Program(try parser.whole())
        } catch {
            throw .predicate(
                "The regular expression \(pattern) cannot be parsed: \(error.message) at character \(error.position).",
                remedy: "Correct the pattern after MATCHES.")
        }
    }

    /// - Throws: `MigrationError` with code `invalidPredicate` if the text is so long, and so much looks ahead or
    ///   behind in it, that the work passes a limit.
    package func matches(_ text: String) throws(MigrationError) -> Bool {
        var matcher = Matcher(program, text.folded(options))
        do throws(Matcher.TooMuchWork) {
            return try matcher.matchesWhole()
        } catch {
            throw .predicate(
                "A text of \(text.unicodeScalars.count) characters takes too long to match with \(pattern).",
                remedy: "Use fewer lookaheads and lookbehinds in the pattern.")
        }
    }

    /// An error in a pattern, at a Unicode scalar from 0.
    struct Fault: Error {
        var message: String
        var position: Int
    }
}

extension RegularExpression {
    private struct Key: Hashable {
        let pattern: String
        let options: Int
    }

    private static let known = Mutex<[Key: RegularExpression]>([:])
    private static let knownLimit = 64

    /// The same expression, read once for many texts.
    package static func cached(
        _ pattern: String, _ options: Predicate.Options = []
    ) throws(MigrationError) -> RegularExpression {
        let key = Key(pattern: pattern, options: options.rawValue)
        // Keys that are canonically equivalent are equal, patterns are not.
        if let known = known.withLock({ $0[key] }), known.pattern.utf8.elementsEqual(pattern.utf8) { return known }
        let made = try RegularExpression(pattern, options)
        known.withLock { known in
            if known.count >= knownLimit { known.removeAll() }
            known[key] = made
        }
        return made
    }
}
