import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let diff = Verb(
        "diff", "Print the differences between two versions of a model, one sentence per change.",
        discussion: """
            OLD and NEW are versions of MODEL, or of the model that --model or moult.json names; by default, NEW is the
            current version, and OLD the one before it. Without MODEL, they may also be paths of models; a bundle stands
            for its current version. REV:PATH is the model of a git revision, such as HEAD~1:Forum.xcdatamodeld. Changes
            that leave the version hash the same, so that Core Data does not notice them, are listed separately. If OLD
            and NEW are two .mom files, every value in the two archives is compared too. Exits with 0; with --check, 1 if
            anything differs.
            """,
        operands: [ofModel, old, new],
        options: [.model, fromOld, toNew, .checking("anything differs"), .answers, .order],
        examples: [
            "moult diff Forum.xcdatamodeld Forum \"Forum 3\"", "moult diff Forum.xcdatamodeld",
            "moult diff Forum \"Forum 3\" --model Forum.xcdatamodeld",
            "moult diff Forum.xcdatamodeld Forum.xcdatamodeld",
        ]
    ) { invocation, console in
        let compared = try Compared(invocation, console)
        let report = try DifferenceReport(
            from: compared.older, to: compared.newer, answers: invocation.answers(), files: compared.files)
        console.print(report)
        return invocation[.check] && !report.isEmpty ? .findings : .done
    }

    static let fromOld = Option.value("from", "VERSION", "The same as OLD.")
    static let toNew = Option.value("to", "VERSION", "The same as NEW.")
    static let ofModel = Operand(
        "MODEL", "The model whose versions are compared.", isOptional: true)
    static let old = Operand(
        "OLD", "The older version: its name, or the path of a model; by default the one before NEW.", isOptional: true)
    static let new = Operand(
        "NEW", "The newer version; by default the model's current version.", isOptional: true)
}

/// The two versions that `moult diff` compares, from any of the forms in which they can be given.
struct Compared {
    let older: ModelVersion
    let newer: ModelVersion
    /// The paths of the two models, if both were given as paths.
    let files: (String, String)?

    init(_ invocation: Invocation, _ console: Console) throws {
        var words = [Verb.ofModel, Verb.old, Verb.new].compactMap { invocation[$0] }
        let isModelTyped = invocation[value: .model] != nil && !invocation.isConfigured(.model)
        // Two paths are two models; one path comes before the names of its versions.
        let arePaths = try words.count == 2 && words.allSatisfy { try $0.contains(":") || invocation.system.exists($0) }
        var own: ModelVersions?
        if !isModelTyped, !arePaths, let first = words.first, try invocation.system.exists(first) {
            let versions = try invocation.versions(at: first, console)
            let isOfConfigured = words.count == 2 && invocation[value: .model] != nil
            if !isOfConfigured || versions.position(named: words[1]) != nil {
                own = versions
                words.removeFirst()
            }
        }
        let (from, to) = (invocation[value: Verb.fromOld], invocation[value: Verb.toNew])
        guard from == nil && to == nil || words.isEmpty else {
            throw invocation.wrong("The versions are named with --from and --to, or without them, not both.")
        }
        let versions = try own ?? (arePaths && !isModelTyped ? nil : invocation.versionsIfKnown(console))
        guard words.count < 3 else {
            throw invocation.wrong("\(Program.name) \(invocation.path) compares two versions, not three.")
        }
        func version(_ text: String) throws -> ModelVersion {
            if let version = try invocation.versionOfRevision(text, console) { return version }
            // If the model is only configured, an argument can still be a path.
            if let versions, try isModelTyped || own != nil || !invocation.system.exists(text) {
                return try invocation.version(named: text, in: versions)
            }
            return try invocation.version(Verb.version, in: try invocation.versions(at: text, console))
        }
        if words.count == 2 {
            (older, newer) = try (version(words[0]), version(words[1]))
            files = versions == nil ? (words[0], words[1]) : nil
            return
        }
        guard let versions else {
            throw Invocation.missing(["MODEL"], of: Verb.typed(invocation.path), invocation.path)
        }
        newer = try to.map(version) ?? invocation.version(Verb.version, in: versions)
        files = nil
        if let name = words.first ?? from {
            older = try version(name)
        } else {
            let place = versions.position(named: newer.name) ?? versions.versions.count - 1
            guard place > 0 else {
                throw invocation.wrong("\(newer.name) is the first version of the model; there is none before it.")
            }
            older = versions.versions[place - 1]
        }
    }
}

extension Invocation {
    /// Returns the current version of the model that `REV:PATH` names; nil for any other text, such as a file's path.
    fileprivate func versionOfRevision(_ text: String, _ console: Console) throws -> ModelVersion? {
        guard let (bundle, revision) = try ModelBundle.ofRevision(text) else { return nil }
        console.say(bundle.findings)
        let version = try version(Verb.version, in: ModelVersions(bundle))
        // Both sides may have a version of the same name.
        return ModelVersion(names: version.names.map { "\($0) (\(revision))" }, model: version.model)
    }
}

extension Verb {
    static let changelog = Verb(
        "changelog", "Print the history of a model in words, version by version, as Markdown.",
        discussion: """
            The newest version comes first. Changes that may lose data are marked. Redirect the output to a file to keep
            it with the model.
            """,
        operands: [.model], options: [.answers, .order],
        examples: ["moult changelog Forum.xcdatamodeld", "moult changelog Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let bundle = try invocation.operandBundle(console)
        console.say(bundle.findings)
        let versions = ModelVersions(oneByOne: bundle)
        let steps = try versions.steps(answers: try invocation.answers(for: versions, console))
        let report = ChangelogReport(versions, steps)
        return console.print(report.document, wraps: false) { _ in report.lines.map(\.printable) }
    }

    static let schemaBump = Verb(
        "bump", "Propose the next semantic version of a model from what has changed.",
        discussion: """
            Compares the last two versions, or those that --from and --to name. A major change removes, renames or
            restricts something. A minor change only adds. A patch leaves the version hashes unchanged. The number of a
            version is its identifier (Core Data Model Identifier in Xcode), such as 1.2.0. If the identifier is not
            such a number, the name of the version is used. With --check, exits with 1 if the newer version has a number
            that is lower than the proposed one, or has none.
            """,
        operands: [.model], options: [from, to, lower, .answers, .order],
        examples: [
            "moult schema bump Forum.xcdatamodeld",
            "moult schema bump Forum.xcdatamodeld --from Forum --to \"Forum 2\"",
        ]
    ) { invocation, console in
        // Versions with equal hashes are a patch; they are not merged into one version.
        let proposal = try VersionProposal(
            invocation.operandBundle(console), from: invocation[value: from], to: invocation[value: to],
            answers: invocation.answers())
        console.print(proposal)
        return invocation[.check] && proposal.isTooLow ? .findings : .done
    }

    private static let lower = Option.checking(
        "the newer version has a number that is lower than the proposed one, or has none")
    private static let from = Option.value("from", "VERSION", "The older version; by default the last but one.")
    private static let to = Option.value("to", "VERSION", "The newer version; by default the last.")
}
