import Moult
import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Site {
    /// Returns the page with the findings about the store, and with forms to examine it further.
    func findingsPage() async throws -> HTML {
        let status = try await project().status(of: settings.store)
        return page(
            "Findings", at: .findings,
            """
            <h1>Findings</h1>
            \(status.findings.isEmpty && !status.pendingSentences.isEmpty ? "" : list(status.findings))\(pending(status))
            <div class="actions">\(form("/do", ["do": "diagnose"], button: "Examine the store"))\
            \(form("/do", ["do": "validate"], button: "Read every row"))</div>
            <p>An examination looks at the files, the programs that have the store open, unfinished runs, pages, free space \
            and backups. Reading every row finds values, links and tables that contradict the model. Neither changes the \
            store.</p>
            """)
    }

    /// Returns the page with the history of the store, newest run first, and its log.
    func historyPage() async throws -> HTML {
        let project = try project()
        let runs = Array(try await project.history(of: settings.store).reversed())
        let backups = Set(try await project.backups(of: settings.store, options: options).map(\.name))
        let rows: [HTML] = runs.enumerated().map { place, run in
            let losses: [HTML] = run.losses.map { "<li>\($0.sentence)</li>" }
            let lost: HTML = losses.isEmpty ? "" : "<ul>\(losses)</ul>"
            // Only the last run can be undone: an earlier one's backup is older than what came after it.
            let canUndo = place == 0 && run.result == .done && ![.rollback, .move].contains(run.operation)
            let undo = canUndo ? undoLink(to: run.backup.flatMap { backups.contains($0) ? $0 : nil }) : ""
            return """
                <th scope="row">\(run.startedAt?.words ?? "")</th><td>\(run.operation.rawValue)</td>\
                <td>\(run.result.rawValue)\(run.error.map { ": \($0)" } ?? "")\(lost)</td>\
                <td><bdi>\(run.from)</bdi> → <bdi>\(run.to)</bdi></td><td class="number">\(Quantity.count(run.rows))</td>\
                <td class="number">\(Quantity.duration(run.duration / .seconds(1)))</td>\
                <td>\(backupLink(run.backup, backups))</td>\
                <td><a href="\(address("/log", ["run": run.id]))" aria-label="Log of \(run.id)">Log</a>\(undo)</td>
                """
        }
        let waiting = (try? await project.status(of: settings.store)).map { pending($0) } ?? ""
        let table: HTML =
            rows.isEmpty
            ? !waiting.markup.isEmpty ? "" : "<p>Nothing was done to the store.</p>"
            : table("Runs", ["Began", "What", "Result", "Versions", "Rows", "Time", "Backup", "More"], rows)
        let lines = try await project.log(of: settings.store).suffix(500)
        let log: HTML = lines.isEmpty ? "" : "<h2>Log</h2>\(Self.log(Array(lines)))"
        return page("History", at: .history, "<h1>History</h1>\(waiting)\(table)\(log)")
    }

    /// Returns the page of one run: its lines in the log, and its backup.
    func logPage(_ request: Request) async throws -> HTML {
        let project = try project()
        let name = request.query["run"] ?? ""
        guard let run = try await project.history(of: settings.store).last(where: { $0.id == name }) else {
            throw MigrationError(.usage, "There is no run \(name).", remedy: "Load the history again.")
        }
        let backups = Set(try await project.backups(of: settings.store, options: options).map(\.name))
        let lines = try await project.log(of: settings.store).filter { $0.contains("Run \(name):") }
        return page(
            "Run", at: .history,
            """
            <p class="trail"><a href="/history">History</a></p>
            <h1>\(run.operation.rawValue) <small>\(run.startedAt?.words ?? "")</small></h1>
            \(facts([
                ("Versions", "<bdi>\(run.from)</bdi> → <bdi>\(run.to)</bdi>"), ("Result", "\(run.result.rawValue)"),
                ("Backup", run.backup == nil ? "none" : backupLink(run.backup, backups)), ("Run", "<code>\(run.id)</code>"),
            ]))
            \(lines.isEmpty ? "<p>The log has no line of this run.</p>" : Self.log(lines))
            """)
    }

    private static func log(_ lines: [String]) -> HTML {
        """
        <div class="scroll" role="region" aria-label="Log" tabindex="0"><pre>\(lines.joined(separator: "\n"))</pre></div>
        """
    }

    private func backupLink(_ name: String?, _ backups: Set<String>) -> HTML {
        guard let name else { return "" }
        guard backups.contains(name) else { return "<code>\(name)</code> (removed)" }
        return "<a href=\"/backups#\(name.anchor)\"><code>\(name)</code></a>"
    }

    /// Returns the link that goes back to a backup; empty if there is none, or if the site allows no changes.
    nonisolated func undoLink(to backup: String?) -> HTML {
        guard settings.allowsChanges, let backup else { return "" }
        return " <a class=\"button\" href=\"\(address("/confirm", ["do": "undo", "name": backup]))\">Undo …</a>"
    }

    /// Returns the page with the backups, newest first.
    func backupsPage() async throws -> HTML {
        let rows: [HTML] = try await project().backups(of: settings.store, options: options).reversed().map { backup in
            let restore: HTML =
                !settings.allowsChanges
                ? ""
                : backup.error != nil
                    ? "<td></td>"
                    : """
                    <td><a class="button" href="\(address("/confirm", ["do": "restore", "name": backup.name]))" \
                    aria-label="Restore \(backup.name)">Restore …</a></td>
                    """
            return """
                <th scope="row"><code>\(backup.name)</code></th>\
                <td id="\(backup.name.anchor)">\(backup.madeAt)</td>\
                <td><bdi>\(backup.version)</bdi></td><td class="number">\(Quantity.bytes(Int(backup.bytes)))</td>\
                <td>\(backup.error?.message ?? backup.reason ?? "")</td>\(restore)
                """
        }
        let heads: [HTML] = ["Name", "Made", "Version", "Size", "For"] + (settings.allowsChanges ? ["Action"] : [])
        let create: HTML =
            settings.allowsChanges
            ? "<p><a class=\"button\" href=\"\(address("/confirm", ["do": "backup"]))\">Create backup …</a></p>"
            : readOnlyHint
        return page(
            "Backups", at: .backups,
            """
            <h1>Backups</h1>
            \(rows.isEmpty ? "<p>There are no backups.</p>" : table("Backups", heads, rows))\(create)
            """)
    }

    func backup(named name: String) async throws -> StoreBackup {
        let backups = try await project().backups(of: settings.store, options: options)
        guard let backup = backups.last(where: { $0.name == name }) else {
            throw MigrationError(
                .backupNotFound, "There is no backup \(name).", remedy: "Load the list of backups again.")
        }
        return backup
    }
}

extension StoreBackup {
    var madeAt: String { createdAt.words }
}

extension String {
    /// The text as the name of a place in a page.
    fileprivate var anchor: String { "backup-" + fileName }
}

extension Date {
    /// The date in the form `2026-01-31 14:05:09 UTC`.
    fileprivate var words: String {
        let text = formatted(.iso8601.dateSeparator(.dash).dateTimeSeparator(.space))
        return text.hasSuffix("Z") ? text.dropLast() + " UTC" : text
    }
}
