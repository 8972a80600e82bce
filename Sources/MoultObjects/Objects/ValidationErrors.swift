import MoultBasics
import MoultModel

/// All the violations that prevent a save, reported together.
package struct ValidationErrors: Error, Sendable, Hashable {
    package let violations: [Violation]

    /// A violation of one rule by one object.
    package struct Violation: Sendable, Hashable {
        package let rule: Rule
        package let entityName: String
        package let id: ObjectID
        package let property: String
        /// The value that the object holds.
        package let value: ObjectValue?
        /// A sentence that states the value found and the value required.
        package let message: String
        /// The predicate that the value violates; nil if the rule is none.
        package let predicate: Predicate?
    }

    /// The kinds of rules, with Core Data's numbers.
    package enum Rule: Int, Sendable, Hashable, CaseIterable {
        /// A validation predicate of the model, or a number that the store cannot hold.
        case predicate = 1550
        case missingMandatoryProperty = 1570
        case relationshipLacksMinimumCount = 1580
        case relationshipExceedsMaximumCount = 1590
        case relationshipDeniedDelete = 1600
        case numberTooLarge = 1610
        case numberTooSmall = 1620
        case dateTooLate = 1630
        case dateTooSoon = 1640
        case invalidDate = 1650
        case stringTooLong = 1660
        case stringTooShort = 1670
        case stringPatternMatching = 1680
        case invalidURI = 1690
    }

    /// The rule's Core Data constant and number, or `NSValidationMultipleErrorsError` for several violations.
    package var coreData: (constant: String, number: Int) {
        violations.count == 1 ? violations[0].rule.coreData : ("NSValidationMultipleErrorsError", 1560)
    }
}

extension ValidationErrors.Rule {
    package var coreData: (constant: String, number: Int) { (constant, rawValue) }

    private var constant: String {
        switch self {
        case .predicate: "NSManagedObjectValidationError"
        case .missingMandatoryProperty: "NSValidationMissingMandatoryPropertyError"
        case .relationshipLacksMinimumCount: "NSValidationRelationshipLacksMinimumCountError"
        case .relationshipExceedsMaximumCount: "NSValidationRelationshipExceedsMaximumCountError"
        case .relationshipDeniedDelete: "NSValidationRelationshipDeniedDeleteError"
        case .numberTooLarge: "NSValidationNumberTooLargeError"
        case .numberTooSmall: "NSValidationNumberTooSmallError"
        case .dateTooLate: "NSValidationDateTooLateError"
        case .dateTooSoon: "NSValidationDateTooSoonError"
        case .invalidDate: "NSValidationInvalidDateError"
        case .stringTooLong: "NSValidationStringTooLongError"
        case .stringTooShort: "NSValidationStringTooShortError"
        case .stringPatternMatching: "NSValidationStringPatternMatchingError"
        case .invalidURI: "NSValidationInvalidURIError"
        }
    }
}

extension ValidationErrors: CustomStringConvertible {
    package var description: String {
        let list = violations.map { "\($0.id): \($0.message) (\($0.rule.coreData.constant) \($0.rule.rawValue))" }
        return violations.count == 1 ? list[0] : "\(violations.count) rules are broken: \(list.joined(separator: " "))"
    }
}

/// The minimum and maximum of an attribute: a number, a date or a string length.
struct ValueLimits: Sendable {
    let minimum: Double?
    let maximum: Double?
    /// The limits as the model spells them.
    let minimumText: String
    let maximumText: String

    /// Returns nil if the model sets no limits, or the type cannot have any.
    init?(_ attribute: AttributeDescription) {
        switch attribute.type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date: break
        default: return nil
        }
        minimumText = attribute.validation.minimum ?? ""
        maximumText = attribute.validation.maximum ?? ""
        minimum = Double(minimumText)
        maximum = Double(maximumText)
        if minimum == nil, maximum == nil { return nil }
    }

    /// Returns the rule of the limit that a value exceeds or falls short of, with a message; nil if it is within the
    /// limits.
    func violation(_ value: AttributeValue) -> (rule: ValidationErrors.Rule, message: String)? {
        switch value {
        case .integer(let number): limits(of: Double(number), exactly: number)
        case .double(let number): limits(of: number, exactly: nil)
        case .decimal(let digits): Double(digits).flatMap { limits(of: $0, exactly: nil) }
        case .date(let seconds): date(seconds)
        // Core Data counts the UTF-16 units of a string.
        case .string(let text): length(text.utf16.count)
        default: nil
        }
    }

    /// Returns the predicate of the limit that a value exceeds or falls short of.
    func predicate(of rule: ValidationErrors.Rule) -> Predicate? {
        let format: String? =
            switch rule {
            case .numberTooLarge: "SELF <= \(maximumText)"
            case .numberTooSmall: "SELF >= \(minimumText)"
            case .dateTooLate: "SELF <= CAST(\(maximumText), \"NSDate\")"
            case .dateTooSoon: "SELF >= CAST(\(minimumText), \"NSDate\")"
            case .stringTooLong: "length <= \(maximumText)"
            case .stringTooShort: "length >= \(minimumText)"
            default: nil
            }
        return format.flatMap { try? Predicate(parsing: $0) }
    }

    /// Integers beyond 2^53 are compared exactly if the limit is an integer too.
    private func limits(of number: Double, exactly whole: Int64?) -> (ValidationErrors.Rule, String)? {
        if let maximum, exceeds(number, whole, maximum, maximumText) {
            return (.numberTooLarge, "is greater than \(maximumText)")
        }
        if let minimum, falls(number, whole, minimum, minimumText) {
            return (.numberTooSmall, "is less than \(minimumText)")
        }
        return nil
    }

    private func exceeds(_ number: Double, _ whole: Int64?, _ limit: Double, _ text: String) -> Bool {
        if let whole, let exact = Int64(text) { return whole > exact }
        // NaN is outside any limits.
        return !(number <= limit)
    }

    private func falls(_ number: Double, _ whole: Int64?, _ limit: Double, _ text: String) -> Bool {
        if let whole, let exact = Int64(text) { return whole < exact }
        return !(number >= limit)
    }

    private func date(_ seconds: Double) -> (ValidationErrors.Rule, String)? {
        guard seconds.isFinite else { return (.invalidDate, "is not a date") }
        if let maximum, seconds > maximum {
            return (.dateTooLate, "is later than \(maximumText) seconds after 2001-01-01")
        }
        if let minimum, seconds < minimum {
            return (.dateTooSoon, "is earlier than \(minimumText) seconds after 2001-01-01")
        }
        return nil
    }

    private func length(_ count: Int) -> (ValidationErrors.Rule, String)? {
        if let maximum, Double(count) > maximum {
            return (.stringTooLong, "has \(Quantity.count(count, "character")) and may have \(maximumText)")
        }
        if let minimum, Double(count) < minimum {
            return (.stringTooShort, "has \(Quantity.count(count, "character")) and must have \(minimumText)")
        }
        return nil
    }
}
