import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import MoultTesting

/// Migrations in every way, and what the reference makes of them.
extension LifeRun {
    /// The states on the way to a version, the last one included: the slow and obvious meaning of each edge.
    func way(to target: Int, kept: [Int: Set<HistoryWorld.Return>] = [:], stops: Bool = false) -> [Snapshot] {
        guard target > now.version else { return [] }
        var (states, world) = ([Snapshot](), now.world)
        let roots = model().entities.filter { $0.parent == nil }
        var keys = Dictionary(uniqueKeysWithValues: roots.map { ($0.id, highest[$0.name] ?? 0) })
        for position in (now.version + 1)...target {
            let (old, new) = (model(position - 1), model(position))
            let (stage, mapping) = (history.stages[position], history.mappings[position])
            // An expression reads the old store, where an object that a policy drops still stands.
            let begun = world.changed(by: stage?.before, in: old)
            let next = begun.dropping(by: mapping).advanced(from: old, to: new, kept: kept[position] ?? [])
            world = begun.changed(by: mapping, into: next, of: new)
                .splitting(by: mapping, in: new, after: &keys).changed(by: stage?.after, in: new)
            if stops { world = world.kept(by: new) }
            if life.plant == .lostRow, let first = world.objects.keys.min() {
                world = world.removing(numbers: [first])
            }
            if life.plant == .lostValue { world = world.forgettingOne(in: new) }
            let hasCode = stage != nil || mapping != nil
            states.append(
                Snapshot(
                    version: position, world: world.kept(by: new),
                    transactions: hasCode || states.contains { $0.transactions == nil } ? nil : now.transactions,
                    conflict: max(begun.conflict(with: mapping), states.last?.conflict ?? .none)))
        }
        return states
    }

    /// Backups of a gigabyte are kept one at a time.
    var retention: RetentionPolicy {
        life.profile == .long
            ? RetentionPolicy(keepAllDays: 0, keepWeeklyDays: 0, minimumCount: 1) : RetentionPolicy()
    }

    func options(_ way: Life.Way) -> RunOptions {
        var options = RunOptions()
        options.patience = .zero
        options.maximumAttempts = .max
        options.retention = retention
        options.configuration = history.configuration
        switch way {
        case .normalised: options.normalises = true
        case .inPlace: options.isInPlace = true
        case .stops: options.stopsAtEachVersion = true
        case .deferred: options.defersWork = true
        case .uncompared: options.comparesStores = false
        default: break
        }
        return options
    }

    func migrating(to target: Int, _ way: Life.Way, keepsReturned: Bool) throws -> Work {
        let target = min(target, history.models.count - 1)
        guard target >= now.version else {
            // The versions are one chain, and all are known.
            return Work(refusals: locks.union(["storeAhead"]), mustBeRefused: true) {
                _ = try self.face.migrate(to: target, .plain, [], into: nil)
                return nil
            }
        }
        if target == now.version { return nothing(to: target, way) }
        if case .quarantining(let entity, let remainder) = way {
            return try settingApart(to: target, entity, remainder)
        }
        let stops = [.stops, .container, .swiftData].contains(way)
        var path = try history.path(from: now.version, to: target, keepsReturned: keepsReturned && !stops)
        let states = self.way(to: target, kept: path.kept, stops: way == .stops)
        guard let last = states.last else { return Work { nil } }
        if way == .stops { path.answers = history.answers }
        let unfit = unfit(last)
        var refusals = locks.union(unfit)
        // An app that has the store open opens no other container, and a call with a budget may pause before.
        var mustBeRefused = last.conflict == .mustRefuse && !(way == .container && app != nil) && !way.hasBudget
        switch way {
        case .inPlace:
            if mayWriteRows(to: target) { refusals.insert("unsupported") }
            if history.stages.keys.contains(where: { $0 > now.version && $0 <= target }) { mustBeRefused = true }
        case .refusing:
            if mayLose(states) { refusals.insert("lossNotAccepted") }
            if target == now.version + 1, !hasCode(to: target) {
                let gone = gone(in: last)
                // An answer may say that the values go.
                let dropped = Set(path.answers.filter { $0.is == .drop }.flatMap { [$0.property, $0.old] })
                mustBeRefused =
                    mustBeRefused || !gone.objects.isEmpty
                    || gone.properties.contains { !$0.contains(".") && !dropped.contains($0) }
            }
        // The command line's calls have a time, in which no unit may fit.
        case .budget: if isTyped { refusals.insert("budgetTooSmall") }
        default: break
        }
        return Work(
            new: [.rehearsal, .into].contains(way) ? nil : last,
            between: way == .stops ? Array(states.dropLast()) : way == .deferred ? [last.deferred] : [],
            refusals: refusals, mustBeRefused: mustBeRefused,
            reached: way == .stops && !unfit.isEmpty ? Array(states.dropLast()) : [],
            settleOutput: way == .into ? { try self.settleNewFile(self.newFile(target), last) } : {}
        ) { [path, waiting = paused] in
            defer {
                // The run of another call may have been there, and still be.
                if self.disk.hasDied, waiting == nil || waiting == target, way.isKept {
                    self.stopped = Stopped(target: target, way: way, answers: path.answers, last: last)
                }
            }
            return try self.perform(way, to: target, last, path)
        }
    }

