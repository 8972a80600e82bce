import MoultEngine
import MoultLint
import MoultModel
import MoultModelFiles
import MoultReport
import MoultSystem
import MoultTools

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
        let system = POSIXSystem()
        let path = invocation[value: .config] ?? ProjectConfiguration.fileName
        guard try !system.exists(path) else {
            throw MigrationError(
                .wouldReplace, "\(path) exists. Nothing was written.", place: path,
                remedy: "Edit it, or remove it first.")
        }
        let model = try invocation[Operand.model] ?? chosenModel(invocation, console)
        let bundle = try ModelBundle(modelOrStoreAt: model)
        console.say(bundle.findings)
        let profiles = try invocation.all(.lintProfile).isEmpty ? askedProfiles(console) : invocation.profiles()
        let settings: JSONValue = .object(
            [.init("model", .string(bundle.path))]
                + (profiles.isEmpty ? [] : [.init("profiles", JSONValue(profiles.map(\.rawValue)))]))
        let lockPath = ModelLock.path(besideModelAt: bundle.path)
        var lock = bundle.lock ?? ModelLock()
        let locks = lock.versions(of: bundle.path) == nil
        if locks { try lock.pin(bundle) }
        // Where moult.json is, the model is locked.
        if locks { try UnfinishedPath.replace([(lockPath, Array(lock.contents.utf8))], .byUmask, system) }
        try UnfinishedPath.replace([(path, Array((settings.indented + "\n").utf8))], .byUmask, system)
        console.print([
            "format": 1, "path": .string(path), "model": .string(bundle.path),
            "profiles": JSONValue(profiles.map(\.rawValue)), "lock": .string(lockPath),
            "versions": JSONValue(bundle.versions.map(\.name)),
        ]) { _ in
            let count = Quantity.count(bundle.versions.count, "version")
            return [
                "Wrote \(path.printable): the model is \(bundle.path.printable).",
                locks
                    ? "Locked \(count) in \(lockPath.printable)."
                    : "\(lockPath.printable) has the model already, and stays as it is.",
                "Commit both files. Then run moult lint.",
            ]
        }
        return .done
    }

    // MARK: The model

    private static func chosenModel(_ invocation: Invocation, _ console: Console) throws -> String {
        let found = try models(in: ".", depth: 0)
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

    /// Folders that hold code of others, or what was built.
    private static let skipped: Set<String> = [
        "Pods", "Carthage", "node_modules", "DerivedData", "build", "SourcePackages",
    ]

    private static func models(in folder: String, depth: Int) throws -> [String] {
        let system = POSIXSystem()
        guard depth <= 8, let names = try? system.list(folder) else { return [] }
        return try names.flatMap { name -> [String] in
            let path = folder == "." ? name : Path.join(folder, name)
            guard !name.hasPrefix("."), !skipped.contains(name), try !system.isLink(path),
                try system.status(of: path)?.kind == .folder
            else { return [] }
            return name.hasSuffix(".xcdatamodeld") ? [path] : try models(in: path, depth: depth + 1)
        }
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
