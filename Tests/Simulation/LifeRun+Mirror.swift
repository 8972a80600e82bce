import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultPlan

/// A mirror: after each sync, the second store is what a migration of the first is.
extension LifeRun {
    /// The second store, as the reference has it.
    struct Mirror {
        let path: String
        let target: Int
        let answers: [Answer]
        /// What it holds.
        var state: Snapshot
    }

    func mirroring(_ act: Life.MirrorAct) throws -> Work {
        switch act {
        case .start(let target): return try starting(min(target, models.count - 1))
        case .sync(let all):
            return following(copies: true) { mirror in
                try self.face.synchronise(mirror, all: all)
            }
        case .verify:
            return following(copies: false) { mirror in
                let difference = try self.face.difference(mirror)
                guard difference == nil || self.hasMet else {
                    throw LifeFailure(kind: "mirror differs", words: difference ?? "")
                }
            }
        case .visit(let changes, let api): return visiting(changes, api)
        case .stop:
            guard mirror != nil else { return Work { nil } }
            return Work(endsMirror: true) {
                try self.face.stopMirror()
                return nil
            }
        }
    }

    private func starting(_ target: Int) throws -> Work {
        guard mirror == nil, target > now.version, !now.isDeferred else { return Work { nil } }
        // The second of two objects that a policy makes has another key in each sync.
        let policies = ((now.version + 1)...target).compactMap { history.mappings[$0]?.policy }
        guard !policies.contains(where: { $0.splits == true }) else { return Work { nil } }
        let answers = try history.path(from: now.version, to: target, keepsReturned: false).answers
        guard let last = way(to: target).last else { return Work { nil } }
        let path = "\(field)/\(prefix)Second.sqlite"
        let second = Mirror(path: path, target: target, answers: answers, state: unhistoric(last))
        return Work(
            refusals: unfit(last), mustBeRefused: last.conflict == .mustRefuse, second: second
        ) {
            try self.face.start(second)
            return nil
        }
    }

    /// What the history of a second store has is not the reference's to say.
    private func unhistoric(_ state: Snapshot) -> Snapshot {
        var state = state
        state.transactions = nil
        return state
    }

    private func following(copies: Bool, _ body: @escaping (Mirror) throws -> Void) -> Work {
        guard var second = mirror, let last = way(to: second.target).last else { return Work { nil } }
        second.state = unhistoric(last)
        return Work(
            refusals: unfit(last), mustBeRefused: copies && last.conflict == .mustRefuse, second: second
        ) { [second] in
            try body(second)
            return nil
        }
    }

    // MARK: - To the second store and back

    /// Whether all that the first version has is in the other in the same form, but for values, and whatever is set
    /// there has a place in the other.
    private func isVisitable(_ target: Int) -> Bool {
        let (old, new) = (model(), model(target))
        let mappings = ((now.version + 1)...target).compactMap { history.mappings[$0] }
        if mappings.flatMap(\.changes).contains(where: { $0.means == .converted }) { return false }
        let entities = old.entities.allSatisfy { entity in
            guard let later = new.entity(entity.id) else { return false }
            return later.parent == entity.parent && later.isAbstract == entity.isAbstract
        }
        let links = old.links.allSatisfy { link in
            guard let later = new.link(link.id), (later.inverse == nil) == (link.inverse == nil) else { return false }
            return zip(later.ends, link.ends).allSatisfy {
                $0.entity == $1.entity && $0.isToMany == $1.isToMany && $0.isOrdered == $1.isOrdered
            }
        }
        return entities && links
    }

    /// Whether what a change writes to the second store has a place in the first.
    func hasPlace(_ change: Change, _ target: Int) -> Bool {
        let (old, new) = (model(), model(target))
        func isSame(_ id: Int, _ entity: Int) -> Bool {
            func find(_ model: HistoryModel) -> HistoryModel.Attribute? {
                model.lineage(entity).flatMap(\.attributes).first { $0.id == id }
            }
            guard let before = find(old)?.description, let after = find(new)?.description else { return false }
            return before.type == after.type && before.isOptional == after.isOptional
        }
        switch change {
        case .insert(_, let entity, _):
            return old.entity(entity) != nil
                && (old.lineage(entity) + new.lineage(entity)).flatMap(\.attributes).allSatisfy {
                    isSame($0.id, entity)
                }
        case .set(let number, let attribute, _):
            return now.world.objects[number].map { isSame(attribute, $0.entity) } ?? false
        case .link(let link, _, _, _, _), .unlink(let link, _, _, _): return old.link(link) != nil
        case .delete: return true
        }
    }

