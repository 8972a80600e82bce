import MoultBasics
import MoultModel

/// The rules for the values of an anonymous copy, by entity and property. Values without a rule get stand-ins.
package struct StandInRules: Sendable, Equatable {
    /// The treatment of values.
    package enum Rule: String, Sendable, CaseIterable {
        /// Keep the value.
        case keep
        /// Exchange the values of the property among the objects of an entity.
        case shuffle
        /// Replace the value with a stand-in, which is the default.
        case replace
        /// Set the value to nil, or for a required property to its default or an empty value.
        case erase
    }

    /// The rules, by `Entity.property`, or by `Entity` for all properties without a rule of their own.
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

    /// Returns the rule of a property for the objects of an entity: its own, its entity's, or one of a parent entity.
    func rule(for property: String, of entity: EntityDescription, in model: ManagedObjectModel) -> Rule {
        for entity in model.lineage(of: entity) {
            if let rule = rules["\(entity.name).\(property)"] ?? rules[entity.name] { return rule }
        }
        return .replace
    }

    /// Checks that each rule names an entity or one of its stored attributes, and that no unique attribute is erased.
    ///
    /// - Throws: `usage` for the first invalid rule.
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
            .usage, message, place: place, remedy: "Correct the rule. `moult help anonymise` describes the rules.")
    }
}

/// The texts, numbers and dates in the models: names, default values, limits and the constants of validation rules.
/// They reveal nothing about a person, and a migration may depend on them.
struct ModelWords {
    private(set) var texts: Set<[UInt8]> = []
    private(set) var numbers: Set<Int64> = []
    private(set) var dates: Set<Double> = []
    /// The integer parts of limits with a fraction. A number between this and the next integer keeps its fraction, so
    /// that it stays on the same side of the limit.
    private(set) var splitNumbers: Set<Int64> = []

    init(_ models: [ManagedObjectModel]) {
        for model in models {
            for entity in model.entities {
                add(entity.name)
                for relationship in entity.relationships { add(relationship.name) }
                for attribute in entity.attributes { add(attribute) }
                for index in entity.fetchIndexes {
                    if let predicate = index.partialIndexPredicate { add(constantsOf: predicate) }
                }
            }
        }
    }

    private mutating func add(_ attribute: AttributeDescription) {
        add(attribute.name)
        add(attribute.defaultValue)
        for element in attribute.elements { add(element) }
        let limits = [attribute.validation.minimum, attribute.validation.maximum].compactMap { $0 }
        for limit in limits {
            add(number: limit)
            if attribute.type == .date, let seconds = Double(limit) { dates.insert(seconds) }
        }
        for rule in attribute.validation.rules { add(constantsOf: rule.predicate) }
    }

    private mutating func add(_ text: String) { texts.insert(Array(text.utf8)) }

    private mutating func add(_ value: AttributeValue?) {
        switch value {
        case .string(let text)?, .uri(let text)?: add(text)
        case .integer(let number)?: numbers.insert(number)
        case .double(let number)?: add(number: "\(number)")
        case .decimal(let digits)?: add(number: digits)
        case .date(let seconds)?: dates.insert(seconds)
        default: break
        }
    }

    private mutating func add(number text: String) {
        guard let number = Double(text), let whole = Int64(exactly: number.rounded(.towardZero)) else { return }
        numbers.insert(whole)
        if Double(whole) != number { splitNumbers.insert(whole) }
    }

    /// Adds the quoted texts and the numbers of a predicate.
    private mutating func add(constantsOf predicate: String) {
        for mark in ["'", "\""] as [Character] {
            let parts = predicate.split(separator: mark, omittingEmptySubsequences: false)
            for part in parts.enumerated() where part.offset % 2 == 1 { add(String(part.element)) }
        }
        for number in predicate.split(whereSeparator: { !($0.isNumber || $0 == "." || $0 == "-") }) {
            add(number: String(number))
        }
    }
}
