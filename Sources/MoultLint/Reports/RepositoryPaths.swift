import MoultModel
import MoultSystem

/// The paths of files within their repository, as services that show findings name them.
package struct RepositoryPaths: Sendable {
    /// Without symbolic links: the folder that relative paths start at.
    private let folder: String
    /// The root of the repository around it; without one, the folder of the model.
    package let root: String

    /// - Parameter model: the model whose repository it is; nil for the repository around the working folder.
    /// - Throws: what looking at the folders throws.
    package init(ofModelAt model: String? = nil) throws {
        let system = POSIXSystem()
        folder = try system.resolve(".")
        let start = model.flatMap { try? system.resolve($0) }.map { Path.folder(of: $0) } ?? folder
        var root = start
        while root != "/", try !system.exists(Path.join(root, ".git")) { root = Path.folder(of: root) }
        self.root = root == "/" ? start : root
    }

    /// The path from the root; nil for a file outside of the repository.
    package func place(of path: String) -> String? {
        let whole = path.hasPrefix("/") ? path : Path.join(folder, path)
        let place = (try? POSIXSystem().resolve(whole)) ?? Self.withoutDots(whole)
        if place == root { return "." }
        return place.hasPrefix(root + "/") ? String(place.dropFirst(root.count + 1)) : nil
    }

    private static func withoutDots(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// - Throws: `usage` for a file outside of the repository.
    func required(_ path: String, line: Int? = nil) throws -> String {
        if let place = place(of: path) { return place }
        throw MigrationError(
            .usage, "SARIF names files by their place in the repository, and \(path) is outside of \(root).",
            place: line.map { "\(path):\($0)" } ?? path,
            remedy: "Run lint in the repository of the model, or use another format.")
    }
}
