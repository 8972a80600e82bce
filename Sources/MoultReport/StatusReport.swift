import MoultEngine
import MoultModel
import MoultPlan
import MoultStore

/// A report on how a store stands to the versions of a model.
package struct StatusReport: Sendable {
    package let status: VersionStatus
    /// The name of the version aimed at; nil if the model has none.
    package let latest: String?
    /// Every name of the store's version.
    package let names: [String]
    /// The names of the model's versions, oldest first.
    package let order: [String]
    private let recognition: StoreRecognition?
    /// The pending work: `deferredMigration`, `unfinishedRun`, `liveRun`, `pausedMigration`.
    package let pendingWork: [String]
    package let deferredTasks: [DeferredTask]
    private let leftOutside: String?
    /// The lines about a run of another process that is under way.
    private let underWay: String?
    private let process: Int32?
    /// The progress of a migration that waits for its next call; nil if none does.
    package let paused: MigrationCheckpoint?
    /// Of the model, which a verb says as it reads it.
    private let modelFindings: [Finding]
    private let findings: [Finding]
    /// The findings about the model and the store.
    package var noticed: [Finding] { modelFindings + findings }

    package init(
        _ recognition: StoreRecognition, of snapshot: StoreSnapshot, in versions: ModelVersions, target: String?,
        isRunUnfinished: Bool, underWay: (process: Int32?, since: String?)? = nil, deferredTasks: [DeferredTask] = [],
        leftOutside: String? = nil,
        paused: MigrationCheckpoint? = nil
    ) throws {
        self.paused = paused
        self.deferredTasks = deferredTasks
        self.leftOutside = leftOutside
        process = underWay?.process
        self.underWay = underWay.map { run in
            let who = run.process.map { "Process \($0)" } ?? "A process"
            return "\(who) is changing this store now\(run.since.map { ", since \($0)" } ?? "")."
        }
        self.recognition = recognition
        status = recognition.status
        latest = versions.versions.isEmpty ? nil : versions.versions[try versions.target(named: target)].name
        names = recognition.position.map { versions.versions[$0].names } ?? []
        order = versions.versions.map(\.name)
        pendingWork =
            (snapshot.metadata.hasDeferredWork ? ["deferredMigration"] : [])
            + (isRunUnfinished ? ["unfinishedRun"] : []) + (underWay == nil ? [] : ["liveRun"])
            + (paused == nil ? [] : ["pausedMigration"])
        modelFindings = versions.findings
        findings = snapshot.findings + recognition.findings
    }

    /// For what is no store at all.
    package init(_ status: VersionStatus, in versions: ModelVersions, target: String?) throws {
        self.status = status
        latest = versions.versions.isEmpty ? nil : versions.versions[try versions.target(named: target)].name
        (names, recognition, pendingWork, deferredTasks, leftOutside, paused) = ([], nil, [], [], nil, nil)
        (underWay, process) = (nil, nil)
        order = versions.versions.map(\.name)
        (modelFindings, findings) = (versions.findings, [])
    }

    package var document: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", 1), .init("state", .string(status.name)), .init("version", JSONValue(names.first)),
            .init("candidates", JSONValue(names.count > 1 ? names : [])), .init("latest", JSONValue(latest)),
            .init("behind", behind), .init("nearest", JSONValue(nearest?.version)),
            .init("pendingWork", JSONValue(pendingWork)),
            .init("deferredTasks", .array(deferredTasks.map(\.document))),
            .init("longestUnit", .double(deferredTasks.longestUnit)), .init("leftOutside", JSONValue(leftOutside)),
            .init("process", process.map { .integer(Int64($0)) } ?? .null),
            .init("pausedAt", paused.map { .double(($0.fraction * 1000).rounded() / 1000) } ?? .null),
            .init("versions", JSONValue(order)),
            .init("recognisedBy", JSONValue(recognition?.basis.rawValue)),
            .init("configuration", JSONValue(recognition?.configuration)),
            .init("findings", .array(noticed.map(\.document))),
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
        var lines = [colour(style)(status.name) + "  " + status.sentence.printable]
        if names.count > 1 {
            lines.append("These versions open the same stores: \(names.map(\.printable).joined(separator: ", ")).")
        }
        if order.count > 1 {
            let marked = order.map { $0 == names.first ? style.bold($0.printable) : $0.printable }
            lines.append(style.dim("versions: ") + marked.joined(separator: " → "))
        }
        if let configuration = recognition?.configuration {
            lines.append("Its configuration is \(configuration.printable).")
        }
        if pendingWork.contains("deferredMigration") {
            lines.append("A deferred migration has pending work: moult finish does it.")
            lines += deferredTasks.lines(style: style)
        }
        if pendingWork.contains("unfinishedRun") {
            lines.append("A run of Moult has not ended: moult resume recovers the store.")
        }
        if let underWay { lines.append(underWay) }
        if let paused {
            lines.append(
                "\(Int(paused.fraction * 100)) % of a migration from \(paused.from.printable) to \(paused.to.printable) is "
                    + "done: moult migrate --budget 1min continues it.")
        }
        if let leftOutside { lines.append(leftOutside.printable) }
        return lines + findings.filter { $0.severity > .note }.flatMap { $0.lines(style: style) }
    }

    private var behind: JSONValue {
        switch status {
        case .current: 0
        case .behind(_, let count, _): JSONValue(count)
        case .ahead(_, let count, _): JSONValue(-count)
        case .unknown, .notCoreData: .null
        }
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
