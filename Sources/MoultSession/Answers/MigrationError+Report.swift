import MoultBasics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension MigrationError {
    /// The document that a failed command prints in place of its own.
    package var document: JSONValue {
        var facts: [JSONValue.Member] = [
            .init("code", .string(code.description)),
            .init(
                "coreData", coreData.map { ["constant": .string($0.constant), "number": JSONValue($0.number)] } ?? nil),
            .init("message", .string(message)), .init("place", .string(place)), .init("remedy", .string(remedy)),
        ]
        if let cause { facts.append(.init("cause", .string(cause))) }
        return ["format": 1, "error": .object(facts)]
    }

    /// Returns the lines for a person: the problem, its place, its code, its cause, and the remedy.
    package func lines(style: TextStyle) -> [String] {
        let place = place.printable
        // A wrong argument needs no code: its message says which one it is.
        let codes = [
            code == .usage ? nil : "code: \(code)", coreData.map { "Core Data: \($0.constant) (\($0.number))" },
        ].compactMap { $0 }
        let facts = [
            place.isEmpty ? nil : "at: \(place)", codes.isEmpty ? nil : codes.joined(separator: ", "),
            cause.map { "cause: \($0)" },
        ]
        return ["\(style.red("error:")) \(message.printableLines(naming: self.place))"]
            + facts.compactMap { $0 }.map { "  " + style.dim($0.printableLines) }
            + (remedy.isEmpty ? [] : ["  " + style.bold("→") + " " + remedy.printableLines(naming: self.place)])
    }
}

extension MigrationError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The underlying cause, as reported by SQLite or the operating system.
    public var failureReason: String? { cause }
    /// The remedy.
    public var recoverySuggestion: String? { remedy.isEmpty ? nil : remedy }
}

extension Finding {
    package var document: JSONValue {
        [
            "code": .string(code), "severity": .string(severity.rawValue), "place": .string(place),
            "message": .string(message), "remedy": .string(remedy), "keys": .array(keys.map(JSONValue.integer)),
            "values": JSONValue(values),
        ]
    }

    /// - Parameter rule: the lint rule that reports the same.
    package func lines(style: TextStyle, rule: String? = nil) -> [String] {
        let severity =
            switch severity {
            case .note: style.cyan("note")
            case .warning: style.yellow("warning")
            case .error: style.red("error")
            }
        let shown = values.map { "  \($0.printableLines)" }
        let rows =
            keys.isEmpty
            ? "" : " Keys: \(keys.map(String.init).joined(separator: ", "))\(keys.count < Finding.keyLimit ? "" : "…")."
        let text = message.printableLines(naming: place)
        let next = remedy.isEmpty ? [] : ["  " + style.bold("→") + " " + remedy.printableLines(naming: place)]
        let rule = rule.map { "\($0) " } ?? ""
        return ["\(severity) [\(rule)\(code)]\(place.isEmpty ? "" : " \(place.printable):") \(text)\(rows)"] + shown
            + next
    }
}

extension String {
    /// Its printable lines.
    private var lineParts: [String] {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
    }

    package var printableLines: String { lineParts.joined(separator: "\n") }

    /// Returns printable text that keeps its line breaks, except those in the name of a place.
    fileprivate func printableLines(naming place: String) -> String {
        place.isEmpty ? printableLines : replacing(place, with: place.printable).printableLines
    }
}

extension MigrationError {
    /// Creates the error itself, or one that wraps an error of another type.
    package init(any error: any Error) {
        self =
            error as? MigrationError
            ?? MigrationError(
                .internal, "Moult failed in an unknown way.", remedy: "Please report this.",
                cause: String(describing: error))
    }
}
