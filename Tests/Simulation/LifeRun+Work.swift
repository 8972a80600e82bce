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

    /// What may refuse a program that opens, reads or saves.
    var programRefusals: Set<String> { locks.union(unreadable) }

    func work(_ action: Life.Action) throws -> Work {
        let left = stopped
        stopped = nil
        if mirror != nil {
            // A store with a mirror is not migrated, replaced or moved; a sync does not see what is written in SQL.
            switch action {
            case .migrate, .bar, .rollBack, .move, .downgrade, .finish, .spoilText, .repair, .mend, .putBack,
                .resume, .cutHistory:
                return Work { nil }
            default: break
            }
        }
        switch action {
        case .save(let api, let changes): return try saving(changes, api)
        case .look(let api): return looking(api)
        case .begin(let api, let changes): return beginning(changes, api)
        case .commit: return committing()
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
                var state = self.now
                state.isDeferred = try !self.face.finish(count)
                return state
            }
        case .backUp:
            return Work(refusals: locks) {
                try self.face.backUp()
                return nil
            }
        case .rollBack(let place): return rollingBack(place)
        case .prune(let days, let count):
            return Work {
                try self.face.prune(days: days, count: count)
                return nil
            }
        case .move:
            return Work(refusals: locks) {
                try self.face.move(to: self.destination ?? "")
                return nil
            }
        case .downgrade: return try downgrading()
        case .repair:
            return Work(refusals: locks) {
                // A save that dies may leave files that no row names.
                let rule = RepairRule.externalFiles.rawValue
                if let fault = try self.face.repair().first(where: { $0.rule != rule }) {
                    throw LifeFailure(kind: "repaired", words: "\(fault.rule) at \(fault.place) of a sound store")
                }
                return nil
            }
        case .mend: return try mending()
        case .putBack: return puttingBack()
        case .trimHistory(let trim):
            var trimmed = now
            if now.transactions != nil { trimmed.transactions = trim.left(of: saves).count }
            return Work(new: trimmed, refusals: locks) {
                let model = self.history.versions.versions[self.now.version].model
                let program = try ObjectsProgram([self.place()], model, on: self.disk.system)
                defer { program.close() }
                try program.trimHistory(trim)
                return nil
            }
        case .recover:
            return Work(refusals: locks) {
                _ = try self.keeper().recover()
                return nil
            }
        case .resume: return resuming(left)
        case .cutHistory(let count): return cuttingHistory(count)
        case .exportAndImport: return exporting()
        case .spoilText(let number, let attribute, let bytes): return spoiling(number, attribute, bytes ?? 0)
        case .spoilManifest(let place): return spoilingManifest(place)
        case .bar(let barrier, let entity): return barring(barrier, at: entity)
        case .retune:
            // What is on its way, or follows, was planned with the model before; SwiftData reads a class once.
            return Work {
                if self.mayRetune, self.beside?.mayRetune != false { try self.retune() }
                return nil
            }
        case .ask(let target): return asking(target)
        case .mirror(let act): return try mirroring(act)
        case .saveBoth(let api, let changes): return savingBoth(changes, api)
        case .migrateBoth(let target, let api): return try migratingBoth(to: target, api)
        }
    }

    private var mayRetune: Bool {
        mirror == nil && app == nil && rival == nil && paused == nil && !now.isDeferred && !history.isPlain
    }

    // MARK: - Programs

    private func saving(_ changes: [Change], _ api: API) throws -> Work {
        let model = model()
        var (after, made, isInvalid) = (now, [Change](), false)
        // A change that a rule refuses is the last: what comes later could mend it.
        for change in changes where !isInvalid {
            isInvalid = after.world.refuses(change, in: model)
            if isInvalid || after.world.make(change, in: model, key: { _ in 0 }) { made.append(change) }
        }
        isInvalid = isInvalid || lacks(after.world, besides: now.world)
        after = expecting(after, made)
        let (isBehind, nothing) = (isBehind, made.isEmpty)
        var refusals = overtaken(isWriting: true).union(programRefusals)
        // What the version of an app that is behind refuses besides, the store's model does not say.
        let isBound = isBehind && self.model(appVersion).links.contains(where: \.isRuled)
        // A list that a migration has left too short or too long may be checked with its object.
        let isOff = after.world.isMiscounted(in: model)
        if isInvalid || isBound || isOff || isBehind && lacksRequired(made, after.world) {
            refusals.formUnion(Self.invalid)
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
                if isBehind || self.hasMet { self.leave() }
                throw isCertain ? NothingSaved(cause: error) : error
            }
            if isBehind {
                // What is there already is not written.
                if self.isSame(after, as: self.now) { return self.now }
                throw LifeFailure(kind: "overtaken", words: "the app saved into a store that is another's")
            }
            self.note(made, to: after.world)
            return try self.giving(keys, to: after)
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
        let kinds = armed.subtracting([.slow, .clock])
        guard program is ObjectsProgram, !disk.hasDied, disk.hasMet,
            kinds.isSubset(of: [.inputOutputOnce, .inputOutputOn]), let error = error as? MigrationError
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
        return Work(refusals: overtaken(isWriting: false).union(programRefusals)) {
            let program = try self.app ?? self.program(api)
            let isOwn = self.app == nil
            defer { if isOwn { program.close() } }
            let seen: WitnessedObjects
            do {
                seen = try program.look(self.model(self.app == nil ? nil : self.appVersion))
            } catch {
                if isBehind || self.hasMet { self.leave() }
                throw error
            }
            // The other APIs' properties show nothing where a read fails, and SwiftData's for a text that is not UTF-8.
            guard !self.hasMet || program is ObjectsProgram, !(program is SwiftDataProgram && self.hasSpoiltText)
            else { return nil }
            if let difference = Self.difference(self.now.world.witnessed(in: self.model()), seen) {
                throw LifeFailure(kind: "a program sees others", words: "\(type(of: program)): \(difference)")
            }
            return nil
        }
    }

    private func spoiling(_ number: Int, _ id: Int, _ pattern: Int) -> Work {
        var after = now
        let model = model()
        guard let object = now.world.objects[number], !history.models.contains(where: \.derivesTexts),
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
        var manifest: (path: String, whole: Data)?
        var work = Work {
            let listed = try self.keeper().backups().backups.filter { $0.name == name }
            guard let backup = listed.first else { throw LifeFailure(kind: "backup lost", words: name) }
            // A move that died may have left it at both places.
            guard listed.count == 1 else { return nil }
            let path = "\(backup.folder)/manifest.json"
            let whole = FileManager.default.contents(atPath: path) ?? Data()
            manifest = (path, whole)
            try self.disk.system.write(Array(whole.prefix(whole.count / 2)), to: path, .own)
            return nil
        }
        // A fault may keep it from being cut.
        work.settleOutput = {
            guard let manifest, FileManager.default.contents(atPath: manifest.path) != manifest.whole else { return }
            self.backups[name] = nil
            self.spoilt.insert(name)
            // What it alone knows of entities that have gone is lost with it.
            self.given = self.given.filter { self.model().entity($0.key) != nil }
        }
        return work
    }

    // MARK: - Ways back

    private func rollingBack(_ place: Int?) -> Work {
        let names = (Array(backups.keys) + spoilt).sorted()
        let asked = place.flatMap { names.isEmpty ? nil : names[$0 % names.count] }
        var (wanted, refusals, mustBeRefused) = (asked, locks, false)
        if asked == nil {
            switch lastRun {
            case .made(let name): wanted = name
            case .without:
                // What it would have dropped is still there, or was dropped since.
                refusals.insert(now.isDeferred ? "deferredWork" : "backupNotFound")
                mustBeRefused = true
            case .none, .unknown:
                refusals.insert("backupNotFound")
                if now.isDeferred { refusals.insert("deferredWork") }
                if !spoilt.isEmpty { refusals.insert("backupInvalid") }
            }
        }
        if let wanted, backups[wanted] == nil {
            refusals.insert(spoilt.contains(wanted) ? "backupInvalid" : "backupNotFound")
            mustBeRefused = true
        }
        let states = wanted.flatMap { backups[$0] }.map { [$0] } ?? names.compactMap { backups[$0] }
        return Work(
            new: states.first, between: Array(states.dropFirst()), refusals: refusals, mustBeRefused: mustBeRefused
        ) { [wanted] in
            let restored = try self.face.rollBack(to: asked)
            self.paused = nil
            guard let state = self.backups[restored], wanted == nil || restored == wanted else {
                throw LifeFailure(kind: "unknown backup", words: restored)
            }
            return state
        }
    }

    private func exporting() -> Work {
        guard let name = backups.keys.sorted().last else { return Work { nil } }
        return Work(refusals: locks, settleOutput: importLeftArchive) {
            let face = try self.face
            try face.export(name, to: self.archive)
            if self.hasMet { return nil }
            try face.importBackup(self.archive)
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

    /// Goes back a version; only asks for the way while work is deferred, because what only the newer version has is
    /// then lost on it, which must be said.
    private func downgrading() throws -> Work {
        guard now.version > 0, !now.isDeferred || history.configuration == nil else { return Work { nil } }
        let (target, isRehearsal) = (now.version - 1, now.isDeferred)
        let way = WayBack(
            now.world, from: model(), to: model(target), earlier: Array(models.prefix(now.version)))
        guard isRehearsal || way.end != nil else { return Work { nil } }
        var back = Snapshot(version: target)
        back.world = way.end ?? back.world
        // What was written since the migration, and has no place in the columns that it left, is found in them.
        let mayConflict = isRehearsal && !(way.losses + way.obstacles).isEmpty
        return Work(new: isRehearsal ? nil : back, refusals: locks.union(mayConflict ? ["dataConflict"] : [])) {
            [keptBy = now] in
            let said = try self.face.downgrade(to: target, isRehearsal: isRehearsal)
            try self.check(said, way, to: target)
            return said.way == "mapping" && !isRehearsal ? back : keptBy
        }
    }
}
