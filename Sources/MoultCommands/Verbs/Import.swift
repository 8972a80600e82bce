import MoultTools

extension Verb {
    static let importObjects = Verb(
        "import", "Add objects from CSV or JSON Lines to a store, validated as in a save.",
        discussion: """
            Reads what moult export writes: a folder, or one file. A file is named after its entity (User.csv,
            Post.jsonl), or ENTITY_RELATIONSHIP if it has the pairs of a to-many relationship. Each row of an entity's
            file becomes a new object. Z_PK is the key of the object in the files; in the store, the object gets a new
            key. The value of a to-one relationship is the key of its destination. This key is looked up among the
            objects of the files first, then in the store. A column RELATIONSHIP.ATTRIBUTE names the destination by the
            value of an attribute instead; only one object may have that value. Everything is saved in one transaction,
            or nothing is.

            If the process dies or the disk fails while an import is saved, run the same import again. It finds out
            whether the objects are in the store, and adds them only if they are not.
            """,
        operands: [.store, importPath], options: [importedEntity, importExact, .model, .order],
        examples: ["moult import forum.sqlite csv", "moult import forum.sqlite csv/User.csv"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let path = try invocation.required(importPath)
        try invocation.keeper().heal(unlessRehearsal: false)
        let report = try ImportReport(
            path, entity: invocation[value: importedEntity], isExact: invocation[importExact], into: store,
            versions: invocation.versions(console))
        if !console.isJSON { report.note.map(console.say) }
        console.print(report.document) { report.lines(style: $0) }
        console.flush()
        report.confirm()
        return .done
    }

    private static let importPath = Operand("PATH", "A folder that moult export has written, or a .csv or .jsonl file.")
    private static let importedEntity = Option.value(
        "entity", "NAME", "The entity of a file that is not named after it.")
    private static let importExact = Option.flag(
        "exact", "Read CSV that was written with --exact: a leading apostrophe is part of the string.")
}
