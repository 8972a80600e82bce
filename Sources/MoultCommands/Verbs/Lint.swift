import MoultModel
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
        let form = try invocation.word(format, of: LintForm.self) ?? (console.isJSON ? .json : .text)
        guard !console.isJSON || form == .json else {
            throw invocation.wrong("--json and --format \(form.rawValue) exclude each other.")
        }
        let level = try invocation.word(failOn, of: Finding.Severity.self) ?? .error
        let result = try invocation.lint(console)
        switch form {
        case .text:
            console.print(result.document) { result.lines(style: $0) }
        case .json: console.line(result.document.compact)
        case .sarif:
            // It is read elsewhere, where the paths that were typed here lead to nothing.
            try CommandWords().speaking { console.lines(try result.lines(as: .sarif)) }
        case .github: console.lines(try result.lines(as: .gitHub))
        case .markdown: console.lines(try result.lines(as: .markdown))
        }
        return result.has(atLeast: level) ? .findings : .done
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
        completes: .words(LintForm.allCases.map(\.rawValue)))
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

    /// Reads the model and what it is compared with, and applies the rules.
    fileprivate func lint(_ console: Console) throws -> LintResult {
        let profiles = try all(.lintProfile).isEmpty ? configuration?.profiles ?? [] : profiles()
        var request = LintRequest(profiles: Set(profiles))
        request.ignored = all(Verb.ignore)
            .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map(\.trimmed)
        request.severities = configuration?.severities ?? [:]
        (request.revision, request.lock, request.store) = (
            self[value: Verb.since], self[value: Verb.lockFile], self[value: Verb.store]
        )
        return try LintResult(request, ofModelAt: self[Operand.model], registryWithDeclaredLosses) {
            // A plan with faults is what the rules are for.
            let plan = self[Operand.model] == nil ? registry.plan : nil
            let bundle =
                try plan.map { try ModelBundle(ModelVersions(versions: $0.versions)) } ?? operandBundle(console)
            let versions = ModelVersions(bundle)
            if request.revision != nil {
                guard self[Operand.model] != nil, try !bundle.isInsideStore else {
                    throw wrong("--since needs MODEL, the path of a model in a git repository.")
                }
            }
            return LintedModels(
                bundle, versions, answers: try answers(for: versions, console),
                mappings: self[value: .mapping].map { [$0] } ?? [])
        }
    }
}

/// The forms in which findings are printed.
private enum LintForm: String, CaseIterable {
    case text, json, sarif, github, markdown
}
