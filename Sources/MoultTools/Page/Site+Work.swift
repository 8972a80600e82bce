import Moult
import MoultBasics
import MoultCare
import MoultModel
import Synchronization

extension Site {
    /// An action that the user can confirm.
    enum Action: Sendable {
        case backUp
        /// The end of a run whose process has died.
        case resume
        case migrate(StorePlan)
        case restore(StoreBackup)
        /// A restoration that takes back the last migration.
        case undo(StoreBackup)

        var tab: Tab {
            switch self {
            case .migrate: .plan
            case .undo, .resume: .history
            case .backUp, .restore: .backups
            }
        }
    }

    /// Starts the action that a form requests.
    func act(_ request: Request) async throws -> Response {
        switch request.form["do"] {
        case "rehearse":
            let task = try project().rehearse(settings.store, options: options)
            return begin(Job("Rehearsal", task) { "<pre>\($0.description)</pre>" })
        case "diagnose":
            return try look("Examination") {
                list($0.findings)
            } by: {
                try await $0.diagnose($1)
            }
        case "validate":
            return try look("Reading every row") {
                list($0.findings + $0.rules)
            } by: {
                try await $0.validate($1)
            }
        case "confirmed": return try await confirmed(request)
        default: throw MigrationError(.usage, "There is no such action.", remedy: "Go back.")
        }
    }

    private func look<Report: Sendable>(
        _ title: String, _ words: @escaping @Sendable (Report) -> HTML,
        by call: @escaping @Sendable (Project, String) async throws -> Report
    ) throws -> Response {
        let (project, store) = (try project(), settings.store)
        return begin(Job(title) { words(try await call(project, store)) })
    }

    private func confirmed(_ request: Request) async throws -> Response {
        guard settings.allowsChanges else { return Response(page("Refused", at: nil, readOnlyHint), status: 403) }
        guard let action = takeOffer(request.form["offer"]) else {
            throw MigrationError(
                .planStale, "This confirmation is out of date, or was used.", remedy: "Go back and look again.")
        }
        let (project, store) = (try project(), settings.store)
        // This process must not have the store open while a run changes it.
        close()
        switch action {
        case .backUp:
            return begin(
                Job("Backup", project.backUp(store, options: options)) { backup in
                    "<p>The backup <code>\(backup.name)</code> was written to <code>\(backup.folder)</code>.</p>"
                })
        case .resume:
            return begin(
                Job("Resume", project.resume(store, options: options)) { "<pre>\($0.description)</pre>" })
        case .restore(let backup), .undo(let backup):
            let title = if case .undo = action { "Undo" } else { "Restore" }
            return begin(
                Job(title, project.restore(backup, to: store, options: options)) { report in
                    let saved: HTML =
                        report.saved.map { " What was there is the backup <code>\($0.name)</code>." } ?? ""
                    return "<p>The store is the backup <code>\(report.restored.name)</code> again.\(saved)</p>"
                })
        case .migrate(let plan):
            guard plan.losses.isEmpty || request.form["accept"] == "yes" else {
                throw MigrationError(
                    .lossNotAccepted, "The migration loses what nobody has accepted.",
                    remedy: "Go back to the plan and confirm the losses.")
            }
            var options = options
            options.acceptedLosses = AcceptedLosses(plan.losses.map(\.place))
            guard try await project.plan(for: store, options: options).amounts == plan.amounts else {
                throw MigrationError(
                    .planStale, "The store has changed since: the migration would lose something else now.",
                    remedy: "Go back to the plan and look again.")
            }
            return begin(
                Job("Migration", project.migrate(store, following: plan, options: options)) { report in
                    let undo: HTML = report.backup.map { "<p>\(self.undoLink(to: $0.name))</p>" } ?? ""
                    return "<pre>\(report.description)</pre>\(undo)"
                })
        }
    }

