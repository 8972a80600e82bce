extension Expression {
    /// Reads an expression in Core Data's format language, such as `canonical:(name)` or `pages.@count`.
    /// - Throws: `MigrationError` with code `modelInvalid`, whose place is the number of the character at fault.
    package init(parsing text: String) throws(MigrationError) {
        var parser = try FormatParser(text)
        self = try parser.whole { (parser) throws(MigrationError) in try parser.expression() }
    }

    /// The text as Core Data prints it, which is what a version hash takes in; unchanged where it is not understood.
    package static func canonicalFormat(_ text: String) -> String {
        (try? Expression(parsing: text))?.format ?? text
    }
}

extension Predicate {
    /// Reads a predicate in Core Data's format language, such as `name BEGINSWITH[cd] "A" AND size > 0`.
    /// - Throws: `MigrationError` with code `modelInvalid`, whose place is the number of the character at fault.
    package init(parsing text: String) throws(MigrationError) {
        var parser = try FormatParser(text)
        self = try parser.whole { (parser) throws(MigrationError) in try parser.predicate() }
    }

    /// The text as Core Data prints it, which is what a version hash takes in; unchanged where it is not understood.
    package static func canonicalFormat(_ text: String) -> String {
        (try? Predicate(parsing: text))?.format ?? text
    }
}

/// A recursive descent. Only what follows tells whether a parenthesis holds a predicate or an expression, so each
/// level returns either, and the one that needs a certain kind checks.
struct FormatParser {
    private enum Node {
        case expression(Expression)
        case predicate(Predicate)
    }

    private static let depthLimit = 64

    private let tokens: [(token: FormatLexer.Token, place: Int)]
    private var position = 0
    private var depth = 0

    init(_ text: String) throws(MigrationError) { tokens = try FormatLexer.tokens(of: text) }

    mutating func whole<Result>(
        _ parse: (inout FormatParser) throws(MigrationError) -> Result
    ) throws(MigrationError) -> Result {
        let result = try parse(&self)
        guard token == .end else { throw unexpected("the end") }
        return result
    }

    mutating func expression() throws(MigrationError) -> Expression {
        let start = place
        guard case .expression(let expression) = try either() else {
            throw .format("a value is expected instead of a condition", at: start)
        }
        return expression
    }

    mutating func predicate() throws(MigrationError) -> Predicate {
        let start = place
        guard case .predicate(let predicate) = try either() else {
            throw .format("a condition is expected instead of a value", at: start)
        }
        return predicate
    }

    // MARK: Conditions, the loosest binding first

