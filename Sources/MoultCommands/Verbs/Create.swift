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
        options: [.model, version, .framework, history, .fill, .rows, .seed, .order, .experimental],
        examples: [
            "moult create empty.sqlite --model Forum.xcdatamodeld",
            "moult create sample.sqlite --model Forum.xcdatamodeld --version Forum --rows Forum=4,User=50,Post=1000",
        ]
    ) { invocation, console in
        let path = try invocation.required(Operand.store)
        let version = try invocation.version(
            Verb.version, in: try invocation.namedVersions(console))
        let made = try NewStore(
            version, at: path, invocation.sampleData(for: [version.model]), framework: invocation.number(.framework),
            history: invocation[history], experimental: invocation[.experimental])
        console.say(made.findings)
        console.print(made)
        return .done
    }
}

extension Option {
    static let fill = value("fill", "N", "Create N objects of each entity.")
    static let rows = value("rows", "ENTITY=N,…", "Create this many objects of these entities.")
    static let seed = value("seed", "N", "The seed of the sample objects; default 1.")
}

extension Invocation {
    /// Returns the sample data that `--fill`, `--rows` and `--seed` ask for; nil without the first two.
    ///
    /// - Parameter models: those whose entities `--rows` may name.
    func sampleData(for models: [ManagedObjectModel]) throws -> SampleData? {
        let count = try number(.fill)
        let counts = try list(.rows)?.map { text in
            let parts = text.split(separator: "=").map(String.init)
            guard parts.count == 2, let number = Int(parts[1]), number >= 0,
                models.contains(where: { $0.entity(parts[0]) != nil })
            else {
                throw wrong("--rows takes pairs of an entity and a number, such as Post=1000, not \(text).")
            }
            return (parts[0], number)
        }
        guard count != nil || counts != nil else { return nil }
        return SampleData(
            seed: UInt64(clamping: try number(.seed) ?? 1), count: count ?? 0,
            counts: Dictionary(counts ?? []) { _, last in last }, isHostile: false)
    }
}
