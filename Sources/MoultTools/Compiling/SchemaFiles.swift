import MoultEngine
import MoultModel
import MoultModelFiles
import MoultReport
import MoultStore
import MoultSystem

/// The files that a model's versions are written down in.
package struct SchemaFiles {
    let names: [String]
    /// The path of the bundle of `.xcdatamodel`s.
    let bundle: String
    private let versions: ModelVersions
    private let folder: String
    private let files: [(path: String, text: String)]

    /// - Parameter name: that of the bundle.
    package init(_ versions: ModelVersions, in folder: String, name: String) throws {
        let bundle = Path.join(folder, "\(name).xcdatamodeld")
        var files: [(path: String, text: String)] = []
        var names: [String] = []
        var models: [(name: String, model: ManagedObjectModel)] = []
        for version in versions.versions {
            // A node of several names has a model for each.
            for name in version.names.reversed() {
                let model = version.named(name).model
                names.append(name)
                models.append((name, model))
                files.append((Path.join(folder, "\(name).json"), model.json.indented + "\n"))
            }
        }
        let sources = try SourceFiles(bundle: models, currentName: versions.currentName ?? names.last)
        self.files = files + sources.files.map { (Path.join(bundle, $0.path), $0.text) }
        self.names = names
        (self.versions, self.folder, self.bundle) = (versions, folder, bundle)
    }

    /// - Parameters:
    ///   - source: the path of the model; the files get the rights of a store.
    ///   - replacing: whether a file that holds another model is replaced.
    /// - Throws: `wouldReplace` if it is not; what writing throws.
    package func write(likeModelAt source: String?, replacing: Bool, _ system: some System = POSIXSystem()) throws {
        if !replacing { try checkReplaced(system) }
        let rights: FileRights =
            try source.flatMap { try StoreProbe.isDatabase($0, system) ? .like($0) : nil } ?? .byUmask
        try UnfinishedPath.replace(files.map { ($0.path, Array($0.text.utf8)) }, makingFolders: true, rights, system)
    }

    /// Two models may call their versions the same, such as "1.0" of two stores.
    ///
    /// - Throws: `wouldReplace` for a file that holds another model, or cannot be read as one.
    private func checkReplaced(_ system: some System) throws {
        for version in versions.versions {
            for name in version.names {
                let path = Path.join(folder, "\(name).json")
                guard try system.exists(path) else { continue }
                let old = try? ModelVersions(ModelBundle(contentsOf: path)).versions.first
                guard old?.hashes.entities != version.hashes.entities else { continue }
                throw MigrationError(
                    .wouldReplace, "The file contains another model that is called \(name). Nothing was written.",
                    place: path, remedy: "Export to another folder, or pass \(option: .replace).")
            }
        }
    }
}

extension SchemaFiles: ToolAnswer {
    package var document: JSONValue {
        ["format": 1, "folder": .string(folder), "bundle": .string(bundle), "versions": JSONValue(names)]
    }

    package func lines(style: TextStyle) -> [String] {
        let count = Quantity.count(names.count, "version")
        return ["Wrote \(count) to \(folder.printable): \(names.map(\.printable).joined(separator: ", "))."]
    }
}
