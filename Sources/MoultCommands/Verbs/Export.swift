import MoultExport
import MoultModel
import MoultReport
import MoultStore
import MoultSystem

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
        guard let format = ExportWriter.Format(rawValue: name) else {
            throw invocation.wrong("--format takes csv, jsonl or sqlite, not \(name).")
        }
        let selection = try selection(invocation)
        let versions = try invocation.versionsIfKnown(console)
        guard let path = invocation[value: exportOut] else {
            return try printing(store, selection, format, versions, invocation, console)
        }
        let outcome = try ExportWriter(format, isExact: invocation[.exact]).write(
            store, selection, versions: versions, to: path)
        console.print([
            "format": 1, "path": .string(path), "parts": .array(outcome.parts.map(\.document)),
            "guarded": JSONValue(outcome.guarded),
        ]) { style in
            var table = TextTable([.left(format == .sqlite ? "table" : "file"), .right("rows")])
            for part in outcome.parts { table.add(part.place, Quantity.count(part.rows)) }
            return table.lines(style: style)
        }
        console.say(guarded: outcome.guarded)
        return .done
    }

    private static let exportOut = Option.value(
        "out", "PATH", "The new folder, or with --format sqlite the new file. -o for short.", completes: .files)
    private static let exportFormat = Option.value(
        "format", "NAME", "csv (the default), jsonl or sqlite.",
        completes: .words(ExportWriter.Format.allCases.map(\.rawValue)))
    private static let exported = Option.value("entity", "NAME", "Export only this entity; may be repeated.")
    private static let predicate = Option.value(
        "where", "PREDICATE", "With one --entity: only the objects that match this Core Data predicate.")
    private static let limit = Option.value(
        "limit", "N", "Export at most N objects of each entity: those with the lowest keys.")
    private static let columns = Option.value(
        "columns", "NAMES", "With one --entity: only these columns and to-many relationships, separated by commas.")

    private static func selection(_ invocation: Invocation) throws -> StoreExport.Selection {
        StoreExport.Selection(
            entities: invocation.all(exported),
            predicate: try invocation[value: predicate].map { try Predicate(parsing: $0) },
            limit: try invocation.number(limit), columns: invocation.list(columns))
    }

    /// The objects of one entity on standard output.
    private static func printing(
        _ store: String, _ selection: StoreExport.Selection, _ format: ExportWriter.Format, _ versions: ModelVersions?,
        _ invocation: Invocation, _ console: Console
    ) throws -> ExitCode {
        guard format != .sqlite, selection.entities.count == 1 else {
            throw invocation.wrong("\(Program.name) export needs -o PATH, or one --entity to print as csv or jsonl.")
        }
        let probe = try StoreProbe(store)
        defer { probe.close() }
        try probe.undisturbed {
            let export = try StoreExport(selection, of: probe, versions: versions)
            guard let part = export.parts.first(where: { $0.relationship == nil }) else { return }
            var text = ExportText(part, console.isJSON ? .jsonl : format, isExact: invocation[.exact])
            console.exactly(text.heading)
            try export.forEachRow(of: part) { row in
                var line: [UInt8] = []
                text.append(row, to: &line)
                console.exactly(String(decoding: line, as: UTF8.self))
                return console.outputError == nil
            }
            console.say(guarded: text.guarded)
        }
        return .done
    }
}

extension ExportWriter.Written {
    fileprivate var document: JSONValue {
        [
            "name": .string(name), "entity": .string(entity), "relationship": JSONValue(relationship),
            "place": .string(place), "rows": JSONValue(rows),
        ]
    }
}
