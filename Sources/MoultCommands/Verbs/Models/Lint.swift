import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let lint = Verb(
        "lint", "Check a model for faults, such as changes to released versions and migrations that lose data.",
        discussion: """
            Released versions are those in moult.lock next to the model, or those of a git revision: --since compares
            with the merge base of that revision and HEAD. Migrations between released versions are not checked again.
            Each finding has a rule, a file and line, a sentence and a remedy. moult explain RULE explains a rule,
            with examples.
            Exits with 0, or with 1 if there is a finding at the level of --fail-on or above.
            Several models, such as those of moult.json, are checked one after the other.
            --fix writes the corrected start tags that the findings show, and changes no other byte of the model's
            files. It edits no version that was released; if nothing says which were, only the newest. It never decides
            what is yours to decide: whether something is new or renamed, and the classes of a Transformable. Another
            correction is tried out first, and left out if it would not repair its finding or would lead to another
            one. The findings are then those that remain.
            The exceptions in moult.json leave out a rule at one place, and why says the reason:
            {"exceptions": [{"rule": "SHAPE003", "place": "Post.user", "why": "The server has the other end."}]}
            """,
        operands: [.models],
        options: [
            since, lockFile, .lintProfile, store, failOn, .lintFormat, ignore, fix, dryRun, .mapping, .answers, .order,
        ],
        examples: [
            "moult lint Forum.xcdatamodeld",
            "moult lint Forum.xcdatamodeld --fail-on warning --ignore CODE001,CODE002 --format markdown",
            "moult lint Forum.xcdatamodeld --fix --dry-run",
        ]
    ) { invocation, console in
        let form = try invocation.lintForm(console)
        guard invocation[fix] || !invocation[dryRun] else { throw invocation.wrong("--dry-run needs --fix.") }
        let level = try invocation.word(failOn, of: Finding.Severity.self) ?? .error
        let result = try invocation.lint(console)
        // These formats have the findings only.
        if form != .text, form != .json { result.fixLines(style: console.errors.style).forEach(console.say) }
        try console.print(result, as: form)
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
    fileprivate static let fix = Option.flag(
        "fix", "Write the corrected tags into the files of the versions that were not released.")
    fileprivate static let dryRun = Option.flag("dry-run", "With --fix: say what would be written, and write nothing.")
    fileprivate static let ignore = Option.value(
        "ignore", "CODES", "Rules to leave out, separated by commas, such as SHAPE003. May be repeated.",
        completes: .rules)
}

extension Option {
    static let lintProfile = Option.value(
        "profile", "NAME", "Also apply the rules of a profile: cloudkit or extension. May be repeated.",
        completes: .words(LintRule.Profile.allCases.map(\.rawValue)))
    static let lintFormat = Option.value(
        "format", "FORMAT", "How to print the findings: text (the default), json, sarif, github, markdown.",
        completes: .words(LintForm.allCases.map(\.rawValue)))
}

extension Invocation {
    /// Returns the output format for the findings.
    func lintForm(_ console: Console) throws -> LintForm {
        let form = try word(.lintFormat, of: LintForm.self) ?? (console.isJSON ? .json : .text)
        guard !console.isJSON || form == .json else {
            throw wrong("--json and --\(Option.lintFormat.name) \(form.rawValue) exclude each other.")
        }
        return form
    }

