import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import MoultTesting

/// What each step does, and the states and refusals that the reference allows it.
extension LifeRun {
    /// A text that is not UTF-8 is read by no program, and refuses a save of its object.
    private var unreadable: Set<String> { hasSpoiltText ? ["dataConflict", "wrongType"] : [] }

    /// Whoever has the store open may keep others from changing it.
    private var locks: Set<String> { app != nil || reader != nil ? ["locked"] : [] }

    func work(_ action: Life.Action) throws -> Work {
        if mirror != nil {
            // A store with a mirror is not migrated, replaced or moved; a sync does not see what is written in SQL.
            switch action {
            case .migrate, .bar, .rollBack, .move, .downgrade, .finish, .spoilText, .repair: return Work { nil }
            default: break
            }
        }
        switch action {
        case .save(let api, let changes): return try saving(changes, api)
        case .look(let api): return looking(api)
        case .open(let api):
            return Work(refusals: locks) {
                guard self.app == nil else { return nil }
                self.app = try self.program(api)
                (self.appVersion, self.appStore) = (self.now.version, self.store)
                return nil
            }
        case .close:
            return Work {
                self.app?.close()
                self.app = nil
                return nil
            }
        case .read(let isOpen):
            return Work {
                self.reader?.close()
                self.reader = nil
                guard isOpen else { return nil }
                let file = try SQLiteFile(self.store, isWatched: true)
                try file.rows("BEGIN")
                try file.rows("SELECT count(*) FROM Z_PRIMARYKEY")
                self.reader = file
                return nil
            }
        case .migrate(let target, let way, let keepsReturned):
            return try migrating(to: target, way, keepsReturned: keepsReturned)
        case .finish(let count):
            var done = now
            done.isDeferred = false
            return Work(new: done, refusals: locks) {
                var options = MigrationOptions.sequential
                options.maximumAttempts = .max
                let outcome = try Migrator(options: options, system: self.disk.system).finishDeferred(
                    self.store, versions: self.history.versions, count.map { .units($0) } ?? .all)
                var state = self.now
                state.isDeferred = !outcome.isFinished
                return state
            }
        case .backUp:
            return Work(refusals: locks) {
                _ = try self.keeper().backUp()
                return nil
            }
        case .rollBack(let place): return rollingBack(place)
        case .prune(let days, let count):
            return Work {
                _ = try self.keeper().prune(
                    RetentionPolicy(keepAllDays: days, keepWeeklyDays: days * 4, minimumCount: count))
                return nil
            }
        case .move:
            return Work(refusals: locks) {
                _ = try self.keeper().move(to: self.destination ?? "")
                return nil
            }
        case .downgrade: return try downgrading()
        case .repair:
            return Work(refusals: locks.union(now.isDeferred ? ["deferredWork"] : [])) {
                let report = try self.keeper().repair(RepairRule.byDefault, isRehearsal: false)
                // A save that dies may leave files that no row names.
                if let fault = report.faults.first(where: { $0.rule != .externalFiles }) {
                    throw LifeFailure(kind: "repaired", words: "\(fault.rule) at \(fault.place) of a sound store")
                }
                return nil
            }
        case .trimHistory:
            var trimmed = now
            if now.transactions != nil { trimmed.transactions = 0 }
            return Work(new: trimmed, refusals: locks) {
                let program = try ObjectsProgram(
                    self.store, self.history.versions.versions[self.now.version].model,
                    configuration: self.history.configuration, on: self.disk.system)
                defer { program.close() }
                try program.trimHistory()
                return nil
            }
        case .recover:
            return Work(refusals: locks) {
                _ = try self.keeper().recover()
                return nil
            }
        case .exportAndImport: return exporting()
        case .spoilText(let number, let attribute, let bytes): return spoiling(number, attribute, bytes ?? 0)
        case .spoilManifest(let place): return spoilingManifest(place)
        case .bar(let barrier, let entity): return barring(barrier, at: entity)
        case .ask(let target): return asking(target)
        case .mirror(let act): return try mirroring(act)
        }
    }

    // MARK: - Programs

    /// - Parameter second: the path and the version of another store.
    func program(_ api: API, over second: (path: String, version: Int)? = nil) throws -> any Program {
        let (store, version) = second ?? (store, now.version)
        let model = history.versions.versions[version].model
        switch api {
        case .objects:
            return try ObjectsProgram(store, model, configuration: history.configuration, on: disk.system)
        case .swiftData where history.isPlain: return try SwiftDataProgram(store, version: version)
        case .coreData, .swiftData: return try CoreDataProgram(store, model, configuration: history.configuration)
        }
    }

