import Moult
import MoultBasics
import MoultModel
import MoultObjects

/// A condition on one property, as a person chooses it: `writtenAt`, `is at least`, `2020-01-01`.
package struct ColumnFilter: Sendable, Hashable {
    package enum Operator: String, Sendable, Hashable, CaseIterable {
        case equal = "eq"
        case notEqual = "ne"
        case contains, begins, ends
        case less = "lt"
        case atMost = "le"
        case greater = "gt"
        case atLeast = "ge"
        case isNil = "nil"
        case isNotNil = "any"

        /// The operator between a property and a value.
        package var words: String {
            switch self {
            case .equal: "is"
            case .notEqual: "is not"
            case .contains: "contains"
            case .begins: "begins with"
            case .ends: "ends with"
            case .less: "is less than"
            case .atMost: "is at most"
            case .greater: "is greater than"
            case .atLeast: "is at least"
            case .isNil: "is nil"
            case .isNotNil: "is not nil"
            }
        }

        package var takesValue: Bool { self != .isNil && self != .isNotNil }
        fileprivate var isOfText: Bool { [.contains, .begins, .ends].contains(self) }

        fileprivate var predicate: MoultModel.Predicate.Operator {
            switch self {
            case .equal, .isNil: .equal
            case .notEqual, .isNotNil: .notEqual
            case .contains: .contains
            case .begins: .beginsWith
            case .ends: .endsWith
            case .less: .lessThan
            case .atMost: .lessThanOrEqual
            case .greater: .greaterThan
            case .atLeast: .greaterThanOrEqual
            }
        }
    }

    package var column: String
    package var `operator`: Operator
    /// The value as typed.
    package var value: String

    package init(_ column: String, _ operator: Operator, _ value: String = "") {
        (self.column, self.operator, self.value) = (column, `operator`, value)
    }

    /// The condition as a person reads it.
    package var sentence: String { "\(column) \(`operator`.words)\(`operator`.takesValue ? " \(value)" : "")" }

    /// Whether a column can have a filter.
    package static func applies(to column: EntityContents.Column) -> Bool {
        switch column.source {
        case .attribute(_, let type, _): ![.composite, .undefined].contains(type)
        case .toOne: true
        case .key, .entity, .toOneEntity, .raw: false
        }
    }
}

extension ObjectReader {
    /// Returns a filter as a predicate.
    ///
    /// - Throws: `usage` if the entity has no such property, or the property no such operator or value.
    package func predicate(_ filter: ColumnFilter, of entity: EntityContents) throws -> MoultModel.Predicate {
        guard let column = entity.column(filter.column), ColumnFilter.applies(to: column) else {
            let names = entity.columns.filter(ColumnFilter.applies).map(\.name)
            throw MigrationError(
                .usage, "\(entity.name) cannot be filtered by \(filter.column).", place: entity.name,
                remedy: "Choose one of: \(names.joined(separator: ", ")).")
        }
        let path = Expression.keyPath(column.property ?? column.name)
        guard filter.operator.takesValue else {
            return .comparison(.init(path, filter.operator.predicate, .constant(.null)))
        }
        switch column.source {
        case .attribute(_, let type, _): return try predicate(filter, path, type, entity.name)
        default: return try predicate(filter, toOne: column, entity)
        }
    }

