extension Expression {
    /// Reads an expression in Core Data's format language, such as `canonical:(name)`, `pages.@count` or `%K + %d`.
    ///
    /// - Parameter arguments: one for each placeholder, in their order.
    /// - Throws: `MigrationError` with code `invalidPredicate`, whose place is the number of the Unicode scalar at
    ///   fault, from 0; for arguments of a wrong number or kind too.
    public init(parsing text: String, arguments: [FormatArgument] = []) throws(MigrationError) {
        var parser = try FormatParser(text, arguments)
        self = try parser.whole { (parser) throws(MigrationError) in try parser.expression() }
    }

    /// The text as Core Data prints it, which is what a version hash takes in; unchanged where it is not understood.
    package static func canonicalFormat(_ text: String) -> String {
        (try? Expression(parsing: text))?.format ?? text
    }
}

extension Predicate {
    /// Reads a predicate in Core Data's format language, such as `name BEGINSWITH[cd] %@ AND size > 0`.
    ///
    /// - Parameter arguments: one for each placeholder, in their order.
    /// - Throws: as ``Expression/init(parsing:arguments:)``.
    public init(parsing text: String, arguments: [FormatArgument] = []) throws(MigrationError) {
        var parser = try FormatParser(text, arguments)
        self = try parser.whole { (parser) throws(MigrationError) in try parser.predicate() }
    }

    /// The text as Core Data prints it, which is what a version hash takes in; unchanged where it is not understood.
    package static func canonicalFormat(_ text: String) -> String {
        (try? Predicate(parsing: text))?.format ?? text
    }
}
