import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultSession

/// Damage that a repair promises to mend, and objects that rules set apart and that come back.
extension LifeRun {
    /// What was done to the store's file, and what a repair makes of it.
    struct Wound {
        let rule: RepairRule
        var statements: [(sql: String, values: [SQLiteFile.Value])] = []
        /// The path of a file that no row names.
        var file: String?
        var after: Snapshot
    }

    /// Does what a program does wrong, on a disk without faults; nothing where it makes no sense, or where the
    /// reference could not say what is right.
    func wound(by damage: Life.Damage) throws -> Wound? {
        guard app == nil, rival == nil, reader == nil, mirror == nil, !now.isDeferred, !hasSpoiltText else {
            return nil
        }
        let file = try SQLiteFile(store)
        defer { file.close() }
        guard let wound = try wound(by: damage, file) else { return nil }
        for (sql, values) in wound.statements { try file.rows(sql, values) }
        if let path = wound.file { try system.write([1, 2, 3], to: path, .own) }
        // A counter that is lost no longer tells of objects that are gone.
        if case .counter(let root) = damage { given[root] = nil }
        return wound
    }

    private func wound(by damage: Life.Damage, _ file: SQLiteFile) throws -> Wound? {
        let model = model()
        var after = now
        after.transactions = nil
        switch damage {
        case .dangling(let link, let owner, let isBackward): return dangling(link, owner, isBackward, after)
        case .counter(let root):
            guard let entity = model.entity(root), entity.parent == nil,
                now.world.objects.values.contains(where: { model.root(of: $0.entity) == root })
            else { return nil }
            let name = SQLiteFile.Value.text(Array(entity.name.utf8))
            let sql = "UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = ?"
            return Wound(rule: .keyCounters, statements: [(sql, [name])], after: after)
        case .index(let place):
            let names = try indexes(file)
            guard !names.isEmpty else { return nil }
            let sql = "DROP INDEX \"\(names[place % names.count])\""
            return Wound(rule: .indexes, statements: [(sql, [])], after: after)
        case .stranger(let number):
            // Only where one entity has rows in the table is it clear which the row was of.
            guard let object = now.world.objects[number],
                model.tree(of: object.entity).filter({ !$0.isAbstract }).count == 1, !model.derivesOverLinks
            else { return nil }
            let sql = "UPDATE \"\(table(of: object.entity))\" SET Z_ENT = 9999 WHERE Z_PK = ?"
            return Wound(rule: .numbers, statements: [(sql, [.integer(Int64(object.key))])], after: after)
        case .file:
            let folder = Self.support(of: store) + "/_EXTERNAL_DATA"
            guard try system.exists(folder) else { return nil }
            return Wound(
                rule: .externalFiles, file: "\(folder)/00000000-0000-4000-8000-00000000DEAD", after: after)
        case .transaction:
            guard !saves.isEmpty, let oldest = try file.rows("SELECT min(ZTRANSACTIONID) FROM ACHANGE")[0][0].integer
            else { return nil }
            let sql = "DELETE FROM ATRANSACTION WHERE Z_PK = ?"
            return Wound(rule: .history, statements: [(sql, [.integer(oldest)])], after: after)
        }
    }

    private func table(of entity: Int) -> String {
        "Z" + (model().entity(model().root(of: entity))?.name.uppercased() ?? "")
    }

    private func indexes(_ file: SQLiteFile) throws -> [String] {
        try file.rows("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name GLOB 'Z*'")
            .compactMap { $0[0].text }.sorted()
    }

    private func dangling(_ id: Int, _ owner: Int, _ isBackward: Bool, _ after: Snapshot) -> Wound? {
        let model = model()
        // What is written past a program's triggers leaves wrong what they compute.
        guard let link = model.link(id), let end = isBackward ? link.inverse : link.end, !end.isToMany,
            !model.derivesOverLinks, end.isRequired != true, let object = now.world.objects[owner],
            let pairs = now.world.pairs[id],
            let other = (isBackward ? pairs.backward : pairs.forward)[owner]?.first
        else { return nil }
        // Two properties of one table may have one column's name.
        let names = model.tree(of: object.entity).flatMap(\.attributes).map(\.description.lastName)
        let members = Set(model.tree(of: object.entity).map(\.id))
        let toOnes = model.links.flatMap(\.ends).filter { members.contains($0.entity) && !$0.isToMany }.map(\.name)
        guard (names + toOnes).filter({ $0.uppercased() == end.name.uppercased() }).count == 1 else { return nil }
        var after = after
        if (isBackward ? link.end : link.inverse)?.isToMany == false {
            // The other end still names the object: the link is set again, if apps are known to write both ends.
            guard pairs.forward.values.filter({ !$0.isEmpty }).count > 1 else { return nil }
        } else {
            let (from, to) = isBackward ? (other, owner) : (owner, other)
            guard after.world.make(.unlink(id, from: from, to: to, isBackward: false), in: model, key: { _ in 0 })
            else { return nil }
        }
        let sql = "UPDATE \"\(table(of: object.entity))\" SET \"Z\(end.name.uppercased())\" = -5 WHERE Z_PK = ?"
        return Wound(rule: .dangling, statements: [(sql, [.integer(Int64(object.key))])], after: after)
    }

