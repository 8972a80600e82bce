import MoultBasics
import MoultModel
import MoultSQLite

extension FormatLowering {
    /// Lowers a comparison of two single values.
    func compareSingle(_ left: Lowered, _ right: Lowered, _ test: Test) throws -> LoweredCondition {
        switch (left, right) {
        case (.constant(let first), .constant(let second)): return try constant(first, second, test)
        case (.object(let row), .constant(let value)), (.constant(let value), .object(let row)):
            return try compare(row, value, test)
        case (.object(let first), .object(let second)): return try compare(first, second, test)
        case (.value(let value), .constant(let constant)) where constant.isNull,
            (.constant(let constant), .value(let value)) where constant.isNull:
            return isNull(value.sql, test)
        case (.value(let value), .constant(let constant)):
            return try compare(value, bound(constant, test), test)
        case (.constant(let constant), .value(let value)):
            return try compare(bound(constant, test), value, test)
        case (.value(let first), .value(let second)): return try compare(first, second, test)
        case (.object(let row), .value(let value)), (.value(let value), .object(let row)):
            return try onlyNull(row.key, value.sql, test)
        case (.collection, _), (_, .collection), (.elements, _), (_, .elements):
            throw refuse(test.format, "a collection is compared as if it were one value; use ANY, ALL or IN")
        case (.composite, _), (_, .composite):
            throw refuse(test.format, "a composite attribute has no single value; compare its elements")
        }
    }

    private func bound(_ constant: ExpressionValue, _ test: Test) throws -> LoweredValue {
        guard let stored = constant.stored else {
            if case .object = constant { return LoweredValue(sql: "", kind: .object, mayBeNull: false) }
            throw refuse(test.format, "a collection is compared as if it were one value; use ANY, ALL or IN")
        }
        return LoweredValue(sql: "\(value: stored.value)", kind: stored.kind, mayBeNull: false)
    }

    // MARK: - Constants and nil

    private func constant(_ left: ExpressionValue, _ right: ExpressionValue, _ test: Test) throws -> LoweredCondition {
        do throws(MigrationError) {
            return .constant(try test.operator.holds(left, right, test.options))
        } catch {
            throw error.place.isEmpty ? refuse(test.format, error.message) : error
        }
    }

    /// Lowers a comparison with nil. Equality distinguishes nil from a value; any other operator is false.
    private func isNull(_ value: SQLText, _ test: Test) -> LoweredCondition {
        switch test.operator {
        case .equal: LoweredCondition("\(value) IS NULL")
        case .notEqual: LoweredCondition("\(value) IS NOT NULL")
        default: .constant(false)
        }
    }

    /// Compares values of different kinds, which are equal only if both are nil.
    private func onlyNull(_ left: SQLText, _ right: SQLText, _ test: Test) throws -> LoweredCondition {
        let bothNull = LoweredCondition("\(left) IS NULL AND \(right) IS NULL")
        switch test.operator {
        case .equal: return bothNull
        case .notEqual: return bothNull.negated
        default: throw refuse(test.format, "\(test.operator.symbol) cannot compare values of different kinds")
        }
    }

    /// Compares values of different kinds, at least one of which is not nil.
    private func never(_ test: Test) throws -> LoweredCondition {
        switch test.operator {
        case .equal: return .constant(false)
        case .notEqual: return .constant(true)
        default: throw refuse(test.format, "\(test.operator.symbol) cannot compare values of different kinds")
        }
    }

    // MARK: - Objects

    /// Returns the key of an object if it can be a row of `entity`'s table; nil otherwise.
    func key(of id: ObjectID, in entity: EntityDescription) -> Int64? {
        guard id.store == store, let own = model.entity(id.entityName),
            model.root(of: own).name == model.root(of: entity).name
        else { return nil }
        return id.key
    }

    private func compare(_ row: RowReference, _ value: ExpressionValue, _ test: Test) throws -> LoweredCondition {
        switch value {
        case .null: return isNull(row.key, test)
        case .object(let id):
            guard let key = key(of: id, in: row.entity) else { return try never(test) }
            return try equality(
                LoweredValue(sql: row.key, kind: .object, mayBeNull: row.mayBeNull),
                LoweredValue(sql: "\(value: .integer(key))", kind: .object, mayBeNull: false), test)
        default: return try never(test)
        }
    }

    private func compare(_ first: RowReference, _ second: RowReference, _ test: Test) throws -> LoweredCondition {
        guard model.root(of: first.entity).name == model.root(of: second.entity).name else {
            return try onlyNull(first.key, second.key, test)
        }
        return try equality(
            LoweredValue(sql: first.key, kind: .object, mayBeNull: first.mayBeNull),
            LoweredValue(sql: second.key, kind: .object, mayBeNull: second.mayBeNull), test)
    }

    private func equality(_ left: LoweredValue, _ right: LoweredValue, _ test: Test) throws -> LoweredCondition {
        guard let native = native(left, right, test.operator) else { return try never(test) }
        return native
    }

