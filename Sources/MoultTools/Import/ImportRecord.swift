import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore

/// The record of an import whose end is not known. It is kept next to the store from before the commit until the
/// objects are known to be saved and the result is printed.
///
/// It stays where the process dies, or the disk does not confirm the commit. A mark that comes into the store's metadata
/// with the objects tells the next import whether they are there.
struct ImportRecord: Equatable {
    /// The key of the application's entry in the metadata that holds the identifier of the last import.
    static let key = "MoultImport"

    let identifier: String
    /// Of the files, by name and contents.
    let digest: String
    let path: String
    let startedAt: String

    private static func file(_ sidecar: StoreRecords) -> String { Path.join(sidecar.folder, "import.json") }

    /// - Returns: nil if the end of every import is known.
    /// - Throws: `metadataInvalid` if the record cannot be read.
    static func read(_ sidecar: StoreRecords, _ system: any System) throws -> ImportRecord? {
        let path = file(sidecar)
        guard try system.exists(path) else { return nil }
        let bytes = try system.read(path, as: .metadataInvalid)
        let json = try? JSONValue(parsing: bytes, place: path, code: .metadataInvalid)
        guard let json, json["format"]?.integer == 1, let identifier = json["import"]?.string,
            let digest = json["digest"]?.string, let from = json["path"]?.string, let time = json["startedAt"]?.string
        else {
            throw MigrationError(
                .metadataInvalid, "The record of an import whose end is not known cannot be read.", place: path,
                remedy: "Look whether its objects are in the store. Then remove the record.")
        }
        return ImportRecord(identifier: identifier, digest: digest, path: from, startedAt: time)
    }

    func write(_ sidecar: StoreRecords, _ system: any System) throws {
        try sidecar.make(system)
        let json: JSONValue = [
            "format": 1, "import": .string(identifier), "digest": .string(digest), "path": .string(path),
            "startedAt": .string(startedAt),
        ]
        try system.writeAtomically(Array((json.indented + "\n").utf8), to: Self.file(sidecar), sidecar.rights)
    }

    static func remove(_ sidecar: StoreRecords, _ system: any System) throws {
        if try system.remove(file(sidecar)) { try system.synchronise(sidecar.folder) }
    }

    /// Whether the objects of the import are in the store.
    func isSaved(in metadata: StoreMetadata) -> Bool { metadata.entries[Self.key]?.string == identifier }
}

/// The outcome of an earlier import, whose end was not known when it was run.
package struct EarlierImport: Sendable, Equatable {
    package let path: String
    package let startedAt: String
    /// Whether its objects are in the store.
    package let isSaved: Bool
    /// Whether it is the import that is asked for, which then adds nothing.
    package let isRepeated: Bool
}

/// Objects that were added to a store from CSV or JSON Lines.
package struct ImportReport {
    private let store: String
    private let objects: [(key: String, value: Int)]
    private let run: StoreImport

    /// Adds the objects of a folder or a file in one transaction. Afterwards, call ``confirm()`` once the answer is
    /// shown.
    ///
    /// - Throws: what ``StoreImport/run(_:entity:)`` throws.
    package init(_ path: String, entity: String?, isExact: Bool, into store: String, versions: ModelVersions) throws {
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
