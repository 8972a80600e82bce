import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Values, from the loosest binding to the tightest.
extension FormatParser {
    /// The selectors of the operators by their signs.
    private static let operators: [[String: String]] = [
        ["|": ExpressionFunction.Bits.or.rawValue], ["^": ExpressionFunction.Bits.exclusiveOr.rawValue],
        ["&": ExpressionFunction.Bits.and.rawValue],
        [
            "<<": ExpressionFunction.Bits.leftShift.rawValue, ">>": ExpressionFunction.Bits.rightShift.rawValue,
        ],
        signs(.add, .subtract), signs(.multiply, .divide), signs(.power),
    ]

    private static func signs(_ operators: Expression.Arithmetic...) -> [String: String] {
        Dictionary(operators.map { ($0.symbol, $0.rawValue) }) { first, _ in first }
    }

    mutating func arithmetic() throws(MigrationError) -> Node { try arithmetic(0) }

    private mutating func arithmetic(_ level: Int) throws(MigrationError) -> Node {
        guard level < Self.operators.count else { return try unary() }
        let start = place
        var node = try arithmetic(level + 1)
        while case .sign(let sign) = token, let selector = Self.operators[level][sign] {
            let left = try value(node, at: start)
            let leftHeight = height
            position += 1
            let rightStart = place
            let right = try value(try arithmetic(level + 1), at: rightStart)
            try grow(over: leftHeight)
            node = .expression(.function(selector, [left, right]))
        }
        return node
    }

    private mutating func unary() throws(MigrationError) -> Node {
        // Whether each prefix is a minus; two of them in a row cancel out.
        var prefixes: [Bool] = []
        while has("-", "~") {
            let isMinus = take("-")
            if !isMinus { position += 1 }
            if isMinus, prefixes.last == true { prefixes.removeLast() } else { prefixes.append(isMinus) }
        }
        let start = place
        var node: Node
        if prefixes.last == true, case .hugeInteger(let digits) = token, let number = Int64("-" + digits) {
            position += 1
            prefixes.removeLast()
            startGrowing()
            node = .expression(.constant(.integer(number)))
        } else {
            node = try postfix()
        }
        for isMinus in prefixes.reversed() {
            try grow()
            let operand = try value(node, at: start)
            let complement = Expression.function(ExpressionFunction.Bits.complement.rawValue, [operand])
            node = .expression(isMinus ? operand.negated : complement)
        }
        return node
    }

    /// Reads a value with the key paths and indexes after it: `$x.pages[0].number`.
    private mutating func postfix() throws(MigrationError) -> Node {
        let start = place
        var node = try primary()
        while has(".", "[") {
            var expression = try value(node, at: start)
            if take("[") {
                expression = try index(expression)
            } else {
                var path: [String] = []
                while take(".") { path.append(try name()) }
                try grow()
                expression = expression.appending(path.joined(separator: "."))
            }
            node = .expression(expression.countingAtEnd)
        }
        if case .expression(let expression) = node { node = .expression(expression.countingAtEnd) }
        return node
    }

    /// Reads the index of a collection, after the opening bracket.
    private mutating func index(_ collection: Expression) throws(MigrationError) -> Expression {
        let collectionHeight = height
        let index: Expression
        if case .word(let word) = token, following == .sign("]"),
            let symbol = Expression.Index(rawValue: word.uppercased())
        {
            position += 1
            index = .constant(.string(symbol.rawValue))
        } else {
            index = try expression()
        }
        try grow(over: collectionHeight)
        try expect("]")
        return .function(ExpressionFunction.element.selector, [collection, index])
    }

    private mutating func primary() throws(MigrationError) -> Node {
        let current = token
        position += 1
        startGrowing()
        switch current {
        case .constant(let constant): return .expression(constant.literal)
        case .expression(let expression): return .expression(expression)
        case .hugeInteger(let digits): return .expression(.constant(.real(Double(digits) ?? .infinity)))
        case .variable(let name): return .expression(.variable(name))
        case .escapedWord(let name), .path(let name): return .expression(.keyPath(name))
        case .word(let word): return try primary(word)
        case .sign("("):
            let inner = try either()
            try expect(")")
            return inner
        case .sign("{"): return .expression(.aggregate(try list(until: "}")))
        default:
            position -= 1
            throw unexpected("a value")
        }
    }

    private mutating func primary(_ word: String) throws(MigrationError) -> Node {
        let keyword = word.uppercased()
        if take("(") { return .expression(try call(word, keyword)) }
        switch keyword {
        case "SELF": return .expression(.evaluatedObject)
        case "NULL", "NIL": return .expression(.constant(.null))
        case "TRUE", "YES": return .expression(.constant(.boolean(true)))
        case "FALSE", "NO": return .expression(.constant(.boolean(false)))
        case "TRUEPREDICATE": return .predicate(.constant(true))
        case "FALSEPREDICATE": return .predicate(.constant(false))
        default:
            guard !FormatWord.keywords.contains(word.lowercased()), !word.contains(":") else {
                position -= 1
                throw unexpected("a value")
            }
            return .expression(.keyPath(word))
        }
    }

    private mutating func name() throws(MigrationError) -> String {
        switch token {
        case .word(let name) where !name.contains(":"), .escapedWord(let name), .path(let name):
            position += 1
            return name
        default: throw unexpected("a name")
        }
    }
}

extension Expression {
    fileprivate func appending(_ rest: String) -> Expression {
        if case .keyPath(let path, let base) = self {
            .keyPath(path + "." + rest, of: base)
        } else {
            .keyPath(rest, of: self)
        }
    }

    /// The expression with `pages.@count` replaced by `count:(pages)`, repeatedly if several end the path.
    fileprivate var countingAtEnd: Expression {
        guard case .keyPath(let path, let base) = self else { return self }
        var names = path.split(separator: ".", omittingEmptySubsequences: false)[...]
        var count = 0
        while names.last == "@count" {
            names.removeLast()
            count += 1
        }
        let counted = names.isEmpty ? base : .keyPath(names.joined(separator: "."), of: base)
        return (0..<count).reduce(counted) { inner, _ in .function(Aggregate.count.rawValue, [inner]) }
    }

    fileprivate var negated: Expression {
        switch self {
        case .constant(.integer(let number)) where number != .min: .constant(.integer(-number))
        case .constant(.real(let number)): .constant(.real(-number))
        default: .function(Arithmetic.subtract.rawValue, [.constant(.integer(0)), self])
        }
    }
}

/// The parsing of expressions that are written like function calls.
extension FormatParser {
    /// Reads a call, after the opening parenthesis.
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
        default:
            let arguments = try list(until: ")")
            // Foundation adds the colon of the first argument if it is missing: abs(n).
            let isWhole = arguments.isEmpty || selector.contains(":") || ExpressionFunction(selector + ":") == nil
            return .function(isWhole ? selector : selector + ":", arguments)
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
    /// Returns `CAST(value, "type")`: a constant if it is the literal form of one, otherwise Foundation's function.
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
    /// Creates the value whose printed form is this cast; nil for any other cast.
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
