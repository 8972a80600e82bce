import MoultModel
import MoultSystem

/// Checks of a store's surroundings before anything is changed.
package enum Preflight {
    /// - Throws: `hardLinked`, `readOnly`.
    package static func checkFile(_ store: String, _ system: any System) throws {
        guard let status = try system.status(of: store) else {
            throw MigrationError(
                .fileNotFound, "Nothing is at \(store).", place: store, remedy: "Check the path of the store.")
        }
        guard status.links <= 1 else {
            throw MigrationError(
                .hardLinked,
                "The store has \(status.links) hard links. SQLite keeps its journals next to only one name.",
                place: store, remedy: "Remove the other names, or copy the file and migrate the copy.")
        }
        let folder = Path.folder(of: store)
        for (path, what) in [(store, "store"), (folder, "store's folder")] where !system.isWritable(path) {
            throw MigrationError(
                .readOnly, "This user cannot write to the \(what).", place: path,
                remedy: "Make it writable, or copy the store to a folder that is.")
        }
    }
}
