import MoultBasics
import MoultCoreData
import MoultModel
import MoultObjects

/// A second app, which changes objects in a context and saves them some steps later. What others have saved meanwhile
/// must not be overwritten in silence.
extension LifeRun {
    struct Rival {
        let program: any Program
        var pending: Pending?
    }

    /// Changes that are made and not saved.
    struct Pending {
        let changes: [Change]
        /// The objects when they were made.
        let base: HistoryWorld
        let save: () throws -> [Int: Int]
        /// The objects of which others have saved other values since, or that they have deleted.
        var written: Set<Int> = []
        /// All objects that the saves of others have to do with.
        var near: Set<Int> = []
    }

    /// Whether the second app stays open while it happens.
    func keepsRival(_ action: Life.Action) -> Bool {
        switch action {
        case .save, .look, .open, .close, .ask, .begin, .commit: true
        default: false
        }
    }

    func leaveRival() {
        rival?.program.close()
        rival = nil
    }

    func beginning(_ changes: [Change], _ api: API) -> Work {
        let (model, base) = (model(), now.world)
        let (own, made) = made(changes, in: base, model)
        return Work(refusals: programRefusals.union(lacks(own, besides: base) ? Self.invalid : [])) {
            guard !made.isEmpty else { return nil }
            do {
                let rival = try self.rival ?? Rival(program: self.program(api))
                self.rival = rival
                let save = try rival.program.prepare(made, in: base, of: model)
                self.rival?.pending = Pending(changes: made, base: base, save: save)
            } catch {
                self.leaveRival()
                throw error
            }
            if self.hasMet { self.leaveRival() }
            return nil
        }
    }

    func committing() -> Work {
        guard let pending = rival?.pending else { return Work { nil } }
        let (model, own) = (model(), made(pending.changes, in: pending.base, model()))
        let written = Self.written(from: pending.base, to: own.world)
        // Who deletes what is gone already may be told, or not.
        let isConflict = written.intersection(pending.written).contains {
            own.world.objects[$0] != nil || now.world.objects[$0] != nil
        }
        let merged = made(pending.changes, in: now.world, model)
        let isApart = near(pending.changes, in: pending.base, model).isDisjoint(with: pending.near)
        guard isConflict || isApart && merged.changes.count == pending.changes.count else {
            // Whether it is a conflict depends on the rows that hold the links: the app gives its changes up.
            return Work {
                self.rival?.pending = nil
                return nil
            }
        }
        let isInvalid = lacks(own.world, besides: pending.base)
        // What others have linked with an object may keep it from being deleted before the conflict is seen.
        let isOff = own.world.isMiscounted(in: model) || merged.world.isMiscounted(in: model)
        let isRuled = isInvalid || isOff || isConflict && model.links.contains(where: \.isRuled)
        var after = now
        after.world = merged.world
        after = expecting(after, pending.changes)
        return Work(
            new: isConflict || isInvalid ? nil : after, refusals: programRefusals.union(isRuled ? Self.invalid : []),
            mustBeRefused: isInvalid && !isConflict
        ) { [after] in
            let keys: [Int: Int]
            do {
                keys = try pending.save()
            } catch let error where error is MergeConflictError || error is ManagedObjectMergeError {
                self.rival?.pending = nil
                if isConflict || self.hasMet { return self.now }
                throw LifeFailure(kind: "conflict", words: "that the reference does not see: \(error)")
            } catch {
                if isRuled || self.hasMet { self.leaveRival() }
                throw error
            }
            self.rival?.pending = nil
            if isConflict {
                let names = written.intersection(pending.written).sorted()
                throw LifeFailure(kind: "overwritten", words: "the objects \(names), which another app had saved")
            }
            return try self.giving(keys, to: after)
        }
    }

    /// Notes what a save of another app means for the changes that are not saved yet.
    func note(_ changes: [Change], to world: HistoryWorld) {
        let near = near(changes, in: now.world, model())
        rival?.pending?.near.formUnion(near)
        rival?.pending?.written.formUnion(Self.written(from: now.world, to: world))
    }

    /// The objects that are there before and have other values after, or are gone.
    private static func written(from before: HistoryWorld, to after: HistoryWorld) -> Set<Int> {
        Set(before.objects.filter { after.objects[$0.key]?.values != $0.value.values }.keys)
    }

    /// The objects that changes name, those that go with them, and those that are or were linked with one of these.
    private func near(_ changes: [Change], in world: HistoryWorld, _ model: HistoryModel) -> Set<Int> {
        var (world, near) = (world, Set<Int>())
        func addPartners(_ link: Int, _ numbers: Set<Int>) {
            let pairs = world.pairs[link] ?? HistoryWorld.Pairs()
            func partners(_ number: Int) -> [Int] { (pairs.forward[number] ?? []) + (pairs.backward[number] ?? []) }
            let others = Set(numbers.flatMap(partners))
            // The order of a list is in the rows of all its members.
            near.formUnion(numbers.union(others).union(others.flatMap(partners)))
        }
        for change in changes {
            switch change {
            case .insert(let number, _, _), .set(let number, _, _): near.insert(number)
            case .link(let link, let from, let to, _, _), .unlink(let link, let from, let to, _):
                addPartners(link, [from, to])
            case .delete(let number):
                let gone = world.fallen(with: number, in: model)
                near.formUnion(gone)
                for link in model.links { addPartners(link.id, gone) }
            }
            _ = world.make(change, in: model, key: { _ in 0 })
        }
        return near
    }

    // MARK: - Saves

    /// How a program refuses a save for a rule of the model.
    static let invalid: Set = ["validation", "wrongType"]

    /// Whether a save is refused because objects have no destination where one is required, and did not before, or
    /// because a list that it changes has too few or too many.
    func lacks(_ after: HistoryWorld, besides before: HistoryWorld) -> Bool {
        after.lacks(besides: before, in: model())
    }

    /// The changes that make sense in a world, and what they make of it.
    func made(_ changes: [Change], in world: HistoryWorld, _ model: HistoryModel)
        -> (world: HistoryWorld, changes: [Change])
    {
        var (world, made) = (world, [Change]())
        for change in changes where world.make(change, in: model, key: { _ in 0 }) { made.append(change) }
        return (world, made)
    }

    /// The state after a save, with the keys that it will give to what is new and still there.
    func expecting(_ after: Snapshot, _ made: [Change]) -> Snapshot {
        var after = after
        after.world.giveKeys(made, in: model(), above: highest)
        after.transactions = nil
        return after
    }

    /// The state with the keys that a save has given.
    func giving(_ keys: [Int: Int], to after: Snapshot) throws -> Snapshot {
        var after = after
        for (number, key) in keys {
            let root = model().root(of: after.world.objects[number]?.entity ?? 0)
            if key <= given[root] ?? 0, after.world.objects[number] != nil {
                throw LifeFailure(kind: "key given twice", words: "\(key)")
            }
            after.world.objects[number]?.key = key
        }
        return after
    }
}
