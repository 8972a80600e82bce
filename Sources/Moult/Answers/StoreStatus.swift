import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan
import MoultSession
import MoultStore

/// The status of a store relative to the versions of a model.
public struct StoreStatus: Sendable, CustomStringConvertible {
    /// The cases exclude each other.
    public enum State: String, Sendable, Hashable, CaseIterable, Codable {
        /// The store has the target version.
        case current
        /// The store has an older version.
        case behind
        /// The store has a later version.
        case ahead
        /// The store has none of the versions.
        case unknown
        /// The file is not a store of Core Data or SwiftData.
        case notCoreData
    }

    package let status: VersionStatus
    /// The name of the target version; nil if the model has no versions.
    public let target: String?
    /// All names of the store's version.
    private let names: [String]
    /// The names of the model's versions, oldest first.
    public let versionNames: [String]
    private let recognition: StoreRecognition?
    /// The error of opening a file that is not a store.
    package let obstacle: MigrationError?
    /// The pending work: `deferredMigration`, `unfinishedRun`, `liveRun`, `pausedMigration`.
    public let pendingWork: [String]
    private let deferredTasks: [DeferredTask]
    private let leftOutside: String?
    /// The lines about an active run of another process.
    private let underWay: String?
    private let process: Int32?
    /// The progress of a paused migration; nil if there is none.
    private let paused: MigrationCheckpoint?
    /// The run that has not ended; nil if there is none, or if nothing is known of it.
    private let interrupted: InterruptedRun?
    /// Whether there are versions other than the one inside the store.
    private let isModelKnown: Bool
    /// The findings about the model, which a command reports when it reads the model.
    private let modelFindings: [Finding]
    private let storeFindings: [Finding]
    /// The sentence about a store that is compared with the model inside it alone.
    private var ownSentence: String?

    private init(
        _ recognition: StoreRecognition, of snapshot: StoreSnapshot, in versions: ModelVersions, target: String?,
        isRunUnfinished: Bool, underWay: (process: Int32?, since: String?)?, deferredTasks: [DeferredTask],
        leftOutside: String?, paused: MigrationCheckpoint?, interrupted: InterruptedRun?
    ) throws {
        self.interrupted = interrupted
        isModelKnown = versions.versions.contains { !$0.isInsideStore }
        (self.paused, self.deferredTasks, self.leftOutside) = (paused, deferredTasks, leftOutside)
        process = underWay?.process
        self.underWay = underWay.map { run in
            let who = run.process.map { "Process \($0)" } ?? "A process"
            return "\(who) is changing this store now\(run.since.map { ", since \($0)" } ?? "")."
        }
        (self.recognition, obstacle) = (recognition, nil)
        status = recognition.status
        self.target = try Self.name(of: target, in: versions)
        names = recognition.position.map { versions.versions[$0].names } ?? []
        versionNames = versions.versions.map(\.name)
        pendingWork =
            (snapshot.metadata.hasDeferredWork ? ["deferredMigration"] : [])
            + (isRunUnfinished ? ["unfinishedRun"] : []) + (underWay == nil ? [] : ["liveRun"])
            + (paused == nil ? [] : ["pausedMigration"])
        modelFindings = versions.findings
        storeFindings = snapshot.findings + recognition.findings
        if case .current = status, versions.versions.count == 1, let own = versions.versions.first, own.isInsideStore {
            ownSentence = "The store is of \(own.title), that of the model inside it."
        }
    }

    /// Creates the status of a file that is not a store.
    private init(
        _ status: VersionStatus, _ obstacle: MigrationError, in versions: ModelVersions, target: String?
    ) throws {
        (self.status, self.obstacle) = (status, obstacle)
        self.target = try Self.name(of: target, in: versions)
        (names, recognition, pendingWork, deferredTasks, leftOutside, paused) = ([], nil, [], [], nil, nil)
        (underWay, process, interrupted, isModelKnown) = (nil, nil, nil, false)
        versionNames = versions.versions.map(\.name)
        (modelFindings, storeFindings) = (versions.findings, [])
    }

    private static func name(of target: String?, in versions: ModelVersions) throws -> String? {
        versions.versions.isEmpty ? nil : versions.versions[try versions.target(named: target)].name
    }

