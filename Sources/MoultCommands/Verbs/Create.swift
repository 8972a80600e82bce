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
        operands: [.store], options: [.model, version, .framework, history, fill, rows, seed, .order, .experimental],
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
        let sample = try sample(invocation, version.model)
        try maker.make(at: path)
        let objects = try sample.map { try fill(path, maker.layout, with: $0) } ?? [:]
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

    private static let fill = Option.value("fill", "N", "Create N objects of each entity.")
    private static let rows = Option.value("rows", "ENTITY=N,…", "Create this many objects of these entities.")
    private static let seed = Option.value("seed", "N", "The seed of the sample objects; default 1.")

    private static func sample(_ invocation: Invocation, _ model: ManagedObjectModel) throws -> SampleData? {
        let count = try invocation.number(fill)
        let counts = try invocation.list(rows)?.map { text in
            let parts = text.split(separator: "=").map(String.init)
            guard parts.count == 2, let number = Int(parts[1]), number >= 0, model.entity(parts[0]) != nil else {
                throw invocation.wrong("--rows takes pairs of an entity and a number, such as Post=1000, not \(text).")
            }
            return (parts[0], number)
        }
        guard count != nil || counts != nil else { return nil }
        return SampleData(
            seed: UInt64(clamping: try invocation.number(seed) ?? 1), count: count ?? 0,
            counts: Dictionary(counts ?? []) { _, last in last }, isHostile: false)
    }

    /// - Returns: objects by entity.
    private static func fill(_ path: String, _ layout: StoreLayout, with sample: SampleData) throws -> [String: Int] {
        let writer = try ObjectWriter(store: path, layout: layout, speed: .reckless)
        let objects = try sample.fill(writer)
        try writer.finish()
        return objects.mapValues(\.count)
    }
}
