import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultReport
import MoultStore
import MoultSystem
import MoultTools

extension Verb {
    static let fixture = Verb(
        "fixture", "Write a store of every released version, filled, for the tests of an app.",
        discussion: """
            FOLDER gets one VERSION.sqlite for each version in moult.lock, or for each version of a model that is not
            locked. Each is small enough to commit, with its external data if it has any. --fill and --rows say how many
            objects there are; by default there are 3 of each entity, with links, and with nil where an attribute is
            optional. The same seed gives the same objects. --links and --nils say how many destinations and nils there
            are; --extremes uses the extreme values of each type.
            A store that already exists is kept, because it is what was released; to make it again, remove it first. If
            anything else is at the path of a store, the command is refused.
            """,
        operands: [Operand("FOLDER", "The folder for the stores; it is created.")],
        options: [.model, .fill, .rows, links, nils, extremes, .seed, .framework, .order],
        examples: [
            "moult fixture Fixtures --model Forum.xcdatamodeld",
            "moult fixture Fixtures --model Forum.xcdatamodeld --rows User=5,Post=20 --links 3 --nils 10 --seed 7 --extremes",
        ]
    ) { invocation, console in
        let system = POSIXSystem()
        var folder = try invocation.required(Operand("FOLDER", ""))
        while folder.utf8.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        let versions = try released(invocation, console)
        let models = versions.map(\.model)
        let (links, nils) = (try invocation.number(links), try invocation.number(nils))
        if let nils, nils > 100 { throw invocation.wrong("--nils takes a number from 0 to 100, not \(nils).") }
        let framework = try invocation.number(.framework) ?? FrameworkLevel.newest.number
        // A folder that is not there is made with all its stores, or not at all.
        let isNew = try system.status(of: folder) == nil && !system.isLink(folder)
        if isNew { try system.makeFolders(Path.folder(of: folder), .byUmask) }
        let place = try isNew ? UnfinishedPath.begin(folder, system) : folder
        defer { if isNew { _ = try? system.removeTree(place) } }
        if isNew { try system.makeFolder(place, .byUmask) }
        var made: [Fixture] = []
        for version in versions {
            let path = Path.join(place, "\(version.name).sqlite")
            let final = Path.join(folder, "\(version.name).sqlite")
            try UnfinishedStore.removeAbandoned(path, system)
            if try system.exists(path) || system.isLink(path) {
                try check(path, version)
                made.append(Fixture(version: version.name, path: final, size: try size(path, system), isKept: true))
                continue
            }
            var sample = try invocation.sampleData(for: version.model, others: models) ?? SampleData(count: 3)
            sample.seed = UInt64(clamping: try invocation.number(.seed) ?? 1)
            (sample.isHostile, sample.links, sample.nils) = (invocation[extremes], links, nils)
            let maker = try StoreMaker(version, framework: framework, history: false, experimental: false)
            // A store that is only a part of one would be kept by the next call.
            try maker.makeWhole(at: path) { _ = try sample.fill($0, maker.layout) }
            made.append(Fixture(version: version.name, path: final, size: try size(path, system), isKept: false))
        }
        if isNew {
            try system.synchronise(place)
            try UnfinishedPath.end(place, as: folder, system)
        }
        console.print([
            "format": 1, "folder": .string(folder),
            "fixtures": .array(
                made.map {
                    [
                        "version": .string($0.version), "store": .string($0.path), "bytes": .integer($0.size),
                        "kept": .bool($0.isKept),
                    ]
                }),
        ]) { _ in
            made.map { fixture in
                "\(fixture.isKept ? "Kept" : "Made") \(fixture.path.printable), "
                    + "\(Quantity.bytes(Int(clamping: fixture.size)))."
            }
        }
        return .done
    }

    private struct Fixture {
        let version: String
        let path: String
        let size: Int64
        let isKept: Bool
    }

    /// - Throws: `wouldReplace` if what is there is no store of the version.
    private static func check(_ path: String, _ version: ModelVersion) throws {
        let hashes: VersionHashes?
        do {
            hashes = try StoreProbe.read(path) { try StoreMetadata(from: $0.connection).hashes }
        } catch let error as MigrationError
            where [.notAStore, .storeCorrupted, .metadataInvalid, .fileNotFound, .fileNotReadable].contains(error.code)
        {
            throw other(path, version, cause: error.message)
        }
        guard let hashes, version.hashes.isCompatible(with: hashes) else { throw other(path, version) }
    }

    private static func other(_ path: String, _ version: ModelVersion, cause: String? = nil) -> MigrationError {
        MigrationError(
            .wouldReplace, "What is at \(path) is not a store of version \(version.name).", place: path,
            remedy: "Move it away, or name another folder.", cause: cause)
    }

    private static let links = Option.value(
        "links", "N", "Destinations of each object in a relationship; 0 for none where it is optional.")
    private static let nils = Option.value("nils", "PERCENT", "How many of 100 optional values are nil.")
    private static let extremes = Option.flag("extremes", "Use extreme values, such as the largest numbers.")

    private static func size(_ path: String, _ system: POSIXSystem) throws -> Int64 {
        try system.status(of: path)?.size ?? 0
    }

    /// The locked versions, otherwise all.
    ///
    /// - Throws: `lockFileMismatch` if a released version has changed: its stores would not be those of the release.
    private static func released(_ invocation: Invocation, _ console: Console) throws -> [ModelVersion] {
        guard let path = invocation[value: .model] else { return try invocation.namedVersions(console).versions }
        let bundle = try ModelBundle(modelOrStoreAt: path, order: invocation.list(.order))
        console.say(bundle.findings)
        guard let locked = bundle.lock?.versions(of: bundle.path) else { return bundle.versions }
        try ModelVersions(bundle).checkReleased()
        let names = Set(locked.map(\.name))
        return bundle.versions.filter { names.contains($0.name) }
    }
}