    /// Whether another program has migrated or moved the store that the app has open.
    private var isBehind: Bool { app != nil && (appVersion != now.version || appStore != store) }
    private static let overtaken: Set = [
        "storeAhead", "fileNotFound", "unknownKey", "objectGone", "usage", "wrongType",
    ]

    private func saving(_ changes: [Change], _ api: API) throws -> Work {
        var (after, made, isInvalid) = (now, [Change](), false)
        let model = model()
        // A change that a rule refuses is the last: what comes later could mend it.
        for change in changes where !isInvalid {
            isInvalid = after.world.refuses(change, in: model)
            if isInvalid || after.world.make(change, in: model, key: { _ in 0 }) { made.append(change) }
        }
        isInvalid = isInvalid || !after.world.lacking(in: model).isSubset(of: now.world.lacking(in: model))
        // Keys are given in the save, to what is still there.
        var keys = highest
        for case .insert(let number, let entity, _) in made where after.world.objects[number] != nil {
            let root = model.entity(model.root(of: entity))?.name ?? ""
            keys[root, default: 0] += 1
            after.world.objects[number]?.key = keys[root] ?? 0
        }
        after.transactions = nil
        let (isBehind, nothing) = (isBehind, made.isEmpty)
        var refusals = (isBehind ? Self.overtaken : []).union(locks).union(unreadable)
        // What the version of an app that is behind refuses besides, the store's model does not say.
        let isBound = isBehind && self.model(appVersion).links.contains(where: \.isRuled)
        if isInvalid || isBound || isBehind && lacksRequired(made, after.world) {
            refusals.formUnion(["validation", "wrongType"])
        }
        return Work(
            new: nothing || isInvalid ? nil : after, refusals: refusals, mustBeRefused: isInvalid && !isBehind
        ) { [after, made] in
            guard !nothing else { return nil }
            let program = try self.app ?? self.program(api)
            let isOwn = self.app == nil
            defer { if isOwn { program.close() } }
            let keys: [Int: Int]
            do {
                keys = try program.save(made, in: self.now.world, of: model)
            } catch {
                // A program that another one has overtaken opens the store again.
                let isCertain = self.saysNothingIsSaved(error, program)
                if isBehind || self.disk.hasMet { self.leave() }
                throw isCertain ? NothingSaved(cause: error) : error
            }
            if isBehind {
                // What is there already is not written.
                if self.isSame(after, as: self.now) { return self.now }
                throw LifeFailure(kind: "overtaken", words: "the app saved into a store that is another's")
            }
            var after = after
            for (number, key) in keys {
                let root = model.root(of: after.world.objects[number]?.entity ?? 0)
                if key <= self.given[root] ?? 0, after.world.objects[number] != nil {
                    throw LifeFailure(kind: "key given twice", words: "\(key)")
                }
                after.world.objects[number]?.key = key
            }
            return after
        }
    }

    /// Whether a new object is given no value where the app's version requires one; the store's version, of which the
    /// changes are, may not. As in Core Data, a save validates its objects before it looks at the store.
    private func lacksRequired(_ made: [Change], _ after: HistoryWorld) -> Bool {
        let (model, own) = (model(), model(appVersion))
        for case .insert(let number, let entity, let values) in made {
            let known = own.entities.first { $0.name == model.entity(entity)?.name }.map { own.lineage($0.id) } ?? []
            for required in known.flatMap(\.attributes).map(\.description) where !required.isOptional {
                guard let id = model.attribute(required.name, of: entity)?.id else { continue }
                // What nothing is said of has the default value of the app's version.
                let isSaid = values[id] == "-" || made.contains(.set(number, attribute: id, text: "-"))
                if isSaid, after.objects[number]?.values[id] == "-" { return true }
            }
        }
        return false
    }

    /// Whether the error of a failed write says that the store has none of the changes.
    private func saysNothingIsSaved(_ error: any Error, _ program: any Program) -> Bool {
        guard program is ObjectsProgram, !disk.hasDied, armed == .inputOutputOnce || armed == .inputOutputOn,
            disk.hasMet, let error = error as? MigrationError
        else { return false }
        return !error.message.hasPrefix("The disk failed while changes were committed.")
    }

    private func isSame(_ one: Snapshot, as other: Snapshot) -> Bool {
        Self.difference(one.world.witnessed(in: model()), other.world.witnessed(in: model())) == nil
    }

