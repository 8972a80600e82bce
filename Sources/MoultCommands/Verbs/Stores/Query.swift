import Moult
import MoultBasics
import MoultModel
import MoultTools

extension Verb {
    static let query = Verb(
        "query", "Run a SELECT over the views that moult views prints, and print the rows.",
        discussion: """
            The store is not changed: a statement that writes is refused. You can also query the tables of the store.
            In the views, bytes that hold JSON are its text, so that LIKE and json_each work. A blob that holds a
            property list or an archive of known classes is printed as that value. Others are base64 in JSON, and x'…'
            in CSV and tables. In JSON, a Boolean attribute is true or false where it is a column of the result itself;
            an expression, and a column of a UNION, is a number. Without SQL, or with - in its place, the query is read
            from standard input. On a terminal, long values are cut, and a row that does not fit has a line for each
            value.
            """,
        operands: [.store, sql], options: [rowFormat, .exact, .model, .order, jsonRows],
        examples: [
            "moult query forum.sqlite \"SELECT name, count(*) AS posts FROM User JOIN Post ON Post.author = User.Z_PK GROUP BY 1\"",
            "moult query forum.sqlite \"SELECT * FROM Forum\" --format csv",
        ]
    ) { invocation, console in
        let named = try invocation.format(
            rowFormat, of: RowFormat.allCases.map(\.rawValue), at: invocation.newFile(.printed))
        let format = console.isJSON ? .json : named.flatMap(RowFormat.init) ?? .table
        let versions = try invocation.versionsIfKnown(console)
        let output = RowOutput(style: console.output.style, line: console.line, exactly: console.exactly)
        let guarded = try RowPrinter.print(
            invocation.sqlText(sql), of: invocation.required(Operand.store), versions: versions, format,
            isExact: invocation[.exact], output
        ) { console.outputError == nil }
        console.say(guarded: guarded)
        return .done
    }

    private static let sql = Operand("SQL", "One SELECT; - for standard input.", isOptional: true, completes: .nothing)
    private static let rowFormat = Option.value(
        "format", "NAME", "table (the default), csv, json or jsonl.",
        completes: .words(RowFormat.allCases.map(\.rawValue)))
    private static let jsonRows = Option.flag(
        Option.json.name, "The same as --format json; takes precedence over --format.")
}

extension Invocation {
    /// Returns the SQL that an operand gives, or the text of standard input if it is `-` or missing.
    ///
    /// - Throws: `usage` if there is neither.
    fileprivate func sqlText(_ operand: Operand) throws -> String {
        if let text = self[operand], text != "-" { return text }
        var status = stat()
        let isRedirected = fstat(STDIN_FILENO, &status) == 0 && [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT)
        guard self[operand] == "-" || isRedirected else {
            throw Self.missing([operand.name], of: .query, path)
        }
        var lines: [String] = []
        while let line = readLine(strippingNewline: false) { lines.append(line) }
        return lines.joined()
    }
}

extension Option {
    static let exact = flag(
        "exact",
        "In CSV, leave strings that a spreadsheet would read as formulas unchanged. By default, they get a leading "
            + "apostrophe.")
}

extension Console {
    /// Prints how many texts have an apostrophe prepended.
    func say(guarded count: Int) {
        guard count > 0 else { return }
        say(
            "\(Quantity.count(count, "text")) that a spreadsheet would read as a formula "
                + "\(count == 1 ? "has" : "have") an apostrophe in front. --exact leaves such texts unchanged.")
    }
}

extension Verb {
    static let views = Verb(
        "views", "Print SQL views with the model's names, or make a copy of a store with them.",
        discussion: """
            The output is a script that makes temporary views. Save it to a file, open the store with
            sqlite3 -readonly forum.sqlite, and enter .read FILE. Each entity has a view with its sub-entities. An
            entity that has sub-entities also has a view without them, NAME_only. Each to-many relationship has a view
            ENTITY_RELATIONSHIP. Dates are ISO 8601 in UTC, UUIDs and JSON in bytes are text, to-one relationships are
            keys, and external data is the path of its file. If the store contains no model, columns have the names that
            they have in its tables.
            -o makes a copy of the store with permanent views, for the sqlite3 shell, pandas or Datasette.
            """,
        operands: [.store], options: [viewsOut, .model, .order],
        examples: ["moult views forum.sqlite", "moult views forum.sqlite -o readable.sqlite"]
    ) { invocation, console in
        let copy = invocation[value: viewsOut]
        let report = try ViewsReport(
            of: invocation.required(Operand.store), versions: invocation.versionsIfKnown(console), copy: copy)
        if copy == nil, !console.isJSON { console.exactly(report.script) } else { console.print(report) }
        return .done
    }

    private static let viewsOut = Option.value(
        "out", "PATH", "Make a copy of the store with the views; nothing may exist there. -o for short.",
        completes: .files)
}

/// The reader of the output is gone, as after `| head`.
private struct NoReader: Error {}

extension Verb {
    static let dump = Verb(
        "dump", "Print every object of a store with its values, ordered by entity and key.",
        discussion: """
            With --json, each object is printed on a line of its own. Without --model, the one model next to the store
            or in this folder is used if it has the store's version, and else the model inside the store.
            """,
        operands: [.store], options: [.model, entity, withSubentities, .order, jsonLines],
        examples: [
            "moult dump forum.sqlite --entity User --json",
            "moult dump forum.sqlite --model Forum.xcdatamodeld --entity User --with-subentities",
        ]
    ) { invocation, console in
        let versions = try invocation.versionsIfKnown(console) ?? ModelVersions(versions: [])
        let style = console.output.style
        do {
            try ReadOnlyStore.forEachObject(
                of: invocation[value: entity], includingSubentities: invocation[withSubentities],
                in: try invocation.required(Operand.store), versions: versions
            ) { row in
                console.isJSON ? console.line(row.document.compact) : console.lines(row.lines(style: style))
                if console.outputError != nil { throw NoReader() }
            }
        } catch is NoReader {
            return .done
        }
        return .done
    }

    private static let entity = Option.value("entity", "NAME", "Print only the objects of this entity.")
    private static let withSubentities = Option.flag("with-subentities", "Include the objects of its sub-entities.")
    private static let jsonLines = Option.flag(
        Option.json.name, "Print one JSON document per object, one per line, for scripts.")
}