    private mutating func either() throws(MigrationError) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.depthLimit else { throw tooDeep }
        return try chain("OR", "||", Predicate.or) { (parser) throws(MigrationError) in
            try parser.chain("AND", "&&", Predicate.and) { (parser) throws(MigrationError) in try parser.negation() }
        }
    }

    private mutating func chain(
        _ word: String, _ sign: String, _ combine: ([Predicate]) -> Predicate,
        _ part: (inout FormatParser) throws(MigrationError) -> Node
    ) throws(MigrationError) -> Node {
        let start = place
        let first = try part(&self)
        guard has(word, sign) else { return first }
        var parts = [try condition(first, at: start)]
        while take(word, sign) {
            let start = place
            parts.append(try condition(try part(&self), at: start))
        }
        return .predicate(combine(parts))
    }

    private func condition(_ node: Node, at place: Int) throws(MigrationError) -> Predicate {
        guard case .predicate(let predicate) = node else {
            throw .format("a condition is expected instead of a value", at: place)
        }
        return predicate
    }

    private mutating func negation() throws(MigrationError) -> Node {
        var count = 0
        while take("NOT", "!") { count += 1 }
        guard count < Self.depthLimit else { throw tooDeep }
        let start = place
        let node = try comparison()
        guard count > 0 else { return node }
        let predicate = try condition(node, at: start)
        return .predicate((0..<count).reduce(predicate) { inner, _ in .not(inner) })
    }

    private mutating func comparison() throws(MigrationError) -> Node {
        let isNone = take("NONE")
        let modifier: Predicate.Modifier = isNone || take("ANY") || take("SOME") ? .any : take("ALL") ? .all : .direct
        let start = place
        let node = try arithmetic(0)
        guard let (`operator`, options) = try takeOperator() else {
            if modifier != .direct { throw unexpected("a comparison") }
            return node
        }
        let left = try value(node, at: start)
        let rightStart = place
        let right = try value(try arithmetic(0), at: rightStart)
        let predicate = Predicate.comparison(.init(left, `operator`, right, modifier: modifier, options: options))
        return .predicate(isNone ? .not(predicate) : predicate)
    }

    private func value(_ node: Node, at place: Int) throws(MigrationError) -> Expression {
        guard case .expression(let expression) = node else {
            throw .format("a value is expected instead of a condition", at: place)
        }
        return expression
    }

    private static let operators: [String: Predicate.Operator] = [
        "<": .lessThan, "<=": .lessThanOrEqual, "=<": .lessThanOrEqual, ">": .greaterThan, ">=": .greaterThanOrEqual,
        "=>": .greaterThanOrEqual, "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "MATCHES": .matches,
        "LIKE": .like, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith, "IN": .in, "CONTAINS": .contains,
        "BETWEEN": .between,
    ]

    private mutating func takeOperator() throws(MigrationError) -> (Predicate.Operator, Predicate.Options)? {
        let found: Predicate.Operator? =
            switch token {
            case .sign(let sign): Self.operators[sign]
            case .word(let word): Self.operators[word.uppercased()]
            default: nil
            }
        guard let found else { return nil }
        position += 1
        var options: Predicate.Options = []
        guard take("[") else { return (found, options) }
        guard case .word(let letters) = token else { throw unexpected("c, d, n or l") }
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw unexpected("c, d, n or l")
            }
        }
        position += 1
        try expect("]")
        return (found, options)
    }

    // MARK: Values

    private static let arithmetic: [[Expression.Arithmetic]] = [[.add, .subtract], [.multiply, .divide], [.power]]

    private mutating func arithmetic(_ level: Int) throws(MigrationError) -> Node {
        guard level < Self.arithmetic.count else { return try unary() }
        let start = place
        var node = try arithmetic(level + 1)
        var count = 0
        while let found = Self.arithmetic[level].first(where: { token == .sign($0.symbol) }) {
            let left = try value(node, at: start)
            count += 1
            guard count < Self.depthLimit else { throw tooDeep }
            position += 1
            let rightStart = place
            let right = try value(try arithmetic(level + 1), at: rightStart)
            node = .expression(.function(found.rawValue, [left, right]))
        }
        return node
    }

    private mutating func unary() throws(MigrationError) -> Node {
        var isNegative = false
        while take("-") { isNegative.toggle() }
        let start = place
        var node = try primary()
        var path: [String] = []
        while take(".") { path.append(try name()) }
        if !path.isEmpty { node = .expression(try value(node, at: start).appending(path.joined(separator: "."))) }
        if case .expression(let expression) = node { node = .expression(expression.countingAtEnd) }
        guard isNegative else { return node }
        return .expression(try value(node, at: start).negated)
    }

    private mutating func primary() throws(MigrationError) -> Node {
        let current = token
        position += 1
        switch current {
        case .constant(let constant): return .expression(.constant(constant))
        case .variable(let name): return .expression(.variable(name))
        case .escapedWord(let name): return .expression(.keyPath(name))
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

    /// What follows the parenthesis of a call.
    private mutating func call(_ selector: String, _ keyword: String) throws(MigrationError) -> Expression {
        let start = place
        switch keyword {
        case "SUBQUERY":
            let collection = try expression()
            try expect(",")
            guard case .variable(let variable) = token else { throw unexpected("a variable") }
            position += 1
            try expect(",")
            let predicate = try predicate()
            try expect(")")
            return .subquery(collection, variable: variable, predicate)
        case "TERNARY":
            let predicate = try predicate()
            try expect(",")
            let first = try expression()
            try expect(",")
            let second = try expression()
            try expect(")")
            return .conditional(predicate, first, second)
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

    private mutating func list(until end: String) throws(MigrationError) -> [Expression] {
        if take(end) { return [] }
        var elements = [try expression()]
        while take(",") { elements.append(try expression()) }
        try expect(end)
        return elements
    }

    private mutating func name() throws(MigrationError) -> String {
        switch token {
        case .word(let name) where !name.contains(":"), .escapedWord(let name):
            position += 1
            return name
        default: throw unexpected("a name")
        }
    }

    // MARK: Tokens

    private var token: FormatLexer.Token { position < tokens.count ? tokens[position].token : .end }
    private var place: Int { (position < tokens.count ? tokens[position] : tokens.last)?.place ?? 0 }

    private func has(_ spellings: String...) -> Bool { has(spellings) }

    private func has(_ spellings: [String]) -> Bool {
        switch token {
        case .sign(let sign): spellings.contains(sign)
        case .word(let word): spellings.contains(word.uppercased())
        default: false
        }
    }

    private mutating func take(_ spellings: String...) -> Bool {
        guard has(spellings) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ sign: String) throws(MigrationError) {
        guard take(sign) else { throw unexpected(sign) }
    }

    private var tooDeep: MigrationError { .format("it is nested too deeply", at: place) }

    private func unexpected(_ expected: String) -> MigrationError {
        let found =
            switch token {
            case .end: "the text ends"
            case .word(let text), .escapedWord(let text), .variable(let text), .sign(let text): "\(text) stands"
            case .constant(let constant): "\(constant.format) stands"
            }
        return .format("\(found) where \(expected) is expected", at: place)
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

    /// `pages.@count` is `count:(pages)` (VERSION_HASH, section 1).
    fileprivate var countingAtEnd: Expression {
        guard case .keyPath(let path, let base) = self, path.hasSuffix(".@count") || path == "@count" else {
            return self
        }
        let rest = path.dropLast(path == "@count" ? 6 : 7)
        return .function("count:", [rest.isEmpty ? base : .keyPath(String(rest), of: base)])
    }

    fileprivate var negated: Expression {
        switch self {
        case .constant(.integer(let number)) where number != .min: .constant(.integer(-number))
        case .constant(.real(let number)): .constant(.real(-number))
        default: .function(Arithmetic.subtract.rawValue, [.constant(.integer(0)), self])
        }
    }

    /// `CAST(value, "type")`: a constant where Moult knows the type, else Foundation's function.
    fileprivate static func cast(_ arguments: [Expression]) -> Expression {
        if arguments.count == 2, case .constant(.string(let type)) = arguments[1],
            case .constant(let value) = arguments[0]
        {
            switch (type, value) {
            case ("NSDecimalNumber", .string(let digits)): return .constant(.decimal(digits))
            case ("NSDate", .integer(let seconds)): return .constant(.date(Double(seconds)))
            case ("NSDate", .real(let seconds)): return .constant(.date(seconds))
            case ("NSNumber", .string(let digits)): if let number = Double(digits) { return .constant(.real(number)) }
            case ("NSData", .string(let digits)):
                if let bytes = [UInt8](base64: digits) { return .constant(.data(bytes)) }
            default: break
            }
        }
        return .function("castObject:toType:", arguments)
    }
}
