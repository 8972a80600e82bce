import MoultExport
import MoultModel
import MoultReport
import MoultStore

/// Objects that were added to a store from CSV or JSON Lines.
package struct ImportReport {
    private let store: String
    private let objects: [(key: String, value: Int)]
    private let run: StoreImport

    /// Adds the objects of a folder or a file in one transaction. Afterwards, call ``confirm()`` once the answer is
    /// shown.
    ///
    /// - Throws: what ``StoreImport/run(_:entity:)`` throws.
    package init(
        _ path: String, entity: String?, isExact: Bool, into store: String, versions: ModelVersions
    ) throws {
        run = try StoreImport(into: store, at: try versions.version(ofStore: store), isExact: isExact)
        objects = try run.run(path, entity: entity).sorted { $0.key.precedesInByteOrder($1.key) }
        self.store = store
    }

    /// Forgets the import, whose answer was shown: the same import adds the objects once more.
    package func confirm() { run.confirm() }

    package var document: JSONValue {
        [
            "format": 1, "store": .string(store),
            "entities": .array(objects.map { ["name": .string($0.key), "rows": JSONValue($0.value)] }),
            "earlier": run.earlier.map {
                [
                    "path": .string($0.path), "startedAt": .string($0.startedAt), "isSaved": .bool($0.isSaved),
                    "isRepeated": .bool($0.isRepeated),
                ]
            } ?? .null,
        ]
    }

    private func what(_ earlier: EarlierImport) -> String {
        "import of \(earlier.path.printable) at \(earlier.startedAt), whose end was not known,"
    }

    /// A sentence about an earlier import of other objects, whose end was not known.
    package var note: String? {
        run.earlier.flatMap { earlier in
            earlier.isRepeated ? nil : "The \(what(earlier)) \(earlier.isSaved ? "is in the store" : "was not saved")."
        }
    }

    package func lines(style: TextStyle) -> [String] {
        if let earlier = run.earlier, earlier.isRepeated {
            return [
                "Nothing was added: the objects of the \(what(earlier)) are in the store. The next run adds them once more."
            ]
        }
        guard !objects.isEmpty else { return ["There are no rows."] }
        var table = TextTable([.left("entity"), .right("new objects")])
        for (name, count) in objects { table.add(name.printable, Quantity.count(count)) }
        return table.lines(style: style)
    }
}
