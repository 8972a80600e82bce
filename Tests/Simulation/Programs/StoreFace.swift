import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan

/// The verbs over the store of a life, as one of the faces has them.
protocol StoreFace {
    /// - Parameter path: the new file of a migration into another one.
    func migrate(to target: Int, _ way: Life.Way, _ answers: [Answer], into path: String?) throws -> Said.Migration
    /// Does deferred work: that many tasks, or all.
    ///
    /// - Returns: whether nothing is left.
    func finish(_ count: Int?) throws -> Bool
    func backUp() throws
    /// - Returns: the name of the backup that was restored.
    func rollBack(to name: String?) throws -> String
    func prune(days: Int, count: Int) throws
    func move(to path: String) throws
    func downgrade(to target: Int, isRehearsal: Bool) throws -> Said.WayBack
    /// - Returns: the faults, each as its rule and its place.
    func repair() throws -> [(rule: String, place: String)]
    func export(_ backup: String, to path: String) throws
    func importBackup(_ path: String) throws
    /// Finishes a run that has not ended.
    func resume(_ answers: [Answer]) throws -> Said.Resumption
    /// Deletes the history before a moment, in whole seconds since 2001.
    ///
    /// - Returns: the faults that were repaired, as of a repair.
    func cutHistory(before moment: Int) throws -> [(rule: String, place: String)]

    func start(_ mirror: LifeRun.Mirror) throws
    func synchronise(_ mirror: LifeRun.Mirror, all: Bool) throws
    /// - Returns: how the second store differs from a migration of the first; nil if it does not.
    func difference(_ mirror: LifeRun.Mirror) throws -> String?
    func cutOver(_ mirror: LifeRun.Mirror) throws
    func undoCutOver(_ mirror: LifeRun.Mirror) throws
    func stopMirror() throws

    func status(aimingAt target: Int) throws -> Said.Status
    func inspect() throws -> Said.Contents
    func validate() throws -> Said.Contents
    func plan(to target: Int, _ answers: [Answer]) throws -> Said.Plan
}

extension LifeRun {
    /// The face that does the step.
    var face: any StoreFace { get throws { isTyped ? try commandFace() : LibraryFace(run: self) } }

    func commandFace() throws -> CommandFace {
        let face = try commands ?? CommandFace(self, in: commandFolder)
        commands = face
        return face
    }
}

/// What a face says, in the names of the command line's documents.
enum Said {
    struct Migration {
        enum End { case nothing, done, paused }
        var end: End
        var losses: [Loss] = []
    }

    /// What became of a run that had not ended.
    struct Resumption {
        /// How the migration ended; nil where the store was only recovered.
        var end: Migration.End?
        /// The name of the version that it leads to.
        var to: String?
    }

    struct Loss: Decodable, Equatable {
        var kind: String
        var reason: String
        var entity: String
        var member: String?
        var count: Int64?

        /// Whether it is only counted when deferred work is done.
        var isPutOff: Bool { count == nil && ["rows", "values", "links", "order"].contains(kind) }
    }

    struct WayBack: Decodable {
        var way: String
        var losses: [String]
        /// The name of the backup that alone restores the older version.
        var backup: String?
    }

    struct Status: Decodable, Equatable {
        var state: String
        var version: String?
        var behind: Int?
        var pendingWork: [String]
    }

    struct Contents: Equatable {
        var version: String?
        var counts: [String: Int64]
        var findings: [Finding]
    }

    struct Finding: Decodable, Comparable {
        var severity: String
        var code: String
        var place: String
        /// A face may have words of its own in it.
        var message: String

        static func == (one: Self, other: Self) -> Bool {
            (one.severity, one.code, one.place) == (other.severity, other.code, other.place)
        }
        static func < (one: Self, other: Self) -> Bool {
            (one.severity, one.code, one.place) < (other.severity, other.code, other.place)
        }
    }

    struct Plan: Equatable {
        var from: String
        var to: String
        var edges: [Edge]
        var losses: [ForeseenLoss]
        var findings: [Finding]
        /// The code of the error of a migration that would be refused.
        var refusal: String?
    }

    struct Edge: Equatable {
        var from: String
        var to: String
        var sentences: [String]
    }

    struct ForeseenLoss: Equatable {
        var place: String
        var count: Int64?
        var isRefused: Bool
    }
}

/// The library's face.
struct LibraryFace: StoreFace {
    let run: LifeRun

    private var keeper: StoreKeeper { run.keeper() }

