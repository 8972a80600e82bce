import MoultBasics
import MoultModel
import MoultStore

extension Object {
    /// Checks the current values against every rule of the model.
    ///
    /// - Throws: ``ValidationErrors`` with every broken rule.
    package func validateForInsert() throws { try throwAll(try kind.lock.withLock { try violations() }) }

    /// Checks the values as ``validateForInsert()`` does. Values neither changed nor read are assumed to be valid as
    /// saved.
    package func validateForUpdate() throws { try throwAll(try kind.lock.withLock { try violations() }) }

    /// Checks that no relationship denies the deletion.
    package func validateForDelete() throws { try throwAll(try kind.lock.withLock { try denials() }) }

    /// Checks one value without setting it.
    package func validate(_ value: AttributeValue?, for name: String) throws {
        try kind.lock.withLock {
            let position = try kind.position(of: name)
            let found = try kind.rules.checks.filter { $0.position == position }
                .compactMap { try violation(of: $0.check, position, .attribute(value)) }
            try throwAll(found)
        }
    }

    private func throwAll(_ violations: [ValidationErrors.Violation]) throws {
        if !violations.isEmpty { throw ValidationErrors(violations: violations) }
    }

    func violations() throws -> [ValidationErrors.Violation] {
        try fire()
        var found: [ValidationErrors.Violation] = []
        let rules = kind.rules
        // Nearly every object passes these checks, which need no access to the values themselves.
        let followsThem = rules.required.allSatisfy(hasValue) && rules.numbers.allSatisfy(hasNumber)
        for (position, check) in followsThem ? rules.others : rules.checks {
            var value = values[position]
            if value == nil, let link = kind.links[position], link.isToMany {
                // An unchanged list was valid when it was saved.
                guard deltas[position] != nil else { continue }
                value = .toMany(try list(link))
            }
            // Transient values are missing whenever an object is read.
            if kind.transient.contains(position), position < committed.count, value == committed[position] { continue }
            if let violation = try violation(of: check, position, value) { found.append(violation) }
        }
        return found
    }

    private func hasValue(_ position: Int) -> Bool {
        switch values.presence(at: position) {
        case .present, .decimal: true
        case .missing, .empty: false
        }
    }

    private func hasNumber(_ position: Int) -> Bool {
        // A committed value comes from the store, which holds no NaN.
        if values.shares(position, with: committed) { return true }
        if case .decimal = values.presence(at: position) { return true }
        return switch values[position] {
        case .attribute(.double(let number)?)?, .attribute(.date(let number)?)?: !number.isNaN
        case .attribute(.decimal(let digits)?)?: DecimalStorage.value(digits) != nil
        default: true
        }
    }

    func denials() throws -> [ValidationErrors.Violation] {
        guard let context = kind.context else { return [] }
        try context.settle()
        return try kind.links.compactMap { link in
            guard let link, link.deleteRule == .deny else { return nil }
            let ids = try link.isToMany ? list(link) : destination(link).map { [$0] } ?? []
            let staying = try ids.filter { try !context.object(with: $0).state.contains(.deleted) }
            guard !staying.isEmpty else { return nil }
            return violation(
                .relationshipDeniedDelete, link.position, .toMany(staying),
                "cannot be deleted while \(link.name) leads to \(staying.count == 1 ? "an object" : Quantity.count(staying.count, "object"))"
            )
        }
    }

    private func violation(of check: ValidationRules.Check, _ position: Int, _ value: ObjectValue?) throws
        -> ValidationErrors.Violation?
    {
        switch (check, value) {
        case (.required, .attribute(nil)?), (.required, .toOne(nil)?):
            return violation(.missingMandatoryProperty, position, value, "is required and has no value")
        case (.number, .attribute(.double(let number)?)?) where number.isNaN:
            return violation(.predicate, position, value, "is not a number (NaN), which SQLite cannot store")
        case (.number, .attribute(.date(let seconds)?)?) where seconds.isNaN:
            return violation(.invalidDate, position, value, "is not a date")
        case (.number, .attribute(.decimal(let digits)?)?) where DecimalStorage.value(digits) == nil:
            let message =
                digits == "NaN"
                ? "is not a number (NaN), which the store cannot hold" : "is beyond what a Decimal column keeps"
            return violation(.predicate, position, value, message)
        case (.limits(let limits), .attribute(let given?)?):
            return limits.violation(given).map {
                violation($0.rule, position, value, $0.message, limits.predicate(of: $0.rule))
            }
        case (.predicate(let predicate, let rule, let message), .attribute(let given?)?):
            let holds = try predicate.holds(for: ExpressionValue(given), variables: [:], in: NoObjects())
            return holds ? nil : violation(rule, position, value, message, predicate)
        case (.count(let minimum, let maximum, let mayBeEmpty), .toMany(let ids)?):
            return count(ids.count, minimum, maximum, mayBeEmpty).map { violation($0, position, value, $1) }
        // An undecodable value in the store is not checked until a new one is set.
        default: return nil
        }
    }

    /// An optional relationship may be empty, whatever its minimum count.
    private func count(_ count: Int, _ minimum: Int, _ maximum: Int, _ mayBeEmpty: Bool) -> (
        ValidationErrors.Rule, String
    )? {
        if count == 0, mayBeEmpty { return nil }
        if count < minimum {
            return (
                .relationshipLacksMinimumCount,
                "leads to \(Quantity.count(count, "object")) and must lead to \(minimum)"
            )
        }
        if maximum > 0, count > maximum {
            return (
                .relationshipExceedsMaximumCount,
                "leads to \(Quantity.count(count, "object")) and may lead to \(maximum)"
            )
        }
        return nil
    }

    private func violation(
        _ rule: ValidationErrors.Rule, _ position: Int, _ value: ObjectValue?, _ message: String,
        _ predicate: Predicate? = nil
    ) -> ValidationErrors.Violation {
        let name = kind.shape.properties[position].name
        return ValidationErrors.Violation(
            rule: rule, entityName: kind.entityName, id: identity, property: name, value: value,
            message: "\(name) \(message).", predicate: predicate)
    }
}

/// An empty set of objects, for predicates over a single value.
private struct NoObjects: ObjectValues {
    let now = POSIXSystem().now.sinceReferenceDate

    func value(_ key: String, of object: ObjectID) throws -> ExpressionValue { .null }
}

/// The validation rules of one entity, inherited ones included, prepared for checking.
struct ValidationRules: Sendable {
    /// One rule; it is listed with the position of its property.
    enum Check: Sendable {
        case required
        /// SQLite would store NaN as NULL, and a decimal must be readable as a decimal again.
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

    /// - Throws: `modelInvalid` for a validation predicate that does not parse.
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
                            .count(relationship.minCount, relationship.maxCount, mayBeEmpty: relationship.mayBeEmpty)
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
            // NaN is outside any limits, so it needs no check of its own.
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
