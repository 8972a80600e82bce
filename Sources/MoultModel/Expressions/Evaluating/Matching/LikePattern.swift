/// The right side of `LIKE`: `*` stands for any scalars, none too, `?` for exactly one, and a backslash before one of the
/// three for the character itself. A text must fit as a whole.
package struct LikePattern: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case run
        case any
        case scalar(Unicode.Scalar)
    }

    private let parts: [Part]
    private let options: Predicate.Options

    /// - Parameter options: `[c]` and `[d]` fold the pattern and each text.
    package init(_ pattern: String, _ options: Predicate.Options = []) {
        self.options = options
        var parts: [Part] = []
        var isEscaped = false
        for scalar in pattern.folded(options).unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: if parts.last != .run { parts.append(.run) }
            case "?" where !isEscaped: parts.append(.any)
            case "*", "?", "\\": parts.append(.scalar(scalar))
            default: parts += isEscaped ? [.scalar("\\"), .scalar(scalar)] : [.scalar(scalar)]
            }
            isEscaped = false
        }
        if isEscaped { parts.append(.scalar("\\")) }
        self.parts = parts
    }

    /// Takes at most the product of both lengths: a run that does not fit is made longer, and earlier runs never again.
    package func matches(_ text: String) -> Bool {
        let scalars = text.folded(options).unicodeScalars
        var (position, part) = (scalars.startIndex, 0)
        var lastRun: (part: Int, position: String.UnicodeScalarView.Index)?
        while position < scalars.endIndex {
            if part < parts.count, parts[part] == .run {
                lastRun = (part, position)
                part += 1
            } else if part < parts.count, parts[part] == .any || parts[part] == .scalar(scalars[position]) {
                part += 1
                position = scalars.index(after: position)
            } else if let run = lastRun {
                part = run.part + 1
                position = scalars.index(after: run.position)
                lastRun = (run.part, position)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .run }
    }
}