    private func leave() {
        app?.close()
        app = nil
    }

    private func looking(_ api: API) -> Work {
        let isBehind = isBehind
        return Work(refusals: (isBehind ? Self.overtaken : []).union(locks).union(unreadable)) {
            let program = try self.app ?? self.program(api)
            let isOwn = self.app == nil
            defer { if isOwn { program.close() } }
            let seen: WitnessedObjects
            do {
                seen = try program.look(self.model(self.app == nil ? nil : self.appVersion))
            } catch {
                if isBehind || self.disk.hasMet { self.leave() }
                throw error
            }
            // SwiftData's properties show nil for a text that cannot be read.
            guard !self.disk.hasMet, !(program is SwiftDataProgram && self.hasSpoiltText) else { return nil }
            if let difference = Self.difference(self.now.world.witnessed(in: self.model()), seen) {
                throw LifeFailure(kind: "a program sees others", words: "\(type(of: program)): \(difference)")
            }
            return nil
        }
    }

    private func spoiling(_ number: Int, _ id: Int, _ pattern: Int) -> Work {
        var after = now
        let model = model()
        guard let object = now.world.objects[number],
            let declaring = model.lineage(object.entity).first(where: { $0.attributes.contains { $0.id == id } }),
            let attribute = declaring.attributes.first(where: { $0.id == id }), attribute.description.type == .string,
            !model.tree(of: object.entity).contains(where: { other in
                other.id != declaring.id
                    && other.attributes.contains { $0.description.name == attribute.description.name }
            })
        else { return Work { nil } }
        let patterns = HistoryValues.brokenTexts
        let broken = patterns[pattern % patterns.count]
        let bytes = pattern == 0 ? broken + [UInt8(truncatingIfNeeded: number)] : broken
        after.world.set("s:" + bytes.hexadecimal, for: id, of: number)
        let table = "Z" + (model.entity(model.root(of: object.entity))?.name.uppercased() ?? "")
        let column = attribute.description.lastName.uppercased()
        return Work(new: after) {
            let file = try SQLiteFile(self.store, isWatched: true)
            defer { file.close() }
            do {
                try file.rows(
                    "UPDATE \"\(table)\" SET \"Z\(column)\" = ? WHERE Z_PK = ?",
                    [.text(bytes), .integer(Int64(object.key))])
            } catch let failure as WitnessFailure {
                // Without a WAL, no program can commit while another one reads.
                let isExpected = try self.reader != nil && failure.isBusy && !file.isInWALMode
                guard isExpected else { throw failure }
                return self.now
            }
            return nil
        }
    }

    private func spoilingManifest(_ place: Int) -> Work {
        let names = backups.keys.sorted()
        guard !names.isEmpty else { return Work { nil } }
        let name = names[place % names.count]
        return Work {
            let listed = try StoreKeeper(self.store).backups().backups.filter { $0.name == name }
            guard let backup = listed.first else { throw LifeFailure(kind: "backup lost", words: name) }
            // A move that died may have left it at both places.
            guard listed.count == 1 else { return nil }
            let path = "\(backup.folder)/manifest.json"
            let bytes = [UInt8](FileManager.default.contents(atPath: path) ?? Data())
            try self.system.write(Array(bytes.prefix(bytes.count / 2)), to: path, .own)
            self.backups[name] = nil
            self.spoilt.insert(name)
            // What it alone knows of entities that have gone is lost with it.
            self.given = self.given.filter { self.model().entity($0.key) != nil }
            return nil
        }
    }

    // MARK: - Ways back

    private func rollingBack(_ place: Int?) -> Work {
        let names = (Array(backups.keys) + spoilt).sorted()
        let name = place.flatMap { names.isEmpty ? nil : names[$0 % names.count] }
        if let name, spoilt.contains(name) {
            return Work(refusals: locks.union(["backupInvalid"]), mustBeRefused: true) {
                _ = try self.keeper().rollback(to: name)
                return nil
            }
        }
        let states = name.flatMap { backups[$0] }.map { [$0] } ?? names.compactMap { backups[$0] }
        return Work(
            new: states.first, between: Array(states.dropFirst()),
            refusals: locks.union(["backupNotFound"] + (now.isDeferred || place == nil ? ["deferredWork"] : []))
                .union(place == nil && !spoilt.isEmpty ? ["backupInvalid"] : [])
        ) {
            do {
                let report = try self.keeper().rollback(to: name)
                self.paused = nil
                guard let state = self.backups[report.restored.name] else {
                    throw LifeFailure(kind: "unknown backup", words: report.restored.name)
                }
                return state
            } catch let error as MigrationError where error.code == .backupNotFound && name != nil {
                throw LifeFailure(kind: "backup lost", words: "\(error)")
            }
        }
    }

