import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let inspect = Verb(
        "inspect", "Show a store: its version, the rows of each entity, the framework level and the metadata.",
        discussion: """
            Of the app's own metadata, only the keys are shown unless you give --values.
            Without --model, the names are those of the one model next to the store or in this folder if it has the
            store's version, and else those of the model inside the store.
            STORE may also be a mapping model (.xcmappingmodel, .cdm). inspect then shows what it maps. With --model, it
            also shows the two versions and what the mapping leaves out.
            """,
        operands: [.store], options: [.model, values, .order],
        examples: ["moult inspect forum.sqlite", "moult inspect forum.sqlite --model Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        if MappingModelFile.isMappingModel(store) { return try inspect(mapping: store, invocation, console) }
        let versions = try versions(invocation, console)
        let report = try StoreInspection(of: store, in: versions, withValues: invocation[values])
        return console.print(report.document) { report.lines(style: $0) }
    }

    private static let values = Option.flag("values", "Also show the values of the app's own metadata.")

    /// Returns the versions to show with the store. A store is shown even without a model: faults of its own model are
    /// printed on standard error.
    private static func versions(_ invocation: Invocation, _ console: Console) throws -> ModelVersions {
        if let named = try invocation.versionsIfKnown(console) { return named }
        do {
            return try invocation.versions(console)
        } catch let error as MigrationError where [.modelNotFound, .modelInvalid].contains(error.code) {
            console.say("\(error.message) \(error.remedy)")
            return ModelVersions(versions: [])
        }
    }

    private static func inspect(mapping path: String, _ invocation: Invocation, _ console: Console) throws -> ExitCode {
        let report = try MappingReport(
            of: MappingModelFile(contentsOf: path),
            in: try invocation.versionsIfKnown(console) ?? ModelVersions(versions: []))
        return console.print(report.document) { report.lines(style: $0) }
    }

    static let status = Verb(
        "status", "Show which version a store is of, and how far it is behind.",
        discussion: """
            Exits with 0 if the store is current or behind (1 if behind with --check), 3 if it is ahead or of no known
            version, and 4 if it is not a Core Data store. Without --model, the store is compared with the one
            model next to it or in this folder, or else with the model inside it, which shows whether the two agree.
            """,
        operands: [.store], options: [.model, compared, .checking("the store is behind"), .order],
        examples: [
            "moult status forum.sqlite --model Forum.xcdatamodeld",
            "moult status forum.sqlite --model Forum.xcdatamodeld --json",
        ]
    ) { invocation, console in
        let keeper = try invocation.keeper { try invocation.versionsOnTheWay(console) }
        let report = try keeper.status(aimingAt: invocation[value: .target])
        console.print(report.document) { report.lines(style: $0) }
        switch report.state {
        case .current: return .done
        case .behind: return invocation[.check] ? .findings : .done
        case .ahead, .unknown: return .refused
        case .notCoreData: return .unusable
        }
    }

    private static let compared = Option.value(
        Option.target.name, "VERSION",
        "The version to compare the store with; by default the model's current version, or the newest if none is "
            + "marked as current.")

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
        examples: ["moult browse forum.sqlite", "moult browse forum.sqlite --model Forum.xcdatamodeld --allow-changes"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        // Report obstacles here rather than in the browser.
        let versions = try invocation.versionsIfKnown(console)
        try ReadOnlyStore(store).close()
        if invocation[allowChanges], invocation.registry.hasCode {
            throw invocation.wrong(
                "The page runs without the code of \(Program.name), so --allow-changes could migrate wrongly.")
        }
        let port = try invocation.number(port) ?? 0
        guard port <= Int(UInt16.max) else { throw invocation.wrong("--port takes a number up to 65535.") }
        // The page cannot read an app's own versions from a file, so it uses the model inside the store.
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
    /// Returns the path of the recorded answers; nil if there are none.
    fileprivate func answersThatExist() throws -> String? {
        guard let path = answersPath else { return nil }
        return try self[value: .answers] != nil || POSIXSystem().exists(path) ? path : nil
    }
}

extension MigrationRegistry {
    /// Whether an app has registered anything, which the program behind the page does not have.
    fileprivate var hasCode: Bool {
        models != nil
            || ![steps.isEmpty, stages.isEmpty, mappings.isEmpty, policies.isEmpty, rules.isEmpty].allSatisfy(\.self)
    }
}
