/// Conditions, the loosest binding first.
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
            parts.append(try condition(try part(&self), at: start))
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
            if modifier != .direct { throw unexpected("a comparison") }
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
