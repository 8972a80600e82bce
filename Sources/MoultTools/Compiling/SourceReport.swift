import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem

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
        let names: Set<String> = [
            "contents", "elements", "layout", "xcmapping.xml", ".xccurrentversion", ".DS_Store",
        ]
        guard try isFolder && system.files(below: output).allSatisfy({ names.contains(Path.name(of: $0)) }) else {
            throw MigrationError(
                .wouldReplace, "\(output) holds files that are no part of a model. Nothing was written.", place: output,
                remedy: "Move it away, or name another output.")
        }
    }
}
