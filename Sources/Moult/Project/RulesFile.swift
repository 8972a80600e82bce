import MoultBasics
import MoultModel
import MoultObjects

/// Rules in JSON: `{"format": 1, "rules": [...]}`. Documentation/Rules.md describes the format.
package struct RulesFile: Sendable {
    package let rules: [ValidationRule]

    /// - Parameter place: the name of the text in errors, such as the file's path.
    /// - Throws: `usage` with line and column if the text is not JSON; otherwise with all errors in the file, each with
    ///   its location, such as `rules[2].fix.set.rate`.
    package init(json: [UInt8], place: String) throws {
        let document = try JSONValue(parsing: json, place: place, code: .usage)
        var reader = RulesReader()
        rules = reader.rules(document)
        try reader.faults.check(place: place)
    }
}

/// A reader of the whole document, which records errors instead of stopping at the first.
private struct RulesReader {
    var faults = RuleFaults()

    mutating func rules(_ document: JSONValue) -> [ValidationRule] {
        guard document.members != nil else {
            faults.add("the file", "It is not an object; write {\"format\": 1, \"rules\": [ ... ]}.")
            return []
        }
        guard document["format"]?.integer == 1 else {
            faults.add("format", "It is not 1, the only format that this version of Moult reads.")
            return []
        }
        refuseUnknown(document, at: "", known: ["format", "rules"])
        guard let list = document["rules"]?.array else {
            faults.add("rules", "There is no list of rules.")
            return []
        }
        return list.enumerated().compactMap { rule($1, at: "rules[\($0)]") }
    }

    private static let kinds = ["predicate", "orphan", "minimum", "count", "noCycle", "unique"]

    private mutating func rule(_ value: JSONValue, at place: String) -> ValidationRule? {
        guard value.members != nil else {
            faults.add(place, "A rule is an object.")
            return nil
        }
        refuseUnknown(value, at: place, known: ["name", "severity", "entity", "sentence", "fix", "when"] + Self.kinds)
        let name = text(value, "name", at: place)
        let entity = text(value, "entity", at: place)
        let severity = self.severity(value["severity"], at: "\(place).severity")
        let sentence = value["sentence"] == nil ? "" : text(value, "sentence", at: place)
        let kind = self.kind(value, at: place)
        let fix = value["fix"].flatMap { self.fix($0, at: "\(place).fix") }
        let when = value["when"].map { self.moments($0, at: "\(place).when") } ?? [.after]
        guard let name, let entity, let kind, let severity, let sentence else { return nil }
        return ValidationRule(name, severity, of: entity, kind, sentence: sentence, fix: fix, when: when)
    }

    private mutating func severity(_ value: JSONValue?, at place: String) -> ValidationRule.Severity? {
        guard let value else { return .error }
        if let severity = value.string.flatMap(ValidationRule.Severity.init) { return severity }
        faults.add(place, "A severity is \"warning\" or \"error\".")
        return nil
    }

    private mutating func moments(_ value: JSONValue, at place: String) -> Set<ValidationRule.Moment> {
        guard let list = value.array else {
            faults.add(place, "It is a list of \"before\", \"after\" and {\"afterStep\": NAME}.")
            return []
        }
        var moments: Set<ValidationRule.Moment> = []
        for (number, moment) in list.enumerated() {
            switch (moment.string, moment["afterStep"]?.string) {
            case ("before", _): moments.insert(.before)
            case ("after", _): moments.insert(.after)
            case (nil, let step?): moments.insert(.afterStep(step))
            default: faults.add("\(place)[\(number)]", "It is \"before\", \"after\" or {\"afterStep\": NAME}.")
            }
        }
        return moments
    }

    // MARK: - Kinds

    private mutating func kind(_ rule: JSONValue, at place: String) -> ValidationRule.Kind? {
        let given = Self.kinds.filter { rule[$0] != nil }
        guard given.count == 1, let word = given.first, let value = rule[word] else {
            faults.add(
                place,
                given.isEmpty
                    ? "It checks nothing: give one of \(Self.kinds.joined(separator: ", "))."
                    : "It checks \(given.joined(separator: " and ")); one rule checks one thing.")
            return nil
        }
        let place = "\(place).\(word)"
        switch word {
        case "predicate": return predicate(value, at: place).map { .predicate($0) }
        case "orphan": return text(value, at: place).map { .orphan(relationship: $0) }
        case "noCycle": return text(value, at: place).map { .noCycle(relationship: $0) }
        case "minimum": return minimum(value, at: place)
        case "count": return count(value, at: place)
        default: return unique(value, at: place)
        }
    }

    private mutating func minimum(_ value: JSONValue, at place: String) -> ValidationRule.Kind? {
        if let number = value.integer.flatMap({ Int(exactly: $0) }) { return .minimumCount(number) }
        guard value.members != nil else {
            faults.add(place, "It is a number, or {\"ofSource\": SHARE, \"fewer\": NUMBER}.")
            return nil
        }
        refuseUnknown(value, at: place, known: ["ofSource", "fewer", "sourceEntity"])
        let share = value["ofSource"]?.double
        if share == nil { faults.add("\(place).ofSource", "It is a number from 0 to 1.") }
        let fewer = value["fewer"].map { $0.integer.flatMap { Int(exactly: $0) } } ?? 0
        if fewer == nil { faults.add("\(place).fewer", "It is a whole number.") }
        let entity = value["sourceEntity"].flatMap { text($0, at: "\(place).sourceEntity") }
        guard let share, let fewer else { return nil }
        return .minimumOfSource(.init(share: share, fewer: fewer, sourceEntityName: entity))
    }

