import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let schema = Verb(
        "schema", "Export every version of a model as JSON and .xcdatamodel, or propose the next version number.",
        subverbs: [export, schemaBump])

    private static let export = Verb(
        "export", "Write every version of the model as JSON and as an .xcdatamodel.",
        discussion: """
            An app's own tool exports the app's versions, such as those of its SwiftData types. Other verbs accept the
            exported files as a model, so plain moult can work on the app's stores without the app's code. moult lock
            records the hashes of the exported versions, so that a later change to a released one is noticed. With a
            store as --model, the model inside that store is written. FOLDER gets one NAME.json for each version, and a
            bundle with all of them in Xcode's form. Other files stay. A file of the same name is replaced if its
            entities have the same version hashes. Otherwise the command is refused unless you give --replace.
            """,
        operands: [folder], options: [.model, .order, name, replaces],
        examples: [
            "moult schema export schema --model Forum.xcdatamodeld",
            "moult schema export schema --model Forum.xcdatamodeld --name Forum --json",
            "moult schema export schema --model forum.sqlite",
        ]
    ) { invocation, console in
        let versions = try invocation.namedVersions(console)
        let files = try SchemaFiles(
            versions, in: try invocation.required(folder), name: invocation[value: name] ?? "Model")
        try files.write(likeModelAt: invocation[value: .model], replacing: invocation[replaces])
        return console.print(files)
    }

    private static let folder = Operand("FOLDER", "The folder for the files; it is created.")
    private static let replaces = Option.flag("replace", "Replace files of the same names, whatever they contain.")
    private static let name = Option.value("name", "NAME", "The name of the bundle of .xcdatamodels; default Model.")

    static let hash = Verb(
        "hash", "Print the version hashes of a model, as Core Data computes them.",
        discussion: """
            Prints each entity's hash and the model's checksum and digest, in base64. The hash depends on how Core Data
            stores an attribute. For some attributes, such as a composite one in a model source, this is not known,
            because no store made by Apple's frameworks shows it. The hash of such an entity, the checksum and the
            digest are then omitted; --experimental prints the best guess.
            """,
        operands: [.model], options: [.order, .experimental],
        examples: ["moult hash Forum.xcdatamodeld", "moult hash Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let versions = try invocation.operandVersions(console)
        let guesses = invocation[.experimental]
        console.print(document(of: versions, guesses: guesses)) { lines(of: versions, guesses: guesses, style: $0) }
        return .done
    }

    private static func document(of versions: ModelVersions, guesses: Bool) -> JSONValue {
        let members = versions.versions.flatMap { version in
            version.names.map { JSONValue.Member($0, document(of: version.hashes, guesses: guesses)) }
        }
        return ["format": 1, "versions": .object(members)]
    }

    private static func document(of hashes: VersionHashes, guesses: Bool) -> JSONValue {
        let known = hashes.entities.filter { guesses || hashes.uncertain[$0.key] == nil }
        let isWhole = known.count == hashes.entities.count
        var members: [JSONValue.Member] = [
            .init("entities", JSONValue(sorted: known.mapValues { .string($0.base64) })),
            .init("checksum", isWhole ? .string(hashes.checksum.base64) : .null),
            .init("digest", isWhole ? .string(hashes.digest.base64) : .null),
        ]
        if !hashes.uncertain.isEmpty {
            members.append(.init("uncertain", JSONValue(sorted: hashes.uncertain.mapValues(JSONValue.string))))
        }
        return .object(members)
    }

    private static func lines(of versions: ModelVersions, guesses: Bool, style: TextStyle) -> [String] {
        versions.versions.flatMap { version in
            var table = TextTable([.left(""), .left("")])
            let hashes = version.hashes
            for name in hashes.entities.keys.inByteOrder() {
                let reason = hashes.uncertain[name].map { guesses ? " (a guess: \($0))" : "not known: \($0)" }
                let hash = reason == nil || guesses ? hashes.entities[name, default: []].base64 : ""
                table.add("  " + name, hash + (reason ?? ""))
            }
            if guesses || hashes.uncertain.isEmpty {
                table.add("  checksum", hashes.checksum.base64)
                table.add("  digest", hashes.digest.base64)
            }
            let title = version.names.map(\.printable).joined(separator: " = ")
            return [style.bold(title)] + table.lines(style: style)
        }
    }

    static let ddl = Verb(
        "ddl", "Print the SQL of a new store of a model, as Core Data would write it.",
        discussion: """
            One statement per line, in Core Data's order: tables, indexes, triggers, then the rows of Z_PRIMARYKEY.
            Without --version, the SQL is that of the model's current version, or of the newest if none is marked as
            current.
            """,
        operands: [.model], options: [version, .framework, history, .order],
        examples: ["moult ddl Forum.xcdatamodeld", "moult ddl Forum.xcdatamodeld --version Forum --framework 1344"]
    ) { invocation, console in
        let versions = try invocation.operandVersions(console)
        let version = try invocation.version(Verb.version, in: versions)
        let script = try SchemaScript(version, framework: invocation.number(.framework), history: invocation[history])
        console.say(script.findings)
        return console.print(script, wraps: false)
    }

    static let version = Option.value(
        "version", "NAME",
        "The version; by default the model's current version, or the newest if none is marked as current.")
    static let history = Option.flag("history", "Include the tables of persistent history.")
}
