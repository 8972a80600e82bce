import Foundation
import MoultBasics
import MoultModel

/// The search for models in folders and bundles.
enum ModelLocation {
    /// In the order of preference: a bundle of versions can migrate, a lone version cannot.
    private static let extensions = ["momd", "xcdatamodeld", "mom", "xcdatamodel", "omo"]

    /// The models in these folders, each once, in the order of their names.
    static func models(in folders: [URL]) -> [URL] {
        let entries = Set(folders.map(\.standardizedFileURL.path)).sorted().flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.sorted().map { URL(fileURLWithPath: folder).appendingPathComponent($0) }
        }
        let bundles = entries.filter { extensions.contains($0.pathExtension) }
        // The compiled form of a model may lie next to its source.
        return Dictionary(grouping: bundles) { $0.deletingPathExtension().lastPathComponent }
            .sorted { $0.key < $1.key }
            .compactMap { $0.value.min { rank($0) < rank($1) } }
    }

    /// The model of that name in one of these folders.
    ///
    /// - Throws: `modelNotFound` that names the folders.
    static func model(named name: String, in folders: [URL]) throws -> URL {
        if let url = models(in: folders).first(where: { $0.deletingPathExtension().lastPathComponent == name }) {
            return url
        }
        throw MigrationError(
            .modelNotFound, "There is no model named \(name).",
            place: folders.map(\.path).joined(separator: ", "),
            remedy: "Put \(name).momd or \(name).xcdatamodeld there, or pass the model itself.")
    }

    private static func rank(_ url: URL) -> Int { extensions.firstIndex(of: url.pathExtension) ?? extensions.count }
}
