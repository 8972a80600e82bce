import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite

/// The expressions and the predicate of one entity mapping in SQL, over a row `s` of the source table.
package struct MappedValues: Sendable {
    /// The values by attribute, or by element of a composite one: `address.street`.
    private(set) var values: [String: ColumnSource] = [:]
    /// By attribute, the condition for rows whose value has no equal in the attribute's type.
    package private(set) var failures: [String: SQLText] = [:]
    /// By attribute, the condition for rows whose decimal has more digits than the column can store.
    private(set) var roundings: [String: SQLText] = [:]
    /// The condition for the rows that the mapping takes; nil for all.
    private(set) var condition: SQLText?
    package private(set) var functions: [TransformFunction] = []

    private struct Origin: Sendable {
        let mapping: ResolvedEntityMapping
        let old: EntityDescription
        let new: EntityDescription
        let source: StoreLayout
        let schema: String
    }

    private let origin: Shared<Origin>
    private var mapping: ResolvedEntityMapping { origin.value.mapping }
    private var old: EntityDescription { origin.value.old }
    private var new: EntityDescription { origin.value.new }

    /// - Parameters:
    ///   - schema: the schema that contains the source's tables.
    ///   - number: the mapping's position among all mappings, for the names of functions.
    /// - Throws: `unsupported` if statements cannot compute a value, with the property as the place.
    init(
        _ mapping: ResolvedEntityMapping, _ old: EntityDescription, _ new: EntityDescription,
        from source: StoreLayout, to destination: StoreLayout, schema: String, number: Int
    ) throws {
        origin = Shared(Origin(mapping: mapping, old: old, new: new, source: source, schema: schema))
        try refuseLongConstants()
        for (position, name) in mapping.attributes.keys.sorted().enumerated() {
            guard case .expression(let expression)? = mapping.attributes[name],
                let attribute = destination.model.attribute(name, of: new)
            else { continue }
            let place = "\(new.name).\(name)"
            try Self.explain(place) {
                try lower(expression, for: attribute, prefix: "moult_transform_\(number)_\(position)")
            }
        }
        if let predicate = mapping.predicate {
            condition = try Self.explain(mapping.name) {
                let (scope, format) = lowering(predicate.format)
                return scope.value(try format.lower(predicate).sql)
            }
        }
    }

    /// Refuses constants in a written mapping that would be rounded. Default values of the model are stored as Core
    /// Data stores them.
    private func refuseLongConstants() throws {
        for (name, source) in mapping.attributes.sorted(by: { $0.key < $1.key }) {
            guard case .constant(.decimal(let digits)) = source, DecimalStorage.equal(to: digits) == nil,
                mapping.written?.attributeMapping(name)?.valueExpression != nil
            else { continue }
            throw longConstant(digits, for: name)
        }
    }

    private func longConstant(_ digits: String, for name: String) -> MigrationError {
        MigrationError(
            .unsupported, "A Decimal column cannot hold \(digits) to its last digit.", place: "\(new.name).\(name)",
            remedy: "Round the constant to 15 digits.")
    }

    private static func explain<Result>(_ place: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MigrationError
            where [.fetchUnsupported, .invalidPredicate].contains(error.code)
        {
            throw MigrationError(
                .unsupported, error.message, place: place,
                remedy: "Change the expression, or write a closure or a migration policy for it.")
        }
    }

    private func lowering(_ text: String) -> (scope: QueryScope, format: FormatLowering) {
        let aliases = AliasCounter(schema: origin.value.schema)
        let scope = QueryScope("s", link: nil, aliases: aliases)
        let row = RowReference(scope, old, alias: "s")
        var format = FormatLowering(
            layout: origin.value.source, store: nil, aliases: aliases, evaluated: row,
            variables: ["source": .object(row)], now: 0, format: text)
        // Seconds since 2001-01-01, which is Julian day 2451910.5.
        format.nowText = "((julianday('now') - 2451910.5) * 86400.0)"
        return (scope, format)
    }

    /// Takes every row of the entity.
    mutating func takeAll() { condition = nil }

    // MARK: - Attributes

    private mutating func lower(_ expression: Expression, for attribute: AttributeDescription, prefix: String) throws {
        var (scope, format) = lowering(expression.format)
        let conversions = ConversionLog()
        let calls = TransformCalls(
            mapping.written?.attributeMapping(attribute.name)?.transforms ?? [], for: attribute, of: new.name,
            from: old.name, prefix: prefix)
        format.conversions = conversions
        format.transforms = calls
        switch try format.lower(expression) {
        case .constant(let constant):
            guard let value = constant.converted(to: attribute.type) else {
                if constant.isNull {
                    values[attribute.name] = .null
                    return
                }
                throw format.refuse(expression.format, "it is not a value of type \(attribute.type.name)")
            }
            if case .decimal(let digits) = value, DecimalStorage.equal(to: digits) == nil {
                throw longConstant(digits, for: attribute.name)
            }
            values[attribute.name] = .literal(value.stored(for: attribute))
        case .value(let value):
            let stored = try self.stored(value, as: attribute, expression, format, conversions)
            let found = scope.value(stored)
            let readsColumn = attribute.type != .decimal || value.exact == nil
            let plain = scope.value(value.sql)
            let named = readsColumn ? column(plain) : nil
            func columnSource(_ sql: SQLText) -> ColumnSource {
                guard let named else { return .expression(sql) }
                return sql == plain ? .column(named) : .converted(named, sql)
            }
            values[attribute.name] = columnSource(found)
            if attribute.type == .decimal, value.kind == .decimal, let digits = value.exact {
                let rounds: SQLText = "\(name: ValueConversion.roundsName)(\(digits))"
                roundings[attribute.name] = scope.value(rounds)
            }
            guard let failure = conversions.failure else { break }
            // A Float is rounded to the nearest value, which is not wanted when undoing a change from Float to Double.
            let rounds: SQLText =
                mapping.written == nil && attribute.type == .float ? " OR (\(stored)) <> (\(value.sql))" : ""
            let condition = scope.value("(\(stored)) IS NULL AND (\(failure))\(rounds)")
            failures[attribute.name] = condition
            if let substitute = attribute.defaultValue?.stored(for: attribute) {
                values[attribute.name] = columnSource(
                    "CASE WHEN \(condition) THEN \(value: substitute) ELSE \(found) END")
            }
        case .object, .collection, .composite, .elements:
            throw format.refuse(expression.format, "it is not one value, as \(attribute.name) needs it")
        }
        functions += calls.functions
    }

    /// Returns the source column if the expression consists of a column name only.
    private func column(_ sql: SQLText) -> String? {
        origin.value.source.table(for: old)?.columns.first { sql == "\(name: "s").\(name: $0.name)" }?.name
    }

    /// Returns the value as the column stores it.
    private func stored(
        _ value: LoweredValue, as attribute: AttributeDescription, _ expression: Expression, _ format: FormatLowering,
        _ conversions: ConversionLog
    ) throws -> SQLText {
        let isBytes = attribute.type == .binary || attribute.type == .transformable
        if let from = value.attribute, isBytes, from.type == attribute.type {
            switch (from.allowsExternalBinaryDataStorage, attribute.allowsExternalBinaryDataStorage) {
            case (true, false): return "moult_inline(\(value.sql))"
            case (false, true): return Self.external(value.sql)
            default: return value.sql
            }
        }
        guard value.kind != .opaque, attribute.type != .transformable else {
            throw format.refuse(expression.format, "only a closure or a policy can make \(attribute.name) of it")
        }
        let converted = ValueConversion.sql(value, as: attribute.type)
        let digits = value.exact ?? value.sql
        if converted != value.sql, converted != digits { conversions.add(value.sql, converted) }
        return attribute.allowsExternalBinaryDataStorage ? Self.external(converted) : converted
    }

    /// Returns bytes in the form that a row with external storage contains.
    static func external(_ value: SQLText) -> SQLText {
        "CASE WHEN \(value) IS NOT NULL THEN CAST(x'01' || \(value) AS BLOB) END"
    }
}

