import MoultModel

/// An error or a warning about a line of a model source, as build systems read them: `file:line: error: sentence`.
package struct ModelFault: Sendable, Hashable {
    package enum Severity: String, Sendable { case warning, error }

    /// The kind of a fault: one that a compiler's option can silence, one that lint has a rule of its own for, or
    /// another.
    package enum Kind: Sendable {
        case other, missingInverse, propertyCount, deleteRule
        /// It names an entity or a property that is not in the model.
        case reference
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

    /// Creates a warning from a finding of a reader about a file.
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

extension ModelFault {
    /// The errors for which a model source is not compiled, by line; empty for a file that is no such source.
    package static func errors(inSource file: String) -> [ModelFault] {
        guard let bytes = try? ModelFolder.bytes(at: file), let root = try? ModelElement(rootOf: bytes, file: file)
        else { return [] }
        return SourceCheck(root).faults.filter { $0.severity == .error }
    }
}

/// A model source has errors: nothing is compiled.
package struct ModelFaults: Error {
    /// Errors and warnings, by file and line.
    package let faults: [ModelFault]
}