    private func predicate(
        _ filter: ColumnFilter, _ path: Expression, _ type: AttributeType, _ entity: String
    ) throws -> MoultModel.Predicate {
        func wrong(_ need: String) -> MigrationError {
            MigrationError(
                .usage,
                "\(entity).\(filter.column) is of type \(type.name), which “\(filter.operator.words) \(filter.value)” does not fit.",
                place: filter.sentence, remedy: Remedy(need))
        }
        let value: ExpressionValue
        switch type {
        case .string, .uri:
            // Core Data finds an empty text in none. Here it is a value that is not typed yet.
            if filter.operator.isOfText, filter.value.isEmpty {
                return .comparison(.init(path, .notEqual, .constant(.null)))
            }
            value = .string(filter.value)
        case _ where filter.operator.isOfText:
            throw wrong("Choose one of the operators for numbers, such as “is”.")
        case .integer16, .integer32, .integer64, .decimal, .double, .float:
            guard let number = ExpressionNumber(digits: filter.value.trimmed) else { throw wrong("Give a number.") }
            switch number {
            case .integer(let number): value = .integer(number)
            case .real(let number): value = .real(type == .float ? Double(Float(number)) : number)
            }
        case .boolean:
            let words = ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false]
            guard let flag = words[filter.value.trimmed.lowercased()] else { throw wrong("Give true or false.") }
            value = .boolean(flag)
        case .date:
            guard let span = DateSpan(filter.value) else {
                throw wrong("Give a date in UTC, such as 2026-01-31 or 2026-01-31 14:05.")
            }
            return span.predicate(filter.operator, path)
        case .uuid:
            guard
                case .uuid(let bytes)? = AttributeValue(
                    document: .string(filter.value.trimmed), type: type, seconds: nil)
            else { throw wrong("Give a UUID in its usual form of 36 characters.") }
            value = .uuid(bytes)
        case .binary, .transformable, .composite, .objectID, .undefined:
            throw wrong("Choose “is nil” or “is not nil”.")
        }
        return .comparison(
            .init(
                path, filter.operator.predicate, .constant(value), options: filter.operator.isOfText ? Self.loose : []))
    }

    /// Compares the key of a destination with a number, and its name with any other text.
    private func predicate(
        _ filter: ColumnFilter, toOne column: EntityContents.Column, _ entity: EntityContents
    ) throws -> MoultModel.Predicate {
        guard let destination = destination(of: column, in: entity.name) else { return .constant(false) }
        let path = Expression.keyPath(column.name)
        if let key = Int64(filter.value.trimmed), [.equal, .notEqual].contains(filter.operator) {
            let id = ObjectID(store: uuid, entityName: destination, key: key)
            return .comparison(.init(path, filter.operator.predicate, .constant(.object(id))))
        }
        guard let label = labelColumn(of: destination), case .attribute(_, let type, _) = label.source else {
            throw MigrationError(
                .usage, "The objects of \(destination) have no name to compare with.", place: filter.sentence,
                remedy: "Give a key, with “is” or “is not”.")
        }
        let inner = Expression.keyPath("\(column.name).\(label.property ?? label.name)")
        return try predicate(filter, inner, type, entity.name)
    }

    /// The comparison of texts that people expect of a search.
    package static let loose: MoultModel.Predicate.Options = [.caseInsensitive, .diacriticInsensitive]
}

/// The time that a date means as it is written: a day, a minute, a millisecond.
private struct DateSpan {
    /// Seconds since the reference date.
    let start: Double
    let end: Double

    /// Reads an ISO 8601 date in UTC, with a `T` or a blank before the time, and as many parts as a person gives.
    init?(_ text: String) {
        var text = text.trimmed
        for end in ["Z", "UTC"] where text.hasSuffix(end) { text = String(text.dropLast(end.count)).trimmed }
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: true) { $0 == "T" || $0 == " " }
        guard let date = parts.first else { return nil }
        let days = date.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let clock = parts.count > 1 ? parts[1].trimmed : ""
        func seconds(_ year: Int, _ month: Int, _ rest: String = "01T00:00:00") -> Double? {
            guard (0...9999).contains(year) else { return nil }
            let years = String(repeating: "0", count: 4 - String(year).count) + String(year)
            return DateText.secondsSinceReferenceDate("\(years)-\(month < 10 ? "0" : "")\(month)-\(rest)Z")
        }
        guard (1...3).contains(days.count), let year = Int(days[0]),
            let month = days.count > 1 ? Int(days[1]) : 1, (1...12).contains(month)
        else { return nil }
        guard days.count == 3 else {
            let next = days.count == 1 ? (year + 1, 1) : month == 12 ? (year + 1, 1) : (year, month + 1)
            guard clock.isEmpty, let start = seconds(year, month), let end = seconds(next.0, next.1) else { return nil }
            (self.start, self.end) = (start, end)
            return
        }
        let day = days[2].count == 1 ? "0" + days[2] : days[2]
        let colons = clock.count { $0 == ":" }
        let (time, length): (String, Double) =
            switch (clock.isEmpty, colons) {
            case (true, _): ("00:00:00", 86_400)
            case (_, 1): (clock + ":00", 60)
            default: (clock, 1)
            }
        guard let moment = seconds(year, month, "\(day)T\(time)") else { return nil }
        // A list shows a date to the nearest millisecond.
        let isFraction = clock.contains(".")
        (start, end) = isFraction ? (moment - 0.0005, moment + 0.0005) : (moment, moment + length)
    }

    func predicate(_ operator: ColumnFilter.Operator, _ path: Expression) -> MoultModel.Predicate {
        func comparison(_ operator: MoultModel.Predicate.Operator, _ seconds: Double) -> MoultModel.Predicate {
            .comparison(.init(path, `operator`, .constant(.date(seconds))))
        }
        let isWithin = MoultModel.Predicate.and([
            comparison(.greaterThanOrEqual, start), comparison(.lessThan, end),
        ])
        return switch `operator` {
        case .notEqual: .not(isWithin)
        case .less: comparison(.lessThan, start)
        case .atMost: comparison(.lessThan, end)
        case .greater: comparison(.greaterThanOrEqual, end)
        case .atLeast: comparison(.greaterThanOrEqual, start)
        default: isWithin
        }
    }
}
