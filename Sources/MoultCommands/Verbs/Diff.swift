import MoultLint
import MoultModel
import MoultModelFiles
import MoultReport
import MoultSystem

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
        let diff = try DiffReport(from: older, to: newer, answers: try invocation.answers())
        let archives = try archives(invocation)
        var document = diff.document
        if let archives, case .object(let members) = document {
            document = .object(members + [.init("archives", archives.document)])
        }
        console.print(document) { diff.lines(style: $0) + (archives.map { [""] + $0.lines } ?? []) }
        let differs = !diff.isEmpty || archives?.differences.isEmpty == false
        return invocation[.check] && differs ? .findings : .done
    }

    private static let old = Operand("OLD", "The older version: a model's path, or with --model a version's name.")
    private static let new = Operand("NEW", "The newer version, likewise.")

    /// Compares the archives of two compiled models; nil where the operands are anything else.
    private static func archives(_ invocation: Invocation) throws -> ArchiveComparison? {
        let paths = (try invocation.required(old), try invocation.required(new))
        let system = POSIXSystem()
        guard paths.0.hasSuffix(".mom"), paths.1.hasSuffix(".mom"), invocation[value: .model] == nil,
            try system.exists(paths.0), try system.exists(paths.1)
        else { return nil }
        return try ArchiveComparison(try system.read(paths.0), try system.read(paths.1))
    }

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
    ///
    /// - Throws: `usage` if there is no git, no repository or no such revision; `modelNotFound` if the commit has no such
    ///   model.
    func versionOfRevision(_ text: String, _ console: Console) throws -> ModelVersion? {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, try !POSIXSystem().exists(text) else { return nil }
        let revision = try GitRevision(exactly: parts[0], around: ".")
        let bundle = try revision.model(at: parts[1])
        console.say(bundle.findings)
        let version = try version(Verb.version, in: ModelVersions(bundle))
        // Both sides may have the same name.
        return ModelVersion(names: version.names.map { "\($0) (\(parts[0]))" }, model: version.model)
    }
}

extension ArchiveComparison {
    fileprivate var document: JSONValue {
        [
            "equal": .bool(differences.isEmpty),
            "differences": .array(
                differences.map {
                    ["place": .string($0.place), "old": JSONValue($0.old), "new": JSONValue($0.new)]
                }),
        ]
    }

    fileprivate var lines: [String] {
        guard !differences.isEmpty else { return ["Object for object, the compiled models are equal."] }
        return ["Object for object, the compiled models differ in \(Quantity.count(differences.count, "value")):"]
            + differences.map { "  \($0.place.printable): \(Self.shown($0.old)) → \(Self.shown($0.new))" }
    }

    private static func shown(_ value: String?) -> String {
        guard let value else { return "none" }
        let text = value.printable
        return text.count > 120 ? text.prefix(120) + "…" : text
    }
}
