import MoultModel
import MoultTools

extension Verb {
    static let fixture = Verb(
        "fixture", "Write a store of every released version, filled, for the tests of an app.",
        discussion: """
            FOLDER gets one VERSION.sqlite for each version in moult.lock, or for each version of a model that is not
            locked. Each is small enough to commit, with its external data if it has any. --fill and --rows say how many
            objects there are; by default there are 3 of each entity, with links, and with nil where an attribute is
            optional. The same seed gives the same objects. --links and --nils say how many destinations and nils there
            are; --extremes uses the extreme values of each type.
            A store that already exists is kept, because it is what was released; to make it again, remove it first. If
            anything else is at the path of a store, the command is refused.
            """,
        operands: [Operand("FOLDER", "The folder for the stores; it is created.")],
        options: [.model, .fill, .rows, links, nils, extremes, .seed, .framework, .order],
        examples: [
            "moult fixture Fixtures --model Forum.xcdatamodeld",
            "moult fixture Fixtures --model Forum.xcdatamodeld --rows User=5,Post=20 --links 3 --nils 10 --seed 7 --extremes",
        ]
    ) { invocation, console in
        let folder = try invocation.required(Operand("FOLDER", ""))
        let versions = try released(invocation, console)
        let (links, nils) = (try invocation.number(links), try invocation.number(nils))
        if let nils, nils > 100 { throw invocation.wrong("--nils takes a number from 0 to 100, not \(nils).") }
        var sample = try invocation.sampleData(for: versions.map(\.model)) ?? SampleData(count: 3)
        sample.seed = UInt64(clamping: try invocation.number(.seed) ?? 1)
        (sample.isHostile, sample.links, sample.nils) = (invocation[extremes], links, nils)
        console.print(try FixtureReport(versions, in: folder, sample, framework: invocation.number(.framework)))
        return .done
    }

    private static let links = Option.value(
        "links", "N", "Destinations of each object in a relationship; 0 for none where it is optional.")
    private static let nils = Option.value("nils", "PERCENT", "How many of 100 optional values are nil.")
    private static let extremes = Option.flag("extremes", "Use extreme values, such as the largest numbers.")

    /// The locked versions, otherwise all.
    private static func released(_ invocation: Invocation, _ console: Console) throws -> [ModelVersion] {
        guard let path = invocation[value: .model] else { return try invocation.namedVersions(console).versions }
        let bundle = try ModelBundle(modelOrStoreAt: path, order: invocation.list(.order))
        console.say(bundle.findings)
        return try FixtureReport.released(of: bundle)
    }
}
