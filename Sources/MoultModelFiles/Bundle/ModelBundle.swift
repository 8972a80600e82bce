import Dispatch
import MoultBasics
import MoultModel
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The versions at a path, one per file, before versions with equal hashes become one node.
package struct ModelBundle: Sendable {
    /// The path of the model: the given folder itself, if it contains one bundle.
    package let path: String
    /// The versions, oldest first; each has only the name of its file.
    package let versions: [ModelVersion]
    /// The name of the bundle's current version.
    package let currentName: String?
    /// The reason why the marked current version is unknown; nil otherwise.
    package private(set) var currentFault: MigrationError?
    /// The lock file for these models, if there is one.
    package let lock: ModelLock?
    /// The findings from reading the models and from their lock file.
    package let findings: [Finding]
    /// The file of each version, by the version's name, if it came from a file.
    package private(set) var files: [String: String] = [:]

    /// Reads every version of a model: an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, a model as JSON, or a
    /// folder of versions. It reads the versions on all cores.
    ///
    /// The versions are in the order of `order` if given, otherwise of `moult.lock`, otherwise in natural order of
    /// their names. Versions that an order omits come last.
    ///
    /// - Throws: `MigrationError` with code `fileNotFound`, `fileNotReadable`, `modelNotFound`, `modelInvalid`;
    ///   `lockFileMismatch` for an unreadable lock file; `usage` for an order that names a missing version.
    package init(contentsOf path: String, order: [String]? = nil) throws {
        let source = try ModelSource(at: path)
        let shared = SharedEntities()
        var hashes = KnownEntityHashes()
        let models = try source.files.concurrentMap { try Self.read($0, sharing: shared) }
        let read = zip(source.files, models).map { file, read in
            let version = ModelVersion(
                names: [file.name], model: read.model, hashes: VersionHashes(of: read.model, known: &hashes))
            return (version: version, findings: read.findings)
        }
        let unordered = read.map(\.version)
        let lock = try ModelLock(besideModelAt: source.path)
        let locked = lock?.versions(of: source.path)?.map(\.name) ?? []
        self.path = source.path
        self.lock = lock
        files = Dictionary(source.files.map { ($0.name, $0.path) }) { first, _ in first }
        try Self.check(order ?? [], against: unordered, path: source.path)
        versions = Self.ordered(unordered, by: order ?? locked)
        currentName = source.currentName
        currentFault = source.currentFault
        let lockFindings = lock?.check(versions, of: source.path) ?? []
        let listFindings = source.versionInfo?.findings(against: unordered, place: source.path + "/VersionInfo.plist")
        let named = read.map { (name: $0.version.name, findings: $0.findings) }
        let oldestFirst = versions.compactMap { version in named.first { $0.name == version.name } }
        let optimisedFindings = Self.optimisedFindings(source.optimised, against: unordered)
        findings =
            lockFindings + source.findings + (listFindings ?? []) + optimisedFindings
            + [Finding](ofVersions: oldestFirst)
    }

    /// The code of the finding about the folder of a version without contents.
    package static let withoutContents = "version-without-contents"

    /// Whether this is a source bundle of several versions that does not name its current one.
    package var isUnmarked: Bool {
        path.fileExtension == "xcdatamodeld" && versions.count > 1 && currentName == nil && currentFault == nil
    }

    /// Returns the names of a folder's models: its bundles, preferably sources, or else its single versions; empty for
    /// an unreadable folder.
    package static func paths(in folder: String) -> [String] {
        let names = ((try? ModelFolder.entries(of: folder)) ?? []).map(\.fileName)
        return ["xcdatamodeld", "momd", "xcdatamodel", "mom"].lazy
            .map { kind in names.filter { $0.fileExtension == kind } }.first { !$0.isEmpty } ?? []
    }

    /// Returns the XML versions at a path, readable or not; empty if there is no model.
    package static func xmlFiles(at path: String) -> [(name: String, path: String)] {
        let files = (try? ModelSource(at: path))?.files ?? []
        return files.filter { $0.form == .xml }.map { ($0.name, $0.path) }
    }

    /// Creates a bundle from the versions in a program, with the lock file of its working folder.
    ///
    /// - Throws: `lockFileMismatch` for an unreadable lock file.
    package init(_ versions: ModelVersions, inFolder path: String = ".") throws {
        self.path = path
        self.versions = versions.versions.flatMap { version in
            // A node's newest name comes first.
            version.names.reversed().map { ModelVersion(names: [$0], model: version.named($0).model) }
        }
        currentName = versions.currentName
        currentFault = versions.currentFault
        lock = try ModelLock(besideModelAt: path)
        findings = (lock?.check(self.versions, of: path) ?? []) + versions.findings
    }

    /// Creates a bundle from one version that is in no model file, such as the one inside a store, with the lock file
    /// next to it.
    ///
    /// - Throws: `usage` for an order that names another version; `lockFileMismatch` for an unreadable lock file.
    package init(_ version: ModelVersion, at path: String, order: [String] = []) throws {
        try Self.check(order, against: [version], path: path)
        self.path = path
        versions = [version]
        currentName = version.name
        lock = try ModelLock(besideModelAt: path)
        findings = lock?.check(versions, of: path) ?? []
    }

    /// Creates a bundle from versions that are in no model files, such as those inside frozen stores, with the lock file
    /// of their folder.
    ///
    /// - Parameters:
    ///   - files: the path of the file that each version came from, by the version's name.
    ///   - order: the names of the versions, oldest first; nil for the order of the lock file, or of the names.
    /// - Throws: `usage` for an order that names a missing version; `modelInvalid` for two versions of one name;
    ///   `lockFileMismatch` for an unreadable lock file.
    package init(
        _ versions: [ModelVersion], at path: String, files: [String: String] = [:], currentName: String? = nil,
        order: [String]? = nil, findings: [Finding] = []
    ) throws {
        try Self.check(order ?? [], against: versions, path: path)
        let names = versions.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw MigrationError.modelInvalid(
                "Two files give a version named \(twice).", place: path, remedy: "Rename or remove one of them.")
        }
        lock = try ModelLock(besideModelAt: path)
        let locked = lock?.versions(of: path)?.map(\.name) ?? []
        self.versions = Self.ordered(versions, by: order ?? locked)
        (self.path, self.files, self.currentName) = (path, files, currentName)
        self.findings = (lock?.check(self.versions, of: path) ?? []) + findings
    }

    /// Whether the folder at a path has versions of a model, readable or not.
    package static func hasVersions(inFolder path: String) -> Bool {
        !paths(in: path).isEmpty || (try? ModelSource(at: path)) != nil
    }

    /// Reads a version. If a compiled file cannot be read, the optimised form next to it is tried.
    private static func read(
        _ file: ModelFile, sharing shared: SharedEntities
    ) throws -> (model: ManagedObjectModel, findings: [Finding]) {
        do {
            return try file.read(sharing: shared)
        } catch let error as MigrationError where file.form == .compiled {
            let optimised = ModelFile(optimised: OptimisedModel.form(of: file.path))
            guard let read = try? optimised.read(sharing: shared) else { throw error }
            return (read.model, read.findings + [OptimisedModel.inPlace(of: file.path, optimised.path, error)])
        }
    }

    /// Returns a finding for each optimised form that differs from the version next to it.
    private static func optimisedFindings(_ optimised: [String], against versions: [ModelVersion]) -> [Finding] {
        optimised.compactMap { path in
            guard let version = versions.first(where: { $0.name == path.fileStem }) else { return nil }
            return OptimisedModel.finding(at: path, against: version)
        }
    }

    private static func check(_ order: [String], against versions: [ModelVersion], path: String) throws {
        let names = versions.map(\.name)
        if let unknown = order.first(where: { !names.contains($0) }) {
            let known = names.sorted { $0.precedesNaturally($1) }.joined(separator: ", ")
            throw MigrationError(
                .usage, "The order names \(unknown), which is not a version of the model.", place: path,
                remedy: "Its versions are: \(known).")
        }
        if let twice = order.first(where: { name in order.count { $0 == name } > 1 }) {
            throw MigrationError(
                .usage, "The order names \(twice) twice.", place: path, remedy: "Name each version once.")
        }
    }

    private static func ordered(_ versions: [ModelVersion], by names: [String]) -> [ModelVersion] {
        let rank = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
        return versions.sorted { left, right in
            switch (rank[left.name], rank[right.name]) {
            case (let left?, let right?): left < right
            case (_?, nil): true
            case (nil, _?): false
            case (nil, nil): left.name.precedesNaturally(right.name)
            }
        }
    }
}

