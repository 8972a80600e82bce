import MoultBasics

/// The models inside an app: an `.app` folder, or an `.ipa`, which is a zip archive of one.
extension ModelSource {
    /// Reads the one model below an app's folder.
    static func app(_ path: String) throws -> ModelSource {
        let models = try models(below: path, depth: 0)
        return try ModelSource(at: only(models, in: path))
    }

    /// Returns the paths of the compiled models below a folder. Symbolic links are not followed.
    private static func models(below folder: String, depth: Int) throws -> [String] {
        guard depth < 16 else { return [] }
        return try ModelFolder.entries(of: folder).flatMap { entry -> [String] in
            let isFolder = ModelFolder.isFolder(entry) == true && (try? POSIXSystem().isLink(entry)) == false
            guard isFolder else { return entry.fileExtension == "mom" ? [entry] : [] }
            return entry.fileExtension == "momd" ? [entry] : try models(below: entry, depth: depth + 1)
        }
    }

    /// Reads a model in an `.ipa`.
    ///
    /// - Parameter model: the model's path in the archive; nil for the only one.
    static func archive(_ path: String, model: String?) throws -> ModelSource {
        let archive = try ZipArchive(contentsOf: path)
        let entries = Dictionary(archive.entries.map { ($0.name, $0) }) { first, _ in first }
        let models = ListedModel.all(among: archive.entries.map(\.name)).filter { $0.kind == .compiled }
        let chosen = try model ?? only(models.map(\.path), in: path)
        guard let found = models.first(where: { $0.path == chosen }) else {
            throw MigrationError(
                .modelNotFound, "The archive has no model \(chosen).", place: path,
                remedy: models.isEmpty
                    ? "Name another archive." : "Name one of: \(places(models.map { "\(path)/\($0.path)" })).")
        }
        var left = ModelFolder.greatestSize
        func contents(_ name: String) throws -> [UInt8] {
            guard let entry = entries[name] else {
                throw MigrationError(
                    .fileNotFound, "There is no file at this path.", place: "\(path)/\(name)", remedy: "Check the path."
                )
            }
            let bytes = try archive.contents(of: entry, limit: left)
            left -= bytes.count
            return bytes
        }
        let files = try found.files.compactMap { file in
            ModelFile(at: "\(path)/\(file.path)", contents: try contents(file.path))
        }
        var source = ModelSource(path: "\(path)/\(found.path)", files: files)
        guard !found.isSingle else { return source }
        let list = "\(found.path)/VersionInfo.plist"
        source.readList(at: "\(path)/\(list)") { try contents(list) }
        return source
    }

    /// Reads the model at a path that leads into an `.ipa`; nil for any other path.
    static func archived(_ path: String) throws -> ModelSource? {
        guard let end = path.firstRange(of: ".ipa/") else { return nil }
        let archive = String(path[..<end.upperBound].dropLast())
        guard ModelFolder.isFolder(archive) == false else { return nil }
        return try Self.archive(archive, model: String(path[end.upperBound...]))
    }

    private static func only(_ models: [String], in path: String) throws -> String {
        guard models.count != 1 else { return models[0] }
        let isArchive = path.fileExtension == "ipa"
        throw MigrationError(
            .modelNotFound,
            models.isEmpty
                ? "The app contains no model: neither a .momd nor a .mom."
                : "The app contains \(models.count) models.", place: path,
            remedy: models.isEmpty
                ? "Name another app, or the model's source."
                : "Name one of them: \(places(models.map { isArchive ? "\(path)/\($0)" : $0 })).")
    }

    private static func places(_ paths: [String]) -> String { paths.prefix(10).joined(separator: ", ") }
}