    /// The state of the store relative to the target version.
    public var state: State { State(rawValue: status.name) ?? .unknown }
    /// The name of the store's version; nil if it matches none.
    public var version: String? { names.first }
    /// The number of versions that the store is behind the target; negative if it is ahead; nil if its version is
    /// unknown.
    public var versionsBehind: Int? {
        switch status {
        case .current: 0
        case .behind(_, let count, _): count
        case .ahead(_, let count, _): -count
        case .unknown, .notCoreData: nil
        }
    }
    /// The finished part of a paused migration, 0 to 1; nil if there is none.
    public var fractionDone: Double? { paused?.fraction }
    /// The findings about the model and the store.
    public var findings: [Finding] { modelFindings + storeFindings }
    /// The text that `moult status` prints.
    public var description: String { lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult status --json` prints, on one line.
    public var json: String { document.compact }

    package var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", 1), .init("state", .string(status.name)), .init("version", JSONValue(version)),
            .init("candidates", JSONValue(names.count > 1 ? names : [])), .init("latest", JSONValue(target)),
            .init("behind", versionsBehind.map { JSONValue($0) } ?? .null),
            .init("nearest", JSONValue(nearest?.version)), .init("pendingWork", JSONValue(pendingWork)),
            .init("deferredTasks", .array(deferredTasks.map { DeferredWork.Task($0).document })),
            .init("longestUnit", .double(deferredTasks.longestUnit)), .init("leftOutside", JSONValue(leftOutside)),
            .init("process", process.map { .integer(Int64($0)) } ?? .null),
            .init("pausedAt", paused.map { .double(($0.fraction * 1000).rounded() / 1000) } ?? .null),
            .init("versions", JSONValue(versionNames)), .init("recognisedBy", JSONValue(recognition?.basis.rawValue)),
            .init("configuration", JSONValue(recognition?.configuration)),
            .init("findings", .array(findings.map(\.document))),
        ]
        if let nearest {
            members.append(
                .init(
                    "difference",
                    [
                        "added": JSONValue(nearest.added), "missing": JSONValue(nearest.missing),
                        "changed": JSONValue(nearest.changed),
                    ]))
        }
        if case .notCoreData(let reason) = status { members.append(.init("reason", .string(reason))) }
        return .object(members)
    }

    package func lines(style: TextStyle) -> [String] {
        if let obstacle { return obstacle.lines(style: style) }
        // The store's own model does not say whether there is a newer version.
        var lines = [ownSentence?.printable ?? colour(style)(status.name) + "  " + status.sentence.printable]
        if names.count > 1 {
            lines.append("These versions open the same stores: \(names.map(\.printable).joined(separator: ", ")).")
        }
        if versionNames.count > 1 {
            let marked = versionNames.map { $0 == names.first ? style.bold($0.printable) : $0.printable }
            lines.append(style.dim("versions: ") + marked.joined(separator: " → "))
        }
        if let configuration = recognition?.configuration {
            lines.append("Its configuration is \(configuration.printable).")
        }
        if let deferredSentence {
            lines.append(deferredSentence)
            lines += deferredTasks.map(DeferredWork.Task.init).lines(style: style)
        }
        lines += otherSentences
        return lines + storeFindings.filter { $0.severity > .note }.flatMap { $0.lines(style: style) }
    }

    /// The pending work, one sentence each, with what continues it.
    package var pendingSentences: [String] { (deferredSentence.map { [$0] } ?? []) + otherSentences }

    /// The use case that finishes the run that has not ended; nil if there is no such run.
    package var finishing: Remedy? { interrupted?.finishing(isModelKnown: isModelKnown) }

    private var deferredSentence: String? {
        pendingWork.contains("deferredMigration")
            ? String(advice: "A deferred migration has pending work: \(.finish) does it.") : nil
    }

    private var otherSentences: [String] {
        var sentences: [String] = []
        if pendingWork.contains("unfinishedRun") {
            let next = interrupted?.sentences(isModelKnown: isModelKnown) ?? "\(.recover) recovers the store."
            sentences.append(String(advice: "A run of Moult has not ended: \(next)"))
        }
        if let underWay { sentences.append(underWay) }
        if let paused {
            let next = finishing ?? "\(.recover)"
            sentences.append(
                String(
                    advice: """
                        \(Int(paused.fraction * 100)) % of a migration from \(paused.from.printable) to \
                        \(paused.to.printable) is done: \(next) continues it.
                        """))
        }
        if let leftOutside { sentences.append(leftOutside.printable) }
        return sentences
    }

    private var nearest: VersionStatus.Nearest? {
        if case .unknown(let nearest) = status { nearest } else { nil }
    }

    private func colour(_ style: TextStyle) -> (String) -> String {
        switch status {
        case .current: style.green
        case .behind: style.yellow
        case .ahead, .unknown, .notCoreData: style.red
        }
    }
}

extension StoreStatus {
    /// Examines a store without changing a byte of it.
    ///
    /// - Parameter target: the target version; nil for the current one, or the last.
    /// - Throws: `noPath` if there is no version of that name; what reading a damaged store throws.
    init(of store: String, in versions: ModelVersions, target: String?, _ migrator: Migrator) throws {
        do {
            let (snapshot, recognition) = try ReadOnlyStore.read(store, system: migrator.system) { probe in
                let snapshot = try StoreSnapshot(probe.connection)
                return (snapshot, try StoreRecognition(of: snapshot, in: versions, target: target))
            }
            let underWay = try migrator.underWay(store)
            let isUnfinished = try underWay == nil && migrator.isUnfinished(store)
            // For a store of an unknown version, or with another tool's work, only the mark is known.
            let tasks =
                snapshot.metadata.hasDeferredWork
                ? (try? migrator.deferredTasks(of: store, versions: versions)) ?? [] : []
            try self.init(
                recognition, of: snapshot, in: versions, target: target, isRunUnfinished: isUnfinished,
                underWay: underWay, deferredTasks: tasks, leftOutside: try migrator.leftOutside(store),
                paused: try migrator.paused(store), interrupted: try InterruptedRun(of: store, migrator))
        } catch let error as MigrationError {
            guard let status = VersionStatus(error) else { throw error }
            try self.init(status, error, in: versions, target: target)
        }
    }
}
