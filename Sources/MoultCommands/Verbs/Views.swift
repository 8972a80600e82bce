import MoultTools

extension Verb {
    static let views = Verb(
        "views", "Print SQL views with the model's names, or make a copy of a store with them.",
        discussion: """
            The output is a script that makes temporary views. Save it to a file, open the store with
            sqlite3 -readonly forum.sqlite, and enter .read FILE. Each entity has a view with its sub-entities. An
            entity that has sub-entities also has a view without them, NAME_only. Each to-many relationship has a view
            ENTITY_RELATIONSHIP. Dates are ISO 8601 in UTC, UUIDs are text, to-one relationships are keys, and external
            data is the path of its file. If the store contains no model, columns have the names that they have in its
            tables.
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
