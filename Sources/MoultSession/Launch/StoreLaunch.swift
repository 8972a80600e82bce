import MoultBasics
import MoultEngine
import MoultModel
import MoultPlan

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The preparation of an app's stores at its launch, before Core Data or SwiftData opens them.
///
///     let launch = StoreLaunch(store: url, models: .bundle(modelURL))
///     switch try await launch.prepare() {
///     case .ready: openTheStore()
///     case .unfinished(let progress): show(progress)              // call again, now or at the next launch
///     case .needsDecision(let decision): ask(decision.sentences)  // then decision.accept(), or leave it
///     case .unavailable(.protectedData): waitForUnlock()
///     case .unavailable(let reason): show(reason)
///     case .refused(let error): show(error)
///     }
///
/// A call never takes longer than its ``budget``, and never runs on the main actor. An older store is backed up, and
/// migrated and verified on a copy; the last call replaces it in one transaction. A store is never deleted, and never
/// replaced by an empty one: where nothing is at the path, the call makes nothing.
public struct StoreLaunch: Sendable {
    /// The answer of a call.
    public enum Outcome: Sendable {
        /// Every store has the version of the app, and can be opened. The reports are those of the migrations that this
        /// call has finished.
        case ready([MigrationReport])
        /// The time was up, or the call was stopped. The stores can be used by nothing yet but another call, which
        /// continues.
        case unfinished(Progress)
        /// The migration would lose data, and the loss is not accepted. Nothing was changed.
        case needsDecision(Decision)
        /// A store cannot be migrated now, although nothing is wrong with it. Nothing was changed.
        case unavailable(Obstacle)
        /// The migration was refused or failed. The store is as it was. After `tooManyAttempts`, ``tryAgain()`` makes
        /// one more attempt; ``goBack()`` restores the backup, if the error's remedy names it.
        case refused(MigrationError)
    }

    /// The progress of a migration.
    public struct Progress: Sendable, Hashable {
        /// The phase that it is in.
        public let phase: MigrationProgress.Phase
        /// The part that is done, 0 to 1.
        public let fraction: Double
        /// The estimated time left; nil before anything was measured.
        public let timeLeft: Duration?
        /// The reason why the work of earlier calls was discarded, such as that the store was written to in between;
        /// nil if it was not.
        public let startedOver: String?

        /// A sentence for a progress screen, in English.
        public var words: String {
            switch phase {
            case .lock: "Preparing your data…"
            case .backup: "Making a backup of your data…"
            case .copy, .change: "Updating your data…"
            case .verify: "Checking the result…"
            case .commit: "Finishing…"
            case .done: "Your data is up to date."
            }
        }

        init(
            _ phase: MigrationProgress.Phase = .lock, _ fraction: Double = 0, timeLeft: Duration? = nil,
            startedOver: String? = nil
        ) {
            (self.phase, self.fraction, self.timeLeft, self.startedOver) = (phase, fraction, timeLeft, startedOver)
        }
    }

    /// A reason why a store cannot be migrated now.
    public enum Obstacle: Sendable, Hashable {
        /// The device has not been unlocked since it was started, or is locked: the store's file cannot be read.
        case protectedData
        /// Another process has the store open.
        case storeInUse(MigrationError)
        /// The volume lacks so many bytes; the error names what the migration needs.
        case insufficientStorage(missing: Int64, MigrationError)
    }

    /// The losses of a migration that are neither declared nor accepted.
    public struct Decision: Sendable {
        /// The objects, values and links that would not be in the new store, counted.
        public let losses: [MigrationLoss]
        /// The refusal, with every way to declare the losses in code.
        public let error: MigrationError
        private let launch: StoreLaunch
        private let store: String

        init(_ losses: [MigrationLoss], _ error: MigrationError, _ launch: StoreLaunch, _ store: String) {
            (self.losses, self.error, self.launch, self.store) = (losses, error, launch, store)
        }

        /// A sentence for each loss.
        public var sentences: [String] { losses.map(\.sentence) }

