import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import Synchronization

/// The planning of a fleet: it finds the stores, examines each, and writes the manifest along the way. Memory grows
/// only by a few dozen bytes for each store, which record that it is listed.
package struct FleetPlan {
    package struct Summary: Sendable {
        package var groups: [FleetGroup] = []
        package var stores = 0
        /// The number of files examined.
        package var files = 0
        /// The number of names that led to an already listed store.
        package var repeated = 0
        /// The number of stores that an earlier call examined.
        package var resumed = 0
        package var seconds: Double = 0
        /// The errors for paths that could not be examined, up to 20 of them.
        package var missed: [MigrationError] = []
        package var missedCount = 0
    }

    private let manifest: FleetManifest
    private let look: StoreLook
    private let outlook: (inout FleetGroup) throws -> Void
    private let isCancelled: () -> Bool

    /// - Parameter outlook: adds the changes to the stores of a group.
    package init(
        _ manifest: FleetManifest, look: StoreLook, outlook: @escaping (inout FleetGroup) throws -> Void,
        isCancelled: @escaping () -> Bool = { false }
    ) {
        (self.manifest, self.look, self.outlook, self.isCancelled) = (manifest, look, outlook, isCancelled)
    }

    /// - Parameters:
    ///   - roots: folders, files and patterns.
    ///   - lists: files with a path on each line.
    ///   - earlier: the path of an earlier call's lines, whose stores are not examined again; nil for none.
    ///   - print: takes each line.
    /// - Throws: `cancelled` between two stores; any error from `print`.
    package func run(
        _ roots: [String], lists: [String] = [], continuing earlier: String? = nil,
        print: @escaping ([UInt8]) throws -> Void
    ) throws -> Summary {
        let start = POSIXSystem().monotonicNanoseconds
        var (summary, seen) = (Summary(), Set<FileIdentity>())
        var writer = try FleetManifest.Writer(manifest, print: print)
        if let earlier {
            try FleetManifest.forEachLine(of: earlier) { line in
                let json = try JSONValue(parsing: Array(line), place: earlier, code: .metadataInvalid)
                guard let entry = FleetEntry(json) else { return }
                seen.insert(entry.identity)
                writer.skip(entry, line)
            }
            summary.resumed = writer.count
        }
        var batch: [StoreFinder.Candidate] = []
        func flush() throws {
            if isCancelled() { throw Self.cancelled }
            for (candidate, found) in zip(batch, Self.looks(look, at: batch)) {
                summary.files += 1
                switch found {
                case .success(nil): continue
                case .success(let entry?):
                    guard seen.insert(entry.identity).inserted else {
                        summary.repeated += 1
                        continue
                    }
                    try writer.add(entry)
                case .failure(let error): summary.miss(error, candidate.path)
                }
            }
            batch.removeAll(keepingCapacity: true)
        }
        var missed: [MigrationError] = []
        let finder = StoreFinder { candidate in
            batch.append(candidate)
            if batch.count == Self.batchSize { try flush() }
        } miss: {
            missed.append($0)
        }
        try finder.find(roots)
        for list in lists { try finder.find(listed: list) }
        try flush()
        for error in missed { summary.miss(error, error.place) }
        summary.groups = try writer.end(outlook)
        summary.stores = writer.count
        // The stores of the earlier call were found again.
        summary.repeated -= min(summary.resumed, summary.repeated)
        summary.seconds = POSIXSystem().seconds(since: start)
        return summary
    }

    private static let batchSize = 1_024

    /// Examines the candidates on all cores.
    private static func looks(
        _ look: StoreLook, at candidates: [StoreFinder.Candidate]
    ) -> [Result<FleetEntry?, MigrationError>] {
        let results = Mutex<[Result<FleetEntry?, MigrationError>]>(
            Array(repeating: .success(nil), count: candidates.count))
        let share = 16
        JoinedThread.iterate((candidates.count + share - 1) / share) { part in
            let range = part * share..<min((part + 1) * share, candidates.count)
            let found = range.map { place -> Result<FleetEntry?, MigrationError> in
                do {
                    return .success(try look.look(at: candidates[place].path, name: candidates[place].name))
                } catch {
                    return .failure(error as? MigrationError ?? .unknown(error))
                }
            }
            results.withLock { all in for (place, result) in zip(range, found) { all[place] = result } }
        }
        return results.withLock { $0 }
    }

    private static var cancelled: MigrationError {
        MigrationError(
            .cancelled, "The plan was stopped.", remedy: "With -o, the same command continues where it was stopped.")
    }
}

