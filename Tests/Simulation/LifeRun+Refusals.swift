import MoultBasics
import MoultCoreData
import MoultEngine
import MoultModel
import MoultObjects
import MoultTesting

/// The reasons for refusals and errors: facts of the reference's own state, of the models or of the fault. No code is
/// allowed always.
extension LifeRun {
    /// How a step ended, and the states that there may be after it.
    func judge(_ result: Result<Snapshot?, any Error>, _ work: Work, _ hit: Bool) throws -> (Ending, [Snapshot]) {
        let all = [now] + (work.new.map { [$0] } ?? []) + work.between
        // A machine that is lost says nothing, and excuses nothing when its disk is opened again.
        if disk.hasDied { return (.died, all) }
        switch result {
        case .success(let state):
            if work.mustBeRefused, !hit {
                throw LifeFailure(kind: "not refused", words: "the reference says \(work.refusals.sorted())")
            }
            return (.done, [state ?? work.new ?? now])
        case .failure(let failure as LifeFailure): throw failure
        case .failure(let thrown):
            let nothing = thrown as? NothingSaved
            let error = nothing?.cause ?? thrown
            let code = (error as? MigrationError)?.code.description
            // What a program reads wrong may stand for anything.
            let isWrong = action.isOfProgram && armed.contains(.wrongBit)
            guard work.refuses(error) || hit && (isWrong || armed.contains { $0.explains(error) }) else {
                throw LifeFailure(
                    kind: hit ? "unexplained: \(code ?? "")" : code.map { "refused: \($0)" } ?? "failed",
                    words: "\(error)")
            }
            if hit { return (.failed(error), nothing == nil ? all : [now]) }
            return ((error as? MigrationError).map { .refused($0) } ?? .failed(error), [now] + work.reached)
        }
    }

    /// Whoever has the store open may keep others from changing it.
    var locks: Set<String> { app != nil || rival != nil || reader != nil ? ["locked"] : [] }

    // MARK: - Programs

    /// Whether another program has migrated or moved the store that the app has open.
    var isBehind: Bool { app != nil && (appVersion != now.version || appStore != store) }

    /// The refusals of a program that another one has overtaken: the store is of another version, or elsewhere.
    ///
    /// - Parameter isWriting: whether it names what its own version may lack, or know as something else.
    func overtaken(isWriting: Bool) -> Set<String> {
        guard isBehind else { return [] }
        var codes: Set<String> = appStore == store ? [] : ["fileNotFound"]
        if appVersion != now.version { codes.formUnion(["storeAhead", "objectGone"]) }
        guard isWriting else { return codes }
        let own = model(appVersion).places
        for (place, kind) in model().places where own[place] != kind {
            let isRetyped = own[place]?.isAttribute == true && kind.isAttribute
            codes.formUnion(isRetyped ? ["wrongType"] : ["unknownKey", "usage"])
        }
        return codes
    }

    // MARK: - Migrations

    /// Whether code of the app runs on the way to a version.
    func hasCode(to target: Int) -> Bool {
        history.stages.keys.contains { $0 > now.version && $0 <= target }
            || history.mappings.keys.contains { $0 > now.version && $0 <= target }
    }

    /// Whether a migration may be refused in place: it runs code, or some version has other tables.
    func mayWriteRows(to target: Int) -> Bool {
        hasCode(to: target) || now.isDeferred
            || (now.version...target).contains { model($0).tables != model().tables }
    }

    /// Whether what is written to a second store may have no place in the first: some version has another form, or a
    /// value that the first derives is computed anew.
    func mayBeOneWay(to target: Int) -> Bool {
        hasCode(to: target)
            || (now.version...target).contains {
                model($0).form != model().form || !model($0).keepsDerived(of: model())
            }
    }

    /// Whether a migration may be refused that accepts no loss: a state on the way has less than the one before, or,
    /// of a later pass, whose rows are not known yet, a version has.
    func mayLose(_ states: [Snapshot]) -> Bool {
        let hasCode = states.last.map { self.hasCode(to: $0.version) } ?? false
        return zip([now] + states, states).enumerated().contains { place, edge in
            let (old, new) = (model(edge.0.version), model(edge.1.version))
            let mapping = history.mappings[edge.1.version]
            if place > 0, hasCode { return mapping != nil || !new.holdsAll(of: old) }
            return edge.1.loses(against: edge.0, old, new) || mapping?.overwrites(edge.0.world) == true
        }
    }

    // MARK: - Ways back

    /// Which backup a rollback means that names none, as far as the reference knows.
    enum LastRun: Equatable {
        /// Nothing has changed the store.
        case none
        case made(String)
        /// The last run made no backup.
        case without
        /// A fault has met a run, or the reference does not follow it.
        case unknown
    }

    /// - Parameter known: the names of the backups before the step.
    func noteRun(after before: Snapshot, _ ending: Ending, hit: Bool, known: Set<String>) {
        switch action {
        case .migrate, .migrateBoth, .downgrade, .repair, .mend, .putBack, .move, .mirror: break
        default: return
        }
        switch ending {
        case .refused where !hit && now.version == before.version: return
        case .done where !hit:
            switch action {
            case .migrate(_, let way, _) where way == .rehearsal || now.version == before.version && way != .into:
                return
            case .migrate(_, .into, _), .repair, .mend, .putBack, .move, .mirror: lastRun = .unknown
            default:
                guard now.version != before.version else { return }
                let new = Set(backups.keys).subtracting(known)
                lastRun = new.max().map { .made($0) } ?? (now.isDeferred ? .without : .unknown)
            }
        default: lastRun = .unknown
        }
    }

