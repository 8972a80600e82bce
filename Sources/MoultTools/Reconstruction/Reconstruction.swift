import Moult
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore

/// A comparison of a model with the shapes that it has at the tags of its repository: which version describes each shape,
/// which versions are missing, and which shape each store has.
package struct Reconstruction: Sendable {
    /// A store in the field.
    struct Store: Sendable {
        let path: String
        /// The checksum of its shape; nil for a store of none.
        let checksum: [UInt8]?
    }

    /// A shape that the model lacks, as the version to add.
    struct Missing: Sendable {
        let shape: ModelHistory.Shape
        /// The name of the version.
        let name: String
        /// The position of the newest tag that wrote the shape.
        let release: Int
    }

    let bundle: ModelBundle
    let history: ModelHistory
    let stores: [Store]
    /// The missing versions, oldest first.
    let missing: [Missing]
    private(set) var findings: [Finding]
    /// The names of the model's versions, by their checksums.
    private let names: [[UInt8]: String]

    /// - Parameters:
    ///   - isInFiles: whether the model is in files, and not only in a program.
    ///   - patterns: shell patterns of the tags; empty for all.
    ///   - folder: a folder of stores, a store, or a pattern of paths; nil for none.
    /// - Throws: `usage` if git, the repository or the tags are missing; `fileNotFound` if the stores are.
    package init(_ bundle: ModelBundle, isInFiles: Bool, tags patterns: [String], stores folder: String?) throws {
        let tags = try GitTags(around: isInFiles ? bundle.path : ".", matching: patterns)
        let model = try RepositoryModel(bundle, isInFiles: isInFiles, in: tags.git)
        let history = try ModelHistory(of: model, in: tags)
        guard !history.shapes.isEmpty || !history.findings.isEmpty else {
            // The single version that the bundle was made of counts as another model while it is there.
            let single = String(bundle.path.dropLast())
            let isThere = try bundle.path.hasSuffix(".xcdatamodeld") && POSIXSystem().exists(single)
            throw MigrationError(
                .modelNotFound, "No tag has the model \(Path.name(of: bundle.path)), under this name or another.",
                place: tags.git.root,
                remedy: isThere
                    ? "\(single) beside it counts as another model. If the bundle takes its place, remove it."
                    : "Give a pattern of tags that have it; `git tag` lists them.")
        }
        (self.bundle, self.history) = (bundle, history)
        names = Dictionary(bundle.versions.map { ($0.hashes.checksum, $0.name) }) { _, newer in newer }
        var findings = history.findings
        stores = try folder.map { try Self.stores(in: $0, bundle, history, &findings) } ?? []
        missing = Self.missing(bundle, history, stores)
        self.findings = findings
    }

    // MARK: - Stores

    private static func stores(
        in folder: String, _ bundle: ModelBundle, _ history: ModelHistory, _ findings: inout [Finding]
    ) throws -> [Store] {
        let known = Set(history.shapes.map(\.checksum))
        let others = bundle.versions.filter { !known.contains($0.hashes.checksum) }
        // The names of versions are not unique among tags.
        let all = (history.shapes.map(\.version) + others).enumerated().map { position, version in
            ModelVersion(names: ["\(position)"], model: version.model, hashes: version.hashes)
        }
        let look = try StoreLook(ModelVersions(joining: all), target: nil)
        var stores: [Store] = []
        var faults: [Finding] = []
        let finder = StoreFinder { candidate in
            guard let entry = try look.look(at: candidate.path) else { return }
            let position = Int(entry.version).flatMap { all.indices.contains($0) ? $0 : nil }
            stores.append(Store(path: candidate.path, checksum: position.map { all[$0].hashes.checksum }))
            if position == nil { faults.append(.withoutTag(entry)) }
        } miss: { error in
            faults.append(
                Finding(
                    code: "store-not-matched", severity: .warning, place: error.place, message: error.message,
                    remedy: error.advice))
        }
        try finder.find([folder])
        findings += faults
        return stores
    }

    // MARK: - Missing versions

    private static func missing(_ bundle: ModelBundle, _ history: ModelHistory, _ stores: [Store]) -> [Missing] {
        let described = Set(bundle.versions.map(\.hashes.checksum))
        let held = Set(stores.compactMap(\.checksum))
        // A shape that no app wrote has no stores.
        let needed = history.shapes.filter { shape in
            !described.contains(shape.checksum) && (!shape.releases.isEmpty || held.contains(shape.checksum))
        }
        let locked = bundle.lock?.versions(of: bundle.path) ?? []
        var names = Set(bundle.versions.map(\.name) + locked.map(\.name))
        let missing = needed.map { shape in
            // A version that the lock file has and the model lost comes back under its name.
            let lost = locked.first { one in
                one.checksum == shape.checksum && !bundle.versions.contains { $0.name == one.name }
            }
            let name = lost?.name ?? name(of: shape, in: bundle, history, apartFrom: names)
            names.insert(name)
            return Missing(shape: shape, name: name, release: shape.releases.first ?? shape.tags.first ?? 0)
        }
        return missing.sorted { $0.release < $1.release }
    }

    /// Returns the name of the model with the first tag that wrote the shape, such as `Forum v1.0`.
    private static func name(
        of shape: ModelHistory.Shape, in bundle: ModelBundle, _ history: ModelHistory, apartFrom names: Set<String>
    ) -> String {
        let tag = (shape.releases.last ?? shape.tags.last).map { history.tags[$0] } ?? shape.tag
        let name = "\(Path.stem(of: bundle.path)) \(tag)".replacing("/", with: "-").replacing(":", with: "-")
        guard names.contains(name) else { return name }
        var number = 2
        while names.contains("\(name) \(number)") { number += 1 }
        return "\(name) \(number)"
    }

    /// The name of the model's version that a shape has; nil for a missing one.
    func version(of checksum: [UInt8]) -> String? { names[checksum] }

    /// The shape with a checksum; nil for a version that no tag has.
    func shape(_ checksum: [UInt8]) -> ModelHistory.Shape? { history.shapes.first { $0.checksum == checksum } }

    /// The missing version with a checksum.
    func missing(_ checksum: [UInt8]) -> Missing? { missing.first { $0.shape.checksum == checksum } }

    /// The name of the version of a shape, in the model or missing; nil for a shape that needs none.
    func versionName(of checksum: [UInt8]) -> String? { version(of: checksum) ?? missing(checksum)?.name }

    // MARK: - The whole model

    /// Returns all versions in order, the missing ones included.
    ///
    /// The versions of the model keep their order. A missing one comes right after the version that has its name in the
    /// model now, as an earlier form of it; but after those that were released before it, before those that were released
    /// later, and before the current one, so that there is a way from it.
    ///
    /// - Parameter read: returns a missing version as it is written.
    /// - Throws: the fault of a current version that is unknown.
    func versions(reading read: (Missing) throws -> ModelVersion) throws -> (all: [ModelVersion], current: String) {
        if let fault = bundle.currentFault { throw fault }
        let joined = ModelVersions(bundle)
        let current = joined.versions[try joined.target(named: nil)].name
        let end = bundle.versions.firstIndex { $0.name == current } ?? bundle.versions.count
        let releases = bundle.versions.map { shape($0.hashes.checksum)?.releases.first }
        var before: [Int: [ModelVersion]] = [:]
        for one in missing {
            let last = min(releases.firstIndex { ($0 ?? -1) > one.release } ?? end, end)
            let first = releases.lastIndex { ($0 ?? .max) < one.release }.map { $0 + 1 } ?? 0
            let own = bundle.versions.firstIndex { $0.name == one.shape.version.name }.map { $0 + 1 } ?? last
            before[min(max(own, first), last), default: []].append(try read(one))
        }
        let all = bundle.versions.enumerated().flatMap { before[$0, default: []] + [$1] }
        return (all, bundle.currentName ?? current)
    }

    /// Returns the missing versions and those of the model, as they would be written.
    func unwritten() throws -> (all: [ModelVersion], current: String) {
        try versions { one in
            ModelVersion(names: [one.name], model: one.shape.version.model, hashes: one.shape.version.hashes)
        }
    }

    /// Adds a finding for each reason why a store of the oldest missing version, or of one that has a way now, would not
    /// reach the current one. A way leads through every version between the two, so that an added one may close it.
    mutating func checkWay(_ answers: Answers, registered: [RegisteredStage]) {
        guard let first = missing.first, let (all, current) = try? unwritten() else { return }
        let (before, after) = (ModelVersions(bundle), ModelVersions(joining: all, currentName: current))
        func issues(from name: String, in versions: ModelVersions) -> [Finding]? {
            guard let start = versions.position(named: name), let end = versions.position(named: current), start < end
            else { return nil }
            return versions.pathIssues(
                from: versions.versions[start].name, to: versions.versions[end].name, answers: answers,
                registered: registered)
        }
        var closed: [(issue: Finding, versions: [String])] =
            (issues(from: first.name, in: after) ?? []).map { ($0, []) }
        for version in before.versions where issues(from: version.name, in: before)?.isEmpty == true {
            for issue in issues(from: version.name, in: after) ?? [] {
                let same = closed.firstIndex { $0.issue.place == issue.place && $0.issue.message == issue.message }
                if same == nil { closed.append((issue, [])) }
                closed[same ?? closed.count - 1].versions.append(version.name)
            }
        }
        findings += closed.map { issue, versions in
            let others =
                versions.isEmpty
                ? "" : " This also stops stores of \(versions.listed()), which have a way without the missing versions."
            return Finding(
                code: "way-not-found", severity: .warning, place: issue.place, message: issue.message + others,
                remedy: issue.advice)
        }
    }
}

extension Finding {
    fileprivate static func withoutTag(_ entry: FleetEntry) -> Finding {
        guard entry.state != .unreadable else {
            return Finding(
                code: "store-not-matched", severity: .warning, place: entry.path,
                message: entry.findings.map(\.message).joined(separator: " "),
                remedy: "\(.diagnose, .store(entry.path)) says what is wrong with it.")
        }
        return Finding(
            code: "store-of-no-tag", severity: .warning, place: entry.path,
            message: "No tag and no version has the shape of this store.",
            remedy:
                "Fetch all tags, or give a wider pattern. \(.decompile, .path(entry.path)) writes the model inside it.")
    }
}
