import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore

/// A source that Xcode opens, written from a compiled model or mapping model, or from the model inside a store.
package struct SourceReport: ToolAnswer {
    private let output: String
    private let versions: [String]
    private let files: [String]
    private let isMapping: Bool
    package let findings: [Finding]

    package var document: JSONValue {
        [
            "format": 1, "output": .string(output), "versions": JSONValue(versions),
            "files": JSONValue(files.map { Path.join(output, $0) }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let what =
            isMapping
            ? "the mapping from \(versions[0].printable) to \(versions[1].printable)"
            : Quantity.count(versions.count, "version")
        return ["Wrote \(what) to \(output.printable)."]
    }

    // MARK: - Models

    /// Writes a compiled model, or the model inside a store, as an `.xcdatamodel` or `.xcdatamodeld`.
    ///
    /// - Parameters:
    ///   - wish: the source, or the folder for it; nil for the working folder.
    ///   - replacing: whether a source that is there is replaced.
    ///   - say: takes the findings about the model.
    /// - Throws: what reading the model throws; `wouldReplace` for a path with something else.
    package init(
        decompiling path: String, to wish: String?, replacing: Bool, say: ([Finding]) -> Void = { _ in }
    ) throws {
        let system = POSIXSystem()
        let bundle = try ModelBundle(modelOrStoreAt: path)
        findings = bundle.findings
        say(findings)
        let isStore = try StoreProbe.isDatabase(path)
        let name = wish.map { Path.name(of: $0) } ?? ""
        let isFolder = ["momd", "xcdatamodeld"].contains { Path.name(of: bundle.path).hasSuffix("." + $0) }
        let isBundle =
            bundle.versions.count > 1 || name.hasSuffix(".xcdatamodeld") || isFolder && !name.hasSuffix(".xcdatamodel")
        output = try OutputPath.of(
            Path.stem(of: path), isBundle ? "xcdatamodeld" : "xcdatamodel", at: wish,
            others: ["xcdatamodel", "xcdatamodeld"], system)
        try Self.check(output, replacing: replacing, system)
        let sources = try Self.sources(of: bundle, isBundle: isBundle, name: Path.stem(of: output), isStore: isStore)
        try BuildProduct(
            files: sources.files.map { ($0.path, Array($0.text.utf8)) }, path: output,
            rights: isStore ? .like(path) : .byUmask
        ).write(system)
        versions = bundle.versions.map(\.name)
        files = sources.files.map(\.path)
        isMapping = false
    }

    private static func sources(
        of bundle: ModelBundle, isBundle: Bool, name: String, isStore: Bool
    ) throws -> SourceFiles {
        let defaults = SourceFiles.documentDefaults
        guard isBundle else {
            guard let version = bundle.versions.first else {
                throw MigrationError(
                    .modelNotFound, "There is no version to write.", place: bundle.path, remedy: "Name another model.")
            }
            return try SourceFiles(version.model, defaults: defaults)
        }
        if let fault = bundle.currentFault { throw fault }
        // The version inside a store is called after the app's own number, which need not be a name.
        let versions = bundle.versions.map { (name: isStore ? name : $0.name, model: $0.model) }
        let current = isStore ? name : bundle.currentName ?? versions.last?.name
        return try SourceFiles(bundle: versions, currentName: current, defaults: defaults)
    }

    // MARK: - Mapping models

    /// Whether a path is that of a mapping model.
    package static func isMapping(_ path: String) -> Bool { MappingModelFile.isMappingModel(path) }

    /// Writes a compiled mapping model, with the versions that it was made for, as an `.xcmappingmodel`.
    ///
    /// - Parameters:
    ///   - versions: those of the model.
    ///   - model: the path of the model, which the source names; nil if it has none.
    /// - Throws: `question` if several versions fit; `wouldReplace` for a path with something else.
    package init(
        decompilingMapping path: String, to wish: String?, replacing: Bool, versions: ModelVersions,
        ofModelAt model: String?, say: ([Finding]) -> Void = { _ in }
    ) throws {
        let system = POSIXSystem()
        let file = try MappingModelFile(contentsOf: path)
        findings = file.findings
        say(findings)
        let match = try Self.match(of: file, in: versions)
        let (source, destination) = (versions.versions[match.source], versions.versions[match.destination])
        output = try OutputPath.of(
            file.name, "xcmappingmodel", at: wish, others: ["xcdatamodel", "xcdatamodeld"], system)
        try Self.check(output, replacing: replacing, system)
        let bundle = model.map { Path.stem(of: $0) + ".xcdatamodeld/" } ?? ""
        let text = try file.mapping.xmlDocument(
            from: source, to: destination,
            paths: ("\(bundle)\(source.name).xcdatamodel", "\(bundle)\(destination.name).xcdatamodel"))
        files = ["xcmapping.xml"]
        try BuildProduct(files: [(files[0], Array(text.utf8))], path: output, rights: .byUmask).write(system)
        self.versions = [source.name, destination.name]
        isMapping = true
    }

    private static func match(
        of file: MappingModelFile, in versions: ModelVersions
    ) throws(MigrationError) -> MappingMatch {
        do {
            return try MappingMatch(of: file.mapping, named: file.name, in: versions)
        } catch {
            guard error.code == .question else { throw error }
            throw MigrationError(
                .question, error.message, place: error.place,
                remedy: "Give \(option: .model(nil)) a folder that has only the two versions.")
        }
    }

    // MARK: - The output

    /// - Throws: `wouldReplace` for a source that is there, unless it is to be replaced and holds nothing but the files
    ///   of a model or a mapping model.
    private static func check(_ output: String, replacing: Bool, _ system: some System) throws {
        guard try system.exists(output) else { return }
        guard replacing else {
            throw MigrationError(
                .wouldReplace, "\(output) exists. Nothing was written.", place: output,
                remedy: "Name another output, or pass \(option: .replace).")
        }
        let isFolder = try system.status(of: output)?.kind == .folder && !system.isLink(output)
        let names: Set<String> = ["contents", "elements", "layout", "xcmapping.xml", ".xccurrentversion", ".DS_Store"]
        guard try isFolder && system.files(below: output).allSatisfy({ names.contains(Path.name(of: $0)) }) else {
            throw MigrationError(
                .wouldReplace, "\(output) holds files that are no part of a model. Nothing was written.", place: output,
                remedy: "Move it away, or name another output.")
        }
    }
}

/// The files that a model's versions are written down in.
package struct SchemaFiles: ToolAnswer {
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
        try StagedPath.replace(files.map { ($0.path, Array($0.text.utf8)) }, makingFolders: true, rights, system)
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

    package var document: JSONValue {
        ["format": 1, "folder": .string(folder), "bundle": .string(bundle), "versions": JSONValue(names)]
    }

    package func lines(style: TextStyle) -> [String] {
        let count = Quantity.count(names.count, "version")
        return ["Wrote \(count) to \(folder.printable): \(names.map(\.printable).joined(separator: ", "))."]
    }
}
