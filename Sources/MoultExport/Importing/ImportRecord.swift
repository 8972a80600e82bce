import MoultEngine
import MoultModel
import MoultPropertyList
import MoultStore
import MoultSystem

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

    private static func file(_ sidecar: Sidecar) -> String { Path.join(sidecar.folder, "import.json") }

    /// - Returns: nil if the end of every import is known.
    /// - Throws: `metadataInvalid` if the record cannot be read.
    static func read(_ sidecar: Sidecar, _ system: any System) throws -> ImportRecord? {
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

    func write(_ sidecar: Sidecar, _ system: any System) throws {
        try sidecar.make(system)
        let json: JSONValue = [
            "format": 1, "import": .string(identifier), "digest": .string(digest), "path": .string(path),
            "startedAt": .string(startedAt),
        ]
        try system.writeAtomically(Array((json.indented + "\n").utf8), to: Self.file(sidecar), sidecar.rights)
    }

    static func remove(_ sidecar: Sidecar, _ system: any System) throws {
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
