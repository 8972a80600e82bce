import MoultBasics
import MoultModel
import MoultSQLite

/// The conversion of a value to another attribute's type: the equal value of that type, or nil if there is none.
/// Nothing is rounded or truncated.
package enum ValueConversion {
    static let name = "moult_convert"

    /// `moult_convert(kind, type, value)`, which returns the value as the column of an attribute of that type stores
    /// it.
    static let function = SQLiteFunction(name, argumentCount: 3) { arguments in
        guard let kind = ValueKind(rawValue: arguments.integer(0)),
            let type = AttributeType(rawValue: Int32(truncatingIfNeeded: arguments.integer(1)))
        else { return .null }
        return kind.value(arguments[2]).converted(to: type)?.storedExactly ?? .null
    }

    static let roundsName = "moult_rounds"

    /// `moult_rounds(digits)`: 1 if no number in a DECIMAL column is equal to the digits.
    static let roundsFunction = SQLiteFunction(roundsName, argumentCount: 1) { arguments in
        guard arguments.storageClass(0) == .text, let digits = arguments.text(0) else { return 0 }
        return DecimalStorage.equal(to: digits) == nil ? 1 : 0
    }

    /// Returns the SQL of a value as a column of `type` stores it, without a call if SQLite stores it that way anyway.
    static func sql(_ value: LoweredValue, as type: AttributeType) -> SQLText {
        let digits = type == .decimal ? value.exact ?? value.sql : value.sql
        if isNative(value, type) { return digits }
        return "\(name: name)(\(Int(value.kind.rawValue)), \(Int(type.rawValue)), \(digits))"
    }

    private static func isNative(_ value: LoweredValue, _ type: AttributeType) -> Bool {
        // An attribute's column holds only values that its type allows; a computed value may be out of range.
        if let from = value.attribute?.type, from == type || from.widens(to: type) { return true }
        switch (value.kind, type) {
        case (.null, _), (.string, .string), (.uri, .uri), (.uuid, .uuid), (.data, .binary), (.date, .date),
            (.boolean, .boolean), (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64),
            (.integer, .integer64), (.real, .double), (.number, .double), (.decimal, .decimal), (.integer, .decimal):
            return true
        default: return false
        }
    }
}

extension ExpressionValue {
    /// Returns the equal value for an attribute of the type. The result is nil for nil, and if there is no equal value:
    /// a fraction for an integer, a number out of range, a whole number that a Double or Float would round, a text that
    /// is not a number. Only a fraction becomes the nearest Float. Texts of dates are ISO 8601 in UTC.
    package func converted(to type: AttributeType) -> AttributeValue? {
        if isNull { return nil }
        switch type {
        case .integer16: return whole.flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
        case .integer32: return whole.flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
        case .integer64: return whole.map { .integer($0) }
        case .boolean: return flag.map { .boolean($0) }
        case .double: return anyNumber?.exactDouble.map { .double($0) }
        case .float: return anyNumber?.exactFloat.map { .double(Double($0)) }
        case .date: return moment.map { .date($0) }
        case .string:
            if case .date(let seconds) = self { return Self.iso8601(seconds).map { .string($0) } }
            return cast("NSString")
        case .decimal: return cast("NSDecimalNumber")
        case .uuid: return cast("NSUUID")
        case .uri: return cast("NSURL")
        case .binary: if case .data(let bytes) = self { return .binary(bytes) } else { return cast("NSData") }
        case .undefined, .transformable, .objectID, .composite: return nil
        }
    }

    private func cast(_ name: String) -> AttributeValue? {
        switch try? cast(to: name) {
        case .string(let text)?: .string(text)
        case .decimal(let digits)?: .decimal(digits)
        case .uuid(let bytes)?: .uuid(bytes)
        case .uri(let text)?: .uri(text)
        case .data(let bytes)?: .binary(bytes)
        default: nil
        }
    }

    private var anyNumber: ExpressionNumber? { number ?? text.flatMap(ExpressionNumber.init(digits:)) }

    private var whole: Int64? { anyNumber?.whole }

    private var flag: Bool? {
        switch text?.lowercased() {
        case "yes"?, "true"?: true
        case "no"?, "false"?: false
        default: whole == 0 ? false : whole == 1 ? true : nil
        }
    }

    /// The date in seconds since 2001-01-01 00:00:00 UTC.
    private var moment: Double? {
        guard let text else { return number?.double }
        if let stamp = Timestamp(iso8601: text) { return stamp.seconds(since: Timestamp(seconds: Self.referenceDate)) }
        return ExpressionNumber(digits: text)?.double
    }

    private static func iso8601(_ seconds: Double) -> String? {
        guard seconds.isFinite, seconds.magnitude < 3e11 else { return nil }
        let whole = seconds.rounded(.down)
        let milliseconds = Int32(((seconds - whole) * 1000).rounded(.down))
        let stamp = Timestamp(seconds: Int64(whole) + referenceDate, nanoseconds: milliseconds * 1_000_000)
        return milliseconds == 0 ? stamp.iso8601 : stamp.iso8601WithMilliseconds
    }

    /// 2001-01-01 00:00:00 UTC, in seconds since 1970.
    private static let referenceDate: Int64 = 978_307_200
}

extension ExpressionNumber {
    /// The equal Double; nil for an integer that has none.
    fileprivate var exactDouble: Double? {
        switch self {
        case .integer(let number): Double(exactly: number)
        case .real(let number): number
        }
    }

    /// The equal Float of an integer, or the nearest one of a real; nil if there is none.
    fileprivate var exactFloat: Float? {
        switch self {
        case .integer(let number): Float(exactly: number)
        case .real(let number): Float(number).isFinite || number.isInfinite ? Float(number) : nil
        }
    }
}

extension AttributeValue {
    /// The value as a column stores it, without external storage; nil if a column would change it.
    package var storedExactly: SQLiteValue? {
        if case .decimal(let digits) = self { return DecimalStorage.equal(to: digits) }
        return stored
    }

    /// The value as a column stores it, without external storage. A long decimal is stored as the nearest number. Nil
    /// if a column cannot hold the value at all.
    package var stored: SQLiteValue? {
        switch self {
        case .integer(let number): .integer(number)
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .double(let number), .date(let number): number.isNaN ? nil : .real(number)
        case .decimal(let digits): DecimalStorage.value(digits)
        case .string(let text), .uri(let text): .text(text)
        case .binary(let bytes), .uuid(let bytes), .transformable(let bytes): .blob(bytes)
        }
    }
}

/// The conversions in one lowered expression that may have no result.
final class ConversionLog {
    private var conversions: [(value: SQLText, result: SQLText)] = []

    func add(_ value: SQLText, _ result: SQLText) { conversions.append((value, result)) }

    /// A condition that holds for rows where a conversion had a value but no result; nil if there are no conversions.
    var failure: SQLText? {
        guard !conversions.isEmpty else { return nil }
        return conversions.map { "(\($0.value) IS NOT NULL AND \($0.result) IS NULL)" as SQLText }.joined(
            separator: " OR ")
    }
}
