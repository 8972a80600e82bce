import MoultModel

/// The rules for the values of an anonymous copy, by entity and property. Values without a rule get stand-ins.
package struct StandInRules: Sendable, Equatable {
    /// The treatment of a value.
    package enum Rule: String, Sendable, CaseIterable {
        /// It stays.
        case keep
        /// The values of the property change places among the objects of an entity.
        case shuffle
        /// It gets a stand-in, which is the rule unless told otherwise.
        case replace
        /// It becomes nil, or where it is required the default or an empty value.
        case erase
    }

    /// By `Entity.property`, or `Entity` for all properties that have no rule of their own.
    package let rules: [String: Rule]

    package init(_ rules: [String: Rule] = [:]) { self.rules = rules }

    /// - Parameter document: an object with a rule for each `Entity.property` or `Entity`.
    /// - Throws: `usage` for anything else.
    package init(_ document: JSONValue, place: String) throws {
        guard let members = document.members else {
            throw Self.wrong("The rules should be an object, such as {\"User.name\": \"erase\"}.", place)
        }
        var rules: [String: Rule] = [:]
        for member in members {
            guard let rule = member.value.string.flatMap(Rule.init) else {
                let known = Rule.allCases.map(\.rawValue).joined(separator: ", ")
                throw Self.wrong("The rule of \(member.key) should be one of: \(known).", place)
            }
            rules[member.key] = rule
        }
        self.init(rules)
    }

    /// The rule of a property in the objects of an entity: its own, its entity's, or those of the entities above.
    func rule(for property: String, of entity: EntityDescription, in model: ManagedObjectModel) -> Rule {
        for entity in model.lineage(of: entity) {
            if let rule = rules["\(entity.name).\(property)"] ?? rules[entity.name] { return rule }
        }
        return .replace
    }

    /// Checks that each rule names an entity or a stored attribute of it, and that nothing unique is erased.
    ///
    /// - Throws: `usage` for the first one that does not.
    func check(against model: ManagedObjectModel, _ attributes: (EntityDescription) -> [String]) throws {
        for name in rules.keys.sorted() {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            guard let entity = model.entity(parts.first ?? "") else {
                throw Self.unknown("There is no entity \(parts.first ?? name).", name, model.entities.map(\.name))
            }
            let known = attributes(entity)
            guard parts.count == 1 || known.contains(parts[1]) else {
                throw Self.unknown("\(entity.name) has no attribute \(parts[1]) that is stored.", name, known)
            }
            let isUnique = model.lineage(of: entity).flatMap(\.uniquenessConstraints).joined().contains(
                parts.last ?? "")
            if parts.count == 2, isUnique, rules[name] == .erase {
                throw Self.wrong("The values of \(name) are unique, so they cannot all be erased.", name)
            }
        }
    }

    private static func unknown(_ message: String, _ place: String, _ known: [String]) -> MigrationError {
        let nearest = Suggestion.nearest(to: place.split(separator: ".").last.map(String.init) ?? place, among: known)
        return MigrationError(
            .usage, message, place: place,
            remedy: nearest.map { "Did you mean \($0)?" } ?? "There are: \(known.joined(separator: ", ")).")
    }

    private static func wrong(_ message: String, _ place: String) -> MigrationError {
        MigrationError(
            .usage, message, place: place,
            remedy: "Correct the rule. Documentation/Anonymise.md describes the rules.")
    }
}