    /// Returns the value of an option that takes one of a few words.
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
        let near = Suggestion.sentence(for: text, among: names)
        throw wrong("--\(option.name) takes \(names.joined(separator: ", ")), not \(text).\(near)")
    }

    /// Returns the profiles that `--profile` names.
    func profiles() throws -> [LintRule.Profile] {
        try all(.lintProfile).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map {
            try word($0.trimmed, for: .lintProfile, of: LintRule.Profile.self)
        }
    }

    /// The request that `moult.json` alone makes.
    var configuredLint: LintRequest {
        var request = LintRequest(profiles: Set(configuration?.profiles ?? []))
        request.severities = configuration?.severities ?? [:]
        request.exceptions = configuration?.exceptions ?? []
        request.declaredLosses = configuration?.declaredLosses ?? []
        request.schema = configuration?.cloudKitSchema.map { ($0, configuration?.cloudKitConfiguration) }
        return request
    }

    /// Reads the models and whatever they are compared with, and applies the rules.
    fileprivate func lint(_ console: Console) throws -> LintResult {
        let models = forEachModel
        let single: [Option] = [Verb.store, .mapping, .answers, .order]
        if models.count > 1, let option = single.first(where: { self[value: $0] != nil && !isConfigured($0) }) {
            throw wrong("--\(option.name) is about one model. Name the model.")
        }
        let request = try lintRequest(models)
        if request.isOfAllModels, let configuration, !configuration.models.isEmpty {
            let others = try NewProject.unnamed(by: configuration)
            if !others.isEmpty {
                console.say(
                    "\(configuration.path) does not name \(others.joined(separator: ", ")), so no rule was applied.")
            }
        }
        for bundle in models.compactMap({ $0[Operand.model].flatMap(ModelBundle.bundle(aroundVersionAt:)) }) {
            let command = String(advice: "\(.lint, .path(bundle))")
            console.say("This is one version of \(bundle). To compare it with the others, run `\(command)`.")
        }
        let byPath = Dictionary(models.map { ($0[Operand.model] ?? "", $0) }) { first, _ in first }
        return try LintResult(
            request, ofModelsAt: models.map { $0[Operand.model] }, registryWithDeclaredLosses
        ) { path in try (byPath[path ?? ""] ?? self).linted(console) }
    }

    private func lintRequest(_ models: [Invocation]) throws -> LintRequest {
        var request = configuredLint
        if !all(.lintProfile).isEmpty { request.profiles = Set(try profiles()) }
        request.ignored = all(Verb.ignore)
            .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map(\.trimmed)
        (request.revision, request.lock, request.store) = (
            self[value: Verb.since], self[value: Verb.lockFile], self[value: Verb.store]
        )
        if self[Verb.fix] { request.correction = self[Verb.dryRun] ? .preview : .write }
        request.allowsNewModels = models.count > 1
        func places(_ paths: [String]) -> Set<String> { Set(paths.map { (try? system.resolve($0)) ?? $0 }) }
        let configured = places(configuration?.models ?? [])
        request.isOfAllModels = configured.isSubset(of: places(models.compactMap { $0[Operand.model] }))
        return request
    }

    /// Reads the one model of this invocation.
    private func linted(_ console: Console) throws -> LintedModels {
        // The rules also check a plan with faults.
        let plan = self[Operand.model] == nil ? registry.plan : nil
        let bundle = try plan.map { try ModelBundle(ModelVersions(versions: $0.versions)) } ?? operandBundle(console)
        if self[value: Verb.since] != nil {
            guard self[Operand.model] != nil, try !bundle.isInsideStore else {
                throw wrong("--since needs MODEL, the path of a model in a git repository.")
            }
        }
        return try linted(bundle, console)
    }

    private func linted(_ bundle: ModelBundle, _ console: Console) throws -> LintedModels {
        let versions = ModelVersions(bundle)
        return LintedModels(
            bundle, versions, answers: try answers(for: versions, console),
            mappings: self[value: .mapping].map { [$0] } ?? [])
    }

    /// Applies the configured rules to one model before it is locked.
    fileprivate func lint(_ bundle: ModelBundle, _ console: Console) throws -> LintResult {
        var request = configuredLint
        request.isOfAllModels = false
        return try LintResult(
            request, ofModelsAt: [self[Operand.model]], registryWithDeclaredLosses
        ) { _ in try linted(bundle, console) }
    }
}

/// The output formats for findings.
enum LintForm: String, CaseIterable {
    case text, json, sarif, github, markdown
}

extension Console {
    /// Prints the findings of rules.
    func print(_ result: LintResult, as form: LintForm) throws {
        switch form {
        case .text: print(result.document) { result.lines(style: $0) }
        case .json: line(result.document.compact)
        case .sarif:
            // The output is read elsewhere, where paths typed here do not resolve.
            try CommandWords().speaking { lines(try result.lines(as: .sarif)) }
        case .github: lines(try result.lines(as: .gitHub))
        case .markdown: lines(try result.lines(as: .markdown))
        }
    }
}

