import MoultModel

/// A match of a rule, before its place in a file is looked up.
struct LintMatch: Sendable {
    /// The version's name; empty for the model as a whole.
    var version: String
    var entity: String?
    /// The property, index or constraint.
    var member: String?
    var message: String
    var remedy: Remedy
    var edit: Edit?
    /// If it differs from the rule's.
    var severity: Finding.Severity?
    /// The file and line, if they are known already.
    var line: (file: String, line: Int)?

    /// The XML attributes to set on the element of the place; nil removes one.
    struct Edit: Sendable {
        var attributes: [(name: String, value: String?)]
        /// Whether it is right only if something unknown is so, such as a rename. It is then left out of the
        /// start tags of other findings.
        var isConditional = false

        init(_ attributes: (name: String, value: String?)..., isConditional: Bool = false) {
            self.attributes = attributes
            self.isConditional = isConditional
        }

        /// This edit, and those of other findings about the same element that do not contradict it.
        func joined(with others: [Edit]) -> Edit {
            var joined = self
            for change in others.filter({ !$0.isConditional }).flatMap(\.attributes)
            where !joined.attributes.contains(where: { $0.name == change.name }) {
                joined.attributes.append(change)
            }
            return joined
        }
    }

    init(
        _ version: String, _ entity: String? = nil, _ member: String? = nil, _ message: String, remedy: Remedy,
        edit: Edit? = nil
    ) {
        self.version = version
        self.entity = entity
        self.member = member
        self.message = message
        self.remedy = remedy
        self.edit = edit
    }

    /// `Entity.property` or `Entity`, as findings of a plan say it: `Entity.a+b` for a constraint.
    var place: String { [entity, member?.replacing(", ", with: "+")].compactMap { $0 }.joined(separator: ".") }

    /// The element that it is about.
    var element: [String] { [version, entity ?? "", member ?? ""] }

    /// `Entity.property` taken apart.
    static func parts(of place: String) -> (entity: String?, member: String?) {
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        return (parts.first, parts.count > 1 ? parts[1] : nil)
    }
}