    /// Nothing can follow a barrier: it is refused with its place, and the store is as it was.
    func barring(_ barrier: HistoryBarrier, at entity: Int) -> Work {
        guard model().entity(entity) != nil,
            let barred = barrier.version(after: history.models[now.version], at: entity),
            let made = try? barred.model.model()
        else { return Work { nil } }
        let newer = ModelVersion(names: [HistoryBarrier.name], model: made)
        let versions = ModelVersions(versions: Array(history.versions.versions.prefix(now.version + 1)) + [newer])
        let names = Set(versions.versions.map(\.name))
        var answers = history.answers.filter { names.contains($0.to) }
        if let kept = barred.kept {
            let name = model().entity(entity)?.name ?? ""
            answers.append(
                Answer(from: self.name(now.version), to: newer.name, entity: name, property: kept, is: .keep))
        }
        return Work(
            refusals: locks.union([barred.code] + (now.isDeferred ? ["deferredWork"] : [])), mustBeRefused: true
        ) { [answers] in
            do {
                let context = StoreSession.Context(versions, answers: try Answers(answers))
                _ = try StoreSession(
                    StoreRequest(self.store, to: newer.name, .migrate, self.options(.plain)), context,
                    on: self.disk.system
                ).run()
            } catch let error as MigrationError where error.code.description == barred.code {
                guard error.place == barred.place else {
                    throw LifeFailure(kind: "refused elsewhere", words: "than at \(barred.place): \(error)")
                }
                throw error
            }
            return nil
        }
    }

    /// How a value that has no equal in its new type is refused: by the plan, or by the policy that makes the object.
    private static let conflicting: Set = ["dataConflict", "policyFailed"]

    /// The refusals that the values in the store give a reason for, on the way to a state.
    func unfit(_ last: Snapshot) -> Set<String> {
        (last.conflict > .none ? Self.conflicting : []).union(refusalsOfCode(to: last.version))
    }

    private func nothing(to target: Int, _ way: Life.Way) -> Work {
        Work(refusals: locks) {
            guard ![.into, .container, .swiftData].contains(way) else { return nil }
            let said = try self.face.migrate(to: target, .plain, self.history.answers, into: nil)
            if said.end != .nothing {
                throw LifeFailure(kind: "did something", words: "there was nothing to do: \(said.end)")
            }
            return nil
        }
    }

    func context(_ answers: [Answer], _ way: Life.Way) throws -> StoreSession.Context {
        var registry = try history.registry
        if way == .refusing { registry.acceptedLosses = .none }
        var context = StoreSession.Context(history.versions, answers: try Answers(answers), registry: registry)
        context.isSequential = true
        return context
    }

