import Moult
import MoultModel
import MoultSystem
import MoultTools

extension Verb {
    static let generateTests = Verb(
        "tests", "Write Swift tests of the migrations between all pairs of versions, to be edited and kept.",
        discussion: """
            The file lists pairs of versions, each with the entities and properties that a migration between them keeps,
            according to the mappings. A test migrates a store of each older version, and checks that these are kept. If
            the app's code changes more in a migration than the mapping does, edit the list. By default, each store is a
            generated sample. To test with fixtures instead, edit the function that makes the stores.
            If the file exists, pairs of new versions are added, and pairs that have not been edited are regenerated.
            Everything else stays. To leave a pair out, delete its lines and keep its comment.
            In an app's own tool, --registry is the registry that the tool passes to MoultCommand.
            """,
        operands: [.model], options: [.out, testedVersion, testName, registryExpression, imports, .answers, .order],
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
            to: invocation[value: .out] ?? ".")
        console.print(report)
        return .done
    }

    private static let testedVersion = Option.value("to", "VERSION", "Only the pairs that end with this version.")
    private static let testName = Option.value(
        "name", "NAME", "The base name of the tests; by default that of the model's file.")
    private static let registryExpression = Option.value(
        "registry", "SWIFT", "The expression for the MigrationRegistry, such as \"MigrationRegistry(plan: Plan.self)\"."
    )
    private static let imports = Option.value(
        "import", "MODULES", "The modules that the expression needs, separated by commas.")
}
