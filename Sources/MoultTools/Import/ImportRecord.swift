import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore

/// The record of an import in progress, next to the store. It is written before the commit, and removed once the
/// objects are known to be saved and the result is printed.
///
/// It remains if the process dies or the disk does not confirm the commit. The objects are saved together with a mark
/// in the store's metadata, which tells the next import whether they were committed.
struct ImportRecord: Equatable {
    /// The key of the metadata entry that holds the identifier of the last import.
    static let key = "MoultImport"

    let identifier: String
    /// The digest of the names and contents of the files.
    let digest: String
    let path: String
    let startedAt: String

    private static func file(_ sidecar: StoreRecords) -> String { Path.join(sidecar.folder, "import.json") }

    /// - Returns: nil if no import has an unknown outcome.
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

    /// Whether the store contains the objects of the import.
    func isSaved(in metadata: StoreMetadata) -> Bool { metadata.entries[Self.key]?.string == identifier }
}

/// The outcome of an earlier import, which was not known until now.
package struct EarlierImport: Sendable, Equatable {
    package let path: String
    package let startedAt: String
    /// Whether the store contains its objects.
    package let isSaved: Bool
    /// Whether it is the same as the requested import, which then adds nothing.
    package let isRepeated: Bool
}

/// A report on the objects added to a store from CSV or JSON Lines.
package struct ImportReport {
    private let store: String
    private let objects: [(key: String, value: Int)]
    private let run: StoreImport

    /// Adds the objects of a folder or a file in one transaction. Call ``confirm()`` after showing the result.
    ///
    /// - Throws: any error from ``StoreImport/run(_:entity:)``.
    package init(_ path: String, entity: String?, isExact: Bool, into store: String, versions: ModelVersions) throws {
        run = try StoreImport(into: store, at: try versions.version(ofStore: store), isExact: isExact)
        objects = try run.run(path, entity: entity).inByteOrder { $0.key }
        self.store = store
    }

    /// Removes the record of the import after its result is shown. The same import then adds the objects again.
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

    /// A sentence about an earlier, different import whose outcome was not known.
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
