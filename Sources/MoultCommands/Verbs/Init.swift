import MoultModel
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
        let path = invocation[value: .config] ?? ProjectConfiguration.fileName
        try NewProject.check(path)
        let bundle = try ModelBundle(modelOrStoreAt: invocation[Operand.model] ?? chosenModel(invocation, console))
        console.say(bundle.findings)
        let profiles = try invocation.all(.lintProfile).isEmpty ? askedProfiles(console) : invocation.profiles()
        console.print(try NewProject(bundle, profiles: profiles, at: path))
        return .done
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
