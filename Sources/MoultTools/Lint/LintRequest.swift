import Moult
import MoultBasics
import MoultEngine
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultStore

/// A request to check models: the rules, and the releases to compare with.
package struct LintRequest: Sendable {
    package var profiles: Set<LintRule.Profile>
    /// The codes of rules to leave out, in upper or lower case.
    package var ignored: [String] = []
    /// The severities that replace those of the rules, by the code of the rule; nil turns a rule off.
    package var severities: [String: Finding.Severity?] = [:]
    /// A git revision to compare with; nil for none.
    package var revision: String?
    /// The lock file to compare with; nil for the one next to the model.
    package var lock: String?
    /// A store whose objects the findings count; nil for none.
    package var store: String?

    package init(profiles: Set<LintRule.Profile> = []) { self.profiles = profiles }

    /// - Throws: `usage` for a rule that does not exist.
    func lint(accepting losses: AcceptedLosses) throws -> Lint {
        let codes = try ignored.map { code in
            if let rule = LintRule.named(code) { return rule.code }
            let near = Suggestion.nearest(to: code.uppercased(), among: LintRule.all.map(\.code))
            throw MigrationError.wrongRequest("There is no rule \(code).\(near.map { " Did you mean \($0)?" } ?? "")")
        }
        return Lint(
            profiles: profiles, ignored: Set(codes).union(severities.filter { $0.value == nil }.keys),
            severities: severities.compactMapValues { $0 }, acceptedLosses: losses)
    }
}

/// The models to check, with the answers and mapping models for migrations between them.
package struct LintedModels {
    let bundle: ModelBundle
    let versions: ModelVersions
    let answers: Answers
    /// The paths of mapping models.
    let mappings: [String]

    package init(_ bundle: ModelBundle, _ versions: ModelVersions, answers: Answers, mappings: [String]) {
        (self.bundle, self.versions, self.answers, self.mappings) = (bundle, versions, answers, mappings)
    }
}

extension ModelBundle {
    /// Whether the model is inside a store.
    package var isInsideStore: Bool { get throws { try ReadOnlyStore.isDatabase(path) } }
}

extension LintResult {
    /// Applies the rules to models. If a model cannot be read because of broken references, these are the findings.
    ///
    /// - Parameters:
    ///   - path: the path of the models; nil for models in the app's code, whose plan is checked too.
    ///   - registry: the app's code.
    ///   - models: reads the models.
    /// - Throws: any error from ``Project/lint(profiles:ignoring:since:lock:countingObjectsOf:)``.
    package init(
        _ request: LintRequest, ofModelAt path: String?, _ registry: MigrationRegistry,
        _ models: () throws -> LintedModels
    ) throws {
        let lint = try request.lint(accepting: registry.acceptedLosses)
        let plan = path == nil ? registry.plan : nil
        do {
            let models = try models()
            let (bundle, versions) = (models.bundle, models.versions)
            let mappings = try models.mappings.flatMap { try [RegisteredStage](mappingsAt: $0, in: versions, registry) }
            let subject = try LintSubject(
                bundle, answers: models.answers,
                registered: try plan?.stages ?? registry.stages(in: versions) + mappings,
                releases: try LintRelease.all(of: bundle, lock: request.lock, since: request.revision),
                rows: try request.store.map {
                    try StoreRows(
                        ofStore: $0,
                        StoreSession.Context(
                            versions, answers: models.answers, registered: plan == nil ? mappings : [],
                            registry: registry))
                },
                planFindings: plan?.findings, declarations: plan?.lintDeclarations ?? [:])
            report = LintReport(
                lint.findings(in: subject, path: bundle.path), of: subject, path: bundle.path, rules: lint.rules)
        } catch let error as MigrationError where error.code == .modelInvalid {
            let broken = path.map(lint.brokenReferences(inModelAt:)) ?? []
            guard let path, !broken.isEmpty else { throw error }
            report = LintReport(brokenReferences: broken, path: path, rules: lint.rules)
        } catch var error as MigrationError where error.code == .lockFileMismatch {
            // For lint, an unreadable lock file is invalid input rather than a refusal.
            error.code = .modelInvalid
            throw error
        }
    }
}