    func mending() throws -> Work {
        guard let wound else { return Work { nil } }
        func mend() throws -> RepairReport {
            let report = try keeper().repair(RepairRule.byDefault, isRehearsal: false)
            let known: [RepairRule] = [wound.rule, .externalFiles] + (wound.rule == .dangling ? [.inverses] : [])
            if let fault = report.faults.first(where: { !known.contains($0.rule) || $0.left > 0 }) {
                throw LifeFailure(kind: "repaired", words: "\(fault.rule) at \(fault.place), \(fault.left) left")
            }
            return report
        }
        var work = Work(new: wound.after) {
            let report = try mend()
            if !self.hasMet, !report.faults.contains(where: { $0.rule == wound.rule }) {
                throw LifeFailure(kind: "not repaired", words: "\(wound.rule): \(wound.statements.map(\.sql))")
            }
            return nil
        }
        work.settleOutput = { try self.mendAgain(wound, mend) }
        return work
    }

    /// What a fault has kept from being mended is mended once the disk works, and then nothing is left to mend.
    private func mendAgain(_ wound: Wound, _ mend: () throws -> RepairReport) throws {
        do {
            _ = try mend()
            let report = try mend()
            guard let fault = report.faults.first else { return }
            throw LifeFailure(kind: "not repaired", words: "\(fault.rule) at \(fault.place), the third time")
        } catch let error as MigrationError {
            throw LifeFailure(kind: "not repaired", words: "\(wound.rule): \(error)")
        }
    }

    // MARK: - The quarantine

    /// Objects that a migration has set apart.
    struct Apart {
        let run: String
        let store: String
        let count: Int
        /// The states with them, and without them.
        let before: Snapshot
        let after: Snapshot
    }

    /// A migration whose rules set objects of one entity apart.
    func settingApart(to target: Int, _ entity: Int, _ remainder: Int) throws -> Work {
        let path = try history.path(from: now.version, to: target, keepsReturned: false)
        guard var before = way(to: target).last else { return Work { nil } }
        let numbers = Set(
            before.world.objects.filter { $0.value.entity == entity && $0.value.key % 3 == remainder }.keys)
        let keys = Set(numbers.compactMap { before.world.objects[$0]?.key })
        before.transactions = numbers.isEmpty ? before.transactions : nil
        var after = before
        after.world = before.world.removing(numbers: numbers)
        // Objects that others have to have as their destination stay.
        let model = model(target)
        guard after.world.lacking(in: model).isSubset(of: before.world.lacking(in: model)) else { return Work { nil } }
        return Work(
            new: after, refusals: locks.union(unfit(before)), mustBeRefused: before.conflict == .mustRefuse
        ) { [before, after] in
            var context = try self.context(path.answers, .plain)
            if let name = self.model(target).entity(entity)?.name {
                context.registry.rules = [
                    ValidationRule(
                        "set apart", of: name,
                        .code { $0.id.entityName != name || !keys.contains(Int($0.id.key)) }, fix: .quarantine)
                ]
            }
            (context.registry.appliesFixes, context.registry.allowsLargeQuarantine) = (true, true)
            let report = try StoreSession(
                StoreRequest(self.store, to: self.name(target), .migrate, self.options(.plain)), context,
                on: self.disk.system
            ).run()
            guard report.quarantined == Int64(numbers.count) else {
                throw LifeFailure(kind: "quarantine differs", words: "\(report.quarantined) of \(numbers.count)")
            }
            self.paused = nil
            self.apart = nil
            // A text that cannot be read is kept, and not put back.
            if let run = report.run, !numbers.isEmpty, !self.hasMet, !self.hasSpoiltText {
                self.apart = Apart(
                    run: run, store: self.store, count: numbers.count, before: before, after: after)
            }
            return after
        }
    }

    /// Whether the store is as it was when objects were set apart, so that all that they had can come back.
    var canPutBack: Bool {
        guard let apart, mirror == nil, !now.isDeferred else { return false }
        return apart.store == store && apart.after.version == now.version && apart.after.world == now.world
    }

    func puttingBack() -> Work {
        guard canPutBack, let apart else { return Work { nil } }
        return Work(new: apart.before, refusals: locks) {
            let report = try self.keeper().restore(quarantined: .run(apart.run), isRehearsal: false)
            self.apart = nil
            let lost = report.refused.map(\.reason) + report.restored.flatMap(\.lostLinks)
            guard self.hasMet || lost.isEmpty && report.restored.count == apart.count else {
                throw LifeFailure(
                    kind: "not put back", words: "\(report.restored.count) of \(apart.count): \(lost.prefix(3))")
            }
            return nil
        }
    }
}