        /// Accepts these losses, now and at the next launches until the migration is finished, and prepares the stores.
        /// Any other loss is a new decision.
        ///
        /// - Throws: what ``StoreLaunch/prepare()`` throws.
        public func accept() async throws -> Outcome {
            try await onThread { [store, losses] _ in try LaunchAnswer.accept(losses.map(\.place), for: store) }
            return try await launch.prepare()
        }
    }

    /// The time that one call may take, 8 seconds by default: the system ends an app whose launch takes 20. A call is
    /// refused with `budgetTooSmall` if the migration has a longer piece that cannot be interrupted.
    public var budget: Duration = .seconds(8)
    /// The progress of the present call, for a screen.
    public let progress: LaunchProgress
    private let stores: [any LaunchedStore]
    private let stop = CancellationFlag()

    package init(_ stores: [any LaunchedStore]) {
        self.stores = stores
        progress = LaunchProgress()
    }

    /// - Parameters:
    ///   - url: the file of a store; where nothing is, the store counts as ready.
    ///   - models: the versions that it may have, the app's own last.
    ///   - options: the options of the migration. The launch sets the budget.
    public init(store url: URL, models: Models, options: RunOptions = RunOptions()) {
        self.init([LaunchedFile(path: url.path, models: models, options: options)])
    }

    // MARK: - Calls

    /// Prepares every store for as long as the budget allows.
    ///
    /// If the task is cancelled, or ``suspend()`` is called, the call ends soon with `unfinished`, and holds no lock
    /// then.
    ///
    /// - Throws: `MigrationError` for a mistake in the app itself: models that cannot be read, code that is missing.
    public func prepare() async throws -> Outcome { try await prepare(attempts: nil) }

    /// Makes one more attempt after `tooManyAttempts`.
    ///
    /// - Throws: what ``prepare()`` throws.
    public func tryAgain() async throws -> Outcome { try await prepare(attempts: .max) }

    /// Restores the backup of the last migration of each store, which the app's earlier version can open.
    ///
    /// - Throws: `backupNotFound` if there is none; `locked`, `readOnly`. The stores are as they were then.
    public func goBack() async throws -> [RollbackReport] {
        try await onThread { [stores] _ in try stores.map { try StoreKeeper($0.path, $0.ownOptions).rollback() } }
    }

    /// Ends the present call soon, as when the system suspends the app: an app that holds a lock in a shared container
    /// then is ended. The call returns `unfinished`; the next one continues.
    public func suspend() { stop.isSet.store(true, ordering: .relaxed) }

    private func prepare(attempts: Int?) async throws -> Outcome {
        stop.isSet.store(false, ordering: .relaxed)
        let activity = ExpiringActivity { suspend() }
        defer { activity.end() }
        return try await onThread { isCancelled in
            try run(attempts: attempts) { isCancelled() || stop.isSet.load(ordering: .relaxed) }
        }
    }

    /// Prepares the stores on this thread.
    ///
    /// - Parameter attempts: the number of dead runs at which to refuse; nil for that of the options.
    package func run(
        attempts: Int? = nil, on system: any System = POSIXSystem(),
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> Outcome {
        let observer = MigrationObserver(onProgress: { [progress] in progress.note($0) }, isCancelled: isCancelled)
        var call = Call(budget / .seconds(1), attempts, system, isLaunch: true)
        do {
            if let unfinished = try call.migrate(stores, observer) { return .unfinished(unfinished) }
            progress.end()
            return .ready(call.reports)
        } catch {
            return try outcome(MigrationError(any: error), of: call)
        }
    }

    private func outcome(_ error: MigrationError, of call: Call) throws -> Outcome {
        switch error.code {
        case .usage, .fileNotFound, .modelNotFound, .modelInvalid, .codeMissing, .stagesInvalid: throw error
        case .cancelled: return .unfinished(call.pausedProgress)
        case .protectedData: return .unavailable(.protectedData)
        case .locked: return .unavailable(.storeInUse(error))
        case .insufficientStorage:
            return .unavailable(.insufficientStorage(missing: call.missingSpace, error))
        case .lossNotAccepted:
            guard let store = call.store, let losses = try? call.undeclaredLosses(), !losses.isEmpty else { break }
            return .needsDecision(Decision(losses, error, self, store.path))
        default: break
        }
        return .refused(error)
    }
}

extension StoreLaunch {
    /// Migrates the stores for a limited time.
    ///
    /// - Returns: the progress of the store that needs another call; nil if all are finished.
    /// - Throws: `budgetTooSmall`, and the errors of migrating a store.
    package func migrate(within budget: Double, on system: any System = POSIXSystem()) throws -> Progress? {
        var call = Call(budget, nil, system, isLaunch: false)
        return try call.migrate(stores, .none)
    }

