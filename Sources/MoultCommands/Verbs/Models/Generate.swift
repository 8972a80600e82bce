import Moult
import MoultBasics
import MoultModel
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
        return console.print(report)
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

    static let generateTests = Verb(
        "tests", "Write Swift tests of the migrations between all pairs of versions, to be edited and kept.",
        discussion: """
            The file lists pairs of versions, each with the entities and properties that a migration between them keeps,
            according to the mappings. A test migrates a store of each older version, and checks that these are kept. If
            the app's code changes more in a migration than the mapping does, edit the list. By default, each store is a
            generated sample. With --fixtures, it is a copy of the one that moult fixture wrote, and a pair is left out
            if there is none of its older version.
            If the file exists, pairs of new versions are added, and pairs that have not been edited are regenerated.
            Everything else stays. To leave a pair out, delete its lines and keep its comment.
            In an app's own tool, --registry is the registry that the tool passes to MoultCommand.
            """,
        operands: [.model],
        options: [.out, testedVersion, fixtures, testName, registryExpression, imports, .answers, .order],
        examples: [
            "moult generate tests Forum.xcdatamodeld -o Tests",
            "moult generate tests Forum.xcdatamodeld -o Tests --to \"Forum 3\" --json",
        ]
    ) { invocation, console in
        let versions = try invocation.operandVersions(console)
        let pairs = try TestsReport.Pairs(
            versions, to: invocation[value: testedVersion], answers: invocation.answers(for: versions, console),
            invocation.registry)
        guard let model = invocation[.model] ?? invocation[value: registryExpression].map({ _ in "App" }) else {
            throw invocation.wrong(
                "\(Program.name) \(invocation.path) needs --registry, the Swift expression for the app's registry.")
        }
        let report = try TestsReport(
            pairs, named: invocation[value: testName] ?? Path.stem(of: model), ofModelAt: model,
            registry: invocation[value: registryExpression], imports: invocation.list(imports) ?? [],
            fixtures: invocation[value: fixtures], to: invocation[value: .out] ?? ".")
        return console.print(report)
    }

    private static let testedVersion = Option.value("to", "VERSION", "Only the pairs that end with this version.")
    private static let fixtures = Option.value(
        "fixtures", "FOLDER", "The folder of the stores that moult fixture wrote, one for each version.",
        completes: .folders)
    private static let testName = Option.value(
        "name", "NAME", "The base name of the tests; by default that of the model's file.")
    private static let registryExpression = Option.value(
        "registry", "SWIFT", "The expression for the MigrationRegistry, such as \"MigrationRegistry(plan: Plan.self)\"."
    )
    private static let imports = Option.value(
        "import", "MODULES", "The modules that the expression needs, separated by commas.")

    static let coexist = Verb(
        "coexist", "Report, entity by entity, whether Core Data and SwiftData can open the same store.",
        discussion: """
            STORE is a Core Data model, of which --version chooses a version, or a store that contains its model. It is
            compared with the model that --model names, such as the file that moult schema export writes for an app's
            SwiftData types. Without --model, an app's own tool compares it with the types of that app, and moult with
            the classes that moult generate --for swift-data writes. If the version hash of an entity differs, each
            reason is printed with its remedy. Exits with 0; with --check, 1 if an entity differs.
            """,
        operands: [compared], options: [version, .model, .order, .checking("an entity differs")],
        examples: ["moult coexist Forum.xcdatamodeld", "moult coexist forum.sqlite --json"]
    ) { invocation, console in
        let bundle = ModelVersions(try ModelBundle(modelOrStoreAt: try invocation.required(compared)))
        let model = try invocation.version(version, in: bundle)
        let report = try CoexistenceReport(of: model, with: invocation.versionsIfKnown(console))
        console.print(report)
        return invocation[.check] && !report.isEqual ? .findings : .done
    }

    private static let compared = Operand("STORE", "A Core Data model, or a store that contains its model.")
}
