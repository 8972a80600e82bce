/// What a derivation asks for.
package enum DerivationShape: Hashable, Sendable {
    /// `rel.@count`
    case count(relationship: String)
    /// `rel.attribute`
    case value(relationship: String, attribute: String)
    /// `now()`
    case now

    /// Reads the text as a model file has it or as Core Data prints it; nil for any other derivation.
    package init?(_ expression: String) {
        let text = expression.filter { $0 != " " }
        if text == "now()" {
            self = .now
            return
        }
        if text.hasPrefix("count:("), text.hasSuffix(")") {
            let name = String(text.dropFirst(7).dropLast())
            guard name.isPlainName else { return nil }
            self = .count(relationship: name)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts[0].isPlainName else { return nil }
        if parts[1] == "@count" {
            self = .count(relationship: parts[0])
        } else if parts[1].isPlainName {
            self = .value(relationship: parts[0], attribute: parts[1])
        } else {
            return nil
        }
    }
}

extension String {
    fileprivate var isPlainName: Bool {
        !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && first?.isNumber == false
    }
}
