import MoultBasics
import MoultModel
import MoultPlan

/// Two stores that an app opens together, each with a configuration of the model. A life with two has a run for each
/// store: what happens to one leaves the other as it was.
extension LifeRun {
    /// An app opens both stores, saves changes of both in one context, and reads every object.
    func savingBoth(_ changes: [Change], _ api: API) -> Work {
        guard let other, !other.hasEnded, now.version == other.now.version, !hasSpoiltText, !other.hasSpoiltText
        else { return Work { nil } }
        let (model, before) = (history.models[now.version], now.world.joined(with: other.now.world))
        var (after, made, isInvalid) = (before, [Change](), false)
        // A change that a rule refuses is the last: what comes later could mend it.
        for change in changes where !isInvalid {
            isInvalid = after.refuses(change, in: model)
            if isInvalid || after.make(change, in: model, key: { _ in 0 }) { made.append(change) }
        }
        isInvalid = isInvalid || after.lacks(besides: before, in: model)
        let isSaved = !isInvalid && !made.isEmpty
        let mine = isSaved ? expecting(made, of: after) : now
        var theirs = isSaved ? other.expecting(made, of: after) : other.now
        // What breaks a rule is found before the first of the stores is written to.
        var work = Work(
            new: mine, refusals: isInvalid ? Self.invalid : [], mustBeRefused: isInvalid
        ) { [made] in
            let program = try self.program(api, over: [self.place(), other.place()], self.now.version)
            defer { program.close() }
            var saved = mine
            if !made.isEmpty {
                let keys = try program.save(made, in: before, of: model)
                (saved, theirs) = (try self.giving(keys, to: saved), try other.giving(keys, to: theirs))
            }
            try self.check(program, saved.world.joined(with: theirs.world), model)
            return saved
        }
        work.beside = { theirs }
        return work
    }

    /// The part of a world that its store has after a save.
    private func expecting(_ made: [Change], of world: HistoryWorld) -> Snapshot {
        var after = now
        after.world = world.part(of: model())
        return expecting(after, made)
    }

    /// Whether the program sees the objects of both stores.
    private func check(_ program: any Program, _ world: HistoryWorld, _ model: HistoryModel) throws {
        let seen = try program.look(model)
        // An API may show nothing where a read fails.
        guard !hasMet, let difference = Self.difference(world.witnessed(in: model), seen) else { return }
        throw LifeFailure(kind: "a program sees others", words: "\(type(of: program)), of both: \(difference)")
    }

    /// An app with a later version opens both stores, the first one first, and reads every object. A store that is
    /// refused leaves those before it migrated.
    func migratingBoth(to target: Int, _ api: API) throws -> Work {
        guard let other, !other.hasEnded, mirror == nil, other.mirror == nil else { return Work { nil } }
        let target = max(min(target, history.models.count - 1), now.version, other.now.version)
        let isPlanned = api == .swiftData && history.isPlain
        let way = isPlanned ? Life.Way.swiftData : .container
        let works = (
            try migrating(to: target, way, keepsReturned: false),
            try other.migrating(to: target, way, keepsReturned: false)
        )
        let answers = (try self.answers(to: target), try other.answers(to: target))
        var (mine, theirs) = (works.0.new ?? now, works.1.new ?? other.now)
        // A container with a plan keeps history from then on.
        if isPlanned { (mine.transactions, theirs.transactions) = (nil, nil) }
        // It takes no word for a migration that was often interrupted.
        let isTroubled = isPlanned && faulted + other.faulted >= 5
        let isReadable = !hasSpoiltText && !other.hasSpoiltText
        var work = Work(
            new: mine, refusals: works.0.refusals.union(works.1.refusals).union(isTroubled ? ["tooManyAttempts"] : []),
            mustBeRefused: works.0.mustBeRefused || works.1.mustBeRefused, reached: [mine]
        ) { [mine, theirs] in
            let (newer, stores) = (self.history.versions.versions[target], [self.place(target), other.place(target)])
            let all = answers.0 + answers.1.filter { !answers.0.contains($0) }
            let program: any Program =
                isPlanned
                ? try SwiftDataProgram(
                    migrating: stores, to: target, DynamicModels.answers(all, in: self.history.versions),
                    on: self.disk.system)
                : try CoreDataProgram(
                    migrating: [(stores[0], Answers(answers.0)), (stores[1], Answers(answers.1))], to: newer,
                    of: self.history.versions, self.history.registry, on: self.disk.system)
            defer { program.close() }
            if isReadable {
                try self.check(program, mine.world.joined(with: theirs.world), self.history.models[target])
            }
            return nil
        }
        work.beside = { [theirs] in theirs }
        return work
    }

    /// The answers to the questions on the way to a version.
    private func answers(to target: Int) throws -> [Answer] {
        target == now.version
            ? history.answers : try history.path(from: now.version, to: target, keepsReturned: false).answers
    }

    /// Finds what a step has made of the other store: nothing, if it was not the step's.
    func settleBeside(_ work: Work, _ ending: Ending, hit: Bool, isDamageAllowed: Bool) throws {
        guard let beside, !beside.hasEnded else { return }
        guard let end = work.beside else {
            if hit { _ = try beside.identify(beside.store, among: [beside.now], "the other store") }
            return
        }
        beside.follow(self)
        let (before, known) = (beside.now, Set(beside.backups.keys))
        var (states, isDone) = ([before, end()], false)
        switch ending {
        case .done: (states, isDone) = ([end()], !hit)
        case .refused: states = [before]
        case .failed, .died: break
        }
        try beside.settle(
            states, copied: [before, end()], isDone: isDone, isDamageAllowed: isDamageAllowed)
        beside.noteRun(after: before, ending, hit: hit, known: known)
        if hit, !action.isOfProgram { beside.faulted += 1 }
    }
}