    /// - Parameter work: nil for that of the way.
    func session(
        to target: Int, _ way: Life.Way, _ answers: [Answer], into: String? = nil, only work: StoreRequest.Work? = nil
    ) throws -> StoreSession {
        let usual: StoreRequest.Work = into.map { .migrateInto($0) } ?? (way == .rehearsal ? .rehearse : .migrate)
        return try StoreSession(
            StoreRequest(store, to: name(target), work ?? usual, options(way)), context(answers, way), on: disk.system)
    }

    /// - Returns: the state that the store must have.
    private func perform(
        _ way: Life.Way, to target: Int, _ last: Snapshot, _ path: ModelHistory.AnsweredPath
    ) throws -> Snapshot? {
        let answers = path.answers
        func check(_ said: Said.Migration) throws {
            // Each stop loses from what the one before has made.
            guard said.end == .done, path.passes.count == 1, way != .stops || target == now.version + 1 else { return }
            try self.check(said.losses, last, kept: path.kept)
        }
        switch way {
        case .budget:
            // The next call continues one that died.
            defer { if disk.hasDied { paused = target } }
            let said = try face.migrate(to: target, way, answers, into: nil)
            try check(said)
            paused = said.end == .paused ? target : nil
            if said.end == .paused {
                stopped = Stopped(target: target, way: way, answers: answers, last: last, isPaused: true)
                return now
            }
            guard last.conflict < .mustRefuse else {
                throw LifeFailure(kind: "not refused", words: "a value has no equal in its new type")
            }
            return last
        case .container:
            guard app == nil else { return now }
            try CoreDataProgram(
                migrating: [(place(target), Answers(answers))], to: history.versions.versions[target],
                of: history.versions, history.registry, on: disk.system
            ).close()
            return last
        case .swiftData where history.isPlain:
            guard app == nil else { return now }
            try SwiftDataProgram.migrate(
                [place(target)] + (beside.map { [$0.place(target)] } ?? []), to: target,
                DynamicModels.answers(answers, in: history.versions), on: disk.system)
            // A container keeps history from then on.
            var last = last
            last.transactions = nil
            return last
        case .into:
            let file = newFile(target)
            try check(face.migrate(to: target, way, answers, into: file))
            if try !hasMet && !system.exists(file) {
                throw LifeFailure(kind: "no new file", words: "at \(file)")
            }
            return now
        default:
            try check(face.migrate(to: target, way, answers, into: nil))
            if way == .rehearsal { return now }
            paused = nil
            let waits = try way == .deferred && Migrator().hasDeferredWork(store)
            return waits ? last.deferred : last
        }
    }

    /// The path of the store that a migration to a version makes in place of changing this one.
    private func newFile(_ target: Int) -> String { "\(field)/temporary/\(prefix)into \(target).sqlite" }

    /// Examines and removes a store that has its path. What a run that died left beside it, the next run removes.
    private func settleNewFile(_ path: String, _ last: Snapshot) throws {
        guard try system.exists(path) else { return }
        _ = try identify(path, among: [last], "the new file")
        try clear(path)
    }

    func clear(_ path: String) throws {
        for other in [path, path + ".moult", path + "-wal", path + "-shm", path + "-journal", Self.support(of: path)] {
            try system.removeTree(other)
        }
    }
}

extension Life.Way {
    var hasBudget: Bool { if case .budget = self { true } else { false } }

    /// Whether the run keeps its settings, and leads to one state.
    fileprivate var isKept: Bool {
        switch self {
        case .plain, .normalised, .inPlace, .deferred, .uncompared, .budget: true
        case .stops, .refusing, .rehearsal, .into, .container, .swiftData, .quarantining: false
        }
    }
}

extension LifeRun.Snapshot {
    var deferred: Self {
        var state = self
        state.isDeferred = true
        return state
    }
}