extension FleetPlan.Summary {
    fileprivate mutating func miss(_ error: MigrationError, _ path: String) {
        missedCount += 1
        var error = error
        if error.place.isEmpty { error.place = path }
        if missed.count < 20 { missed.append(error) }
    }
}

extension MigrationError {
    package static func unknown(_ error: any Error) -> MigrationError {
        MigrationError(
            .internal, "Moult failed in an unknown way.", remedy: "Please report this.",
            cause: String(describing: error))
    }
}

/// A fleet to plan: the model, and the migration of its stores.
package struct FleetPlanning {
    private let versions: ModelVersions
    private let look: StoreLook
    private let outlook: (inout FleetGroup) throws -> Void

    /// - Parameters:
    ///   - target: the name of the target version; nil for the current one.
    ///   - mapping: the path of mapping models; nil for none.
    /// - Throws: `noPath` if there is no version of that name; `lockFileMismatch` if a released version has changed.
    package init(
        _ versions: ModelVersions, to target: String?, answers: () throws -> Answers, mapping: String?,
        _ registry: MigrationRegistry
    ) throws {
        self.versions = versions
        look = try StoreLook(versions, target: target)
        try versions.checkReleased()
        let answers = try answers()
        let registered =
            (try mapping.map { try [RegisteredStage](mappingsAt: $0, in: versions, registry) } ?? [])
            + (try registry.stages(in: versions))
        outlook = { group in
            guard group.state == .behind else { return }
            do {
                let plan = try MigrationPlan(
                    versions, from: group.version, to: target, answers: answers, registered: registered)
                group.changes = plan.edges.flatMap(\.sentences)
            } catch let error as MigrationError {
                group.refusal = FleetEntry.Note(code: error.code.description, message: error.message)
            }
        }
    }

    /// The name of the target version.
    package var targetName: String { look.targetName }

    /// Examines the stores, and writes the manifest.
    ///
    /// - Parameters:
    ///   - options: the options, as typed, with which the processes of a run find the model and the migration again.
    ///   - path: the path of the new manifest, where an earlier call is continued; nil to pass the lines to `print`.
    /// - Throws: `usage` if the path is taken; `cancelled`; any error from writing.
    package func run(
        _ roots: [String], lists: [String], shards: Int, options: [String], to path: String?,
        isStopping: @escaping @Sendable () -> Bool, print: @escaping (String) -> Void
    ) throws -> FleetPlan.Summary {
        let system = POSIXSystem()
        let manifest = FleetManifest(
            fleet: system.uniqueName(), plannedAt: system.now.iso8601, host: system.hostName,
            roots: (roots + lists.map { "@\($0)" }).map { (try? system.resolve($0)) ?? $0 },
            options: options, versions: versions.versions.map(\.name),
            modelDigest: versions.fleetDigest, target: look.targetName, shards: shards)
        func plan(_ manifest: FleetManifest) -> FleetPlan {
            FleetPlan(manifest, look: look, outlook: outlook, isCancelled: isStopping)
        }
        guard let path else {
            return try plan(manifest).run(roots, lists: lists) { print(String(decoding: $0, as: UTF8.self)) }
        }
        let draft = try ManifestDraft(manifest, for: path)
        let summary = try plan(draft.manifest).run(roots, lists: lists, continuing: draft.earlier) { try draft.add($0) }
        try draft.finish()
        return summary
    }

    /// The maximum number of shards in a manifest.
    package static let mostShards = FleetManifest.mostShards
}