    // MARK: - Values

    private func compare(_ left: LoweredValue, _ right: LoweredValue, _ test: Test) throws -> LoweredCondition {
        guard let family = left.kind.family, let other = right.kind.family else {
            throw refuse(
                test.format, "the store knows the bytes of a transformable or external value, not their meaning")
        }
        guard family == other else {
            return left.mayBeNull && right.mayBeNull ? try onlyNull(left.sql, right.sql, test) : try never(test)
        }
        guard family == .text else {
            if let native = native(left, right, test.operator) { return native }
            throw refuse(test.format, "\(test.operator.symbol) applies to texts only")
        }
        if test.operator == .like || test.operator == .matches { return pattern(left, right, test) }
        let (left, right) = (left.folded(test.options.folding), right.folded(test.options.folding))
        return native(left, right, test.operator) ?? text(left, right, test.operator) ?? pattern(left, right, test)
    }

    /// Calls the in-memory evaluation from SQL.
    private func pattern(_ left: LoweredValue, _ right: LoweredValue, _ test: Test) -> LoweredCondition {
        LoweredCondition(
            """
            \(name: FormatFunctions.holds)(\(test.operator.rawValue), \(test.options.rawValue), \(left.sql), \(right.sql))
            """)
    }

    /// Returns SQLite's own operator, which compares values of the same kind exactly as the in-memory evaluation does.
    private func native(_ left: LoweredValue, _ right: LoweredValue, _ operator: Predicate.Operator)
        -> LoweredCondition?
    {
        let bothMayBeNull = left.mayBeNull && right.mayBeNull
        let eitherMayBeNull = left.mayBeNull || right.mayBeNull
        func condition(_ symbol: SQLText, mayBeNull: Bool = eitherMayBeNull) -> LoweredCondition {
            LoweredCondition("\(left.sql) \(symbol) \(right.sql)", mayBeNull: mayBeNull)
        }
        switch `operator` {
        case .equal: return bothMayBeNull ? condition("IS", mayBeNull: false) : condition("=")
        case .notEqual: return condition(eitherMayBeNull ? "IS NOT" : "<>", mayBeNull: false)
        case _ where left.kind == .object: return nil
        case .lessThan: return condition("<")
        case .lessThanOrEqual: return condition("<=")
        case .greaterThan: return condition(">")
        case .greaterThanOrEqual: return condition(">=")
        case .matches, .like, .beginsWith, .endsWith, .in, .contains, .between: return nil
        }
    }

    /// Returns a search for a constant in a text, if SQLite can compare the two byte by byte.
    private func text(_ left: LoweredValue, _ right: LoweredValue, _ operator: Predicate.Operator) -> LoweredCondition?
    {
        guard right.sql.text == "?", case .text(let part)? = right.sql.values.first else { return nil }
        if part.isEmpty { return .constant(false) }
        switch `operator` {
        case .beginsWith:
            let lower: SQLText = "\(left.sql) >= \(right.sql)"
            let range: SQLText? = part.successor.map { "\(lower) AND \(left.sql) < \(value: .text($0))" }
            return LoweredCondition(range ?? lower, mayBeNull: left.mayBeNull)
        case .endsWith:
            // In a text, SQLite counts only the characters before the first NUL.
            let bytes = Array(part.utf8)
            return LoweredCondition(
                "substr(CAST(\(left.sql) AS BLOB), \(-bytes.count)) = \(value: .blob(bytes))", mayBeNull: left.mayBeNull
            )
        case .contains:
            return LoweredCondition("instr(\(left.sql), \(right.sql)) > 0", mayBeNull: left.mayBeNull)
        default: return nil
        }
    }
}

extension LoweredValue {
    /// Returns the value in the form in which texts are compared under `options` (``Swift/String/folded(_:)``).
    package func folded(_ options: Predicate.Options) -> LoweredValue {
        guard !options.isEmpty else { return self }
        var folded = self
        if sql.text == "?", case .text(let text)? = sql.values.first {
            folded.sql = "\(value: .text(text.folded(options)))"
        } else {
            folded.sql = "\(name: FormatFunctions.fold)(\(options.rawValue), \(sql))"
        }
        return folded
    }
}

extension ExpressionValue {
    func folded(_ options: Predicate.Options) -> ExpressionValue { text.map { .string($0.folded(options)) } ?? self }
}

extension Predicate.Options {
    /// The options that change how texts are folded; empty if texts are compared unchanged.
    package var folding: Predicate.Options {
        contains(.normalized) ? [] : intersection([.caseInsensitive, .diacriticInsensitive])
    }
}

extension String {
    /// The smallest text, in scalar order, that follows all texts with this prefix; nil if there is none.
    var successor: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // Skip the surrogates, which are not scalars.
            if let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) {
                scalars.append(next)
                var text = ""
                text.unicodeScalars.append(contentsOf: scalars)
                return text
            }
        }
        return nil
    }
}
