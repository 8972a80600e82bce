import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan

/// The findings of the lint rules in one model or several.
public struct LintResult: Sendable, CustomStringConvertible, ToolAnswer {
    /// A finding of a rule, with its place.
    public struct Finding: Sendable, Hashable {
        /// The code of the rule, such as `OPEN001`; Documentation/Lint has a page for each.
        public let rule: String
        /// The rule's title, a noun phrase.
        public let title: String
        /// The severity of the finding.
        public let severity: MoultBasics.Finding.Severity
        /// `Entity.property`, `Entity`, or the name of the version; empty for the model as a whole.
        public let place: String
        /// The path of the file; the path of the model if the place has none.
        public let file: String
        /// The line in the file, counted from 1; nil for a file without lines, such as a compiled model.
        public let line: Int?
        /// A sentence that describes the finding.
        public let message: String
        /// The action to take next.
        public let remedy: String
        /// The element with the correction, to paste; nil if there is none.
        public let correction: String?
        /// The kind of the gap in CloudKit's schema, such as `add-field`; nil for a rule about something else.
        public let gap: String?
        /// The record type or field of the gap, such as `CD_Post.CD_title`; nil for a rule about something else.
        public let recordField: String?
    }

    /// An output format for a service.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// SARIF 2.1.0, with paths relative to the root of the model's repository.
        case sarif
        /// Commands of GitHub Actions, which show the findings in a pull request.
        case gitHub
        /// Markdown, for a comment.
        case markdown
    }

    /// The reports, one for each model.
    let reports: [LintReport]
    /// The exceptions that match no finding of a rule that was applied.
    let unused: [LintException]
    /// The corrections, written before the findings were looked for or only tried out.
    let fixes: [LintFix]
    /// The treatment of the corrections; nil if none was asked for.
    let correction: LintRequest.Correction?

    private var all: [LintFinding] { reports.flatMap(\.findings) }

    /// The findings, by severity; those of several models, model by model.
    public var findings: [Finding] {
        all.map {
            Finding(
                rule: $0.rule.code, title: $0.rule.title, severity: $0.severity, place: $0.place, file: $0.file,
                line: $0.line, message: $0.message, remedy: $0.remedy, correction: $0.xml,
                gap: $0.gap?.code.rawValue, recordField: $0.gap?.name)
        }
    }
    /// The text that `moult lint` prints.
    public var description: String { lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult lint --json` prints, on one line.
    public var json: String { document.compact }

    /// Returns the findings in a format for a service.
    ///
    /// - Throws: any error from finding the repository; `usage` for a finding in a file outside it.
    public func text(as format: Format) throws -> String {
        try lines(as: format, around: reports.first?.path).joined(separator: "\n")
    }

    /// - Parameter model: the path of a model in the repository to which paths are relative; nil for the repository
    ///   around the current directory.
    package func lines(as format: Format, around model: String? = nil) throws -> [String] {
        switch format {
        case .sarif: return [try sarif(RepositoryPaths(ofModelAt: model)).indented]
        case .gitHub:
            let paths = try? RepositoryPaths(ofModelAt: model)
            return reports.flatMap { $0.gitHubLines(paths) } + unused.map { $0.gitHubLine(paths) }
                + ["\(all.isEmpty ? "No findings" : all.counts).\(reports.first?.off ?? "")"]
        case .markdown:
            let unusedLines = unused.isEmpty ? [] : [""] + unused.map { "- \($0.markdownLine)" }
            return reports.flatMap { $0.markdownLines(share: reports.count) } + unusedLines
        }
    }

    /// Whether there is a finding at this severity or above. An unused exception counts as a note.
    package func has(atLeast severity: MoultBasics.Finding.Severity) -> Bool {
        reports.contains { $0.has(atLeast: severity) } || severity == .note && !unused.isEmpty
    }

    /// Returns the errors in versions of these names. Those of rules about releases are left out.
    func errors(inVersions names: Set<String>) -> [LintFinding] {
        all.filter { !$0.rule.isOfReleases && $0.severity == .error && names.contains($0.version) }
    }

    // MARK: JSON

    package var document: JSONValue {
        let isOne = reports.count == 1
        func documents(_ findings: (LintReport) -> [LintFinding]) -> JSONValue {
            .array(reports.flatMap { report in findings(report).map { $0.document(model: isOne ? nil : report.path) } })
        }
        let hasExceptions = !unused.isEmpty || reports.contains { !$0.excepted.isEmpty }
        let models: [JSONValue.Member] =
            isOne
            ? reports[0].heading
            : [
                .init(
                    "models",
                    .array(
                        reports.map { report in
                            .object(report.heading + [.init("counts", report.findings.countsDocument)])
                        }))
            ]
        return .object(
            [.init("format", 1)] + models + [.init("findings", documents(\.findings))]
                + (hasExceptions
                    ? [
                        .init("excepted", documents(\.excepted)),
                        .init("unusedExceptions", .array(unused.map(\.document))),
                    ] : [])
                + [
                    .init("turnedOff", JSONValue(reports.first?.turnedOff ?? [])),
                    .init("counts", all.countsDocument),
                ]
                + (correction == nil ? [] : [.init("fixes", .array(fixes.map(\.document)))]))
    }

    // MARK: Text

    /// The lines that say what was corrected, or would be.
    package func fixLines(style: TextStyle) -> [String] {
        guard let correction else { return [] }
        let count = Set(fixes.flatMap(\.corrections).map { "\($0.file): \($0.first?.place ?? "")" }).count
        let tags = count == 0 ? "No tag" : Quantity.count(count, "tag")
        return fixes.flatMap { $0.lines(style: style, isPreview: correction == .preview) } + [
            correction == .preview ? "\(tags) would be corrected. Nothing was written." : "\(tags) corrected.", "",
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let fixed = fixLines(style: style)
        let unusedLines = unused.flatMap { exception in
            [
                "\(style.cyan("note")) [\(exception.rule)] Unused exception",
                "  " + style.dim("at: \(exception.location.printable)"), "  " + exception.unusedMessage.printable,
                "  " + style.bold("→") + " " + LintException.unusedRemedy.text(), "",
            ]
        }
        guard reports.count != 1 else { return fixed + unusedLines + reports[0].lines(style: style) }
        let parts = reports.flatMap { [style.bold($0.path.printable)] + $0.lines(style: style) + [""] }
        let found = all.isEmpty ? "No findings" : all.counts
        return fixed + parts + unusedLines + ["\(found) in \(Quantity.count(reports.count, "model"))."]
    }

    // MARK: SARIF

    /// Returns the findings of all models as one run of SARIF 2.1.0
    /// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
    private func sarif(_ paths: RepositoryPaths) throws -> JSONValue {
        let saysSuppressions = reports.contains { !$0.excepted.isEmpty }
        // A profile may apply to some of the models only.
        let applied = Set(reports.flatMap { $0.rules.map(\.code) })
        let rules = LintRule.all.filter { applied.contains($0.code) }
        let results = try reports.flatMap { try $0.sarifResults(rules, paths, saysSuppressions: saysSuppressions) }
        let notifications = unused.map { $0.sarif(paths) }
        let run: [JSONValue.Member] = [
            .init(
                "tool",
                [
                    "driver": [
                        "name": "moult lint", "version": .string(MoultVersion.number),
                        "rules": .array(rules.map(\.sarif)),
                    ]
                ]),
            .init("columnKind", "unicodeCodePoints"),
        ]
        let invocations: [JSONValue] = [
            ["executionSuccessful": true, "toolConfigurationNotifications": .array(notifications)]
        ]
        return [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [
                .object(
                    run + (unused.isEmpty ? [] : [.init("invocations", .array(invocations))])
                        + [.init("results", .array(results))])
            ],
        ]
    }
}

extension LintResult {
    /// Applies the rules to models. If a model cannot be read because of broken references, these are its findings.
    ///
    /// - Parameters:
    ///   - paths: the paths of the models; a nil for models in the app's code, whose plan is checked too.
    ///   - registry: the app's code.
    ///   - models: reads the models at one of the paths.
    /// - Throws: any error from ``Project/lint(profiles:ignoring:since:lock:countingObjectsOf:)``; `usage` for an
    ///   exception whose place no model has.
    package init(
        _ request: LintRequest, ofModelsAt paths: [String?], _ registry: MigrationRegistry,
        _ models: (String?) throws -> LintedModels
    ) throws {
        var lint = try request.lint(accepting: registry.acceptedLosses)
        lint.namesModels = paths.count > 1
        var fixes: [LintFix] = []
        let reports = try paths.map { path in
            do {
                var target = try LintTarget(request, lint, ofModelAt: path, registry, models)
                if let correction = request.correction {
                    let fix = try LintFix(target)
                    if correction == .write, fix.changesFiles {
                        try fix.write()
                        target = try LintTarget(request, lint, ofModelAt: path, registry, models)
                    }
                    fixes.append(fix)
                }
                return LintReport(target.findings, of: target.subject, path: target.bundle.path, lint)
            } catch let error as MigrationError where error.code == .modelInvalid {
                let broken = path.map(lint.brokenReferences(inModelAt:)) ?? []
                guard let path, !broken.isEmpty else { throw error }
                return LintReport(brokenReferences: broken, path: path, lint)
            } catch var error as MigrationError where error.code == .lockFileMismatch {
                // For lint, an unreadable lock file is invalid input rather than a refusal.
                error.code = .modelInvalid
                throw error
            }
        }
        (self.reports, self.fixes) = (reports, fixes)
        correction = request.correction
        unused = try lint.unusedExceptions(reports, isOfAllModels: request.isOfAllModels)
        if request.isOfAllModels { try Self.check(request.declaredLosses, in: reports) }
    }
}

extension LintResult {
    /// - Throws: `usage` for an accepted loss at a place that no model has.
    private static func check(_ losses: [(place: String, location: String)], in reports: [LintReport]) throws {
        let places = reports.compactMap(\.places)
        // The places of a model that cannot be read are unknown.
        guard places.count == reports.count else { return }
        for (place, location) in losses where !places.contains(where: { $0.contain(place) }) {
            throw reports.unknown(
                place, of: "acceptedLosses", at: location, remedy: "Name an entity or Entity.property.")
        }
    }
}

extension Lint {
    /// Returns the exceptions that no model needs, although their rules were applied and their places exist; none unless
    /// all models were read.
    ///
    /// - Throws: `usage` for a place that no model has.
    fileprivate func unusedExceptions(_ reports: [LintReport], isOfAllModels: Bool) throws -> [LintException] {
        let codes = Set(
            reports.flatMap(\.rules).filter { rule in
                if rule.isOfReleases { return reports.contains { !$0.sources.isEmpty } }
                return !rule.isOfSchema || reports.contains { $0.schema != nil }
            }.map(\.code))
        // The places of a model that cannot be read are unknown.
        guard isOfAllModels, !reports.contains(where: { $0.gap != nil }) else { return [] }
        return try exceptions.enumerated().filter { position, exception in
            let known = reports.map { $0.unmatched[position] }
            guard !known.contains(nil) else { return false }
            if known.contains(true) { return codes.contains(exception.rule) }
            throw reports.unknown(
                exception.place, of: "the exception of \(exception.rule)", at: exception.location,
                remedy: "Name an entity, Entity.property, a version, Version/Entity.property or a model.")
        }.map(\.element)
    }
}

extension [LintReport] {
    /// Returns the error for a place that no model has, with the nearest one.
    ///
    /// - Parameter owner: the setting that names the place.
    fileprivate func unknown(_ place: String, of owner: String, at location: String, remedy: Remedy) -> MigrationError {
        let near = lazy.compactMap { $0.places?.nearest(to: place) }.first
        return MigrationError(
            .usage, "No model has the place \(place) of \(owner).\(Suggestion.sentence(near))",
            place: location, remedy: remedy)
    }
}
