import Moult
import MoultModel
import MoultReport

extension Site {
    /// An action that a person can have done.
    enum Action: Sendable {
        case backUp
        case migrate(StorePlan)
        case restore(StoreBackup)

        var tab: Tab {
            if case .migrate = self { .plan } else { .backups }
        }
    }

    /// Begins what a form asks for.
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
        closeForRun()
        switch action {
        case .backUp:
            return begin(
                Job("Backup", project.backUp(store, options: options)) { backup in
                    "<p>The backup <code>\(backup.name)</code> was written to <code>\(backup.folder)</code>.</p>"
                })
        case .restore(let backup):
            return begin(
                Job("Restore", project.restore(backup, to: store, options: options)) { report in
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
                Job("Migration", project.migrate(store, following: plan, options: options)) {
                    "<pre>\($0.description)</pre>"
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
    /// The number of lost rows, values or links, by the place of each loss; nil where it cannot be counted before the
    /// migration runs.
    fileprivate var amounts: [String: Int64?] {
        Dictionary(losses.map { ($0.place, $0.count) }, uniquingKeysWith: { first, _ in first })
    }
}