    /// The state of one call.
    fileprivate struct Call {
        let budget: Double
        let attempts: Int?
        let system: any System
        /// Whether remedies name the functions of a launch.
        let isLaunch: Bool
        private let started: UInt64
        private(set) var reports: [MigrationReport] = []
        /// The store that is being prepared, with its session.
        private(set) var store: (any LaunchedStore)?
        private var session: StoreSession?

        init(_ budget: Double, _ attempts: Int?, _ system: any System, isLaunch: Bool) {
            (self.budget, self.attempts, self.system, self.isLaunch) = (budget, attempts, system, isLaunch)
            started = system.monotonicNanoseconds
        }

        private func words(for store: any LaunchedStore) -> any RemedyWords {
            isLaunch ? LaunchWords(own: store.words) : store.words
        }

        mutating func migrate(_ stores: [any LaunchedStore], _ observer: MigrationObserver) throws -> Progress? {
            for store in stores {
                (self.store, session) = (store, nil)
                do {
                    guard let report = try words(for: store).speaking({ try migrate(store, observer) }) else {
                        continue
                    }
                    switch report.outcome {
                    case .paused:
                        return Progress(.change, report.fraction, startedOver: report.startedOver)
                    case .migrated, .rehearsed: reports.append(report)
                    case .nothingToDo: break
                    }
                } catch let error as MigrationError where error.code == .budgetTooSmall && !reports.isEmpty {
                    // The next call can use its whole budget for this store.
                    return Progress()
                }
            }
            return nil
        }

        private mutating func migrate(
            _ store: any LaunchedStore, _ observer: MigrationObserver
        ) throws -> MigrationReport? {
            guard try system.exists(store.path) else { return nil }
            let answer = try LaunchAnswer(for: store.path, system)
            let left = reports.isEmpty ? budget : budget - system.seconds(since: started)
            session = try store.session(on: system) { options in
                options.budget = RunOptions.budget(seconds: left)
                options.acceptedLosses.formUnion(AcceptedLosses(answer.accepted))
                if let attempts { options.maximumAttempts = attempts }
            }
            guard let session else { return nil }
            let report: MigrationReport
            do {
                report = try store.run(session, observer)
            } catch var error as MigrationError where error.code == .tooManyAttempts && isLaunch {
                let migrator = store.ownOptions.migrator(on: system)
                if (try? migrator.backup(named: nil, of: store.path, in: { nil })) != nil {
                    error.advice = "\(error.advice) Or restore the last backup: \(.rollback)."
                }
                throw error
            }
            if report.outcome != .paused { try answer.remove(for: store.path, system) }
            return report
        }

        /// The progress of the migration that was cancelled.
        var pausedProgress: Progress {
            let paused = store.flatMap { try? Migrator(system: system).paused($0.path) }
            return Progress(.change, paused?.fraction ?? 0)
        }

        /// The bytes that the fullest volume lacks.
        var missingSpace: Int64 { (try? session?.missingSpace()) ?? 0 }

        func undeclaredLosses() throws -> [MigrationLoss] {
            let foreseen = try session?.prepared.foreseenLosses() ?? []
            return foreseen.filter { !$0.isDeclared && $0.loss.count != 0 }.map(\.loss)
        }
    }
}