/// The source of a column's values, for a row `s` of the source table.
package enum ColumnSource: Sendable, Hashable {
    /// The given column of the row.
    case column(String)
    /// The given column of the row, with another value in place of nil.
    case filled(String, SQLiteValue)
    /// The same value for each row.
    case literal(SQLiteValue)
    /// The given column's value, converted. The SQL only tests it for NULL and passes it to functions. It never
    /// compares the value, because a comparison depends on the declared type.
    case converted(String, SQLText)
    case expression(SQLText)

    static let null = literal(.null)

    package var sql: SQLText {
        switch self {
        case .column(let name): "s.\(name: name)"
        case .filled(let name, let value): "COALESCE(s.\(name: name), \(value: value))"
        case .literal(let value): "\(value: value)"
        case .converted(_, let sql), .expression(let sql): sql
        }
    }
}

extension SQLiteValue {
    /// Whether the value has an SQL literal, as a column's default requires; other values need an expression.
    var hasLiteral: Bool {
        switch self {
        case .null, .real, .blob: true
        case .integer(let number): number != .min
        case .text(let text): !text.utf8.contains(0)
        }
    }
}

extension AttributeValue {
    /// Returns the value as Core Data stores it in a column of `attribute`.
    package func stored(for attribute: AttributeDescription) -> SQLiteValue {
        if attribute.allowsExternalBinaryDataStorage, case .blob(let bytes)? = stored { return .blob([1] + bytes) }
        // SQLite stores NaN as NULL.
        if case .real(let number)? = stored, number.isNaN { return .null }
        return stored ?? .null
    }
}
