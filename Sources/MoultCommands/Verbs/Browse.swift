import Moult
import MoultModel
import MoultReport
import MoultSystem
import MoultTools

extension Verb {
    static let browse = Verb(
        "browse", "Show a store in a browser, on a page that only this computer can open.",
        discussion: """
            Prints the address of the page, at 127.0.0.1. The address works once: the first browser that opens it is let
            in, and every other browser is refused. The page shows a picture of the model, the entities and objects with
            their links, the store's version and the newer versions of the model, the plan, findings, the history and
            the backups. It can rehearse the migration on a copy. The store is not changed, unless --allow-changes is
            given. Then you can also migrate the store, and create and restore backups, on the page; it asks for a
            confirmation each time. Control-C stops serving the page. A run in progress is cancelled, and the store is
            left as it was.
            """,
        operands: [.store], options: [allowChanges, port, .model, .answers, .rules, .backups, .order],
        examples: [
            "moult browse forum.sqlite",
            "moult browse forum.sqlite --model Forum.xcdatamodeld --allow-changes",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        // What stands in the way is said here, and not in the browser.
        let versions = try invocation.versionsIfKnown(console)
        try StoreProbe(store).close()
        if invocation[allowChanges], invocation.registry.hasCode {
            throw invocation.wrong(
                "The page runs without the code of \(Program.name), so --allow-changes could migrate wrongly.")
        }
        let port = try invocation.number(port) ?? 0
        guard port <= Int(UInt16.max) else { throw invocation.wrong("--port takes a number up to 65535.") }
        // An app's own versions are in no file that the page could read: it uses the model inside the store.
        let model = versions == nil ? nil : invocation[value: .model]
        let document: JSONValue = [
            "store": .string(store), "models": JSONValue(model),
            "order": invocation.list(.order).map { JSONValue($0) } ?? .null,
            "answers": JSONValue(try model.flatMap { _ in try invocation.answersThatExist() }),
            "rules": JSONValue(invocation[value: .rules]), "backups": JSONValue(invocation[value: .backups]),
            "allowsChanges": .bool(invocation[allowChanges]), "port": JSONValue(port), "isJSON": .bool(console.isJSON),
        ]
        console.flush()
        let own = Path.join(Path.folder(of: try POSIXSystem.ownProgram()), "moult-browse")
        for program in [own, "moult-browse"] { try ProgramRun.replace(by: program, [document.compact]) }
        throw MigrationError(
            .unsupported, "The program moult-browse is not installed, which serves the page.", place: own,
            remedy: "Install the package moult-browse; from source, swift build --product moult-browse.")
    }

    private static let allowChanges = Option.flag(
        "allow-changes", "Let the page migrate the store, and create and restore backups.")
    private static let port = Option.value("port", "N", "The port of the page; by default any that is free.")
}

extension Invocation {
    /// The path of the recorded answers; nil if there are none.
    fileprivate func answersThatExist() throws -> String? {
        guard let path = answersPath else { return nil }
        return try self[value: .answers] != nil || POSIXSystem().exists(path) ? path : nil
    }
}

extension MigrationRegistry {
    /// Whether an app has given anything, which the program of the page does not have.
    fileprivate var hasCode: Bool {
        models != nil
            || ![steps.isEmpty, stages.isEmpty, mappings.isEmpty, policies.isEmpty, rules.isEmpty].allSatisfy(\.self)
    }
}