    /// Returns the page of the job: its progress while it runs, then its result.
    func jobPage() -> HTML {
        guard let job else { return page("Work", at: nil, "<h1>Work</h1><p>Nothing is being done.</p>") }
        let now = job.now
        guard let outcome = now.outcome else {
            let value: HTML = now.fraction.map { " value=\"\(String($0))\"" } ?? ""
            let cancel = job.canBeCancelled ? form("/cancel", [:], button: "Cancel") : ""
            return page(
                job.title, at: nil,
                """
                <h1>\(job.title)</h1>
                <progress max="1"\(value) aria-label="\(job.title)"></progress>
                <p id="words" role="status">\(now.words)</p>\(cancel)
                """, refreshes: true)
        }
        let end: HTML =
            !now.hasFailed
            ? "Done."
            : now.isUncertain ? "It has failed." : "It has failed. The store is as it was."
        return page(
            job.title, at: nil,
            """
            <h1>\(job.title)</h1><p id="ended" role="status"><strong>\(end)</strong></p>
            \(outcome)<p><a href="/">Store</a></p>
            """)
    }
}

extension StorePlan {
    /// The number of lost rows, values or links, by the place of each loss; nil if it cannot be counted before the
    /// migration.
    fileprivate var amounts: [String: Int64?] {
        Dictionary(losses.map { ($0.place, $0.count) }, uniquingKeysWith: { first, _ in first })
    }
}

/// A longer piece of work on the store, which continues when the browser closes the page.
final class Job: Sendable {
    /// The name of the work, such as `Rehearsal`.
    let title: String
    private let state = Mutex(State())
    private let work = Mutex<Task<Void, Never>?>(nil)
    private let stop = Mutex<(@Sendable () -> Void)?>(nil)

    struct State: Sendable {
        var fraction: Double?
        /// A description of the current step.
        var words = "Starting"
        /// The result of the work, or its error; nil while it runs.
        var outcome: HTML?
        var hasFailed = false
        /// Whether a disk failed, possibly during the commit.
        var isUncertain = false
    }

    /// Starts a run with progress.
    init<Report: Sendable>(_ title: String, _ task: StoreTask<Report>, outcome: @escaping @Sendable (Report) -> HTML) {
        self.title = title
        stop.withLock { $0 = { task.cancel() } }
        begin { [self] in
            for await progress in task.progress {
                state.withLock { state in
                    state.fraction = progress.fraction
                    state.words = progress.words
                }
            }
            return outcome(try await task.report)
        }
    }

    /// Starts work that only reads, without progress.
    init(_ title: String, _ body: @escaping @Sendable () async throws -> HTML) {
        self.title = title
        begin(body)
    }

    private func begin(_ body: @escaping @Sendable () async throws -> HTML) {
        let task = Task { [self] in
            do {
                let outcome = try await body()
                state.withLock { $0.outcome = outcome }
            } catch {
                let words = errorWords(error)
                let isUncertain = (error as? MigrationError)?.code == .inputOutput
                state.withLock { ($0.outcome, $0.hasFailed, $0.isUncertain) = (words, true, isUncertain) }
            }
        }
        work.withLock { $0 = task }
    }

    var now: State { state.withLock { $0 } }
    var isRunning: Bool { now.outcome == nil }
    var canBeCancelled: Bool { stop.withLock { $0 != nil } }

    func cancel() { stop.withLock { $0 }?() }

    func end() async { await work.withLock { $0 }?.value }

    /// The progress of the work as JSON, which the page's script requests repeatedly.
    var document: JSONValue {
        let now = now
        return [
            "fraction": now.fraction.map { .double($0) } ?? .null, "words": .string(now.words.printable),
            "isRunning": .bool(now.outcome == nil),
        ]
    }
}

extension RunProgress {
    fileprivate var words: String {
        var words = [message ?? phase.words]
        if totalRows > 0 { words.append("\(Quantity.count(rows)) of \(Quantity.count(totalRows, "row"))") }
        if let timeLeft, timeLeft > .zero { words.append("about \(Quantity.duration(timeLeft / .seconds(1))) left") }
        return words.joined(separator: " · ")
    }
}

extension RunProgress.Phase {
    fileprivate var words: String {
        switch self {
        case .lock: "Waiting for the store"
        case .backup: "Making the backup"
        case .copy: "Making the working copy"
        case .change: "Changing"
        case .verify: "Comparing the new store with the old one"
        case .commit: "Putting the new store in place"
        case .done: "Done"
        }
    }
}
