import Moult
import MoultBasics
import MoultModel
import MoultPlan

/// The findings of lint, in formats for people and services.
package struct LintReport: Sendable {
    package let path: String
    let versions: [String]
    /// The sources that the versions were compared with, such as `moult.lock`; empty if there were none.
    let sources: [String]
    package let findings: [LintFinding]
    /// The findings that the project has made exceptions for.
    let excepted: [LintFinding]
    /// The exceptions that match no finding: their positions, and whether the model has their places.
    let unmatched: [Int: Bool]
    /// The places that an exception can name; nil if the model cannot be read.
    let places: LintExceptionPlaces?
    /// The number of findings about versions before the newest, although nothing says which of them were released.
    let olderCount: Int
    /// The reason why some rules were not applied; nil if all were.
    let gap: String?
    let rules: [LintRule]
    /// The codes of the rules that the project's configuration turns off.
    let turnedOff: [String]
    /// The last step, for a picture of its changes.
    let lastStep: LintStep?
    /// The use case that the findings are of.
    let use: Remedy.Use
    /// The path of the schema of CloudKit that the model was compared with; nil for none.
    let schema: String?

    /// - Parameter findings: all findings, those with an exception too.
    init(_ findings: [LintFinding], of subject: LintSubject, path: String, _ lint: Lint) {
        (self.path, rules, turnedOff) = (path, lint.rules(for: subject), lint.turnedOff)
        use = lint.use
        schema = rules.contains(where: \.isOfSchema) ? subject.schema?.path : nil
        self.findings = findings.filter { $0.exception == nil }
        excepted = findings.filter { $0.exception != nil }
        versions = subject.versions.map(\.name)
        sources = subject.releases.map(\.source)
        lastStep = subject.openSteps.last
        gap = nil
        let older = Set(versions.dropLast())
        olderCount = sources.isEmpty ? self.findings.count { older.contains($0.version) } : 0
        let places = LintExceptionPlaces(subject, path: path)
        let matched = Set(excepted.compactMap { $0.exception?.location })
        self.places = places
        unmatched = Dictionary(
            uniqueKeysWithValues: lint.exceptions.enumerated().filter { !matched.contains($1.location) }
                .map { ($0, places.contain($1.place)) })
    }

    /// Creates a report on a model that cannot be read because of broken references.
    init(brokenReferences findings: [LintFinding], path: String, _ lint: Lint) {
        (self.path, rules, turnedOff) = (path, lint.rules, lint.turnedOff)
        self.findings = findings.filter { $0.exception == nil }
        excepted = findings.filter { $0.exception != nil }
        use = lint.use
        (versions, sources, lastStep, unmatched, places, olderCount, schema) = ([], [], nil, [:], nil, 0, nil)
        gap = "The model cannot be read until these are corrected, so no other rule was applied."
    }

    /// Whether there is a finding at this severity or above.
    package func has(atLeast severity: Finding.Severity) -> Bool { findings.contains { $0.severity >= severity } }

    func count(_ severity: Finding.Severity) -> Int { findings.count { $0.severity == severity } }

    /// The number of findings of each severity, such as `2 errors, 1 warning, 0 notes`.
    var counts: String { findings.counts }

    // MARK: JSON

    /// The members that say which model was compared with what.
    var heading: [JSONValue.Member] {
        [
            .init("model", .string(path)), .init("versions", JSONValue(versions)),
            .init("comparedWith", JSONValue(compared)),
        ]
    }

    /// The sources of what the model was compared with: its releases, and the schema of CloudKit.
    var compared: [String] { sources + [schema].compactMap(\.self) }

    // MARK: Text

    package func lines(style: TextStyle) -> [String] {
        let texts = findings.flatMap { finding -> [String] in
            let severity =
                switch finding.severity {
                case .note: style.cyan("note")
                case .warning: style.yellow("warning")
                case .error: style.red("error")
                }
            return [
                "\(severity) [\(finding.rule.code)] \(style.bold(finding.title))",
                "  " + style.dim("at: \(finding.location.printable)"), "  " + finding.message.printable,
                "  " + style.bold("→") + " " + finding.remedy.printable,
            ] + (finding.xml.map { ["    " + $0.printable] } ?? []) + [""]
        }
        let exceptions = excepted.flatMap { finding in
            [
                "\(style.dim("excepted")) [\(finding.rule.code)] \(finding.title)",
                "  " + style.dim("at: \(finding.location.printable)"),
                "  Reason: \(finding.exception?.why.printable ?? "")", "",
            ]
        }
        return texts + exceptions + [summary + off] + (gap.map { [$0] } ?? [])
    }

    /// A sentence, with a leading space, about the rules that were turned off; empty if none were.
    var off: String {
        turnedOff.isEmpty ? "" : " Turned off in the configuration: \(turnedOff.joined(separator: ", "))."
    }

    private var summary: String {
        let read = versions.isEmpty ? "" : " in \(Quantity.count(versions.count, "version"))"
        let found = findings.isEmpty ? "No findings\(read)." : "\(counts)\(read)."
        guard gap == nil else { return found }
        guard sources.isEmpty, rules.contains(where: \.isOfReleases) else {
            return compared.isEmpty ? found : "\(found) Compared with \(compared.listed())."
        }
        return String(
            advice: """
                \(found) Nothing says which versions were released: pass \(option: .since("REV")), or run \
                \(.lock, model) at each release.
                """) + (baseline ?? "")
    }

    /// The model as an operand; an app's own tool has its own.
    private var model: Remedy.Setting { path == "." ? .anyModel : .path(path) }

    /// The way to begin with a model whose older versions have findings; nil if there are none.
    private var baseline: String? {
        guard olderCount > 0 else { return nil }
        let findings = Quantity.count(olderCount, "finding is", plural: "findings are")
        return String(
            advice: """
                 \(findings) about versions before \(versions.last ?? ""). If these versions were released, they can \
                no longer be changed: run \(.initialise, model) once, or \(.lock, model) if there is a moult.json. \
                Lint then reports what is new.
                """)
    }
}