    func migrate(to target: Int, _ way: Life.Way, _ answers: [Answer], into path: String?) throws -> Said.Migration {
        if case .budget(let units) = way { return try call(to: target, units, answers) }
        let report = try run.session(to: target, way, answers, into: path).run()
        return Said.Migration(
            end: report.outcome == .nothingToDo ? .nothing : .done, losses: report.losses.map(Said.Loss.init))
    }

    /// A call that does some units, and pauses or comes to the end.
    private func call(to target: Int, _ units: Int, _ answers: [Answer]) throws -> Said.Migration {
        var options = MigrationOptions.sequential
        options.keysPerPiece = 3
        options.maximumAttempts = .max
        options.retention = run.retention
        var preparation = PreparedMigration.Options(run.options(.plain), try run.context(answers, .plain))
        preparation.continuesEarlierCall = true
        let prepared = try PreparedMigration(
            run.store, versions: run.history.versions, to: run.name(target), options: preparation,
            system: run.disk.system)
        let migrator = Migrator(options: options, system: run.disk.system)
        switch try migrator.run(prepared, within: .units(units)) {
        case .paused: return Said.Migration(end: .paused)
        case .finished(let outcome, _):
            return Said.Migration(end: .done, losses: outcome.losses.map(Said.Loss.init))
        case .nothingToDo: return Said.Migration(end: .nothing)
        }
    }

    func finish(_ count: Int?) throws -> Bool {
        var options = MigrationOptions.sequential
        options.maximumAttempts = .max
        return try Migrator(options: options, system: run.disk.system).finishDeferred(
            run.store, versions: run.history.versions, count.map { .units($0) } ?? .all
        ).isFinished
    }

    func backUp() throws { _ = try keeper.backUp() }
    func rollBack(to name: String?) throws -> String { try keeper.rollback(to: name).restored.name }

    func prune(days: Int, count: Int) throws {
        _ = try keeper.prune(RetentionPolicy(keepAllDays: days, keepWeeklyDays: days * 4, minimumCount: count))
    }

    func move(to path: String) throws { _ = try keeper.move(to: path) }

    func downgrade(to target: Int, isRehearsal: Bool) throws -> Said.WayBack {
        let report = try keeper.downgrade(
            to: run.name(target), answers: { _ in try Answers(run.history.answers) }, isRehearsal: isRehearsal)
        return Said.WayBack(way: report.way.rawValue, losses: report.losses, backup: report.backup?.name)
    }

    func repair() throws -> [(rule: String, place: String)] {
        try keeper.repair(RepairRule.byDefault, isRehearsal: false).faults.map { ($0.rule.rawValue, $0.place) }
    }

    func export(_ backup: String, to path: String) throws {
        let keeper = keeper
        try keeper.export(try keeper.backup(named: backup), to: path)
    }

    func importBackup(_ path: String) throws { _ = try keeper.importBackup(path, wasClosed: false) }

    func status(aimingAt target: Int) throws -> Said.Status {
        let status = try keeper.status(aimingAt: run.name(target))
        return Said.Status(
            state: status.state.rawValue, version: status.version, behind: status.versionsBehind,
            pendingWork: status.pendingWork)
    }

    func inspect() throws -> Said.Contents {
        let inspection = try StoreInspection(of: run.store, in: run.history.versions)
        return Said.Contents(
            version: inspection.version, counts: inspection.rowCounts,
            findings: inspection.findings.map(Said.Finding.init))
    }

    func validate() throws -> Said.Contents {
        let audit = try keeper.validate(RulesToCheck([]), full: true)
        return Said.Contents(
            version: audit.version, counts: audit.rowCounts, findings: audit.findings.map(Said.Finding.init))
    }

    func plan(to target: Int, _ answers: [Answer]) throws -> Said.Plan {
        let plan = try run.session(to: target, .plain, answers, only: .plan).plan()
        return Said.Plan(
            from: plan.from, to: plan.to,
            edges: plan.edges.map { Said.Edge(from: $0.from, to: $0.to, sentences: $0.sentences) },
            losses: plan.losses.map {
                Said.ForeseenLoss(place: $0.place, count: $0.count, isRefused: $0.isRefused)
            }, findings: plan.findings.map(Said.Finding.init), refusal: plan.refusal?.code.description)
    }
}

extension Said.Loss {
    fileprivate init(_ loss: MigrationLoss) {
        self.init(
            kind: loss.kind.rawValue, reason: loss.reason.rawValue, entity: loss.entityName, member: loss.propertyName,
            count: loss.count)
    }
}

extension Said.Finding {
    fileprivate init(_ finding: Finding) {
        self.init(
            severity: finding.severity.rawValue, code: finding.code, place: finding.place, message: finding.message)
    }
}
