import Moult
import MoultBasics
import MoultTools

extension Verb {
    static let browse = Verb(
        "browse", "Show a store in a browser, on a page that only this computer can open.",
        discussion: """
            Prints the address of the page, at 127.0.0.1. The address works once: the first browser that opens it is let
            in, and every other browser is refused. With --port, the same browser can open the page again after a
            restart, so that it can be a bookmark. The page shows the entities and objects with their links, sorted,
            filtered and counted; the rows of an SQL query; both as CSV and JSON; a picture of the model; the store's
            version and the newer versions of the model, the plan, findings, the history and the backups. It can
            rehearse the migration on a copy. The store is not changed, unless --allow-changes is given. Then you can
            also migrate the store, undo that, and create and restore backups, on the page; it asks for a confirmation
            each time. STORE may be a folder: the page lists the stores in it. Control-C stops serving the page. A run
            in progress is cancelled, and the store is left as it was.
            """,
        operands: [.store], options: [open, allowChanges, port, .model, .answers, .rules, .backups, .order],
        examples: [
            "moult browse forum.sqlite --open",
            "moult browse forum.sqlite --model Forum.xcdatamodeld --allow-changes",
            "moult browse . --port 8080",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        // Report obstacles here rather than in the browser.
        let versions = try invocation.versionsIfKnown(console)
        try check(store)
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
            "allowsChanges": .bool(invocation[allowChanges]), "port": JSONValue(port),
            "opens": .bool(invocation[open]), "isJSON": .bool(console.isJSON),
        ]
        console.flush()
        let page = PageProgram(startedBy: try POSIXSystem.ownProgram())
        for program in page.places { try ProgramRun.replace(by: program, [document.compact]) }
        throw MigrationError(
            .unsupported, "The program moult-browse is not installed, which serves the page.", place: page.places[0],
            remedy: page.remedy)
    }

    private static let open = Option.flag("open", "Open the address in your browser.")
    private static let allowChanges = Option.flag(
        "allow-changes", "Let the page migrate the store, and create and restore backups.")
    private static let port = Option.value("port", "N", "The port of the page; by default any that is free.")

    /// - Throws: the reason why the page could show nothing: the store cannot be read, or the folder has none.
    private static func check(_ store: String) throws {
        let isModel = ["xcdatamodeld", "xcdatamodel", "momd"].contains { Path.name(of: store).hasSuffix(".\($0)") }
        guard try POSIXSystem().status(of: store)?.kind == .folder, !isModel else {
            return try ReadOnlyStore(store).close()
        }
        guard try !FolderSite.holdsStore(store) else { return }
        throw MigrationError(
            .usage, "The folder has no store of Core Data or SwiftData.", place: store,
            remedy: "Name a store, or a folder with stores in it or below it.")
    }
}

/// The program that serves the page, which may be next to the program that starts it, in the other configuration of the
/// same build, or in `PATH`.
package struct PageProgram {
    private static let name = "moult-browse"
    private let folder: String
    /// The folder of the build that the program is in, such as `.build`; nil for an installed program.
    private let build: String?

    /// - Parameter program: the path of the running program, without symbolic links.
    package init(startedBy program: String) {
        folder = Path.folder(of: program)
        // As SwiftPM has it: .build/x86_64-unknown-linux-gnu/release/moult.
        let platform = Path.folder(of: folder)
        let scratch = Path.folder(of: platform)
        let isBuild =
            Self.configurations.contains(Path.name(of: folder))
            && Path.name(of: platform).split(separator: "-").count > 2
        build = isBuild ? scratch : nil
    }

    private static let configurations = ["debug", "release"]

    /// The paths to try, in order; the last is looked up in `PATH`.
    package var places: [String] {
        let own = Path.name(of: folder)
        let others =
            build == nil
            ? [] : Self.configurations.filter { $0 != own }.map { Path.join(Path.folder(of: folder), $0) }
        return ([folder] + others).map { Path.join($0, Self.name) } + [Self.name]
    }

    /// The way to get the program, for the build that is running.
    package var remedy: Remedy {
        guard let build else {
            return "It comes with each package and archive of Moult. Put it into \(folder) or a folder of PATH."
        }
        let configuration = Path.name(of: folder) == "release" ? "-c release " : ""
        let package =
            Path.name(of: build) == ".build"
            ? "--package-path \(Path.folder(of: build).shellQuoted)" : "--scratch-path \(build.shellQuoted)"
        return "Build it next to the program that runs: swift build \(configuration)\(package) --product \(Self.name)"
    }
}

extension Invocation {
    /// Returns the path of the recorded answers; nil if there are none.
    fileprivate func answersThatExist() throws -> String? {
        guard let path = answersPath else { return nil }
        return try self[value: .answers] != nil || system.exists(path) ? path : nil
    }
}

extension MigrationRegistry {
    /// Whether an app has registered anything, which the program behind the page does not have.
    fileprivate var hasCode: Bool {
        models != nil
            || ![steps.isEmpty, stages.isEmpty, mappings.isEmpty, policies.isEmpty, rules.isEmpty].allSatisfy(\.self)
    }
}
