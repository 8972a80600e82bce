import MoultEngine
import MoultModel
import MoultReport

extension Verb {
    /// A migration into another file.
    static func migrate(
        _ prepared: PreparedMigration, into path: String, _ invocation: Invocation, _ console: Console
    ) throws -> ExitCode {
        let progress = ProgressDisplay(console)
        defer { progress.end() }
        let outcome = try invocation.migrator.run(prepared, into: path, progress.observer)
        progress.end()
        let report =
            outcome.map { OutcomeReport(prepared.plan, $0) } ?? OutcomeReport(nothingToDoAt: prepared.plan.to.name)
        let members = (report.document.members ?? []) + [.init("into", .string(path))]
        console.print(.object(members)) { style in
            let lines = outcome == nil ? PlanReport(prepared).lines(style: style) : report.lines(style: style)
            let what = outcome == nil ? "A copy of the store" : "The new store"
            return lines.map(console.advised) + ["\(what) is at \(path.printable). The old store is unchanged."]
        }
        return .done
    }
}

extension Invocation {
    /// The file that `--into` names; nil if it was not given.
    ///
    /// - Throws: `usage` for options that make no sense beside it.
    func newStore() throws -> String? {
        guard let path = self[value: .into] else { return nil }
        let flags: [Option] = [.dryRun, .inPlace, .deferred, .makeRoom, .stops, .frugal, .again]
        if let other = flags.first(where: { self[$0] })
            ?? (self[value: .backups] == nil || isConfigured(.backups) ? nil : .backups)
        {
            throw wrong("--into and --\(other.name) exclude each other.")
        }
        return path
    }
}
