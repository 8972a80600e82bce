import MoultBasics
import MoultEngine

/// A run that has not ended, as its journal describes it: its process died, or it waits for its next call.
package struct InterruptedRun: Sendable {
    private let journal: Journal
    /// The request that the journal keeps; nil if it keeps none, as that of an earlier version of Moult.
    package let request: StoreRequest?
    private let store: String
    /// The folder of the run's backups; nil for the one next to the store.
    private let backupFolder: String?

    /// - Returns: nil if there is no journal that can be read.
    package init?(of store: String, _ migrator: Migrator) throws {
        guard let journal = try migrator.journal(of: store) else { return nil }
        (self.journal, self.store) = (journal, store)
        let standard = try StoreRecords(of: store, migrator.system).backups
        backupFolder = journal.backups == standard ? nil : journal.backups
        var request = try? journal.request.map { try StoreRequest($0, place: store) }
        // The store may have been moved with its records.
        request?.store = store
        self.request = request
    }

    /// The request that finishes a migration at its own target, with its own options if they were kept; nil for other
    /// work.
    package var migration: StoreRequest? {
        guard journal.operation == .migrate else { return nil }
        return request ?? StoreRequest(store, to: journal.to, .migrate)
    }

    /// The use case that does the work again, with its settings; nil if they were not kept.
    package var again: Remedy? {
        if let migration { return migration.again }
        guard journal.operation == .rollback else { return request?.again }
        let backups: [Remedy.Setting] = backupFolder.map { [.backups($0)] } ?? []
        return journal.backup.map { "\(.rollback, with: [.to($0)] + backups)" }
    }

    /// Whether the run waits for its next call, and has changed nothing yet.
    var isPaused: Bool { journal.state == .paused }

    /// The work, as the subject of a sentence.
    package var work: String { journal.operation.work }

    /// The use case that brings the store to rest and finishes a migration.
    ///
    /// - Parameter isModelKnown: whether the interface knows a model, which it names if the journal does not.
    package func finishing(isModelKnown: Bool, _ settings: [Remedy.Setting] = []) -> Remedy {
        let needsModel = isModelKnown && migration.map { $0.models == nil } == true
        let needsBudget = journal.state == .paused && request == nil
        let needed: [Remedy.Setting] = (needsModel ? [.model("MODEL")] : []) + (needsBudget ? [.budget("1min")] : [])
        return "\(.recover, with: settings + needed)"
    }

    /// The sentences that say what the run was and what to do next.
    ///
    /// - Parameter isModelKnown: see ``finishing(isModelKnown:_:)``.
    package func sentences(isModelKnown: Bool) -> Remedy {
        let next = finishing(isModelKnown: isModelKnown)
        if let migration, isModelKnown || migration.models != nil {
            return "\(next) finishes the migration to \((migration.target ?? "").printable)."
        }
        let again: Remedy = again.map { " To begin \(work.lowercasedFirst) again: \($0)" } ?? ""
        return "\(next) recovers the store.\(again)"
    }
}

extension StoreRequest {
    /// Returns an engine that keeps this request in the journal of its run, so that another process can finish the
    /// work, or name it. A request that cannot be written is not kept: the run does not need it.
    func keeping(_ migrator: Migrator) -> Migrator {
        var options = migrator.options
        options.request = try? resolved(migrator.system).document
        return Migrator(options: options, system: migrator.system)
    }

    /// Returns the same request with paths that do not depend on the working folder.
    private func resolved(_ system: any System) throws -> StoreRequest {
        var request = self
        request.store = try system.resolve(store)
        request.models = try models?.resolved(system)
        (request.rules, request.plan) = (try rules.map(system.resolve), try plan.map(system.resolve))
        request.options.backupFolder = options.backupFolder.map(system.absolute)
        return request
    }

