import MoultExport
import MoultModel
import MoultReport
import MoultStore

extension Verb {
    static let importObjects = Verb(
        "import", "Put objects from CSV or JSON Lines into a store, validated as a save is.",
        discussion: """
            Reads what export writes: a folder, or one file, whose name without .csv or .jsonl is the entity, or
            ENTITY_RELATIONSHIP for the pairs of a to-many relationship. Each row is a new object. Z_PK is its key in
            the files; a to-one relationship has the key of an object in the files, otherwise of one in the store. The
            column RELATIONSHIP.ATTRIBUTE names the destination by a unique value instead. Everything is saved in one
            transaction, or nothing.
            """,
        operands: [.store, importPath], options: [importedEntity, importExact, .model, .order],
        examples: ["moult import forum.sqlite csv", "moult import forum.sqlite csv/User.csv --entity User"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let path = try invocation.required(importPath)
        try invocation.heal(store)
        let version = try invocation.versions(console).version(ofStore: store)
        let run = try StoreImport(into: store, at: version, isExact: invocation[importExact])
        let objects = try run.run(path, entity: invocation[value: importedEntity])
            .sorted { $0.key.precedesInByteOrder($1.key) }
        console.print([
            "format": 1, "store": .string(store),
            "entities": .array(objects.map { ["name": .string($0.key), "rows": JSONValue($0.value)] }),
        ]) { style in
            guard !objects.isEmpty else { return ["There are no rows."] }
            var table = TextTable([.left("entity"), .right("new objects")])
            for (name, count) in objects { table.add(name.printable, Quantity.count(count)) }
            return table.lines(style: style)
        }
        return .done
    }

    private static let importPath = Operand("PATH", "A folder that export has written, or a .csv or .jsonl file.")
    private static let importedEntity = Option.value("entity", "NAME", "The entity of a file that has another name.")
    private static let importExact = Option.flag("exact", "Take CSV as it is, as export --exact writes it.")
}