extension [Finding] {
    /// Merges the findings of several versions. Each cause occurs once: at its place in the newest version that has it,
    /// with the other versions named.
    init(ofVersions versions: [(name: String, findings: [Finding])]) {
        var causes: [Cause: (position: Int, versions: [String])] = [:]
        self = []
        for (name, findings) in versions.reversed() {
            for finding in findings {
                let cause = Cause(finding)
                if causes[cause] == nil {
                    causes[cause] = (count, [name])
                    append(finding)
                } else if causes[cause]?.versions.last != name {
                    causes[cause]?.versions.append(name)
                }
            }
        }
        for found in causes.values where found.versions.count > 1 {
            self[found.position].message += Self.alsoIn(found.versions.dropFirst().reversed())
        }
    }

    private static func alsoIn(_ names: [String]) -> String {
        let shown = names.prefix(3).joined(separator: ", ")
        return " The same in: \(shown)\(names.count > 3 ? " and \(names.count - 3) more" : "")."
    }
}

/// The identity of a finding among several versions: findings with the same sentence about the same part of the model
/// are one.
private struct Cause: Hashable {
    let code: String
    /// The part of the model, `Entity.property`, without the file and line.
    let part: String
    /// The sentence, without the count of occurrences in one file.
    let sentence: String

    init(_ finding: Finding) {
        code = finding.code
        let pieces = finding.place.split(separator: ":", omittingEmptySubsequences: false)
        part = pieces.count > 1 && pieces.last?.hasPrefix(" ") == true ? pieces.last.map(String.init) ?? "" : ""
        sentence = finding.message.split(separator: " (", maxSplits: 1).first.map(String.init) ?? finding.message
    }
}

