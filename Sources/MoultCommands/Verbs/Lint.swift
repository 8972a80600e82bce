import Moult
import MoultLint
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem
import MoultTools

extension Verb {
    static let lint = Verb(
        "lint", "Check a model for faults, such as changes to released versions and migrations that lose data.",
        discussion: """
            Released versions are those in moult.lock next to the model, or those of a git revision: --since compares
            with the merge base of that revision and HEAD. Migrations between released versions are not checked again.
            Each finding has a rule, a file and line, a sentence and a remedy. Documentation/Lint has a page for each
            rule.
            Exits with 0, or with 1 if there is a finding at the level of --fail-on or above.
            """,
        operands: [.model],
        options: [since, lockFile, .lintProfile, store, failOn, format, ignore, .mapping, .answers, .order],
        examples: [
            "moult lint Forum.xcdatamodeld",
            "moult lint Forum.xcdatamodeld --fail-on warning --ignore CODE001,CODE002 --format markdown",
        ]
    ) { invocation, console in
        let form = try invocation.word(format, of: LintReport.Format.self) ?? (console.isJSON ? .json : .text)
        guard !console.isJSON || form == .json else {
            throw invocation.wrong("--json and --format \(form.rawValue) exclude each other.")
        }
        let level = try invocation.word(failOn, of: Finding.Severity.self) ?? .error
        let lint = try invocation.lint()
        let report = try invocation.report(by: lint, console)
        let advice = Advice(invocation)
        switch form {
        case .text:
            console.print(report.document) {
                report.lines(style: $0).map { $0.contains("→") ? $0 : console.advised($0) }
            }
        case .json: console.line(report.document.advised(by: advice).compact)
        case .sarif:
            console.line(try report.sarif(version: MoultCommand.version, paths: RepositoryPaths()).indented)
        case .github: console.lines(report.gitHubLines(try? RepositoryPaths()).map(console.advised))
        case .markdown: console.lines(report.markdownLines.map(console.advised))
        }
        return report.has(atLeast: level) ? .findings : .done
    }

    fileprivate static let since = Option.value(
        "since", "REV", "Compare with the model at the merge base of this git revision, such as origin/main, and HEAD.")
    fileprivate static let lockFile = Option.value(
        "lock", "FILE", "The lock file to compare with; by default moult.lock next to the model.", completes: .files)
    fileprivate static let store = Option.value(
        "store", "STORE", "Also say how many objects of this store a change concerns.", completes: .files)
    fileprivate static let failOn = Option.value(
        "fail-on", "LEVEL",
        "Exit with 1 if there is a finding at this level or above: error (the default), warning, note.",
        completes: .words(["error", "warning", "note"]))
    fileprivate static let format = Option.value(
        "format", "FORMAT", "How to print the findings: text (the default), json, sarif, github, markdown.",
        completes: .words(LintReport.Format.allCases.map(\.rawValue)))
    fileprivate static let ignore = Option.value(
        "ignore", "CODES", "Rules to leave out, separated by commas, such as SHAPE003. May be repeated.",
        completes: .words(LintRule.all.map(\.code)))
}

extension Option {
    static let lintProfile = Option.value(
        "profile", "NAME", "Also apply the rules of a profile: cloudkit or extension. May be repeated.",
        completes: .words(LintRule.Profile.allCases.map(\.rawValue)))
}

extension Invocation {
    /// The value of an option that takes one of a few words.
    fileprivate func word<Word: RawRepresentable & CaseIterable>(
        _ option: Option, of words: Word.Type
    ) throws -> Word? where Word.RawValue == String {
        try self[value: option].map { try word($0, for: option, of: words) }
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ text: String, for option: Option, of words: Word.Type
    ) throws -> Word where Word.RawValue == String {
        if let word = Word(rawValue: text) { return word }
        let names = Word.allCases.map(\.rawValue)
        let near = Suggestion.nearest(to: text, among: names).map { " Did you mean \($0)?" } ?? ""
        throw wrong("--\(option.name) takes \(names.joined(separator: ", ")), not \(text).\(near)")
    }

