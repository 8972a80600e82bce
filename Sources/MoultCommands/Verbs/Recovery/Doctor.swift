import Moult
import MoultBasics
import MoultCare
import MoultModel

extension Verb {
    static let doctor = Verb(
        "doctor", "Report what is wrong with a store, why, and which command helps.",
        discussion: """
            Examines the files, the programs that have them open, runs that did not end, the pages, the version, the
            migration to the version that the store should have, the free space, the rows and the backups. Changes
            nothing. Exits with 1 if something is wrong; with --bundle, exits with 0 once the archive is written,
            whatever was found.
            --bundle writes an archive for a bug report: versions, hashes, schema, counts, plan, journal and log. It
            contains nothing that a user has put into the store, unless you give --values.
            """,
        operands: [.store], options: [.model, wanted, .answers, bundle, values, .backups, .order, .events],
        examples: [
            "moult doctor forum.sqlite --model Forum.xcdatamodeld --to Forum",
            "moult doctor forum.sqlite --model Forum.xcdatamodeld --bundle report.tar",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        guard invocation[value: bundle] != nil || !invocation[values] else {
            throw invocation.wrong("--values requires --bundle.")
        }
        let project = try invocation.versionsIfKnown(console).map { try invocation.project($0, console) }
        let context = try project?.context(for: store)
        let diagnosis = StoreDiagnosis(
            store, context, to: invocation[value: .target], options: try invocation.runOptions(),
            on: invocation.system)
        var files: [String] = []
        if let path = invocation[value: bundle] {
            let report = try BugReportBundle(store, withValues: invocation[values], system: invocation.system)
            // The archive is for other people: paths typed here do not resolve there, and may be private.
            files = try CommandWords().speaking {
                try report.write(to: path, diagnosis: diagnosis, extra: extra(invocation, context))
            }
        }
        console.print(diagnosis.document(bundled: files)) { style in
            diagnosis.lines(style: style)
                + (invocation[value: bundle].map {
                    ["The report is in \($0.printable): \(files.joined(separator: ", "))."]
                }
                    ?? [])
        }
        // The archive was requested, and it exists.
        return diagnosis.isWell || invocation[value: bundle] != nil ? .done : .findings
    }

    private static let wanted = Option.value(
        Option.target.name, "VERSION",
        "The version that the store should have; by default the model's current version, or the newest if none is "
            + "marked as current.")
    private static let bundle = Option.value(
        "bundle", "FILE", "Write an archive (.tar) for a bug report.", completes: .files)
    private static let values = Option.flag("values", "Include complete messages and the quarantine in the archive.")

    /// Returns the plan and the versions, if there are any.
    private static func extra(
        _ invocation: Invocation, _ context: StoreSession.Context?
    ) -> [(name: String, text: String)] {
        guard let context else { return [] }
        let hashes = context.versions.versions.map { version in
            JSONValue.object([
                .init("names", JSONValue(version.names)), .init("checksum", .string(version.hashes.checksum.base64)),
            ])
        }
        var extra = [("model.json", JSONValue.array(hashes).indented + "\n")]
        do {
            let plan = try StoreSession(invocation.request(.plan), context, on: invocation.system).plan()
            let members = (plan.document.members ?? []).filter { $0.key != "space" }
            extra.append(("plan.json", JSONValue.object(members).indented + "\n"))
        } catch {
            extra.append(("plan.json", "\(error)\n"))
        }
        return extra
    }
}

extension StoreDiagnosis {
    fileprivate func document(bundled files: [String]) -> JSONValue {
        [
            "format": 1, "well": .bool(isWell), "version": JSONValue(version),
            "findings": .array(findings.map(\.document)), "bundled": JSONValue(files),
        ]
    }

    fileprivate func lines(style: TextStyle) -> [String] {
        let verdict = isWell ? style.green("Nothing is wrong with this store.") : ""
        return findings.flatMap { $0.lines(style: style) } + (verdict.isEmpty ? [] : [verdict])
    }
}

extension Verb {
    static let runs = Verb(
        "runs", "List the runs on a store, oldest first: versions, result, backup and losses.",
        discussion: """
            A run is one execution of a verb that changes the store, such as migrate, rollback or repair. Exits with 1 if a
            record of the history cannot be read.
            """,
        operands: [.store],
        examples: ["moult runs forum.sqlite", "moult runs forum.sqlite --json"]
    ) { invocation, console in
        let listing = try invocation.keeper().runs()
        console.print(listing.document) { listing.lines(style: $0) }
        return listing.unreadable == nil ? .done : .findings
    }

    static let log = Verb(
        "log", "Print the log of a store: the events of each run, with their times.", operands: [.store],
        examples: ["moult log forum.sqlite"]
    ) { invocation, console in
        let lines = try invocation.keeper().log()
        return console.print(["format": 1, "lines": JSONValue(lines)]) { _ in
            lines.isEmpty ? ["The log is empty."] : lines.map(\.printable)
        }
    }
}
