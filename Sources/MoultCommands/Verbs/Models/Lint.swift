import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let lint = Verb(
        "lint", "Check a model for faults, such as changes to released versions and migrations that lose data.",
        discussion: """
            Released versions are those in moult.lock next to the model, or those of a git revision: --since compares
            with the merge base of that revision and HEAD. Migrations between released versions are not checked again.
            Each finding has a rule, a file and line, a sentence and a remedy. moult explain RULE explains a rule, with
            examples.
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
            // The output is read elsewhere, where paths typed here do not resolve.
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
        let near = Suggestion.nearest(to: text, among: names).map { " Did you mean \($0)?" } ?? ""
        throw wrong("--\(option.name) takes \(names.joined(separator: ", ")), not \(text).\(near)")
    }

    /// Returns the profiles that `--profile` names.
    func profiles() throws -> [LintRule.Profile] {
        try all(.lintProfile).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map {
            try word($0.trimmed, for: .lintProfile, of: LintRule.Profile.self)
        }
    }

    /// Reads the model and whatever it is compared with, and applies the rules.
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
            // The rules also check a plan with faults.
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

/// The output formats for findings.
private enum LintForm: String, CaseIterable {
    case text, json, sarif, github, markdown
}

extension Verb {
    static let lock = Verb(
        "lock", "Pin every version of a model in moult.lock, so that a released one cannot change unnoticed.",
        discussion: """
            Run it when you release a version, and commit moult.lock. The file also records the order of the versions
            and the current one. If a locked version has changed, the command is refused. If that version was never
            released, --again locks it again.
            An app's own tool that provides the model keeps the lock in the folder in which the tool runs.
            With --check nothing is written, and the exit code is 1 if the model and the lock differ.
            """,
        operands: [.model],
        options: [
            .checking("the model and the lock file differ, or if there is no lock file", before: "Write nothing. "),
            again, .order,
        ],
        examples: ["moult lock Forum.xcdatamodeld", "moult lock Forum.xcdatamodeld --check"]
    ) { invocation, console in
        let bundle = try invocation.operandBundle(console)
        let report =
            try invocation[.check]
            ? LockReport(checking: bundle) : LockReport(locking: bundle, again: invocation[again])
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
        "init", "Write moult.json for a model, and lock its versions.",
        discussion: """
            Without MODEL, the .xcdatamodeld in this folder or below it is used. On a terminal, Moult asks which one to
            use if there are several, and which profiles moult lint should apply. The other verbs then need no --model
            in this folder or below it. A lock file that already has the model stays as it is. Commit both files.
            """,
        operands: [.model], options: [.lintProfile],
        examples: ["moult init Forum.xcdatamodeld --profile cloudkit", "moult init --json"]
    ) { invocation, console in
        let path = invocation[value: .config] ?? ProjectConfiguration.fileName
        try NewProject.check(path)
        let bundle = try ModelBundle(modelOrStoreAt: invocation[Operand.model] ?? chosenModel(invocation, console))
        console.say(bundle.findings)
        let profiles = try invocation.all(.lintProfile).isEmpty ? askedProfiles(console) : invocation.profiles()
        return console.print(try NewProject(bundle, profiles: profiles, at: path))
    }

    // MARK: The model

    private static func chosenModel(_ invocation: Invocation, _ console: Console) throws -> String {
        let found = try NewProject.models(in: ".")
        if found.count == 1 { return found[0] }
        guard let first = found.first else {
            throw invocation.wrong("There is no .xcdatamodeld in this folder or below it. Name the model.")
        }
        guard AnswerSession.canAsk(console) else {
            throw invocation.wrong("There are several models: \(found.joined(separator: ", ")). Name one of them.")
        }
        for (number, path) in found.enumerated() { console.say("  \(number + 1)  \(path.printable)") }
        console.sayRaw("Which one? (1 to \(found.count), by default 1) ")
        let number = readLine().flatMap { Int($0.trimmed) } ?? 1
        return found.indices.contains(number - 1) ? found[number - 1] : first
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