    /// Checks that a store stays of its version only for a reason, and goes back only if nothing is lost.
    func check(_ said: Said.WayBack, _ way: WayBack, to target: Int) throws {
        guard !hasMet else { return }
        let isKnown = backups.values.contains { $0.version == target }
        switch said.way {
        case "leftovers" where !now.isDeferred:
            throw LifeFailure(kind: "leftovers", words: "of work that was not deferred")
        case "mapping", "leftovers":
            guard let loss = way.losses.first else { return }
            throw LifeFailure(kind: "loss not said", words: "of the way back to \(name(target)): \(loss)")
        case "backup", "impossible":
            let reasons = way.losses + way.obstacles + (hasSpoiltText ? ["a text that is not UTF-8"] : [])
            let isLeft = now.isDeferred && !said.losses.isEmpty && said.losses.allSatisfy(way.hasLeft)
            if reasons.isEmpty, !isLeft {
                throw LifeFailure(kind: "no reason to stay", words: said.losses.joined(separator: " "))
            }
            let name = said.backup ?? ""
            if said.way == "impossible" ? isKnown : backups[name].map({ $0.version != target }) ?? false {
                throw LifeFailure(kind: "wrong backup offered", words: "\(name) for \(self.name(target))")
            }
        default: throw LifeFailure(kind: "did nothing", words: "on the way back to \(name(target)): \(said.way)")
        }
    }
}

extension LifeRun {
    /// What a step does, and what the reference says of it.
    struct Work {
        /// The state that the work leads to; nil if it changes nothing.
        var new: Snapshot?
        /// Other states that a fault may leave.
        var between: [Snapshot] = []
        /// The codes of the refusals that the state gives a reason for.
        var refusals: Set<String> = []
        /// Whether it has to be refused.
        var mustBeRefused = false
        /// States that a refusal may leave.
        var reached: [Snapshot] = []
        /// What the work leads the second store of a mirror to; nil if it leaves it as it is.
        var second: Mirror?
        /// Whether it ends the mirror.
        var endsMirror = false
        /// What the work leads the other store to, once it is done; nil if it has nothing to do with it.
        var beside: (() -> Snapshot)?
        /// Examines and removes what it has made at a path of its own: all of it is there, or nothing.
        var settleOutput: () throws -> Void = {}
        /// Ends what a fault has left half done, and finds the state of the store; nil if it is one of those above.
        var settleStore: () throws -> Snapshot? = { nil }
        /// Does it.
        ///
        /// - Returns: the state that the store must have now; nil for ``new``.
        var body: () throws -> Snapshot?
    }
}

extension LifeRun.Work {
    /// Whether the state gives a reason for an error.
    fileprivate func refuses(_ error: any Error) -> Bool {
        if let error = error as? MigrationError { return refusals.contains(error.code.description) }
        return refusals.contains("validation") && (error is ValidationErrors || error is ManagedObjectValidationError)
    }
}

extension Fault.Kind {
    /// Whether the fault, which was met, is the reason for an error: the error has a code that means it, or tells it
    /// as its cause.
    fileprivate func explains(_ error: any Error) -> Bool {
        let (codes, words) = errors
        if let code = (error as? MigrationError)?.code {
            if codes.contains(code) { return true }
            if Self.unexplained.contains(code) { return false }
        }
        let text = "\(error)"
        return words.contains { text.contains($0) }
    }

    /// Errors that speak of models, of answers and choices, or of what is known to be there. A disk that fails and memory
    /// that runs out change none of that, and only hide it; what they hide must not be taken for gone.
    private static let unexplained: Set<MigrationError.Code> = [
        .question, .cannotInfer, .stagesInvalid, .incompatibleVersion, .noPath, .storeAhead, .migrationRequired,
        .storeUnknown, .planStale, .lossNotAccepted, .wouldReplace, .codeMissing, .hardLinked, .cloudKit,
        .budgetTooSmall, .tooManyAttempts, .quarantineTooLarge, .mirrorDiverged, .historyTokenExpired,
        .backupNotFound, .unknownKey, .objectGone, .modelNotFound, .modelInvalid, .invalidPredicate, .cancelled,
        .rulesBroken,
    ]

    private var errors: (codes: Set<MigrationError.Code>, words: [String]) {
        // Without a code: the witness's own file, and an object that SwiftData's API cannot say why it did not find.
        let failures = [
            "disk I/O error", "Input/output error", "unable to open database file", "The disk failed", "does not open",
            "no model ",
        ]
        switch self {
        case .fullOnce, .fullOn:
            return ([.insufficientStorage], ["No space left", "disk is full", "volume is full", "became full"])
        case .inputOutputOnce, .inputOutputOn: return ([.inputOutput, .fileNotReadable], failures)
        // Whether a file can be written is a question without an error.
        case .readOnce, .readOn: return ([.inputOutput, .fileNotReadable, .readOnly], failures)
        // What is read is not what was written.
        case .wrongBit:
            return (
                [
                    .storeCorrupted, .notAStore, .metadataInvalid, .storeUnknown, .verificationFailed, .backupInvalid,
                    .dataConflict, .inputOutput, .sqlite, .fileNotReadable, .modelInvalid, .propertyListInvalid,
                    .sideFileForeign, .planStale, .wrongType, .readOnly, .unsupported, .mirrorDiverged,
                ], failures
            )
        // SQLite alone is refused memory, and may say so as a file that it cannot open.
        case .memoryOnce, .memoryOn:
            return (
                [.sqlite, .inputOutput, .fileNotReadable],
                ["out of memory", "unable to open database file", "does not open", "no model "]
            )
        // After these nothing is said, or all is as ever.
        case .stop, .powerLoss, .tornSector, .clock, .slow: return ([], [])
        }
    }
}

extension LifeRun.Snapshot {
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