    private mutating func count(_ value: JSONValue, at place: String) -> ValidationRule.Kind? {
        guard value.members != nil else {
            faults.add(place, "It is {\"attribute\": NAME, \"of\": RELATIONSHIP} or {…, \"equals\": EXPRESSION}.")
            return nil
        }
        refuseUnknown(value, at: place, known: ["attribute", "of", "where", "equals"])
        let attribute = text(value, "attribute", at: place)
        let predicate = value["where"].map { self.predicate($0, at: "\(place).where") }
        switch (value["of"], value["equals"]) {
        case (let relationship?, nil):
            guard let relationship = text(relationship, at: "\(place).of"), let attribute else { return nil }
            if let predicate {
                return predicate.map { .count(attribute: attribute, equalsCountOf: relationship, where: $0) }
            }
            return .count(attribute: attribute, equalsCountOf: relationship)
        case (nil, let equals?):
            if predicate != nil { faults.add("\(place).where", "It belongs to \"of\", not to \"equals\".") }
            guard let expression = expression(equals, at: "\(place).equals"), let attribute else { return nil }
            return .count(attribute: attribute, equals: expression)
        default:
            faults.add(place, "Give either \"of\", a relationship, or \"equals\", an expression.")
            return nil
        }
    }

    private mutating func unique(_ value: JSONValue, at place: String) -> ValidationRule.Kind? {
        guard let list = value.array else { return text(value, at: place).map { .unique([$0]) } }
        let names = list.enumerated().compactMap { text($1, at: "\(place)[\($0)]") }
        return names.count == list.count ? .unique(names) : nil
    }

    // MARK: - Fixes

    private mutating func fix(_ value: JSONValue, at place: String) -> ValidationRule.Fix? {
        switch value.string {
        case "delete": return .delete
        case "quarantine": return .quarantine
        case "recount": return .recount
        default: break
        }
        if let values = value["set"] {
            refuseUnknown(value, at: place, known: ["set"])
            return expressions(values, at: "\(place).set").map { .set($0) }
        }
        if let relationship = value["nullify"] {
            refuseUnknown(value, at: place, known: ["nullify"])
            return text(relationship, at: "\(place).nullify").map { .nullify(relationship: $0) }
        }
        if let relationship = value["assign"] {
            refuseUnknown(value, at: place, known: ["assign", "to", "orNewWith"])
            let name = text(relationship, at: "\(place).assign")
            let predicate = self.predicate(value["to"] ?? .null, at: "\(place).to")
            let values = value["orNewWith"].flatMap { expressions($0, at: "\(place).orNewWith") }
            guard let name, let predicate else { return nil }
            return .assign(relationship: name, .init(where: predicate, orNewWith: values))
        }
        faults.add(
            place,
            "It is \"delete\", \"quarantine\", \"recount\", {\"set\": …}, {\"nullify\": …} or {\"assign\": …, \"to\": …}."
        )
        return nil
    }

    private mutating func expressions(_ value: JSONValue, at place: String) -> [String: Expression]? {
        guard let members = value.members else {
            faults.add(place, "It is an object of property names and expressions.")
            return nil
        }
        var expressions: [String: Expression] = [:]
        for member in members { expressions[member.key] = expression(member.value, at: "\(place).\(member.key)") }
        return expressions.count == members.count ? expressions : nil
    }

    // MARK: - Values

    private mutating func refuseUnknown(_ value: JSONValue, at place: String, known: [String]) {
        for member in value.members ?? [] where !known.contains(member.key) {
            faults.add(
                place.isEmpty ? member.key : "\(place).\(member.key)",
                "There is no such key. The keys are: \(known.joined(separator: ", ")).")
        }
    }

    private mutating func text(_ value: JSONValue, _ key: String, at place: String) -> String? {
        text(value[key] ?? .null, at: "\(place).\(key)")
    }

    private mutating func text(_ value: JSONValue, at place: String) -> String? {
        if let text = value.string, !text.isEmpty { return text }
        faults.add(place, "It is a non-empty text.")
        return nil
    }

    private mutating func predicate(_ value: JSONValue, at place: String) -> Predicate? {
        parsed(value, at: place) { text throws(MigrationError) in try Predicate(parsing: text) }
    }

    /// Reads an expression. A number is a constant, so that `"rate": 0` needs no quotes.
    private mutating func expression(_ value: JSONValue, at place: String) -> Expression? {
        switch value {
        case .null: return .constant(.null)
        case .bool(let flag): return .constant(.boolean(flag))
        case .integer(let number): return .constant(.integer(number))
        case .double(let number): return .constant(.real(number))
        case .string, .array, .object:
            return parsed(value, at: place) { text throws(MigrationError) in try Expression(parsing: text) }
        }
    }

    private mutating func parsed<Value>(
        _ value: JSONValue, at place: String, _ parse: (String) throws(MigrationError) -> Value
    ) -> Value? {
        guard let text = text(value, at: place) else { return nil }
        do throws(MigrationError) {
            return try parse(text)
        } catch {
            faults.add(place, "\(error.message) (at \(error.place) of \"\(text)\")")
            return nil
        }
    }
}
