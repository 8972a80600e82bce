import MoultBasics

/// A recursive descent parser. Only later tokens show whether a parenthesis contains a predicate or an expression, so
/// each level returns either, and the level that needs one of them checks.
struct FormatParser {
    enum Node {
        case expression(Expression)
        case predicate(Predicate)
    }

    /// The maximum height of the tree, and so the recursion depth of every later walk over it.
    private static let heightLimit = 64
    /// The maximum nesting of parentheses, each of which takes a dozen calls to read; enough for every printed tree.
    private static let depthLimit = heightLimit + 2

    private let tokens: [(token: FormatLexer.Token, place: Int)]
    var position = 0
    private var depth = 0
    /// The height of the last node.
    private(set) var height = 0

    init(_ text: String, _ arguments: [FormatArgument]) throws(MigrationError) {
        var tokens = try FormatLexer.tokens(of: text)
        var rest = arguments[...]
        for index in tokens.indices {
            guard case .placeholder(let conversion) = tokens[index].token else { continue }
            guard let argument = rest.popFirst() else {
                throw .format("%\(conversion) has no argument", at: tokens[index].place)
            }
            tokens[index].token = try argument.token(for: conversion, at: tokens[index].place)
        }
        guard rest.isEmpty else {
            let count = arguments.count - rest.count
            throw .format(
                "there are \(arguments.count) arguments for \(count) placeholders", at: tokens.last?.place ?? 0)
        }
        self.tokens = tokens
    }

    mutating func whole<Result>(
        _ parse: (inout FormatParser) throws(MigrationError) -> Result
    ) throws(MigrationError) -> Result {
        let result = try parse(&self)
        guard token == .end else { throw unexpected("the end", orOperator: true) }
        return result
    }

    mutating func expression() throws(MigrationError) -> Expression {
        let start = place
        return try value(try either(), at: start)
    }

    mutating func predicate() throws(MigrationError) -> Predicate {
        let start = place
        // Read before the check, which looks at the word after it.
        let node = try either()
        return try condition(node, at: start)
    }

    /// Reads a predicate or an expression, one level of parentheses deeper.
    mutating func either() throws(MigrationError) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth < Self.depthLimit else { throw tooDeep }
        return try disjunction()
    }

    func condition(_ node: Node, at place: Int) throws(MigrationError) -> Predicate {
        guard case .predicate(let predicate) = node else {
            if let word = misspeltPrefix(of: node) {
                throw .format("\(word.found) stands where a condition is expected", at: place, near: word.meant)
            }
            // A word after the value stands where the operator is.
            if case .word = token, !has("AND", "OR") { throw unexpected("an operator", orOperator: true) }
            throw .format("there is a value where a condition is expected", at: place)
        }
        return predicate
    }

    func value(_ node: Node, at place: Int) throws(MigrationError) -> Expression {
        guard case .expression(let expression) = node else {
            throw .format("there is a condition where a value is expected", at: place)
        }
        return expression
    }

    /// Records that a node was made from the last one and others of a height.
    mutating func grow(over other: Int = 0) throws(MigrationError) {
        height = max(height, other) + 1
        guard height < Self.heightLimit else { throw tooDeep }
    }

    /// Records that a node without parts was read.
    mutating func startGrowing() { height = 1 }

    // MARK: Tokens

    var token: FormatLexer.Token { position < tokens.count ? tokens[position].token : .end }
    var following: FormatLexer.Token { position + 1 < tokens.count ? tokens[position + 1].token : .end }
    var place: Int { (position < tokens.count ? tokens[position] : tokens.last)?.place ?? 0 }

    func has(_ spellings: String...) -> Bool { has(token, spellings) }

    private func has(_ token: FormatLexer.Token, _ spellings: [String]) -> Bool {
        switch token {
        case .sign(let sign): spellings.contains(sign)
        case .word(let word): spellings.contains(word.uppercased())
        default: false
        }
    }

    mutating func take(_ spellings: String...) -> Bool {
        guard has(token, spellings) else { return false }
        position += 1
        return true
    }

    mutating func expect(_ sign: String) throws(MigrationError) {
        guard take(sign) else { throw unexpected(sign, orOperator: true) }
    }

    private var tooDeep: MigrationError { .format("it is nested too deeply", at: place) }

    /// - Parameter orOperator: whether an operator could stand here too, so that the word may be a misspelt one.
    func unexpected(_ expected: String, orOperator: Bool = false) -> MigrationError {
        let found =
            switch token {
            case .end: "the text ends"
            case .word(let text), .escapedWord(let text), .variable(let text), .sign(let text), .path(let text),
                .hugeInteger(let text):
                "\(text) stands"
            case .placeholder(let conversion): "%\(conversion) stands"
            case .constant(let constant): "\(constant.format) stands"
            case .expression(let expression): "\(expression.format) stands"
            }
        return .format("\(found) where \(expected) is expected", at: place, near: orOperator ? nearOperator : nil)
    }

    private static let words =
        (operators.keys.filter { $0.allSatisfy(\.isLetter) } + ["AND", "OR"]).sorted()
    private static let prefixes = ["ALL", "ANY", "NONE", "NOT", "SOME"]

    /// The operator that the current word may mean; nil for another token.
    private var nearOperator: String? {
        guard case .word(let word) = token, !Self.words.contains(word.uppercased()) else { return nil }
        return Suggestion.nearest(to: word.uppercased(), among: Self.words)
    }

    /// The word before a comparison, such as NOT, that a name in front of one may mean; nil if none is near.
    private func misspeltPrefix(of node: Node) -> (found: String, meant: String)? {
        guard case .expression(.keyPath(let name, of: .evaluatedObject)) = node, case .word = token,
            has(following, Array(Self.operators.keys) + ["."])
        else { return nil }
        return Suggestion.nearest(to: name.uppercased(), among: Self.prefixes).map { (name, $0) }
    }
}

/// Conditions, from the loosest binding to the tightest.
extension FormatParser {
    mutating func disjunction() throws(MigrationError) -> Node {
        try chain("OR", "||", Predicate.or) { (parser) throws(MigrationError) in
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
        var highest = height
        while take(word, sign) {
            let start = place
            let node = try part(&self)
            parts.append(try condition(node, at: start))
            highest = max(highest, height)
        }
        try grow(over: highest)
        return .predicate(combine(parts))
    }

    private mutating func negation() throws(MigrationError) -> Node {
        var count = 0
        while take("NOT", "!") { count += 1 }
        let start = place
        let node = try comparison()
        guard count > 0 else { return node }
        var predicate = try condition(node, at: start)
        for _ in 0..<count {
            try grow()
            predicate = .not(predicate)
        }
        return .predicate(predicate)
    }

    private mutating func comparison() throws(MigrationError) -> Node {
        let isNone = take("NONE")
        let modifier: Predicate.Modifier = isNone || take("ANY", "SOME") ? .any : take("ALL") ? .all : .direct
        let start = place
        let node = try arithmetic()
        guard let (`operator`, options) = try takeOperator() else {
            if modifier != .direct { throw unexpected("a comparison", orOperator: true) }
            return node
        }
        let left = try value(node, at: start)
        let leftHeight = height
        let rightStart = place
        let right = try value(try arithmetic(), at: rightStart)
        try grow(over: leftHeight)
        let predicate = Predicate.comparison(.init(left, `operator`, right, modifier: modifier, options: options))
        return .predicate(isNone ? .not(predicate) : predicate)
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
        guard take("[") else { return (found, []) }
        guard case .word(let letters) = token else { throw unexpected("c, d, n or l") }
        var options: Predicate.Options = []
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
}
