import MoultModel
import MoultSystem

extension System {
    /// Makes sure that something can be made at a path: nothing is there, and its folder is.
    ///
    /// - Throws: `usage` if the path is taken; `fileNotFound` without a folder.
    func checkNewPath(_ path: String) throws {
        guard try !exists(path) else {
            throw MigrationError(
                .usage, "There is already something at \(path).", place: path,
                remedy: "Name a path that does not exist.")
        }
        let folder = Path.folder(of: path)
        guard try status(of: folder)?.kind == .folder else {
            throw MigrationError(
                .fileNotFound, "There is no folder \(folder).", place: path,
                remedy: "Create the folder first, or name a path in an existing one.")
        }
    }
}
