import MoultModel
import MoultTools

extension Verb {
    static let exportStore = Verb(
        "export", "Write the objects of a store as CSV, JSON Lines or a plain SQLite database.",
        discussion: """
            Each entity has a file or table with its own objects, without those of its sub-entities. A to-many
            relationship has one too if it is ordered or its inverse is not to-one: ENTITY_RELATIONSHIP, with the keys
            of both ends. If both sides of a many-to-many relationship are unordered, only one of the two sides has a
            file or table. Dates are ISO 8601 in UTC, UUIDs are text, to-one relationships are keys, external data is
            the path of its file, and other bytes are base64 in JSON Lines, x'…' in CSV and blobs in SQLite.
            Without -o, the objects of one entity are printed as csv or jsonl.
            """,
        operands: [.store],
        options: [exportOut, exportFormat, exported, predicate, limit, columns, .exact, .model, .order],
        examples: [
            "moult export forum.sqlite -o csv",
            "moult export forum.sqlite --format sqlite -o plain.sqlite",
            "moult export forum.sqlite --entity Post --where \"author.name BEGINSWITH 'A'\" --columns Z_PK,text --limit 10",
        ]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let name = invocation[value: exportFormat] ?? "csv"
        guard let format = ExportFormat(rawValue: name) else {
            throw invocation.wrong("--format takes csv, jsonl or sqlite, not \(name).")
        }
        let (selection, isExact) = (try selection(invocation), invocation[.exact])
        let versions = try invocation.versionsIfKnown(console)
        if let path = invocation[value: exportOut] {
            let report = try ExportReport(store, selection, format, isExact: isExact, versions: versions, to: path)
            console.print(report)
            console.say(guarded: report.guarded)
            return .done
        }
        guard format != .sqlite, selection.entities.count == 1 else {
            throw invocation.wrong("\(Program.name) export needs -o PATH, or one --entity to print as csv or jsonl.")
        }
        console.say(
            guarded: try ExportReport.write(
                store, selection, console.isJSON ? .jsonl : format, isExact: isExact, versions: versions
            ) {
                console.exactly($0)
                return console.outputError == nil
            })
        return .done
    }

    private static let exportOut = Option.value(
        "out", "PATH", "The new folder, or with --format sqlite the new file. -o for short.", completes: .files)
    private static let exportFormat = Option.value(
        "format", "NAME", "csv (the default), jsonl or sqlite.",
        completes: .words(ExportFormat.allCases.map(\.rawValue)))
    private static let exported = Option.value("entity", "NAME", "Export only this entity; may be repeated.")
    private static let predicate = Option.value(
        "where", "PREDICATE", "With one --entity: only the objects that match this Core Data predicate.")
    private static let limit = Option.value(
        "limit", "N", "Export at most N objects of each entity: those with the lowest keys.")
    private static let columns = Option.value(
        "columns", "NAMES", "With one --entity: only these columns and to-many relationships, separated by commas.")

    private static func selection(_ invocation: Invocation) throws -> ExportSelection {
        ExportSelection(
            entities: invocation.all(exported),
            predicate: try invocation[value: predicate].map { try Predicate(parsing: $0) },
            limit: try invocation.number(limit), columns: invocation.list(columns))
    }
}
