#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The parsing of expressions that are written like function calls.
extension FormatParser {
    /// Reads a call, from after its opening parenthesis.
    mutating func call(_ selector: String, _ keyword: String) throws(MigrationError) -> Expression {
        let start = place
        switch keyword {
        case "SUBQUERY": return try subquery()
        case "TERNARY": return try conditional()
        case "FUNCTION":
            let arguments = try list(until: ")")
            guard arguments.count >= 2, case .constant(.string(let selector)) = arguments[1] else {
                throw .format("FUNCTION needs a target and a selector", at: start)
            }
            return .message(selector, to: arguments[0], Array(arguments.dropFirst(2)))
        case "CAST":
            let arguments = try list(until: ")")
            return .cast(arguments)
        default: return .function(selector, try list(until: ")"))
        }
    }

    private mutating func subquery() throws(MigrationError) -> Expression {
        let collection = try expression()
        let collectionHeight = height
        try expect(",")
        guard case .variable(let variable) = token else { throw unexpected("a variable") }
        position += 1
        try expect(",")
        let predicate = try predicate()
        try grow(over: collectionHeight)
        try expect(")")
        return .subquery(collection, variable: variable, predicate)
    }

    private mutating func conditional() throws(MigrationError) -> Expression {
        let predicate = try predicate()
        var highest = height
        try expect(",")
        let first = try expression()
        highest = max(highest, height)
        try expect(",")
        let second = try expression()
        try grow(over: highest)
        try expect(")")
        return .conditional(predicate, first, second)
    }

    mutating func list(until end: String) throws(MigrationError) -> [Expression] {
        startGrowing()
        if take(end) { return [] }
        var highest = 0
        var elements: [Expression] = []
        repeat {
            elements.append(try expression())
            highest = max(highest, height)
        } while take(",")
        try grow(over: highest)
        try expect(end)
        return elements
    }
}

extension Expression {
    /// `CAST(value, "type")`: a constant where it is the literal of one, otherwise Foundation's function.
    fileprivate static func cast(_ arguments: [Expression]) -> Expression {
        if arguments.count == 2, case .constant(.string(let type)) = arguments[1],
            case .constant(let value) = arguments[0], let literal = ExpressionValue(literal: value, type)
        {
            return .constant(literal)
        }
        return .function(ExpressionFunction.cast.selector, arguments)
    }
}

extension ExpressionValue {
    /// Creates the value of a cast that is its printed form; nil for any other cast.
    fileprivate init?(literal value: ExpressionValue, _ type: String) {
        switch (type, value) {
        case ("NSDecimalNumber", .string(let digits)): self = .decimal(digits)
        case ("NSDate", .integer(let seconds)): self = .date(Double(seconds))
        case ("NSDate", .real(let seconds)): self = .date(seconds)
        case ("NSDate", .string(let digits)):
            guard let seconds = Double(digits), !seconds.isFinite else { return nil }
            self = .date(seconds)
        case ("NSNumber", .string(let digits)):
            guard let number = Double(digits) else { return nil }
            self = .real(number)
        case ("NSData", .string(let digits)):
            guard let bytes = [UInt8](base64: digits) else { return nil }
            self = .data(bytes)
        case ("NSUUID", .string(let text)):
            guard let uuid = UUID(uuidString: text) else { return nil }
            self = .uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) })
        case ("NSURL", .string(let text)): self = .uri(text)
        case ("NSManagedObjectID", .string(let text)):
            guard let id = ObjectID(uri: text) else { return nil }
            self = .object(id)
        default: return nil
        }
    }
}
