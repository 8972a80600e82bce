import MoultModel

/// The derivations whose triggers are known.
package enum DerivationShape: Hashable, Sendable {
    /// `rel.@count`
    case count(relationship: String)
    /// `rel.attribute`
    case value(relationship: String, attribute: String)
    /// `now()`
    case now

    /// Reads the text as a model file has it or as Core Data prints it; nil for any other derivation.
    package init?(_ expression: String) {
        switch try? Expression(parsing: expression) {
        case .function("now", let arguments) where arguments.isEmpty:
            self = .now
        case .function("count:", let arguments):
            guard arguments.count == 1, case .keyPath(let name, of: .evaluatedObject)? = arguments.first,
                !name.contains(".")
            else { return nil }
            self = .count(relationship: name)
        case .keyPath(let path, of: .evaluatedObject):
            let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let first = parts.first, let last = parts.last else { return nil }
            if last == "@count" {
                self = .count(relationship: first)
            } else if !last.hasPrefix("@") {
                self = .value(relationship: first, attribute: last)
            } else {
                return nil
            }
        default:
            return nil
        }
    }
}
