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
        console.print(files)
        return .done
    }

    private static let folder = Operand("FOLDER", "The folder for the files; it is created.")
    private static let replaces = Option.flag("replace", "Replace files of the same names, whatever they contain.")
    private static let name = Option.value("name", "NAME", "The name of the bundle of .xcdatamodels; default Model.")
}