/// Rules that apply only to some apps.
public enum LintProfile: String, Sendable, Hashable, CaseIterable {
    /// Stores that are mirrored to CloudKit.
    case cloudKit
    /// Stores that an app shares with its extensions.
    case appExtension

    var rules: LintRule.Profile {
        switch self {
        case .cloudKit: .cloudkit
        case .appExtension: .extension
        }
    }
}

/// The findings of the lint rules in a model.
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

    let report: LintReport

    /// The findings, by severity.
    public var findings: [Finding] {
        report.findings.map {
            Finding(
                rule: $0.rule.code, title: $0.rule.title, severity: $0.severity, place: $0.place, file: $0.file,
                line: $0.line, message: $0.message, remedy: $0.remedy, correction: $0.xml)
        }
    }
    /// The text that `moult lint` prints.
    public var description: String { report.lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult lint --json` prints, on one line.
    public var json: String { report.document.compact }

    /// Returns the findings in a format for a service.
    ///
    /// - Throws: any error from finding the repository; `usage` for a finding in a file outside it.
    public func text(as format: Format) throws -> String {
        try lines(as: format, around: report.path).joined(separator: "\n")
    }

    /// - Parameter model: the path of a model in the repository to which paths are relative; nil for the repository
    ///   around the current directory.
    package func lines(as format: Format, around model: String? = nil) throws -> [String] {
        switch format {
        case .sarif: [try report.sarif(version: MoultVersion.number, paths: RepositoryPaths(ofModelAt: model)).indented]
        case .gitHub: report.gitHubLines(try? RepositoryPaths(ofModelAt: model))
        case .markdown: report.markdownLines
        }
    }

    /// Whether there is a finding at this severity or above.
    package func has(atLeast severity: MoultBasics.Finding.Severity) -> Bool { report.has(atLeast: severity) }

    package var document: JSONValue { report.document }
    package func lines(style: TextStyle) -> [String] { report.lines(style: style) }
}

extension PlanOutline {
    /// The declarations of the models, by version and entity, with the paths of the files. A program records only the
    /// module and name of a file. The file is searched for below the current directory; if it is not found, its
    /// recorded name is used.
    package var lintDeclarations: [String: [String: LintDeclaration]] {
        let names = Set(declarations.values.flatMap { $0.values.map(\.file) })
        let paths = SwiftFiles(named: names).paths
        return declarations.mapValues { entities in
            entities.mapValues {
                LintDeclaration(file: paths[$0.file] ?? $0.file, line: $0.line, properties: $0.properties)
            }
        }
    }
}

/// The paths of source files, by `Module/File.swift`.
private struct SwiftFiles {
    private(set) var paths: [String: String] = [:]
    private let wanted: [String: [String]]

    init(named names: Set<String>) {
        wanted = Dictionary(grouping: names.sorted()) { Path.name(of: $0) }
        if !wanted.isEmpty { search(".", depth: 0) }
    }

    private mutating func search(_ folder: String, depth: Int) {
        let system = POSIXSystem()
        guard depth <= 12, let names = try? system.list(folder) else { return }
        for name in names.sorted() where !name.hasPrefix(".") && !["Pods", "Carthage", "DerivedData"].contains(name) {
            let path = folder == "." ? name : Path.join(folder, name)
            if let candidates = wanted[name] {
                // Two modules may have files of the same name.
                for file in candidates where candidates.count == 1 || path.contains(Path.folder(of: file) + "/") {
                    paths[file] = paths[file] ?? path
                }
            } else if !name.contains("."), (try? system.isLink(path)) == false,
                (try? system.status(of: path))??.kind == .folder
            {
                search(path, depth: depth + 1)
            }
        }
    }
}