extension [LintFinding] {
    /// The number of findings of each severity, such as `2 errors, 1 warning, 0 notes`.
    var counts: String {
        [Finding.Severity.error, .warning, .note].map { severity in
            Quantity.count(count { $0.severity == severity }, severity.rawValue)
        }.joined(separator: ", ")
    }

    /// The number of findings of each severity, by its word.
    var countsDocument: JSONValue {
        .object(
            [Finding.Severity.error, .warning, .note].map { severity in
                .init(severity.rawValue, JSONValue(count { $0.severity == severity }))
            })
    }
}

extension LintFinding {
    /// The location of the finding, such as `Model.xcdatamodeld/App 2.xcdatamodel/contents:12: Post.title`.
    var location: String { "\(file)\(line.map { ":\($0)" } ?? "")\(place.isEmpty ? "" : ": \(place)")" }

    /// - Parameter model: the path of the model, if there are several.
    func document(model: String?) -> JSONValue {
        .object(
            (model.map { [.init("model", .string($0))] } ?? []) + [
                .init("rule", .string(rule.code)), .init("category", .string(rule.category.rawValue)),
                .init("severity", .string(severity.rawValue)), .init("title", .string(rule.title)),
                .init("version", .string(version)), .init("entity", JSONValue(entity)),
                .init("property", JSONValue(member)), .init("file", .string(file)),
                .init("line", line.map { JSONValue($0) } ?? .null), .init("message", .string(message)),
                .init("remedy", .string(remedy)), .init("xml", JSONValue(xml)),
                .init("fingerprint", .string(fingerprint)),
            ] + (gap.map { [.init("code", .string($0.code.rawValue)), .init("field", .string($0.name))] } ?? [])
                + (exception.map { [.init("why", .string($0.why))] } ?? []))
    }
}
