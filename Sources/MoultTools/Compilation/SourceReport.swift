import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore

/// A source for Xcode, written from a compiled model or mapping model, or from the model inside a store.
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
    ///   - wish: the path of the source, or a folder for it; nil for the current directory.
    ///   - replacing: whether to replace an existing source.
    ///   - say: takes the findings about the model.
    /// - Throws: any error from reading the model; `wouldReplace` if the path is taken.
    package init(
        decompiling path: String, to wish: String?, replacing: Bool, say: ([Finding]) -> Void = { _ in }
    ) throws {
        let system = POSIXSystem()
        let bundle = try ModelBundle(modelOrStoreAt: path)
        findings = bundle.findings
        say(findings)
        let isStore = try ReadOnlyStore.isDatabase(path)
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
        // The version inside a store has the app's own identifier, which need not be a valid name.
        let versions = bundle.versions.map { (name: isStore ? name : $0.name, model: $0.model) }
        let current = isStore ? name : bundle.currentName ?? versions.last?.name
        return try SourceFiles(bundle: versions, currentName: current, defaults: defaults)
    }

    // MARK: - Mapping models

    /// Whether a path is the path of a mapping model.
    package static func isMapping(_ path: String) -> Bool { MappingModelFile.isMappingModel(path) }

    /// Writes a compiled mapping model as an `.xcmappingmodel`, with the versions that it maps.
    ///
    /// - Parameters:
    ///   - versions: the versions of the model.
    ///   - model: the path of the model, for the source to refer to; nil if it has none.
    /// - Throws: `question` if several versions match; `wouldReplace` if the path is taken.
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

    /// - Throws: `wouldReplace` for an existing source, unless `replacing` is true and it contains only the files of a
    ///   model or a mapping model.
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

/// The exported files of a model's versions.
package struct SchemaFiles: ToolAnswer {
    let names: [String]
    /// The path of the bundle of `.xcdatamodel`s.
    let bundle: String
    private let versions: ModelVersions
    private let folder: String
    private let files: [(path: String, text: String)]

    /// - Parameter name: the name of the bundle.
    package init(_ versions: ModelVersions, in folder: String, name: String) throws {
        let bundle = Path.join(folder, "\(name).xcdatamodeld")
        var files: [(path: String, text: String)] = []
        var names: [String] = []
        var models: [(name: String, model: ManagedObjectModel)] = []
        for version in versions.versions {
            // A version with several names has a model for each.
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
    ///   - source: the path of the model; if it is a store, the files get its permissions.
    ///   - replacing: whether to replace a file that holds another model.
    /// - Throws: `wouldReplace` if such a file exists and `replacing` is false; any error from writing.
    package func write(likeModelAt source: String?, replacing: Bool, _ system: some System = POSIXSystem()) throws {
        if !replacing { try checkReplaced(system) }
        let rights: FileRights =
            try source.flatMap { try ReadOnlyStore.isDatabase($0, system) ? .like($0) : nil } ?? .byUmask
        try StagedPath.replace(files.map { ($0.path, Array($0.text.utf8)) }, makingFolders: true, rights, system)
    }

    /// Checks that no file with the name of a version holds another model. Versions of two models may share a name:
    /// both stores may have a "1.0".
    ///
    /// - Throws: `wouldReplace` for a file that holds another model, or that cannot be read as one.
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