    /// The use case that does the same work, with its settings.
    package var again: Remedy {
        var models: [Remedy.Setting] = []
        if let files = self.models {
            models.append(.model(files.path))
            if let order = files.order { models.append(.order(order.joined(separator: ","))) }
        }
        // Several are those of moult.json, which a command reads again.
        let named = self.models?.mappings ?? []
        let mappings: [Remedy.Setting] = named.count == 1 ? named.map { .mapping($0) } : []
        let backups: [Remedy.Setting] = options.backupFolder.map { [.backups($0)] } ?? []
        let target: [Remedy.Setting] = target.map { [.to($0)] } ?? []
        let answers: [Remedy.Setting] = self.models?.answers.map { [.answers($0)] } ?? []
        let rules: [Remedy.Setting] = self.rules.map { [.rules($0)] } ?? []
        let fix: [Remedy.Setting] = options.appliesFixes || work == .applyFixes ? [.fix] : []
        let large: [Remedy.Setting] = options.allowsLargeQuarantine ? [.allowLargeQuarantine] : []
        let frugal: [Remedy.Setting] = options.keepsBackup ? [] : [.frugal]
        let losses: [Remedy.Setting] = options.acceptedLosses == .all ? [.acceptLosses] : []
        switch work {
        case .plan, .rehearse, .migrate, .migrateInto:
            let files = answers + mappings + rules + (plan.map { [.plan($0)] } ?? [])
            return "\(.migrate, with: models + target + files + fix + large + losses + frugal + backups + switches)"
        case .repair(let names, let date):
            let own: [Remedy.Setting] = (names.isEmpty ? [] : [.only(names)]) + (date.map { [.before($0)] } ?? [])
            return "\(.repair, with: models + own + large + losses + backups)"
        case .applyFixes: return "\(.validate, with: models + rules + fix + large + frugal + backups)"
        case .putBack(let numbers, let run):
            let own: [Remedy.Setting] =
                numbers.map { $0.map { .path("\($0)") } } ?? [run.map { .run($0) } ?? .everything]
            return "\(.restoreQuarantined, with: own + models + backups)"
        case .downgrade: return "\(.downgrade, with: models + target + answers + backups)"
        }
    }

    /// The settings of a migration that are neither files nor names.
    private var switches: [Remedy.Setting] {
        let all: [(Remedy.Setting, Bool)] = [
            (.stopAtEachVersion, options.stopsAtEachVersion), (.inPlace, options.isInPlace),
            (.normalise, options.normalises), (.deferred, options.defersWork), (.makeRoom, options.makesRoom),
            (.cloudKit, options.allowsCloudKit), (.experimental, options.isExperimental),
            (.fullVerify, options.comparesUnwrittenTables), (.again, options.maximumAttempts == .max),
        ]
        let configuration: [Remedy.Setting] = options.configuration.map { [.configuration($0)] } ?? []
        let budget: [Remedy.Setting] = options.budget.map { [.budget("\($0 / .seconds(1))s")] } ?? []
        return all.filter(\.1).map(\.0) + configuration + budget
    }
}

extension StoreRequest.Models {
    /// Returns the same files with paths that do not depend on the working folder. A file of answers that is not there
    /// is left out: it has answered nothing.
    package func resolved(_ system: any System) throws -> Self {
        try Self(
            path: system.resolve(path), order: order, answers: answers.flatMap { try? system.resolve($0) },
            mappings: mappings.map { try system.resolve($0) })
    }
}

extension RunOptions {
    /// Returns these options with those of `others` that are not the defaults.
    ///
    /// - Throws: what reading the options as a request throws.
    package func replacing(with others: RunOptions) throws -> RunOptions {
        func members(_ options: RunOptions) throws -> [JSONValue.Member] {
            try StoreRequest("", .migrate, options).document["options"]?.members ?? []
        }
        let defaults = try members(RunOptions())
        let given = try members(others).filter { !defaults.contains($0) }
        let kept = try members(self).filter { own in !given.contains { $0.key == own.key } }
        let request = try StoreRequest("", .migrate).document.members ?? []
        let options = JSONValue.Member("options", .object(kept + given))
        return try StoreRequest(.object(request.filter { $0.key != "options" } + [options]), place: "").options
    }
}

extension StoreKeeper {
    /// Returns the run that has not ended; nil if there is none.
    package func interrupted() throws -> InterruptedRun? { try InterruptedRun(of: store, migrator) }
}
