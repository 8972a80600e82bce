import MoultEngine
import MoultModel
import MoultObjects
import MoultReport
import MoultStore

/// A store that was made as Core Data would, empty or filled with sample objects.
package struct NewStore: ToolAnswer {
    private let path: String
    private let version: String
    private let framework: Int
    private let uuid: String
    private let objects: [(key: String, value: Int)]
    package let findings: [Finding]

    /// - Throws: `usage` if the path is taken; what writing throws. Then nothing is at the path.
    package init(
        _ version: ModelVersion, at path: String, _ sample: SampleData?, framework: Int?, history: Bool,
        experimental: Bool
    ) throws {
        let maker = try StoreMaker(
            version, framework: framework ?? FrameworkLevel.newest.number, history: history, experimental: experimental)
        objects = try maker.makeWhole(at: path) { part in try sample.map { try $0.fill(part, maker.layout) } ?? [:] }
            .sorted { $0.key.precedesInByteOrder($1.key) }
        (self.path, self.version) = (path, version.name)
        (self.framework, uuid, findings) = (maker.layout.framework, maker.metadata.uuid, maker.layout.findings)
    }

    package var document: JSONValue {
        [
            "format": 1, "store": .string(path), "version": .string(version), "framework": JSONValue(framework),
            "uuid": .string(uuid),
            "entities": .array(objects.map { ["name": .string($0.key), "rows": JSONValue($0.value)] }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let total = objects.reduce(0) { $0 + $1.value }
        return ["Made \(path.printable), version \(version.printable), \(Quantity.count(total, "object"))."]
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
