import MoultModel

/// The result of checking one rule: the number of objects that break it, and the first of them.
package struct RuleFinding: Sendable, Hashable {
    /// An object that breaks the rule.
    package struct Example: Sendable, Hashable {
        package var id: ObjectID
        /// A description of the fault, such as `postCount = 5, count:(posts) = 7`; empty where there is nothing to add.
        package var detail: String
        /// Whether the detail has values of the object, which are printed only where they were asked for.
        package var hasValues: Bool

        package init(id: ObjectID, detail: String, hasValues: Bool = false) {
            self.id = id
            self.detail = detail
            self.hasValues = hasValues
        }

        /// The detail where it has no values.
        package var safeDetail: String { hasValues ? "" : detail }
    }

    package var rule: String
    package var severity: ValidationRule.Severity
    package var entityName: String
    package var sentence: String
    /// Objects that break the rule; of a minimum, how many are missing.
    package var count: Int64
    /// The first objects by key, at most ``exampleLimit``.
    package var examples: [Example]
    /// The reason why the rule could not be checked; nil if it was.
    package var obstacle: String?

    package static let exampleLimit = 5

    package init(
        _ rule: ValidationRule, count: Int64 = 0, examples: [Example] = [], obstacle: String? = nil
    ) {
        self.rule = rule.name
        severity = rule.severity
        entityName = rule.entityName
        sentence = rule.sentence.isEmpty ? rule.kind.requirement(of: rule.entityName) : rule.sentence
        self.count = count
        self.examples = examples
        self.obstacle = obstacle
    }

    /// With the values of objects, for whoever asked to see them.
    package var showingValues: RuleFinding {
        var finding = self
        for position in finding.examples.indices { finding.examples[position].hasValues = false }
        return finding
    }

    package var isBroken: Bool { count > 0 }
}

extension [RuleFinding] {
    /// Broken rules that forbid to continue.
    package var errors: [RuleFinding] { filter { $0.isBroken && $0.severity == .error } }

    /// - Parameter moment: words for when the rules were checked, such as "before the migration".
    /// - Throws: `rulesBroken` with every error among the findings and the first objects of each.
    package func refuseErrors(_ moment: String) throws {
        guard let first = errors.first else { return }
        let list = errors.map { finding in
            let objects = finding.examples.map { $0.safeDetail.isEmpty ? "\($0.id)" : "\($0.id) (\($0.safeDetail))" }
            let more = finding.count > Int64(objects.count) && !objects.isEmpty ? ", …" : ""
            let places = objects.isEmpty ? "" : ": " + objects.joined(separator: ", ") + more
            return "\(finding.rule): \(finding.sentence) Broken \(Quantity.count(finding.count, "time"))\(places)"
        }
        throw MigrationError(
            .rulesBroken, (["Rules of severity error are broken \(moment)."] + list).joined(separator: "\n"),
            place: first.examples.first?.id.description ?? first.entityName,
            remedy: "Correct the data, or apply the fixes of the rules. The store is unchanged.")
    }
}