    private func visiting(_ changes: [Change], _ api: API) -> Work {
        guard let mirror, app == nil, reader == nil, !hasSpoiltText, let last = way(to: mirror.target).last,
            isVisitable(mirror.target)
        else { return Work { nil } }
        let new = model(mirror.target)
        var (after, made) = (last, [Change]())
        for change in changes
        where hasPlace(change, mirror.target) && after.world.make(change, in: new, key: { _ in 0 }) {
            made.append(change)
        }
        guard after.world.lacking(in: new).isEmpty, !after.world.isMiscounted(in: new) else { return Work { nil } }
        var visit = Visit(last: last, after: after)
        var work = Work(refusals: mayBeOneWay(to: mirror.target) ? ["unsupported"] : []) {
            let face = try self.face
            try face.cutOver(mirror)
            visit.hasBegun = true
            let witness = try StoreWitness(self.copy(mirror.path), new, support: Self.support(of: mirror.path))
            visit.after.world.giveKeys(made, in: new, above: witness.highest)
            let program = try self.program(api, over: (mirror.path, mirror.target))
            do {
                defer { program.close() }
                for (number, key) in try program.save(made, in: last.world, of: new) {
                    visit.after.world.objects[number]?.key = key
                }
            }
            do { try face.undoCutOver(mirror) } catch let error as MigrationError
                where error.code == .unsupported && !self.hasMet
            {
                throw LifeFailure(kind: "no way back", words: "after a cut-over that was not one-way: \(error)")
            }
            visit.isDone = true
            return nil
        }
        work.settleStore = { try self.settleVisit(visit) }
        return work
    }

    /// What apps have done with the second store so far.
    private struct Visit {
        /// What it had when they came.
        let last: Snapshot
        /// What it has after their save.
        var after: Snapshot
        var hasBegun = false
        var isDone = false
    }

    /// Lets apps go back that a fault has kept with the second store, and finds what both stores hold.
    private func settleVisit(_ visit: Visit) throws -> Snapshot? {
        guard let mirror else { return nil }
        guard let record = try MirrorRecord.read(StoreRecords(store: store), system) else {
            throw LifeFailure(kind: "mirror lost", words: "of \(mirror.path)")
        }
        if record.state == .cutOver {
            var left = try MirroredStore(of: store, context(mirror.answers, .plain), on: disk.system)
            try left.undoCutOver()
        }
        // A fault came before the save or after it, or apps never were there.
        let wereThere = visit.hasBegun || record.state == .cutOver
        let there = visit.isDone ? [visit.after] : wereThere ? [visit.after, visit.last] : []
        // What was not written to is as it was, or what the mapping makes of it.
        let back = there.flatMap { state in
            [true, false].map { returned(state, from: visit.last, keepsUnwritten: $0) }
        }
        now = try identify(
            store, among: back + (visit.isDone ? [] : [now]), "the store that apps went back to")
        let next = way(to: mirror.target).last ?? visit.last
        let seconds = visit.isDone ? [next] : [next, visit.last, mirror.state] + there
        self.mirror?.state = unhistoric(
            try identify(mirror.path, among: seconds.map(unhistoric), "the second store"))
        return now
    }

    /// What the first store has after changes to the second.
    private func returned(_ after: Snapshot, from last: Snapshot, keepsUnwritten: Bool) -> Snapshot {
        let (old, new) = (model(), model(last.version))
        var state = now
        state.transactions = nil
        state.world = after.world.returned(from: new, to: old)
        for (number, object) in state.world.objects {
            guard let before = now.world.objects[number] else { continue }
            let later = Set(new.lineage(object.entity).flatMap(\.attributes).map(\.id))
            for attribute in old.lineage(object.entity).flatMap(\.attributes) {
                let isWritten =
                    after.world.objects[number]?.values[attribute.id]
                    != last.world.objects[number]?.values[attribute.id]
                if !later.contains(attribute.id) || keepsUnwritten && !isWritten {
                    state.world.objects[number]?.values[attribute.id] = before.values[attribute.id]
                }
            }
        }
        return state
    }

    // MARK: - What must hold

    /// Finds what a step has left of the mirror, which must be old or new.
    func settleMirror(_ work: Work, _ ending: Ending, isDamageAllowed: Bool) throws {
        let record = try MirrorRecord.read(StoreRecords(store: store), system)
        let path = (work.second ?? mirror)?.path ?? ""
        guard let record, record.state != .starting else {
            if case .done = ending, let mirror, work.second != nil {
                throw LifeFailure(kind: "mirror lost", words: "of \(mirror.path)")
            }
            let isStopped = mirror != nil
            if record != nil { try MirroredStore.stop(store) }
            mirror = nil
            // A start that failed leaves nothing; both stores of a mirror that ended stay.
            if !isStopped, try system.exists(path) {
                throw LifeFailure(kind: "second store left", words: "at \(path)")
            }
            return try clear(path)
        }
        // What is left of a mirror that was to end is ended again; the second store may have lost its mark.
        if work.endsMirror { return try endMirror() }
        var states = work.second.map { [$0.state] } ?? []
        if case .done = ending, !states.isEmpty {} else if let mirror { states.append(mirror.state) }
        do {
            let found = try identify(path, among: states, "the second store")
            mirror = work.second ?? mirror
            mirror?.state = unhistoric(found)
        } catch let failure as LifeFailure where isDamageAllowed {
            tally["second store given up: \(failure.kind)", default: 0] += 1
            try endMirror()
        }
    }

    /// Ends the mirror, and removes the second store.
    func endMirror() throws {
        guard let path = mirror?.path else { return }
        mirror = nil
        if try MirrorRecord.read(StoreRecords(store: store), system) != nil { try MirroredStore.stop(store) }
        try clear(path)
    }
}
