import MoultExport
import MoultModel
import MoultReport
import MoultStore
import MoultSystem

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
        let store = try invocation.required(Operand.store)
        let versions = try invocation.versionsIfKnown(console)
        let views = try StoreProbe.read(store) { StoreViews(try StoreContents($0, in: versions)) }
        var members: [JSONValue.Member] = [.init("format", 1), .init("views", .array(views.views.map(\.document)))]
        guard let path = invocation[value: viewsOut] else {
            guard console.isJSON else {
                console.exactly(views.script)
                return .done
            }
            console.print(.object(members)) { _ in [] }
            return .done
        }
        try ReadableCopy(of: store, versions: versions).make(at: path)
        members.append(.init("copy", .string(path)))
        console.print(.object(members)) { _ in
            ["Made \(path.printable): a copy of the store with \(Quantity.count(views.views.count, "view"))."]
        }
        return .done
    }

    private static let viewsOut = Option.value(
        "out", "PATH", "Make a copy of the store with the views; nothing may exist there. -o for short.",
        completes: .files)
}

extension StoreViews.View {
    fileprivate var document: JSONValue {
        [
            "name": .string(name), "meaning": .string(meaning), "columns": JSONValue(columns),
            "sql": .string(statement(isTemporary: true)),
        ]
    }
}
