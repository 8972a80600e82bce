import MoultBasics
import MoultModel

/// A model among listed files that need not be on this disk, such as those of a commit or of an archive.
package struct ListedModel: Sendable, Hashable {
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// An `.xcdatamodeld`, or one `.xcdatamodel`.
        case source
        /// A `.momd`, or one `.mom`.
        case compiled
        /// A folder of models as JSON.
        case exported
    }

    /// The file of a version, with the version's name.
    package struct File: Sendable, Hashable {
        package let name: String
        package let path: String
    }

    /// The path of the bundle, of the single version, or of the folder.
    package let path: String
    package let kind: Kind
    /// The files of the versions, in natural order of their names.
    package private(set) var files: [File] = []
    /// The path of the file that marks the current version; nil if there is none.
    package private(set) var mark: String?

    /// The path's last part without its extension.
    package var name: String { path.fileStem }

    /// Whether the model is one version outside of a bundle.
    package var isSingle: Bool { ["xcdatamodel", "mom"].contains(path.fileExtension) }

    /// Returns whether a file of this name may be part of a model.
    package static func mayHave(_ name: String) -> Bool {
        ["contents", "elements", ".xccurrentversion", "VersionInfo.plist"].contains(name)
            || [".mom", ".omo", ".json"].contains(where: name.hasSuffix)
    }

    private init(path: String, kind: Kind) { (self.path, self.kind) = (path, kind) }

    /// Returns the models among the files at these paths, in byte order of their paths.
    ///
    /// - Parameter folders: the plain folders whose versions are those of one model. A folder of JSON files is always
    ///   one.
    package static func all(among paths: [String], in folders: Set<String> = []) -> [ListedModel] {
        var models: [ListedModel] = []
        var positions: [String: [Kind: Int]] = [:]
        for path in paths {
            guard let place = Place(of: path, in: folders) else { continue }
            let position = positions[place.model]?[place.kind] ?? models.count
            if position == models.count {
                models.append(ListedModel(path: place.model, kind: place.kind))
                positions[place.model, default: [:]][place.kind] = position
            }
            if let name = place.version { models[position].add(name, path) } else { models[position].mark = path }
        }
        return models.filter { !$0.files.isEmpty }.map(\.sorted).inByteOrder { $0.path }
    }

    /// Adds the file of a version. Of two files of a version, the one that says more about it stays.
    private mutating func add(_ name: String, _ path: String) {
        let file = File(name: name, path: path)
        guard let other = files.firstIndex(where: { $0.name == name }) else { return files.append(file) }
        if ["contents", "mom"].contains(path.fileExtension.isEmpty ? path.fileName : path.fileExtension) {
            files[other] = file
        }
    }

    private var sorted: ListedModel {
        var model = self
        model.files.sort { $0.name.precedesNaturally($1.name) }
        return model
    }

    /// Returns the name of the current version: the marked one, otherwise the newest; nil if the mark cannot be read, or
    /// names none of the versions.
    ///
    /// - Parameter mark: the contents of the file that marks it; nil without one.
    package func currentName(mark: [UInt8]?) -> String? {
        guard files.count > 1, let mark else { return files.last?.name }
        do {
            let name =
                try kind == .source
                ? ModelSource.currentName(inMark: mark)
                : VersionInfo(parsing: mark).currentName ?? files.last?.name
            return files.first { $0.name == name }?.name
        } catch {
            return nil
        }
    }

    /// Reads the versions in files, on all cores.
    ///
    /// - Returns: for each file its version or the error from reading it; nil for another program's JSON.
    package static func versions(
        of files: [(path: String, bytes: [UInt8])]
    ) -> [Result<ModelVersion, MigrationError>?] {
        let shared = SharedEntities()
        let all = (try? files.concurrentMap { read($0.path, $0.bytes, sharing: shared) }) ?? []
        var hashes = KnownEntityHashes()
        return all.map { one -> Result<ModelVersion, MigrationError>? in
            one?.map { name, model in
                ModelVersion(names: [name], model: model, hashes: VersionHashes(of: model, known: &hashes))
            }
        }
    }

    private static func read(
        _ path: String, _ bytes: [UInt8], sharing shared: SharedEntities
    ) -> Result<(name: String, model: ManagedObjectModel), MigrationError>? {
        guard let file = ModelFile(at: path, contents: bytes), !file.isOtherJSON else { return nil }
        do {
            return .success((file.name, try file.read(sharing: shared).model))
        } catch {
            return .failure(
                error as? MigrationError ?? .modelInvalid("\(error)", place: path, remedy: "Correct the model."))
        }
    }
}

/// The place of a file in a model, by its path.
private struct Place {
    /// The path of the model.
    var model: String
    let kind: ListedModel.Kind
    /// The name of the file's version; nil for the file that marks the current one.
    var version: String?

    /// Returns nil for a file that belongs to no model.
    init?(of path: String, in folders: Set<String>) {
        let folder = path.contains("/") ? path.parentFolder : ""
        let (name, ending) = (path.fileName, path.fileExtension)
        switch (name, ending) {
        case ("contents", _), ("elements", _):
            guard folder.fileExtension == "xcdatamodel" else { return nil }
            let bundle = folder.contains("/") ? folder.parentFolder : ""
            kind = .source
            model = bundle.fileExtension == "xcdatamodeld" || folders.contains(bundle) ? bundle : folder
            version = folder.fileStem
        case (".xccurrentversion", _):
            guard folder.fileExtension == "xcdatamodeld" else { return nil }
            (model, kind) = (folder, .source)
        case ("VersionInfo.plist", _):
            guard folder.fileExtension == "momd" else { return nil }
            (model, kind) = (folder, .compiled)
        case (_, "mom"), (_, "omo"):
            let isInside = folder.fileExtension == "momd" || folders.contains(folder)
            guard isInside || ending == "mom" else { return nil }
            (model, kind, version) = (isInside ? folder : path, .compiled, path.fileStem)
        case (_, "json"):
            guard ModelFile(at: path) != nil else { return nil }
            (model, kind, version) = (folder, .exported, path.fileStem)
        default: return nil
        }
    }
}
