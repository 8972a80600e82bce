import MoultModel

/// A limit of a model editor as a compiled model holds it: a predicate over the value, and the number of the error.
///
/// The numbers are Core Data's (`NSValidationNumberTooLargeError` and its neighbours).
struct ValidationLimit {
    enum Kind {
        case minimum, maximum, regularExpression

        var field: WritableKeyPath<AttributeDescription.Validation, String?> & Sendable {
            switch self {
            case .minimum: \.minimum
            case .maximum: \.maximum
            case .regularExpression: \.regularExpression
            }
        }
    }

    var kind: Kind
    var text: String

    private static let errorNumbers: [Int64: Kind] = [
        1610: .maximum, 1620: .minimum, 1630: .maximum, 1640: .minimum, 1660: .maximum, 1670: .minimum,
        1680: .regularExpression,
    ]

    /// Nil for a predicate that is no such limit.
    init?(_ predicate: Predicate, errorNumber: Int64?) {
        guard let kind = errorNumber.flatMap({ Self.errorNumbers[$0] }),
            case .comparison(let comparison) = predicate, case .constant(let constant) = comparison.right
        else { return nil }
        let expected: Predicate.Operator =
            switch kind {
            case .minimum: .greaterThanOrEqual
            case .maximum: .lessThanOrEqual
            case .regularExpression: .matches
            }
        guard comparison.operator == expected, let text = constant.limitText else { return nil }
        self.kind = kind
        self.text = text
    }

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// The predicate and error number of the limit for an attribute of a type.
    func compiled(for type: AttributeType) -> (predicate: Predicate, errorNumber: Int64) {
        let isString = type == .string
        let subject: Expression = isString && kind != .regularExpression ? .keyPath("length") : .evaluatedObject
        let number: Expression = .constant(constant(for: type))
        switch kind {
        case .minimum:
            let error: Int64 = isString ? 1670 : type == .date ? 1640 : 1620
            return (.comparison(.init(subject, .greaterThanOrEqual, number)), error)
        case .maximum:
            let error: Int64 = isString ? 1660 : type == .date ? 1630 : 1610
            return (.comparison(.init(subject, .lessThanOrEqual, number)), error)
        case .regularExpression:
            return (.comparison(.init(subject, .matches, .constant(.string(text)))), 1680)
        }
    }

    private func constant(for type: AttributeType) -> ExpressionValue {
        if type == .decimal, DecimalNumber(text)?.text == text { return .decimal(text) }
        if let number = Int64(text), String(number) == text { return .integer(number) }
        if let number = Double(text), String(describing: number) == text { return .real(number) }
        return .string(text)
    }
}

extension ExpressionValue {
    fileprivate var limitText: String? {
        switch self {
        case .integer(let number): String(number)
        case .real(let number): String(describing: number)
        case .decimal(let text), .string(let text): text
        case .date(let seconds): String(describing: seconds)
        case .null, .boolean, .data, .uuid, .uri, .object, .collection: nil
        }
    }
}