extension Verb {
    static let lock = Verb(
        "lock", "Pin every version of a model in moult.lock, so that a released one cannot change unnoticed.",
        discussion: """
            Run it when you release a version, and commit moult.lock. The file also records the order of the versions
            and the current one. If a locked version has changed, the command is refused. If that version was never
            released, --again locks it again. If moult lint finds errors in a version that the lock does not have yet,
            nothing is locked and the exit code is 1; the first lock of a model is the baseline, and takes all.
            An app's own tool that provides the model keeps the lock in the folder in which the tool runs.
            Several models, such as those of moult.json, are locked together: nothing is written if one is refused.
            With --check nothing is written, and the exit code is 1 if the model and the lock differ.
            """,
        operands: [.models],
        options: [
            .checking("the model and the lock file differ, or if there is no lock file", before: "Write nothing. "),
            again, .mapping, .answers, .order,
        ],
        examples: ["moult lock Forum.xcdatamodeld", "moult lock Forum.xcdatamodeld --check"]
    ) { invocation, console in
        let models = invocation.forEachModel
        guard models.count == 1 || invocation[value: .order] == nil else {
            throw invocation.wrong("--order is about one model. Name the model.")
        }
        let bundles = try models.map { try $0.operandBundle(console) }
        let report =
            try invocation[.check]
            ? LockReport(checking: bundles)
            : LockReport(locking: bundles, again: invocation[again]) { bundle in
                let place = bundles.firstIndex { $0.path == bundle.path } ?? 0
                return try models[place].lint(bundle, console)
            }
        console.print(report)
        return report.findings.isEmpty ? .done : .findings
    }

    private static let again = Option.flag("again", "Lock a version again even if it has changed since it was locked.")
}

extension Option {
    static let check = checking("there is something to report")

    /// Returns the `--check` option of a verb, with the condition for exit code 1.
    static func checking(_ condition: String, before: String = "") -> Option {
        flag("check", "\(before)Exit with 1 if \(condition).")
    }
}

extension Verb {
    static let initialise = Verb(
        "init", "Write moult.json for the models of a project, and lock their versions.",
        discussion: """
            Without MODEL, every .xcdatamodeld in this folder or below it is used. On a terminal, Moult asks which of
            several to use, and which profiles moult lint should apply. lint and lock then work on all of these models,
            and the other verbs need no --model for a store of one of them, in this folder or below it. A lock file that
            already has a model stays as it is. Commit the files. The lock is the baseline: lint reports what is new.
            moult.json can also have answers, rules, backups, severities, exceptions, acceptedLosses, anonymise and
            cloudkit.
            """,
        operands: [.models], options: [.lintProfile],
        examples: ["moult init Forum.xcdatamodeld --profile cloudkit", "moult init --json"]
    ) { invocation, console in
        let path = invocation[value: .config] ?? ProjectConfiguration.fileName
        try NewProject.check(path)
        let named = invocation.all(Operand.model)
        let bundles = try (named.isEmpty ? chosenModels(invocation, console) : named).map {
            try ModelBundle(modelOrStoreAt: $0)
        }
        for bundle in bundles { console.say(bundle.findings) }
        let profiles = try invocation.all(.lintProfile).isEmpty ? askedProfiles(console) : invocation.profiles()
        return console.print(try NewProject(bundles, profiles: profiles, at: path))
    }

    // MARK: The models

    private static func chosenModels(_ invocation: Invocation, _ console: Console) throws -> [String] {
        let found = try NewProject.models(in: ".")
        guard !found.isEmpty else {
            throw invocation.wrong("There is no .xcdatamodeld in this folder or below it. Name the model.")
        }
        guard found.count > 1, AnswerSession.canAsk(console) else { return found }
        for (number, path) in found.enumerated() { console.say("  \(number + 1)  \(path.printable)") }
        console.sayRaw("Which ones? (numbers separated by commas, by default all) ")
        let words = readLine()?.split { ", ".contains($0) } ?? []
        let chosen = words.compactMap { Int($0) }.filter { found.indices.contains($0 - 1) }
        guard chosen.count == words.count else {
            throw invocation.wrong("Answer with numbers from 1 to \(found.count), separated by commas.")
        }
        return chosen.isEmpty ? found : found.indices.filter { chosen.contains($0 + 1) }.map { found[$0] }
    }

    // MARK: The profiles

    private static func askedProfiles(_ console: Console) -> [LintRule.Profile] {
        guard AnswerSession.canAsk(console) else { return [] }
        return LintRule.Profile.allCases.filter { profile in
            console.sayRaw(profile.question + " (y or n, by default n) ")
            return readLine()?.trimmed.lowercased().hasPrefix("y") == true
        }
    }
}

extension LintRule.Profile {
    fileprivate var question: String {
        switch self {
        case .cloudkit: "Is a store of this model mirrored to CloudKit?"
        case .extension: "Does an app extension open a store of this model?"
        }
    }
}
