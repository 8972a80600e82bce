import MoultModel

/// One finding of a rule at its place, ready to be printed.
package struct LintFinding: Sendable {
    package let rule: LintRule
    package let severity: Finding.Severity
    /// The version's name; empty for the model as a whole.
    package let version: String
    package let entity: String?
    package let member: String?
    /// The file; the path of the model if the place has none.
    package let file: String
    /// From 1; nil for a file that has no lines, such as a compiled model.
    package let line: Int?
    package let message: String
    package let advice: Remedy
    /// The element with the correction, to paste; nil if there is none.
    package let xml: String?

    /// The remedy in the words of the face that runs.
    package var remedy: String { advice.text() }

    /// `Entity.property`, `Entity`, or the version.
    package var place: String {
        let parts = [entity, member].compactMap { $0 }
        return parts.isEmpty ? version : parts.joined(separator: ".")
    }

    /// The same for the same finding in a later run, whatever line it is on.
    package var fingerprint: String {
        let facts = [rule.code, version, entity ?? "", member ?? "", message]
        return [UInt8](Digest.sha256(facts.joined(separator: "\u{0}").utf8).prefix(16)).hexadecimal
    }
}
