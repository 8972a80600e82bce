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
            world = begun.changed(by: mapping, into: next).splitting(by: mapping, in: new, after: &keys)
                .changed(by: stage?.after, in: new)
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
    private var retention: RetentionPolicy {
        life.profile == .long
            ? RetentionPolicy(keepAllDays: 0, keepWeeklyDays: 0, minimumCount: 1) : RetentionPolicy()
    }

    private func options(_ way: Life.Way) -> RunOptions {
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
            return Work(
                refusals: ["storeAhead", "noPath", "incompatibleVersion", "locked", "deferredWork"], mustBeRefused: true
            ) {
                _ = try self.session(to: target, .plain, []).run()
                return nil
            }
        }
        if target == now.version { return nothing(to: target, way) }
        let stops = [.stops, .container, .swiftData].contains(way)
        let path = try history.path(from: now.version, to: target, keepsReturned: keepsReturned && !stops)
        let states = self.way(to: target, kept: path.kept, stops: way == .stops)
        guard let last = states.last else { return Work { nil } }
        let answers = way == .stops ? history.answers : path.answers
        var refusals: Set<String> = app != nil || reader != nil ? ["locked"] : []
        var mustBeRefused = false
        if now.isDeferred { refusals.insert("deferredWork") }
        let unfit = (last.conflict > .none ? Self.conflicting : []).union(refusalsOfCode(to: target))
        refusals.formUnion(unfit)
        // An app that has the store open opens no other container, and a call with a budget may pause before.
        mustBeRefused = last.conflict == .mustRefuse && !(way == .container && app != nil) && !way.hasBudget
        // A mapping model that computes a value from others drops the value that was there.
        let hasMapping = ((now.version + 1)...target).contains { history.mappings[$0] != nil }
        switch way {
        case .inPlace: refusals.formUnion(["unsupported", "dataConflict", "usage"])
        case .refusing:
            if hasMapping || last.loses(against: now, model(), model(target)) { refusals.insert("lossNotAccepted") }
            if !hasMapping, target == now.version + 1, history.stages[target] == nil {
                let gone = gone(in: last)
                // An answer may say that the values go.
                let dropped = Set(answers.filter { $0.is == .drop }.flatMap { [$0.property, $0.old] })
                mustBeRefused =
                    mustBeRefused || !gone.objects.isEmpty
                    || gone.values.contains { !$0.key.contains(".") && !dropped.contains($0.key) }
            }
        case .deferred, .budget: refusals.formUnion(["unsupported"])
        default: break
        }
        return Work(
            new: [.rehearsal, .into].contains(way) ? nil : last,
            between: way == .stops ? Array(states.dropLast()) : way == .deferred ? [last.deferred] : [],
            refusals: refusals, mustBeRefused: mustBeRefused,
            reached: way == .stops && !unfit.isEmpty ? Array(states.dropLast()) : [],
            settleOutput: way == .into ? { try self.settleNewFile(self.newFile(target), last) } : {}
        ) {
            try self.perform(way, to: target, last, answers)
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
        let locks = app != nil || reader != nil ? ["locked"] : []
        return Work(
            refusals: Set([barred.code] + locks + (now.isDeferred ? ["deferredWork"] : [])), mustBeRefused: true
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
    static let conflicting: Set = ["dataConflict", "policyFailed"]

    private func nothing(to target: Int, _ way: Life.Way) -> Work {
        Work(refusals: app != nil || reader != nil ? ["locked"] : []) {
            guard ![.into, .container, .swiftData].contains(way) else { return nil }
            let report = try self.session(to: target, .plain, self.history.answers).run()
            if report.outcome != .nothingToDo {
                throw LifeFailure(kind: "did something", words: "there was nothing to do: \(report.outcome)")
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

    private func session(to target: Int, _ way: Life.Way, _ answers: [Answer], into: String? = nil) throws
        -> StoreSession
    {
        let work: StoreRequest.Work = into.map { .migrateInto($0) } ?? (way == .rehearsal ? .rehearse : .migrate)
        return try StoreSession(
            StoreRequest(store, to: name(target), work, options(way)), context(answers, way), on: disk.system)
    }

    /// - Returns: the state that the store must have.
    private func perform(
        _ way: Life.Way, to target: Int, _ last: Snapshot, _ answers: [Answer]
    ) throws -> Snapshot? {
        switch way {
        case .budget(let units): return try call(to: target, units, last, answers)
        case .container:
            guard app == nil else { return now }
            try CoreDataProgram.migrate(
                store, to: history.versions.versions[target], of: history.versions, history.registry,
                Answers(answers), configuration: history.configuration, on: disk.system)
            return last
        case .swiftData where history.isPlain:
            guard app == nil else { return now }
            let given = answers.compactMap { answer in
                history.versions.position(named: answer.to).map { DynamicModels.answer(answer, position: $0) }
            }
            try SwiftDataProgram.migrate(store, to: target, given, on: disk.system)
            // A container keeps history from then on.
            var last = last
            last.transactions = nil
            return last
        case .into:
            let path = newFile(target)
            let report = try session(to: target, way, answers, into: path).run()
            try check(report, last)
            if try !disk.hasMet && !system.exists(path) {
                throw LifeFailure(kind: "no new file", words: "at \(path)")
            }
            return now
        default:
            let report = try session(to: target, way, answers).run()
            try check(report, last)
            if way == .rehearsal { return now }
            paused = nil
            let waits = way == .deferred && Migrator().hasDeferredWork(store)
            return waits ? last.deferred : last
        }
    }

    /// The path of the store that a migration to a version makes in place of changing this one.
    private func newFile(_ target: Int) -> String { "\(field)/temporary/into \(target).sqlite" }

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

    /// A call that does some units, and pauses or comes to the end.
    private func call(to target: Int, _ units: Int, _ last: Snapshot, _ answers: [Answer]) throws -> Snapshot? {
        // A call that died goes on at the next one.
        defer { if disk.hasDied { paused = target } }
        var options = MigrationOptions.sequential
        options.keysPerPiece = 3
        options.maximumAttempts = .max
        options.retention = retention
        var preparation = PreparedMigration.Options(self.options(.plain), try context(answers, .plain))
        preparation.continuesEarlierCall = true
        let prepared = try PreparedMigration(
            store, versions: history.versions, to: name(target), options: preparation, system: disk.system)
        switch try Migrator(options: options, system: disk.system).run(prepared, within: .units(units)) {
        case .paused:
            paused = target
            return now
        case .finished, .nothingToDo:
            paused = nil
            guard last.conflict < .mustRefuse else {
                throw LifeFailure(kind: "not refused", words: "a value has no equal in its new type")
            }
            return last
        }
    }

    /// The objects, and the values of objects that stay, that the next version has no place for: by entity, and by
    /// attribute.
    private func gone(in last: Snapshot) -> (objects: [String: Int64], values: [String: Int64]) {
        let (old, new) = (model(), model(last.version))
        var (objects, values) = ([String: Int64](), [String: Int64]())
        for (number, object) in now.world.objects {
            guard last.world.objects[number] != nil else {
                objects[old.entity(object.entity)?.name ?? "", default: 0] += 1
                continue
            }
            let known = Set(new.lineage(object.entity).flatMap(\.attributes).map(\.id))
            for attribute in old.lineage(object.entity).flatMap(\.attributes)
            where !known.contains(attribute.id) && object.values[attribute.id] ?? "-" != "-" {
                values[attribute.description.name, default: 0] += 1
            }
        }
        return (objects, values)
    }

    /// What a report says is lost is what the reference says is lost.
    private func check(_ report: MigrationReport, _ last: Snapshot) throws {
        guard last.version == now.version + 1, history.mappings[last.version] == nil,
            history.stages[last.version] == nil, report.outcome != .nothingToDo,
            !report.losses.contains(where: { $0.isPutOff })
        else { return }
        let (gone, values) = gone(in: last)
        var said: [String: Int64] = [:]
        for loss in report.losses where loss.kind == .rows { said[loss.entityName, default: 0] += loss.count ?? 0 }
        if gone != said.filter({ $0.value != 0 }) {
            throw LifeFailure(kind: "losses differ", words: "objects: \(said) are said, and \(gone) are gone")
        }
        var saidValues: [String: Int64] = [:]
        for loss in report.losses where loss.kind == .values && loss.reason != .unexplained {
            saidValues[loss.propertyName ?? "", default: 0] += loss.count ?? 0
        }
        if values != saidValues.filter({ $0.value != 0 }) {
            throw LifeFailure(kind: "losses differ", words: "values: \(saidValues) are said, and \(values) are gone")
        }
    }
}

extension Life.Way {
    fileprivate var hasBudget: Bool { if case .budget = self { true } else { false } }
}

extension LifeRun.Snapshot {
    fileprivate var deferred: Self {
        var state = self
        state.isDeferred = true
        return state
    }

    /// Whether it has less than the state before: objects, values or links.
    fileprivate func loses(against old: Self, _ model: HistoryModel, _ new: HistoryModel) -> Bool {
        if old.world.objects.keys.contains(where: { world.objects[$0] == nil }) { return true }
        for (number, object) in old.world.objects {
            let after = world.objects[number]?.values ?? [:]
            if object.values.contains(where: { $0.value != "-" && after[$0.key] == nil }) { return true }
        }
        return model.links.contains { link in
            let before = old.world.pairs[link.id]?.forward ?? [:]
            let after = world.pairs[link.id]?.forward ?? [:]
            let isOrderLost = link.ends.contains(where: \.isOrdered)
            return isOrderLost
                && new.link(link.id).map { $0.ends.map(\.isOrdered) != link.ends.map(\.isOrdered) } != false
                || before.contains { Set(after[$0.key] ?? []) != Set($0.value) }
        }
    }
}