/// A manifest in progress, under a temporary name.
private final class ManifestDraft {
    /// The manifest of an earlier call if it has the same plan; otherwise the new one.
    let manifest: FleetManifest
    /// The path of an earlier call's lines; nil if there is none to continue.
    let earlier: String?
    private let path: String
    private let draft: String
    private var pending: [UInt8] = []
    private let system = POSIXSystem()
    /// The number of lines to skip, because the file already has them.
    private var skipped: Int

    init(_ manifest: FleetManifest, for path: String) throws {
        (self.path, draft) = (path, path + ".part")
        guard try !system.exists(path) else { throw MigrationError.taken(path) }
        let begun = try FleetManifest(beginningOf: draft)
        if let begun, begun.isSame(as: manifest) {
            (self.manifest, earlier, skipped) = (begun, draft, 1)
        } else {
            (self.manifest, earlier, skipped) = (manifest, nil, 0)
            try system.write([], to: draft)
        }
    }

    func add(_ line: [UInt8]) throws {
        // A continued file already has the header.
        guard skipped == 0 else {
            skipped -= 1
            return
        }
        pending += line
        if pending.count > 1 << 16 { try flush() }
    }

    private func flush() throws {
        guard !pending.isEmpty else { return }
        try system.append(pending, to: draft)
        pending = []
    }

    func finish() throws {
        try flush()
        try system.synchronise(draft)
        try system.rename(draft, toUnused: path)
    }

    deinit { try? flush() }
}

extension FleetPlan.Summary {
    /// Whether every store found is either of the target version or can be migrated to it.
    package var isClean: Bool {
        missedCount == 0 && groups.allSatisfy { [.behind, .current].contains($0.state) && $0.refusal == nil }
    }

    package func document(_ path: String) -> JSONValue {
        [
            "format": 1, "manifest": .string(path), "stores": JSONValue(stores), "files": JSONValue(files),
            "repeated": JSONValue(repeated), "resumed": JSONValue(resumed), "missed": JSONValue(missedCount),
            "seconds": .double(seconds), "groups": .array(groups.compactMap { $0.json["group"] }),
        ]
    }

    package func lines(_ path: String, style: TextStyle) -> [String] {
        var table = TextTable([
            .left("state"), .left("version"), .right("stores"), .right("size"), .right("rows"), .right("work"),
        ])
        for group in groups {
            table.add(
                group.state.rawValue, group.version, Quantity.count(group.stores), Quantity.bytes(group.bytes),
                Quantity.count(group.rows), Quantity.duration(group.estimate))
        }
        var lines = [
            "\(Quantity.count(stores, "store")) among \(Quantity.count(files, "file")), in "
                + "\(Quantity.duration(seconds)): \(path.printable)"
        ]
        if repeated > 0 { lines.append("\(Quantity.count(repeated, "name")) led to a store that is listed already.") }
        if resumed > 0 { lines.append("An earlier call had looked at \(Quantity.count(resumed, "store")).") }
        if missedCount > 0 { lines.append("\(Quantity.count(missedCount, "path")) could not be looked at.") }
        lines += table.lines(style: style)
        for group in groups where !group.changes.isEmpty {
            lines += ["", style.bold("\(group.version.printable):")] + group.changes.map { "  • \($0.printable)" }
        }
        for group in groups {
            guard let refusal = group.refusal else { continue }
            lines += ["", "\(style.red("refused")) \(group.version.printable): \(refusal.message.printable)"]
        }
        if !groups.isEmpty, groups.allSatisfy({ [.unknown, .unreadable].contains($0.state) }) {
            lines.append(String(advice: "No store is of a version of the model. Check \(option: .model(nil))."))
        }
        return lines
    }
}
