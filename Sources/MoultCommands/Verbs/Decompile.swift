import MoultModel
import MoultTools

extension Verb {
    static let decompile = Verb(
        "decompile", "Write a compiled model or mapping model, or a store's model, as a source that Xcode opens.",
        discussion: """
            A .momd becomes an .xcdatamodeld with all versions. A .mom, or the model inside a store, becomes an
            .xcdatamodel, or a bundle with one version if --out ends with .xcdatamodeld. The source lacks what a
            compiled model does not keep, such as code generation, scalar types and the layout of the diagram.
            A .cdm becomes an .xcmappingmodel. An .xcmappingmodel contains the source and the destination version of the
            model. A .cdm contains only the version hashes of these two. --model must therefore name a model that has
            both versions.
            """,
        operands: [compiled], options: [.out, .model, .order, replaces],
        examples: [
            "moult decompile forum.sqlite -o Forum.xcdatamodel", "moult decompile forum.sqlite -o Sources --json",
        ]
    ) { invocation, console in
        let path = try invocation.required(compiled)
        guard SourceReport.isMapping(path) else {
            console.print(
                try SourceReport(
                    decompiling: path, to: invocation[value: .out], replacing: invocation[replaces], say: console.say))
            return .done
        }
        guard path.hasSuffix(".cdm") else {
            throw MigrationError(
                .usage, "The mapping model is a source already.", place: path, remedy: "Give a compiled .cdm.")
        }
        guard let versions = try invocation.versionsIfKnown(console) else {
            throw invocation.wrong("A .cdm does not contain the models that its source needs. Give them with --model.")
        }
        console.print(
            try SourceReport(
                decompilingMapping: path, to: invocation[value: .out], replacing: invocation[replaces],
                versions: versions, ofModelAt: invocation[value: .model], say: console.say))
        return .done
    }

    private static let compiled = Operand("MODEL", "A .momd, a .mom, an .omo, a store, or a .cdm.")
    private static let replaces = Option.flag("replace", "Replace an existing source as a whole.")
}