extension ModelVersions {
    /// Reads the versions at a path; versions with equal hashes become one node.
    ///
    /// - Parameter order: version names, oldest first, which override every other order.
    /// - Throws: see ``ModelBundle/init(contentsOf:order:)``.
    package init(contentsOf path: String, order: [String]? = nil) throws {
        self.init(try ModelBundle(contentsOf: path, order: order))
    }

    /// Reads every version at `url`: a `.momd`, an `.xcdatamodeld`, one model file, or a folder of them.
    ///
    /// - Throws: `modelNotFound` if there is no model, `modelInvalid` and `fileNotReadable` if it cannot be read.
    public init(contentsOf url: URL) throws {
        do {
            try self.init(contentsOf: url.path)
        } catch let error as MigrationError where error.code == .fileNotFound {
            throw MigrationError.modelNotFound(at: url)
        }
    }

    package init(_ bundle: ModelBundle) {
        self.init(joining: bundle.versions, currentName: bundle.currentName, findings: bundle.findings)
        currentFault = bundle.currentFault
    }

    /// Creates the versions at a path, one per file, in order to compare them: versions with equal hashes stay
    /// separate, although a store of either opens with the other. Each also has the names of its namesakes.
    package init(oneByOne bundle: ModelBundle) {
        self.init(bundle)
        let nodes = versions
        versions = bundle.versions.map { version in
            nodes.first { $0.names.contains(version.name) }?.named(version.name) ?? version
        }
    }
}

extension MigrationError {
    package static func modelNotFound(at url: URL) -> MigrationError {
        MigrationError(
            .modelNotFound, "There is no model at this path.", place: url.path,
            remedy: "Give the path of an .xcdatamodeld, a .momd, an .xcdatamodel, a .mom or a folder of them.")
    }
}

extension Array where Element: Sendable {
    /// Returns the results of `transform` in order, computed on all cores; throws the first error in that order.
    package func concurrentMap<Result: Sendable>(_ transform: @Sendable (Element) throws -> Result) throws -> [Result] {
        let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: count) { position in
            let result = Swift.Result { try transform(self[position]) }
            results.withLock { $0[position] = result }
        }
        let done = results.withLock { $0 }
        return try indices.compactMap { try done[$0]?.get() }
    }
}
