import MoultModel
import MoultSystem
import MoultTools

extension Verb {
    static let generate = Verb(
        "generate",
        "Write the Swift classes of a model: Core Data's, MoultCoreData's or SwiftData's; or tests of its migrations.",
        discussion: """
            --for core-data writes what Xcode's code generation writes. --for moult writes the same classes for
            MoultCoreData. --for both writes one source for Core Data on Apple's platforms and MoultNSCoreData
            elsewhere. --for swift-data writes @Model classes, a VersionedSchema for every version and a
            SchemaMigrationPlan with a stage between each two consecutive versions.
            If --out ends with .swift, all classes are written into that one file; swift-data needs a folder. Only
            generated files are replaced; --replace replaces others too. A file that would not change is not written.
            """,
        operands: [.model], options: [api, .out, version, codeGeneration, typeName, dryRun, replaces, .order],
        examples: [
            "moult generate Forum.xcdatamodeld --for both -o Sources",
            "moult generate Forum.xcdatamodeld --for swift-data -o Sources --json",
        ], subverbs: [generateTests]
    ) { invocation, console in
        let report = try GenerationReport(
            source(invocation, console), to: invocation[value: .out] ?? ".", ofModelAt: invocation[.model],
            replacing: invocation[replaces], isRehearsal: invocation[dryRun])
        console.print(report)
        return .done
    }

    private static let apis: [(word: String, api: ClassAPI)] = [
        ("core-data", .coreData), ("moult", .moult), ("both", .both),
    ]
    private static let api = Option.value(
        "for", "API", "core-data (the default), moult, both or swift-data.",
        completes: .words(apis.map(\.word) + ["swift-data"]))
    private static let codeGeneration = Option.value(
        "codegen", "KIND",
        "class, category (properties only), or model (what the model says for each entity). By default model, or class "
            + "if the model says nothing for any entity.",
        completes: .words(["class", "category", "model"]))
    private static let typeName = Option.value(
        "name", "NAME", "The base name of the SwiftData types; by default that of the model's file.")
    private static let dryRun = Option.flag("dry-run", "List the files; write nothing.")
    private static let replaces = Option.flag("replace", "Also replace files that were not generated.")

    private static func source(_ invocation: Invocation, _ console: Console) throws -> GenerationReport.Source {
        let versions = try invocation.operandVersions(console)
        let word = invocation[value: api] ?? "core-data"
        if word == "swift-data" {
            guard invocation[value: version] == nil, invocation[value: codeGeneration] == nil else {
                throw invocation.wrong("--for swift-data takes neither --version nor --codegen.")
            }
            guard invocation[value: .out]?.hasSuffix(".swift") != true else {
                throw invocation.wrong("--for swift-data writes a file for each version. --out takes a folder.")
            }
            let name = invocation[value: typeName] ?? invocation[.model].map { Path.stem(of: $0) } ?? "App"
            return .swiftData(versions, name: name)
        }
        guard let api = apis.first(where: { $0.word == word })?.api else {
            throw invocation.wrong("--for takes core-data, moult, both or swift-data, not \(word).")
        }
        let version = try invocation.version(version, in: versions)
        return switch invocation[value: codeGeneration] {
        case nil: .coreData(version, api, nil)
        case "class": .coreData(version, api, .whole)
        case "category": .coreData(version, api, .category)
        case "model": .coreData(version, api, .asModelled)
        case let other?: throw invocation.wrong("--codegen takes class, category or model, not \(other).")
        }
    }
}
