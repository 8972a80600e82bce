import MoultModel
import MoultModelFiles
import MoultReport
import MoultStore
import MoultSystem

extension Verb {
    static let schema = Verb(
        "schema", "Export the versions of a model, such as those of an app's Swift types, or number them.",
        subverbs: [export, schemaBump])

    private static let export = Verb(
        "export", "Write every version of the model as JSON and as an .xcdatamodel.",
        discussion: """
            In an app's own tool the versions are the app's. The files describe its Swift types; lock pins them, and
            every other verb accepts them as --model where the app is not available. With a store as --model, the model
            inside that store is written. FOLDER gets one NAME.json for each version, and a bundle with all of them in
            Xcode's form. Other files stay. A file of the same name is replaced if it has the same entities. If a store
            of one would not open with the other, it is refused unless you give --replace.
            """,
        operands: [folder], options: [.model, .order, name, replaces],
        examples: [
            "moult schema export schema --model Forum.xcdatamodeld",
            "moult schema export schema --model Forum.xcdatamodeld --name Forum --json",
            "moult schema export schema --model forum.sqlite",
        ]
    ) { invocation, console in
        let versions = try invocation.namedVersions(console)
        let folder = try invocation.required(folder)
        let bundle = Path.join(folder, "\(invocation[value: name] ?? "Model").xcdatamodeld")
        let files = try SchemaFiles(versions, in: folder, bundle: bundle)
        if !invocation[replaces] { try files.checkReplaced(by: versions, in: folder, POSIXSystem()) }
        let source = invocation[value: .model] ?? ""
        let rights: FileRights = try StoreProbe.isDatabase(source) ? .like(source) : .byUmask
        try files.write(rights, POSIXSystem())
        console.print([
            "format": 1, "folder": .string(folder), "bundle": .string(bundle),
            "versions": JSONValue(files.names),
        ]) { _ in
            let count = Quantity.count(files.names.count, "version")
            return ["Wrote \(count) to \(folder.printable): \(files.names.map(\.printable).joined(separator: ", "))."]
        }
        return .done
    }

    private static let folder = Operand("FOLDER", "The folder for the files; it is created.")
    private static let replaces = Option.flag("replace", "Replace files of the same names, whatever they contain.")
    private static let name = Option.value("name", "NAME", "The name of the bundle of .xcdatamodels; default Model.")
}

/// The files that a model's versions are written down in.
private struct SchemaFiles {
    let names: [String]
    private let files: [(path: String, text: String)]

    init(_ versions: ModelVersions, in folder: String, bundle: String) throws {
        var files: [(path: String, text: String)] = []
        var names: [String] = []
        var models: [(name: String, model: ManagedObjectModel)] = []
        for version in versions.versions {
            let text = version.model.json.indented + "\n"
            // A node of several names has one model.
            for name in version.names.reversed() {
                names.append(name)
                models.append((name, version.model))
                files.append((Path.join(folder, "\(name).json"), text))
            }
        }
        let sources = try SourceFiles(bundle: models, currentName: versions.currentName ?? names.last)
        self.files = files + sources.files.map { (Path.join(bundle, $0.path), $0.text) }
        self.names = names
    }

    /// Two models may call their versions the same, such as "1.0" of two stores.
    ///
    /// - Throws: `wouldReplace` for a file that holds another model, or cannot be read as one.
    func checkReplaced(by versions: ModelVersions, in folder: String, _ system: POSIXSystem) throws {
        for version in versions.versions {
            for name in version.names {
                let path = Path.join(folder, "\(name).json")
                guard try system.exists(path) else { continue }
                let old = try? ModelVersions(ModelBundle(contentsOf: path)).versions.first
                guard old?.hashes.entities != version.hashes.entities else { continue }
                throw MigrationError(
                    .wouldReplace, "The file contains another model that is called \(name). Nothing was written.",
                    place: path, remedy: "Export to another folder, or pass --replace.")
            }
        }
    }

    func write(_ rights: FileRights, _ system: POSIXSystem) throws {
        for (path, text) in files {
            try makeFolder(Path.folder(of: path), rights, system)
            try system.writeAtomically(Array(text.utf8), to: path, rights)
        }
    }

    private func makeFolder(_ path: String, _ rights: FileRights, _ system: POSIXSystem) throws {
        guard try !system.exists(path) else { return }
        try makeFolder(Path.folder(of: path), rights, system)
        try system.makeFolder(path, rights)
    }
}
