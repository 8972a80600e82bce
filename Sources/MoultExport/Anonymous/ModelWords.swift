import MoultModel

/// The texts, numbers and dates that models themselves name: their names, default values, limits and the constants of
/// their rules. They say nothing about a person, and those that a store holds decide how the store migrates.
struct ModelWords {
    private(set) var texts: Set<[UInt8]> = []
    private(set) var numbers: Set<Int64> = []
    private(set) var dates: Set<Double> = []
    /// The whole part of a limit with a fraction: numbers between this and the next stay on their side of the limit.
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

    /// The texts in quotation marks and the numbers of a predicate.
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
