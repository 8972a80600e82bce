import MoultEngine
import MoultModel
import MoultObjects
import MoultReport
import MoultStore

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
        let maker = try StoreMaker(
            version, framework: try invocation.number(.framework) ?? FrameworkLevel.newest.number,
            history: invocation[history], experimental: invocation[.experimental])
        let sample = try invocation.sampleData(for: version.model)
        let objects = try maker.makeWhole(at: path) { part in
            try sample.map { try $0.fill(part, maker.layout) } ?? [:]
        }
        console.say(maker.layout.findings)
        let counts = objects.sorted { $0.key.precedesInByteOrder($1.key) }
        console.print([
            "format": 1, "store": .string(path), "version": .string(version.name),
            "framework": JSONValue(maker.layout.framework), "uuid": .string(maker.metadata.uuid),
            "entities": .array(counts.map { ["name": .string($0.key), "rows": JSONValue($0.value)] }),
        ]) { _ in
            let total = counts.reduce(0) { $0 + $1.value }
            return ["Made \(path.printable), version \(version.name.printable), \(Quantity.count(total, "object"))."]
        }
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
    /// - Parameter others: models whose entities `--rows` may name too.
    func sampleData(for model: ManagedObjectModel, others: [ManagedObjectModel] = []) throws -> SampleData? {
        let count = try number(.fill)
        let counts = try list(.rows)?.map { text in
            let parts = text.split(separator: "=").map(String.init)
            guard parts.count == 2, let number = Int(parts[1]), number >= 0,
                ([model] + others).contains(where: { $0.entity(parts[0]) != nil })
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

extension SampleData {
    /// Fills a store that was just made.
    ///
    /// - Returns: objects by entity.
    func fill(_ path: String, _ layout: StoreLayout) throws -> [String: Int] {
        let writer = try ObjectWriter(store: path, layout: layout, speed: .reckless)
        let objects = try fill(writer)
        try writer.finish()
        return objects.mapValues(\.count)
    }
}
