/// The argument for a placeholder of a format: a value for `%@`, `%d`, `%f` and so on, the path of a property for `%K`.
public enum FormatArgument: Sendable, Hashable {
    /// A `.string` does for `%K` too.
    case value(ExpressionValue)
    case keyPath(String)

    private static let integers: Set<String> = ["d", "D", "i", "u", "U", "x", "X", "o", "O", "c", "C"]
    private static let reals: Set<String> = ["f", "F", "e", "E", "g", "G", "a", "A"]
    private static let sizes: Set<String> = ["", "h", "hh", "l", "ll", "q", "L", "z", "t", "j"]

    /// - Parameter conversion: what stands behind the `%`, such as `@`, `K`, `ld`, `f`.
    static func isKnown(_ conversion: String) -> Bool {
        let kind = String(conversion.suffix(1))
        guard integers.contains(kind) || reals.contains(kind) else { return ["@", "K", "s"].contains(conversion) }
        return sizes.contains(String(conversion.dropLast()))
    }

    /// The token that the argument is in place of a placeholder.
    func token(for conversion: String, at place: Int) throws(MigrationError) -> FormatLexer.Token {
        switch (self, String(conversion.suffix(1))) {
        case (.keyPath(let path), "K"), (.value(.string(let path)), "K"):
            guard path.split(separator: ".", omittingEmptySubsequences: false).allSatisfy(FormatLexer.isName) else {
                throw .format("%K stands for \"\(path)\", which is not a key path", at: place)
            }
            return .path(path)
        case (.value(let value), "@"): return .constant(value)
        case (.value(.string(let text)), "s"): return .constant(.string(text))
        case (.value(.integer(let number)), let kind) where Self.integers.contains(kind):
            return .constant(.integer(number))
        case (.value(.boolean(let flag)), let kind) where Self.integers.contains(kind):
            return .constant(.integer(flag ? 1 : 0))
        case (.value(.real(let number)), let kind) where Self.reals.contains(kind): return .constant(.real(number))
        case (.value(.integer(let number)), let kind) where Self.reals.contains(kind):
            return .constant(.real(Double(number)))
        default: throw .format("%\(conversion) cannot stand for \(description)", at: place)
        }
    }

    private var description: String {
        switch self {
        case .value(let value): value.format
        case .keyPath(let path): "the key path \(path)"
        }
    }
}
