import MoultModel

/// The rules for the objects of one entity, inherited ones included, ready to be asked.
struct ValidationRules: Sendable {
    /// One rule and the position of the property that it is about.
    enum Check: Sendable {
        case required
        /// SQLite has no NaN: it would write NULL. A decimal has to be one again when it is read.
        case number
        case limits(ValueLimits)
        case predicate(Predicate, ValidationErrors.Rule, message: String)
        case count(Int, Int, mayBeEmpty: Bool)
    }

    let checks: [(position: Int, check: Check)]
    /// The positions of ``Check/required``, and of ``Check/number``.
    let required: [Int]
    let numbers: [Int]
    /// The other checks.
    let others: [(position: Int, check: Check)]

    /// - Throws: `modelInvalid` for a further rule that does not parse.
    init(_ shape: EntityShape) throws {
        var checks: [(Int, Check)] = []
        for (position, property) in shape.properties.enumerated() {
            switch property {
            // Triggers fill a derived attribute after the save.
            case .attribute(_, let attribute) where attribute.derivation != nil: continue
            case .attribute(let name, let attribute):
                if !attribute.isOptional { checks.append((position, .required)) }
                checks += try Self.checks(of: attribute, "\(shape.entity.name).\(name)").map { (position, $0) }
            case .relationship(let relationship, _):
                guard !relationship.isTransient else { continue }
                if relationship.isToMany {
                    guard relationship.minCount > 0 || relationship.maxCount > 0 else { continue }
                    checks.append(
                        (
                            position,
                            .count(
                                relationship.minCount, relationship.maxCount, mayBeEmpty: relationship.mayBeEmpty)
                        ))
                } else if !relationship.isOptional {
                    checks.append((position, .required))
                }
            }
        }
        self.checks = checks
        required = checks.compactMap { if case .required = $0.1 { $0.0 } else { nil } }
        numbers = checks.compactMap { if case .number = $0.1 { $0.0 } else { nil } }
        others = checks.filter { check in
            switch check.1 {
            case .required, .number: false
            case .limits, .predicate, .count: true
            }
        }
    }

    private static func checks(of attribute: AttributeDescription, _ place: String) throws -> [Check] {
        let validation = attribute.validation
        var checks: [Check] = []
        if let limits = ValueLimits(attribute) {
            // Within which NaN is not either.
            checks.append(.limits(limits))
        } else if [.double, .float, .decimal, .date].contains(attribute.type) {
            checks.append(.number)
        }
        if let pattern = validation.regularExpression, !pattern.isEmpty {
            let matches = Predicate.comparison(.init(.evaluatedObject, .matches, .constant(.string(pattern))))
            checks.append(.predicate(matches, .stringPatternMatching, message: "does not match \(pattern)"))
        }
        for rule in validation.rules {
            do {
                checks.append(
                    .predicate(
                        try Predicate(parsing: rule.predicate), .predicate,
                        message: "breaks the rule \(rule.predicate): \(rule.warning)"))
            } catch {
                throw MigrationError(
                    .modelInvalid, "A rule of \(place) cannot be read: \(rule.predicate).", place: place,
                    remedy: "Correct the predicate in the model.", cause: error.message)
            }
        }
        return checks
    }
}
