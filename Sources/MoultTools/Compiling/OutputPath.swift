import MoultModel
import MoultSystem

/// The path of a product, as `--out` determines it.
package enum OutputPath {
    /// The path itself where it ends as the product does; otherwise the product's own name in that folder.
    ///
    /// - Parameters:
    ///   - ending: that of the product, such as `momd`.
    ///   - others: endings that the product cannot have.
    /// - Throws: `usage` for a path that ends as something else does.
    package static func of(
        _ name: String, _ ending: String, at path: String?, others: Set<String>, _ system: some System
    ) throws -> String {
        let path = path ?? "."
        guard !path.isEmpty else {
            throw MigrationError(
                .usage, String(advice: "\(option: .output) is empty."),
                remedy: "Name a path, or leave \(option: .output) away for this folder.")
        }
        let given = Self.ending(of: path)
        if given == ending { return withoutSlashes(path) }
        if others.contains(given), try system.status(of: path)?.kind != .folder {
            throw MigrationError(
                .usage, "\(name) becomes a .\(ending), and \(path) ends with .\(given).", place: path,
                remedy: "Give a path that ends with .\(ending), or a folder.")
        }
        return Path.join(path, "\(name).\(ending)")
    }

    private static func ending(of path: String) -> String {
        let name = Path.name(of: path)
        return name.contains(".") ? name.split(separator: ".").last.map(String.init) ?? "" : ""
    }

    private static func withoutSlashes(_ path: String) -> String {
        var text = Substring(path)
        while text.count > 1, text.last == "/" { text.removeLast() }
        return String(text)
    }
}
