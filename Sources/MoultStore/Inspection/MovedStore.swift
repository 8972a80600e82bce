import MoultBasics

/// The record that a moved store leaves at its old path, in the folder of Moult's own files: where it went, and when.
///
/// It says something only while nothing is at the old path.
package struct MovedStore: Sendable, Hashable {
    /// The name of the run.
    package var run: String
    /// The path of the store since then.
    package var destination: String
    package var movedAt: String

    private static let largest = 64 << 10

    package init(run: String, destination: String, movedAt: String) {
        (self.run, self.destination, self.movedAt) = (run, destination, movedAt)
    }

    /// Reads the record at a store's old path; nil if there is none, or none that can be read.
    package init?(from store: String, _ system: any System) {
        let path = Self.path(of: store)
        guard let bytes = try? system.read(path, limit: Self.largest),
            let json = try? JSONValue(parsing: bytes, place: path, code: .metadataInvalid),
            json["format"]?.integer == 1, let run = json["run"]?.string, let destination = json["to"]?.string,
            let movedAt = json["movedAt"]?.string
        else { return nil }
        self.init(run: run, destination: destination, movedAt: movedAt)
    }

    package func write(from store: String, _ rights: FileRights, _ system: any System) throws {
        let json: JSONValue = [
            "format": 1, "run": .string(run), "to": .string(destination), "movedAt": .string(movedAt),
        ]
        try system.writeAtomically(Array((json.indented + "\n").utf8), to: Self.path(of: store), rights)
    }

    private static func path(of store: String) -> String { Path.join(Path.sidecar(of: store), name) }
    package static let name = "moved.json"
}
