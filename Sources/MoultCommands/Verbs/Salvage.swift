import MoultModel
import MoultReport
import MoultTools

extension Verb {
    static let salvage = Verb(
        "salvage", "Copy everything readable from a damaged store into a new store.",
        discussion: """
            For a store that SQLite calls malformed and that has no backup. The damaged store is not changed. The new
            store has the tables of the model and every row that can be read, with the keys and the UUID of the old
            store. What could not be read is listed by table and key. Rows and columns for which the model has no place
            are kept in NEW.aside.sqlite. Exits with 1 if something is missing in NEW. Then run moult repair NEW
            --dry-run to find references to lost rows. The first line says which version the store is of, and how that is
            known. Without --model, the model inside the damaged store is used if it can be read.
            """,
        operands: [.store, Operand("NEW", "The path of the new store; nothing may exist there.")],
        options: [.model, sourceVersion, .order],
        examples: [
            "moult salvage forum.sqlite saved.sqlite",
            "moult salvage forum.sqlite saved-again.sqlite --model Forum.xcdatamodeld --version Forum",
        ]
    ) { invocation, console in
        let path = try invocation.required(Operand("NEW", ""))
        let name = invocation[value: sourceVersion]
        if name != nil, invocation[value: .model] == nil, invocation.registry.models == nil {
            throw invocation.wrong("--version names a version of a model: name the model with --model.")
        }
        let report = try invocation.keeper { try invocation.versionsIfKnown(console) }.salvage(
            into: path, as: name.map { name in { try invocation.version(named: name, in: $0) } },
            isCancelled: Interruption.heard)
        // The new store has a model of its own, which the one that was named need not know.
        let model = report.evidence == .model ? nil : invocation[value: .model]
        try CommandWords().speaking { console.print(report.document) { report.lines(model: model, style: $0) } }
        return report.isWhole ? .done : .findings
    }

    private static let sourceVersion = Option.value(
        "version", "NAME",
        "The store's version; by default the one that its metadata, or the model inside it, name. If neither can be read, "
            + "the version of the model that places the most rows is used.")
}