    private func exporting() -> Work {
        guard let name = backups.keys.sorted().last else { return Work { nil } }
        return Work(refusals: locks, settleOutput: importLeftArchive) {
            let keeper = self.keeper()
            try keeper.export(try keeper.backup(named: name), to: self.archive)
            if self.disk.hasMet { return nil }
            _ = try keeper.importBackup(self.archive, wasClosed: false)
            try self.system.removeTree(self.archive)
            return nil
        }
    }

    private var archive: String { "\(field)/temporary/exported.tar" }

    /// Imports an archive that is still there after a fault, and removes it.
    private func importLeftArchive() throws {
        guard try system.exists(archive) else { return }
        do {
            _ = try keeper().importBackup(archive, wasClosed: false)
        } catch {
            throw LifeFailure(kind: "export broken", words: "\(error)")
        }
        try system.removeTree(archive)
    }

    private func downgrading() throws -> Work {
        guard now.version > 0 else { return Work { nil } }
        if now.isDeferred { return rehearsingDowngrade() }
        // An entity that goes back into a hierarchy gets other keys there.
        let (new, old) = (model(), model(now.version - 1))
        let isMoved = new.entities.contains { old.entity($0.id) != nil && old.root(of: $0.id) != new.root(of: $0.id) }
        // What a number of another type under the same name becomes is not the reference's to say.
        let isReplaced = new.entities.contains { entity in
            let attributes = old.lineage(entity.id).flatMap(\.attributes)
            return new.lineage(entity.id).flatMap(\.attributes).contains { attribute in
                attributes.contains { $0.description.name == attribute.description.name && $0.id != attribute.id }
            }
        }
        // What has no destination in the older version, which requires one, cannot go back.
        let isLacking = !now.world.returned(from: new, to: old).lacking(in: old).isEmpty
        let isParted = history.configuration != nil && Set(new.entities.map(\.id)) != Set(old.entities.map(\.id))
        if isMoved || isReplaced || isParted || isLacking { return Work { nil } }
        var back = Snapshot(version: now.version - 1)
        back.world = now.world.returned(from: model(), to: model(now.version - 1))
        let keptBy = now
        return Work(
            new: back, refusals: locks.union(["noPath", "cannotInfer", "question", "dataConflict", "unsupported"])
        ) {
            let report = try self.keeper().downgrade(
                to: self.name(keptBy.version - 1), answers: { _ in try Answers(self.history.answers) },
                isRehearsal: false)
            switch report.way {
            case .mapping: return back
            case .leftovers: throw LifeFailure(kind: "leftovers", words: "of work that was not deferred")
            case .none, .backup, .impossible: return keptBy
            }
        }
    }

    /// Asks for the way back while work is deferred: what only the newer version has is lost on it, which must be said.
    private func rehearsingDowngrade() -> Work {
        guard history.configuration == nil else { return Work { nil } }
        let (new, old) = (model(), model(now.version - 1))
        let known = Set(old.entities.flatMap(\.attributes).map(\.id))
        func isLost(_ attribute: HistoryModel.Attribute, of object: HistoryWorld.Object) -> Bool {
            let names = old.lineage(object.entity).flatMap(\.attributes).map(\.description.name)
            guard !known.contains(attribute.id), !names.contains(attribute.description.name) else { return false }
            return ![nil, "-", HistoryValues.text(attribute.description.defaultValue)].contains(
                object.values[attribute.id])
        }
        let isLosing = now.world.objects.values.contains { object in
            old.entity(object.entity) == nil
                || new.lineage(object.entity).flatMap(\.attributes).contains { isLost($0, of: object) }
        }
        return Work(
            refusals: locks.union([
                "noPath", "cannotInfer", "question", "dataConflict", "unsupported", "deferredWork", "usage",
            ])
        ) {
            let report = try self.keeper().downgrade(
                to: self.name(self.now.version - 1), answers: { _ in try Answers(self.history.answers) },
                isRehearsal: true)
            switch report.way {
            case .mapping, .leftovers:
                if isLosing { throw LifeFailure(kind: "loss not said", words: "of the way back to \(report.to)") }
            case .none, .backup, .impossible: break
            }
            return nil
        }
    }
}
