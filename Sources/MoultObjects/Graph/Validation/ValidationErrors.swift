import MoultModel

/// Everything that keeps the objects of a save from being valid, all of it at once.
package struct ValidationErrors: Error, Sendable, Hashable {
    package let violations: [Violation]

    /// One rule that one object breaks.
    package struct Violation: Sendable, Hashable {
        package let rule: Rule
        package let entityName: String
        package let id: ObjectID
        package let property: String
        /// The value that the object holds.
        package let value: ObjectValue?
        /// One sentence that says what was found and what is asked for.
        package let message: String
    }

    /// The kinds of rules, with Core Data's numbers.
    package enum Rule: Int, Sendable, Hashable, CaseIterable {
        /// A further rule that code gave.
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

    /// The rule's own constant and number, or `NSValidationMultipleErrorsError` for several violations.
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
        return violations.count == 1
            ? list[0] : "\(violations.count) rules are broken: \(list.joined(separator: " "))"
    }
}