    /// The profiles that `--profile` names.
    func profiles() throws -> [LintRule.Profile] {
        try all(.lintProfile).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map {
            try word($0.trimmed, for: .lintProfile, of: LintRule.Profile.self)
        }
    }

    fileprivate func lint() throws -> Lint {
        let settings = configuration
        let profiles = try all(.lintProfile).isEmpty ? settings?.profiles ?? [] : profiles()
        let codes = try all(Verb.ignore).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map {
            text in
            let code = text.trimmed
            if let rule = LintRule.named(code) { return rule.code }
            let near = Suggestion.nearest(to: code.uppercased(), among: LintRule.all.map(\.code))
            throw wrong("There is no rule \(code).\(near.map { " Did you mean \($0)?" } ?? "")")
        }
        let severities = settings?.severities ?? [:]
        let off = severities.filter { $0.value == nil }.keys
        return Lint(
            profiles: Set(profiles), ignored: Set(codes).union(off), severities: severities.compactMapValues { $0 },
            acceptedLosses: registryWithDeclaredLosses.acceptedLosses)
    }

    /// Reads the model and what it is compared with, and applies the rules.
    fileprivate func report(by lint: Lint, _ console: Console) throws -> LintReport {
        let bundle: ModelBundle
        do {
            if self[Operand.model] == nil, let plan = registry.plan {
                // A plan with faults is what the rules are for.
                bundle = try ModelBundle(ModelVersions(versions: plan.versions))
            } else {
                bundle = try operandBundle(console)
            }
        } catch let error as MigrationError where error.code == .modelInvalid {
            guard let path = self[Operand.model] else { throw error }
            let broken = lint.brokenReferences(inModelAt: path)
            guard !broken.isEmpty else { throw error }
            return LintReport(brokenReferences: broken, path: path, rules: lint.rules)
        } catch var error as MigrationError where error.code == .lockFileMismatch {
            // For lint, a lock that cannot be read is bad input, and not a refusal.
            error.code = .modelInvalid
            throw error
        }
        let plan = self[Operand.model] == nil ? registry.plan : nil
        let versions = ModelVersions(bundle)
        let answers = try answers(for: versions, console)
        let stages = try plan?.stages ?? stages(in: versions)
        let subject = try LintSubject(
            bundle, answers: answers, registered: stages, releases: try releases(of: bundle),
            rows: try self[value: Verb.store].map {
                try StoreRows(
                    ofStore: $0, in: versions,
                    options: .init(
                        answers: answers, registered: plan == nil ? mappingStages(in: versions) : [],
                        registry: registry))
            },
            planFindings: plan?.findings, declarations: plan?.lintDeclarations ?? [:])
        return LintReport(
            lint.findings(in: subject, path: bundle.path), of: subject, path: bundle.path, rules: lint.rules)
    }

    private func stages(in versions: ModelVersions) throws -> [RegisteredStage] {
        try registry.stages(in: versions) + mappingStages(in: versions)
    }

    private func mappingStages(in versions: ModelVersions) throws -> [RegisteredStage] {
        let mappings = try self[value: .mapping].map { try MappingModelFile.all(at: $0) } ?? []
        return try mappings.map {
            try RegisteredStage(
                $0.mapping, named: $0.name, held: $0.versions, in: versions, policies: Set(registry.policies.keys))
        }
    }

    private func releases(of bundle: ModelBundle) throws -> [LintRelease] {
        let revision = self[value: Verb.since]
        if revision != nil {
            guard self[Operand.model] != nil, try !StoreProbe.isDatabase(bundle.path) else {
                throw wrong("--since needs MODEL, the path of a model in a git repository.")
            }
        }
        return try LintRelease.all(of: bundle, lock: self[value: Verb.lockFile], since: revision)
    }
}
