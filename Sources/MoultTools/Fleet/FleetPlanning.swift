import MoultEngine
import MoultFleet
import MoultModel
import MoultPlan
import MoultSystem
import MoultTransform

/// A fleet that is planned: the model and the way of its stores.
package struct FleetPlanning {
    private let versions: ModelVersions
    private let look: StoreLook
    private let outlook: (inout FleetGroup) throws -> Void

    /// - Parameters:
    ///   - target: the name of the version aimed at; nil for the current one.
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

    /// The name of the version aimed at.
    package var targetName: String { look.targetName }

    /// Looks at stores, and writes the manifest.
    ///
    /// - Parameters:
    ///   - options: those by which the processes of the run find the model and the way again, as they are typed.
    ///   - path: the new manifest, where an earlier call is continued; nil to give its lines to `print`.
    /// - Throws: `usage` if the path is taken; `cancelled`; what writing throws.
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

    /// The most shards that a manifest has.
    package static let mostShards = FleetManifest.mostShards
}

/// The manifest while it is written, under another name.
private final class ManifestDraft {
    /// The one that an earlier call has begun, if it is about the same.
    let manifest: FleetManifest
    /// The lines of an earlier call.
    let earlier: String?
    private let path: String
    private let draft: String
    private var pending: [UInt8] = []
    private let system = POSIXSystem()
    /// Lines that the file has already.
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
        // The first line is there.
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
