import MoultModel
import MoultTools

extension Verb {
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
        let script = try SchemaScript(
            version, framework: invocation.number(.framework), history: invocation[history])
        console.say(script.findings)
        console.print(script)
        return .done
    }

    static let version = Option.value(
        "version", "NAME",
        "The version; by default the model's current version, or the newest if none is marked as current.")
    static let history = Option.flag("history", "Include the tables of persistent history.")
}
