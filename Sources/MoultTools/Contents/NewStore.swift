import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultStore

/// A new store in Core Data's format, empty or filled with sample objects.
package struct NewStore: ToolAnswer {
    private let path: String
    private let version: String
    private let framework: Int
    private let uuid: String
    private let objects: [(key: String, value: Int)]
    package let findings: [Finding]

    /// - Throws: `usage` if the path is taken; any error from writing. No store is left behind after an error.
    package init(
        _ version: ModelVersion, at path: String, _ sample: SampleData?, framework: Int?, history: Bool,
        experimental: Bool
    ) throws {
        let maker = try StoreCreator(
            version, framework: framework ?? FrameworkLevel.newest.number, history: history, experimental: experimental)
        objects = try maker.makeWhole(at: path) { part in try sample.map { try $0.fill(part, maker.layout) } ?? [:] }
            .inByteOrder { $0.key }
        (self.path, self.version) = (path, version.name)
        (self.framework, uuid, findings) = (maker.layout.framework, maker.metadata.uuid, maker.layout.findings)
    }

    package var document: JSONValue {
        [
            "format": 1, "store": .string(path), "version": .string(version), "framework": JSONValue(framework),
            "uuid": .string(uuid),
            "entities": .array(objects.map { ["name": .string($0.key), "rows": JSONValue($0.value)] }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let total = objects.reduce(0) { $0 + $1.value }
        return ["Made \(path.printable), version \(version.printable), \(Quantity.count(total, "object"))."]
    }
}

extension SampleData {
    /// Fills a new store.
    ///
    /// - Returns: the number of objects of each entity.
    func fill(_ path: String, _ layout: StoreLayout) throws -> [String: Int] {
        let writer = try ObjectWriter(store: path, layout: layout, speed: .reckless)
        let objects = try fill(writer)
        try writer.finish()
        return objects.mapValues(\.count)
    }
}

/// The SQL of a new store of a version, as Core Data writes it.
package struct SchemaScript: ToolAnswer {
    private let version: String
    private let framework: Int
    private let statements: [String]
    package let findings: [Finding]

    /// - Throws: any error from laying out the tables.
    package init(_ version: ModelVersion, framework: Int?, history: Bool) throws {
        self.version = version.name
        self.framework = framework ?? FrameworkLevel.newest.number
        let layout = try StoreLayout(model: version.model, framework: self.framework, history: history)
        findings = layout.findings
        statements = layout.createStatements + layout.primaryKeyRows.map(\.insertStatement)
    }

    package var document: JSONValue {
        [
            "format": 1, "version": .string(version), "framework": JSONValue(framework),
            "statements": JSONValue(statements),
        ]
    }

    package func lines(style: TextStyle) -> [String] { statements.map { $0 + ";" } }
}

/// Filled stores of released versions, for the tests of an app.
package struct FixtureReport: ToolAnswer {
    private struct Fixture {
        let version: String
        let path: String
        let size: Int64
        let isKept: Bool
    }

    private let folder: String
    private let fixtures: [Fixture]

    /// Returns the locked versions of a model, or all versions if it has no lock file.
    ///
    /// - Throws: `lockFileMismatch` if a released version has changed, since its stores would differ from the release.
    package static func released(of bundle: ModelBundle) throws -> [ModelVersion] {
        guard let locked = bundle.lock?.versions(of: bundle.path) else { return bundle.versions }
        try ModelVersions(bundle).checkReleased()
        let names = Set(locked.map(\.name))
        return bundle.versions.filter { names.contains($0.name) }
    }

    /// Returns the shapes that a model had at the tags of its repository, each under the name of its version, or of the
    /// version that it lacks.
    ///
    /// - Throws: `usage` if git, the repository or the tags are missing.
    package static func shapes(
        of bundle: ModelBundle, atTags patterns: [String], _ say: ([Finding]) -> Void
    ) throws -> [ModelVersion] {
        let work = try Reconstruction(bundle, isInFiles: true, tags: patterns, stores: nil)
        say(work.findings)
        return work.history.shapes.compactMap { shape in
            guard let name = work.versionName(of: shape.checksum) else { return nil }
            return ModelVersion(names: [name], model: shape.version.model, hashes: shape.version.hashes)
        }
    }

    /// Makes a store of each version, and keeps an existing one. A new folder is created with all its stores, or not at
    /// all.
    ///
    /// - Throws: `wouldReplace` if something else is at the path of a store; any error from writing.
    package init(_ versions: [ModelVersion], in folder: String, _ sample: SampleData, framework: Int?) throws {
        let system = POSIXSystem()
        var folder = folder
        while folder.utf8.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        self.folder = folder
        let isNew = try system.status(of: folder) == nil && !system.isLink(folder)
        if isNew { try system.makeFolders(Path.folder(of: folder), .byUmask) }
        let place = try isNew ? StagedPath.begin(folder, system) : folder
        defer { if isNew { _ = try? system.removeTree(place) } }
        if isNew { try system.makeFolder(place, .byUmask) }
        fixtures = try versions.map { version in
            let path = Path.join(place, "\(version.name).sqlite")
            try StagedStore.removeAbandoned(path, system)
            let isKept = try system.exists(path) || system.isLink(path)
            if isKept {
                try Self.check(path, version)
            } else {
                let maker = try StoreCreator(
                    version, framework: framework ?? FrameworkLevel.newest.number, history: false, experimental: false)
                // The next call would keep an incomplete store, so make it in one step.
                try maker.makeWhole(at: path) { _ = try sample.fill($0, maker.layout) }
            }
            return Fixture(
                version: version.name, path: Path.join(folder, "\(version.name).sqlite"),
                size: try system.status(of: path)?.size ?? 0, isKept: isKept)
        }
        if isNew {
            try system.synchronise(place)
            try StagedPath.end(place, as: folder, system)
        }
    }

    /// - Throws: `wouldReplace` if the file is not a store of the version.
    private static func check(_ path: String, _ version: ModelVersion) throws {
        func other(cause: String? = nil) -> MigrationError {
            MigrationError(
                .wouldReplace, "What is at \(path) is not a store of version \(version.name).", place: path,
                remedy: "Move it away, or name another folder.", cause: cause)
        }
        let hashes: VersionHashes?
        do {
            hashes = try ReadOnlyStore.read(path) { try StoreMetadata(from: $0.connection).hashes }
        } catch let error as MigrationError
            where [.notAStore, .storeCorrupted, .metadataInvalid, .fileNotFound, .fileNotReadable].contains(error.code)
        {
            throw other(cause: error.message)
        }
        guard let hashes, version.hashes.isCompatible(with: hashes) else { throw other() }
    }

    package var document: JSONValue {
        [
            "format": 1, "folder": .string(folder),
            "fixtures": .array(
                fixtures.map {
                    [
                        "version": .string($0.version), "store": .string($0.path), "bytes": .integer($0.size),
                        "kept": .bool($0.isKept),
                    ]
                }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        fixtures.map { fixture in
            "\(fixture.isKept ? "Kept" : "Made") \(fixture.path.printable), "
                + "\(Quantity.bytes(fixture.size))."
        }
    }
}
