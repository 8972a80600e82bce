extension RegularExpression {
    /// The syntax tree of a regular expression.
    indirect enum Pattern {
        case set(ScalarSet)
        case sequence([Pattern])
        case choice([Pattern])
        /// Nil for any number.
        case repetition(Pattern, Int, Int?)
        case assertion(Assertion)
        case look(isAhead: Bool, isNegative: Bool, Pattern)
    }

    /// A condition between two scalars, or at an end of the text.
    enum Assertion: Sendable {
        /// `^` and `\A`
        case textStart
        /// `\z`
        case textEnd
        /// `$` and `\Z`: before a last line break too.
        case lastLineEnd
        /// `^` under `(?m)`
        case lineStart
        /// `$` under `(?m)`
        case lineEnd
        case wordBoundary
        case noWordBoundary
    }
}
