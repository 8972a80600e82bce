import MoultModel
import MoultSystem
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

    private static func versions(
        _ invocation: Invocation, _ console: Console
    ) throws -> (ModelVersion, ModelVersion) {
        let names = (try invocation.required(old), try invocation.required(new))
        let known = try invocation.versionsIfKnown(console)
        func version(_ text: String) throws -> ModelVersion {
            if let version = try invocation.versionOfRevision(text, console) { return version }
            // A model that is only configured leaves a path its meaning.
            if let known, try !invocation.isConfigured(.model) || !POSIXSystem().exists(text) {
                return try invocation.version(named: text, in: known)
            }
            return try invocation.version(Verb.version, in: try invocation.versions(at: text, console))
        }
        return try (version(names.0), version(names.1))
    }
}

extension Invocation {
    /// The current version of the model that `REV:PATH` names; nil for another text, such as the path of a file.
    fileprivate func versionOfRevision(_ text: String, _ console: Console) throws -> ModelVersion? {
        guard let (bundle, revision) = try ModelBundle.ofRevision(text) else { return nil }
        console.say(bundle.findings)
        let version = try version(Verb.version, in: ModelVersions(bundle))
        // Both sides may have the same name.
        return ModelVersion(names: version.names.map { "\($0) (\(revision))" }, model: version.model)
    }
}
