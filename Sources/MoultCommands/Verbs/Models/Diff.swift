import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let diff = Verb(
        "diff", "Print the differences between two versions of a model, one sentence per change.",
        discussion: """
            OLD and NEW are paths of models (a bundle stands for its current version), or with --model names of
            versions. REV:PATH is the model of a git revision, such as HEAD~1:Forum.xcdatamodeld. Changes that leave the
            version hash the same, so that Core Data does not notice them, are listed separately. If OLD and NEW are two
            .mom files, every value in the two archives is compared too. Exits with 0; with --check, 1 if anything
            differs.
            """,
        operands: [old, new], options: [.model, .checking("anything differs"), .answers, .order],
        examples: [
            "moult diff Forum \"Forum 3\" --model Forum.xcdatamodeld",
            "moult diff Forum.xcdatamodeld Forum.xcdatamodeld",
        ]
    ) { invocation, console in
        let (older, newer) = try versions(invocation, console)
        let isOfFiles = invocation[value: .model] == nil
        let report = try DifferenceReport(
            from: older, to: newer, answers: invocation.answers(),
            files: isOfFiles ? (invocation.required(old), invocation.required(new)) : nil)
        console.print(report)
        return invocation[.check] && !report.isEmpty ? .findings : .done
    }

    private static let old = Operand("OLD", "The older version: a model's path, or with --model a version's name.")
    private static let new = Operand("NEW", "The newer version, likewise.")

    private static func versions(_ invocation: Invocation, _ console: Console) throws -> (ModelVersion, ModelVersion) {
        let names = (try invocation.required(old), try invocation.required(new))
        let known = try invocation.versionsIfKnown(console)
        func version(_ text: String) throws -> ModelVersion {
            if let version = try invocation.versionOfRevision(text, console) { return version }
            // If the model is only configured, an argument can still be a path.
            if let known, try !invocation.isConfigured(.model) || !POSIXSystem().exists(text) {
                return try invocation.version(named: text, in: known)
            }
            return try invocation.version(Verb.version, in: try invocation.versions(at: text, console))
        }
        return try (version(names.0), version(names.1))
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
