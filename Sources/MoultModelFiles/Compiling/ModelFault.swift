import MoultModel

/// An error or a warning about a line of a model source, as build systems read them: `file:line: error: sentence`.
package struct ModelFault: Sendable, Hashable {
    package enum Severity: String, Sendable { case warning, error }

    /// What a compiler's option can silence.
    package enum Kind: Sendable {
        case other, missingInverse, propertyCount, deleteRule
    }

    package let file: String
    /// From 1.
    package let line: Int
    package let severity: Severity
    package let kind: Kind
    package let message: String

    package init(
        file: String, line: Int, _ message: String, severity: Severity = .error, kind: Kind = .other
    ) {
        self.file = file
        self.line = line
        self.severity = severity
        self.kind = kind
        self.message = message
    }

    /// The line for a build log.
    package var text: String { "\(file):\(line): \(severity.rawValue): \(message)" }
}

extension ModelFault {
    /// A reader's error about a file. Its place begins with the file and the line, where it has one.
    init(_ error: MigrationError, file: String) {
        let cause = error.cause.map { " (\($0))" } ?? ""
        self.init(
            file: file, line: Self.line(of: error.place, in: file), "\(error.message)\(cause) \(error.remedy)")
    }

    /// What a reader noticed in a file.
    init(_ finding: Finding, file: String) {
        let remedy = finding.remedy.isEmpty ? "" : " \(finding.remedy)"
        self.init(
            file: file, line: Self.line(of: finding.place, in: file), finding.message + remedy, severity: .warning)
    }

    private static func line(of place: String, in file: String) -> Int {
        guard place.hasPrefix(file + ":") else { return 1 }
        return Int(place.dropFirst(file.count + 1).prefix(while: \.isNumber)) ?? 1
    }
}

/// A model source has errors: nothing is compiled.
package struct ModelFaults: Error {
    /// Errors and warnings, by file and line.
    package let faults: [ModelFault]
}
