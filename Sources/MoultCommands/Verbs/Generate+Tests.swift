import MoultEngine
import MoultGenerate
import MoultModel
import MoultPlan
import MoultReport
import MoultSystem

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
        let (pairs, skipped) = try pairs(invocation, console)
        let name = invocation[value: testName] ?? invocation[.model].map { Path.stem(of: $0) } ?? "App"
        let tests = try tests(named: name, pairs, invocation)
        let out = invocation[value: .out] ?? "."
        let path = out.hasSuffix(".swift") ? out : Path.join(out, tests.fileName)
        let system = POSIXSystem()
        let existing = try system.exists(path) ? try system.read(path) : nil
        let merged = try tests.merged(into: existing.map { String(decoding: $0, as: UTF8.self) }, place: path)
        if existing != Array(merged.text.utf8) {
            try UnfinishedPath.replace([(path, Array(merged.text.utf8))], makingFolders: true, .byUmask, system)
        }
        console.print([
            "format": 1, "path": .string(path),
            "pairs": .array(
                zip(pairs, merged.fates).map { pair, fate in
                    ["from": .string(pair.from), "to": .string(pair.to), "state": .string(fate.rawValue)]
                }),
            "skipped": .array(
                skipped.map { ["pair": .string($0.pair), "reason": .string($0.reason)] }),
        ]) { _ in
            let counts = [MigrationTests.Fate.added, .updated, .unchanged, .edited].compactMap { fate in
                let count = merged.fates.count { $0 == fate }
                return count == 0 ? nil : "\(Quantity.count(count)) \(fate.rawValue)"
            }
            return [
                "Wrote \(Quantity.count(pairs.count, "pair")) to \(path.printable): \(counts.joined(separator: ", "))."
            ]
                + skipped.map { "Left out \($0.pair.printable). \($0.reason.printable)" }
        }
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

    private static func pairs(
        _ invocation: Invocation, _ console: Console
    ) throws -> (pairs: [MigrationTests.Pair], skipped: [(pair: String, reason: String)]) {
        let versions = try invocation.operandVersions(console)
        let all = versions.versions
        guard all.count > 1 else {
            throw invocation.wrong("The model has one version, so there is no migration to test.")
        }
        let answers = try invocation.answers(for: versions, console)
        let registered = try invocation.registry.stages(in: versions)
        let target = try invocation[value: testedVersion].map { try versions.target(named: $0) }
        var pairs: [MigrationTests.Pair] = []
        var skipped: [(pair: String, reason: String)] = []
        for to in target.map({ [$0] }) ?? Array(all.indices) {
            for from in 0..<to {
                let pair = Result { () throws(MigrationError) in
                    try MigrationTests.Pair(versions, from: from, to: to, answers: answers, registered: registered)
                }
                switch pair {
                case .success(let pair): pairs.append(pair)
                case .failure(let error):
                    guard [.question, .cannotInfer].contains(error.code) else { throw error }
                    skipped.append(("\(all[from].name) → \(all[to].name)", error.message))
                }
            }
        }
        return (pairs, skipped)
    }

    private static func tests(
        named name: String, _ pairs: [MigrationTests.Pair], _ invocation: Invocation
    ) throws -> MigrationTests {
        let modules = invocation.list(imports) ?? []
        if let registry = invocation[value: registryExpression] {
            return MigrationTests(named: name, imports: modules, registry: registry, pairs: pairs)
        }
        guard let model = invocation[.model] else {
            throw invocation.wrong(
                "\(Program.name) \(invocation.path) needs --registry, the Swift expression for the app's registry.")
        }
        return MigrationTests(named: name, ofModelAt: model, imports: modules, pairs: pairs)
    }
}
