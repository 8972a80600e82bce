import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let create = Verb(
        "create", "Create a store as Core Data would, empty or filled with sample objects.",
        discussion: """
            Writes the tables, indexes, triggers, entity numbers, metadata and model cache that Core Data writes. With
            --fill or --rows the store contains objects with relationships; the same seed gives the same objects.
            """,
        operands: [Operand(Operand.store.name, "The path of the new store; nothing may exist there.")],
        options: [.model, version, .framework, history, .fill, .rows, .seed, .order, .experimental, .events],
        examples: [
            "moult create empty.sqlite --model Forum.xcdatamodeld",
            "moult create sample.sqlite --model Forum.xcdatamodeld --version Forum --rows Forum=4,User=50,Post=1000",
        ]
    ) { invocation, console in
        let path = try invocation.required(Operand.store)
        let version = try invocation.version(Verb.version, in: try invocation.namedVersions(console))
        let made = try NewStore(
            version, at: path, invocation.sampleData(for: [version.model]), framework: invocation.number(.framework),
            history: invocation[history], experimental: invocation[.experimental])
        console.say(made.findings)
        return console.print(made)
    }
}

extension Option {
    static let fill = value("fill", "N", "Create N objects of each entity.")
    static let rows = value("rows", "ENTITY=N,…", "Create this many objects of these entities.")
    static let seed = value("seed", "N", "The seed of the sample objects; default 1.")
}

extension Invocation {
    /// Returns the sample data that `--fill`, `--rows` and `--seed` request; nil without the first two.
    ///
    /// - Parameter models: the models whose entities `--rows` may name.
    func sampleData(for models: [ManagedObjectModel]) throws -> SampleData? {
        let count = try number(.fill)
        let counts = try list(.rows)?.map { text in
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw wrong("--rows takes pairs of an entity and a number, such as Post=1000, not \(text).")
            }
            guard let number = Int(parts[1]), number >= 0 else {
                throw wrong("--rows takes a number of at least 0 for \(parts[0]), not \(parts[1]).")
            }
            guard models.contains(where: { $0.entity(parts[0]) != nil }) else {
                throw unknownEntity(parts[0], among: models)
            }
            return (parts[0], number)
        }
        guard count != nil || counts != nil else { return nil }
        return SampleData(
            seed: UInt64(clamping: try number(.seed) ?? 1), count: count ?? 0,
            counts: Dictionary(counts ?? []) { _, last in last }, isHostile: false)
    }
}

extension Invocation {
    /// Returns the error for an entity that none of the models has.
    private func unknownEntity(_ name: String, among models: [ManagedObjectModel]) -> MigrationError {
        let names = Set(models.flatMap(\.entities).map(\.name)).inByteOrder()
        let near = Suggestion.nearest(to: name, among: names).map { "Did you mean \($0)?" }
        return MigrationError(
            .usage, "The model has no entity \(name).",
            remedy: near ?? "Its entities are: \(names.joined(separator: ", ")).")
    }
}

extension Verb {
    static let fixture = Verb(
        "fixture", "Write a store of every released version, filled, for the tests of an app.",
        discussion: """
            FOLDER gets one VERSION.sqlite for each version in moult.lock, or for each version of a model that is not
            locked. Each is small enough to commit, with its external data if it has any. --fill and --rows say how many
            objects there are; by default there are 3 of each entity, with links, and with nil where an attribute is
            optional. The same seed gives the same objects. --links and --nils say how many destinations and nils there
            are; --extremes uses the extreme values of each type.
            --from-tags makes a store of each shape that the model had at the tags (see moult reconstruct) instead, also
            of one that no version describes, under the name that reconstruct gives it.
            A store that already exists is kept, because it is what was released; to make it again, remove it first. If
            anything else is at the path of a store, the command is refused.
            """,
        operands: [Operand("FOLDER", "The folder for the stores; it is created.")],
        options: [.model, fromTags, .fill, .rows, links, nils, extremes, .seed, .framework, .order],
        examples: [
            "moult fixture Fixtures --model Forum.xcdatamodeld",
            "moult fixture Fixtures --model Forum.xcdatamodeld --rows User=5,Post=20 --links 3 --nils 10 --seed 7 --extremes",
            "moult fixture Fixtures --model Forum.xcdatamodeld --from-tags 'v*'",
        ]
    ) { invocation, console in
        let folder = try invocation.required(Operand("FOLDER", ""))
        let versions = try released(invocation, console)
        let (links, nils) = (try invocation.number(links), try invocation.number(nils))
        if let nils, nils > 100 { throw invocation.wrong("--nils takes a number from 0 to 100, not \(nils).") }
        var sample = try invocation.sampleData(for: versions.map(\.model)) ?? SampleData(count: 3)
        sample.seed = UInt64(clamping: try invocation.number(.seed) ?? 1)
        (sample.isHostile, sample.links, sample.nils) = (invocation[extremes], links, nils)
        return console.print(try FixtureReport(versions, in: folder, sample, framework: invocation.number(.framework)))
    }

    private static let fromTags = Option.value(
        "from-tags", "PATTERN", "A store of each shape that the model had at these tags, such as 'v*'.")
    private static let links = Option.value(
        "links", "N", "Destinations of each object in a relationship; 0 for none where it is optional.")
    private static let nils = Option.value("nils", "PERCENT", "How many of 100 optional values are nil.")
    private static let extremes = Option.flag("extremes", "Use extreme values, such as the largest numbers.")

    /// Returns the shapes of the tags, or else the locked versions, or else all versions.
    private static func released(_ invocation: Invocation, _ console: Console) throws -> [ModelVersion] {
        if let pattern = invocation[value: fromTags] {
            let path = try invocation.required(Option.model)
            return try FixtureReport.shapes(
                of: ModelBundle(modelOrStoreAt: path, order: invocation.list(.order)), atTags: [pattern], console.say)
        }
        guard let path = invocation[value: .model] else { return try invocation.namedVersions(console).versions }
        let bundle = try ModelBundle(modelOrStoreAt: path, order: invocation.list(.order))
        console.say(bundle.findings)
        return try FixtureReport.released(of: bundle)
    }
}
