import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore

/// Views of the tables of a store, under the names of its model.
///
/// They name the tables without a schema, so that they work whether a session has opened or attached the store.
package struct StoreViews: Sendable {
    /// A view.
    package struct View: Sendable, Equatable {
        package let name: String
        /// A description of the view's rows, in a sentence.
        package let meaning: String
        /// The names of its columns.
        package let columns: [String]
        /// The form of each column in JSON.
        private let forms: [QueryForm?]
        private let select: String

        /// Returns the statement that creates the view.
        package func statement(isTemporary: Bool) -> String {
            "CREATE \(isTemporary ? "TEMP " : "")VIEW \(name.quotedName) AS\n-- \(meaning.printable)\n\(select)"
        }

        /// The statement that creates an empty table in place of the view. The declared types are those of
        /// ``QueryForm``.
        var emptyTable: String {
            let list = zip(columns, forms).map { "\($0.quotedName) \($1?.rawValue ?? "")" }
            return "CREATE TEMP TABLE \(name.quotedName) (\(list.joined(separator: ", ")))"
        }
    }

    package let views: [View]

    /// The SQL functions of ``StoreQuery`` that give dates and JSON the form that they have in every other output; NULL
    /// for any other value.
    static let functions = [
        SQLiteFunction("moult_date", argumentCount: 1, isCallableFromSchema: true) { arguments in
            DateText.text(sinceReferenceDate: arguments.real(0)).map { .text($0) } ?? .null
        },
        SQLiteFunction("moult_json", argumentCount: 1, isCallableFromSchema: true) { arguments in
            guard arguments.storageClass(0) == .blob else { return .null }
            return arguments.withBytes(0) { ReadableData.text(ofJSON: $0) }.map { .text($0) } ?? .null
        },
    ]

    /// Creates the views. A name that the store already uses gets a number: `Post_2` in a store with a table `POST`.
    ///
    /// - Parameter isForMoult: whether the connection has ``functions``. Other programs get dates in milliseconds, and
    ///   JSON as it is stored.
    package init(_ contents: StoreContents, isForMoult: Bool = false) {
        var names = DistinctNames(taken: contents.taken)
        var views: [View] = []
        for entity in contents.entities {
            let whole = contents.hierarchies.first { $0.name == entity.name }
            if let whole {
                views.append(
                    View(
                        whole, name: names.next(forTable: whole.name), contents.externalFolder, isForMoult,
                        "The objects of the entity \(whole.name) and of its sub-entities."))
            }
            let name = whole == nil ? entity.name : entity.name + "_only"
            let meaning =
                "The objects of the entity \(entity.name)\(whole == nil ? "" : ", without those of its sub-entities")."
            views.append(View(entity, name: names.next(forTable: name), contents.externalFolder, isForMoult, meaning))
        }
        for join in contents.joins { views.append(View(join, name: names.next(forTable: join.name))) }
        self.views = views
    }

    /// A script for a session that has opened or attached the store.
    package var script: String { views.map { $0.statement(isTemporary: true) + ";\n" }.joined(separator: "\n") }

    /// Creates the views on a connection to the store.
    package func make(on connection: Connection, isTemporary: Bool) throws {
        for view in views { try connection.run(view.statement(isTemporary: isTemporary)) }
    }
}

extension StoreViews.View {
    fileprivate init(
        _ entity: EntityContents, name: String, _ folder: String, _ isForMoult: Bool, _ meaning: String
    ) {
        self.name = name
        self.meaning =
            meaning
            + (DistinctNames.isReserved(entity.name) ? " SQLite reserves names that begin with sqlite_." : "")
        columns = entity.columns.map(\.name)
        forms = entity.columns.map(\.form)
        let last = entity.columns.count - 1
        let lines = entity.columns.enumerated().map { place, column in
            "  \(column.sql(folder, isForMoult)) AS \(column.name.quotedName)\(place == last ? "" : ",") -- \(column.meaning.printable)"
        }
        let condition = entity.sharesTable ? "\nWHERE Z_ENT IN \(entity.list)" : ""
        select = "SELECT\n\(lines.joined(separator: "\n"))\nFROM \(entity.table.quotedName)\(condition)"
    }

    fileprivate init(_ join: JoinContents, name: String) {
        self.name = name
        meaning = join.meaning + "."
        columns = join.columns
        forms = columns.map { _ in nil }
        let sources = [join.ownColumn, join.otherColumn] + (join.orderColumn.map { [$0] } ?? [])
        let list = zip(sources, join.columns).map { "\($0.quotedName) AS \($1.quotedName)" }
        select =
            "SELECT \(list.joined(separator: ", "))\nFROM \(join.table.quotedName)\nWHERE \(join.ownColumn.quotedName) IS NOT NULL"
    }
}

extension EntityContents.Column {
    /// Returns the SQL expression for the column's value.
    ///
    /// - Parameter folder: the folder of the external data files.
    fileprivate func sql(_ folder: String, _ isForMoult: Bool) -> String {
        switch source {
        case .key(let column), .toOne(let column, _), .raw(let column): column.quotedName
        case .entity(let names): Self.names(names, of: "Z_ENT")
        case .toOneEntity(let column, let names): Self.names(names, of: column.quotedName)
        case .attribute(let column, let type, let isExternal):
            Self.value(column.quotedName, type, isExternal ? folder : nil, isForMoult)
        }
    }

    private static func names(_ names: [Int: String], of column: String) -> String {
        let choices = names.sorted { $0.key < $1.key }.map { "WHEN \($0) THEN \($1.quotedLiteral)" }
        return choices.isEmpty ? "NULL" : "CASE \(column) \(choices.joined(separator: " ")) END"
    }

    /// Returns the expression for a value. A value of another type than the attribute's is returned as it is stored.
    private static func value(
        _ column: String, _ type: AttributeType, _ folder: String?, _ isForMoult: Bool
    ) -> String {
        switch type {
        case .date:
            // Dates are seconds since 2001. `strftime` supports the years 0 to 9999.
            let text =
                isForMoult
                ? "moult_date(\(column))" : "strftime('%Y-%m-%dT%H:%M:%fZ', \(column) + 978307200, 'unixepoch')"
            return "CASE WHEN typeof(\(column)) IN ('integer', 'real') THEN "
                + "ifnull(\(text), \(column)) ELSE \(column) END"
        case .uuid:
            let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(hex(\(column)), \($0), \($1))" }
            return "CASE WHEN typeof(\(column)) = 'blob' AND length(\(column)) = 16 THEN "
                + "\(parts.joined(separator: " || '-' || ")) ELSE \(column) END"
        case .binary, .transformable:
            guard let folder else { return json(column, isForMoult) }
            // The first byte tells an inline value from the name of a file.
            let inline = json("substr(\(column), 2)", isForMoult)
            return "CASE substr(\(column), 1, 1) WHEN x'01' THEN \(inline) WHEN x'02' THEN "
                + "\((folder + "/").quotedLiteral) || CAST(substr(\(column), 2, length(\(column)) - 2) AS TEXT) ELSE \(column) END"
        default: return column
        }
    }

    /// Returns the expression for bytes: the text of a JSON array or object, and other bytes as they are.
    private static func json(_ bytes: String, _ isForMoult: Bool) -> String {
        guard !isForMoult else { return "ifnull(moult_json(\(bytes)), \(bytes))" }
        let text = "CAST(\(bytes) AS TEXT)"
        return "CASE WHEN typeof(\(bytes)) = 'blob' AND ltrim(\(text), char(9, 10, 13, 32)) GLOB '[[{]*' "
            + "AND instr(\(bytes), x'00') = 0 AND json_valid(\(text)) THEN \(text) ELSE \(bytes) END"
    }

    /// The form of the column's values in JSON; nil for values as they are.
    fileprivate var form: QueryForm? {
        guard case .attribute(_, let type, _) = source else { return nil }
        return type == .boolean ? .boolean : type.usualForm == nil ? nil : .json
    }
}

/// A copy of a store with ``StoreViews`` in it, in one file.
package struct ReadableCopy {
    private let store: String
    private let versions: ModelVersions?
    private let system: any System

    package init(of store: String, versions: ModelVersions?, _ system: any System = POSIXSystem()) {
        (self.store, self.versions, self.system) = (store, versions, system)
    }

    /// Makes the copy. The file appears at its path only when it is complete.
    ///
    /// - Throws: `usage` if the path is taken; `locked` if another process is making the copy; any error from reading
    ///   the store or writing the copy.
    package func make(at path: String) throws {
        let part = try StagedPath.begin(path, isStore: true, system)
        do {
            try ReadOnlyStore.read(store, system: system) { probe in
                try removeFiles(of: part)
                try copy(probe, to: part)
                let contents = try StoreContents(probe, in: versions)
                let connection = try Connection(part, mode: .readWrite, followsLinks: false, isProven: true)
                defer { connection.close() }
                // The copy is one file, whatever the store's journal mode.
                _ = try connection.text("PRAGMA journal_mode = DELETE")
                try connection.transaction { try StoreViews(contents).make(on: connection, isTemporary: false) }
            }
            try system.synchronise(part)
            try StagedPath.end(part, as: path, isStore: true, system)
        } catch {
            try? removeFiles(of: part)
            throw error
        }
    }

    private func copy(_ probe: ReadOnlyStore, to part: String) throws {
        if probe.way == .immutable {
            // Clone the file where the volume can. The probe shows whether another process wrote in the meantime.
            try system.copy(probe.path, to: part, .like(store))
            return
        }
        try system.makeFile(part, .like(store))
        let connection = try Connection(part, mode: .readWrite, followsLinks: false, isProven: true)
        defer { connection.close() }
        try Backup(from: probe.connection, to: connection).run(stepPages: 1_000) { _, _ in true }
        try connection.proveWrites()
    }

    private func removeFiles(of part: String) throws {
        for suffix in [""] + ReadOnlyStore.sideFileSuffixes { try system.remove(part + suffix) }
    }
}

/// SQL views of the tables of a store, under the model's names.
package struct ViewsReport: ToolAnswer {
    private let views: StoreViews
    /// The path of the copy with the views; nil if none was made.
    private let copy: String?

    /// - Parameter copy: the path for a copy of the store with the views; nil for none.
    /// - Throws: `usage` if the path is taken; any error from reading the store or writing the copy.
    package init(of store: String, versions: ModelVersions?, copy: String?) throws {
        views = try ReadOnlyStore.read(store) { StoreViews(try StoreContents($0, in: versions)) }
        if let copy { try ReadableCopy(of: store, versions: versions).make(at: copy) }
        self.copy = copy
    }

    /// The script that creates the views on a connection.
    package var script: String { views.script }

    package var document: JSONValue {
        let views: [JSONValue] = views.views.map {
            [
                "name": .string($0.name), "meaning": .string($0.meaning), "columns": JSONValue($0.columns),
                "sql": .string($0.statement(isTemporary: true)),
            ]
        }
        return .object(
            [.init("format", 1), .init("views", .array(views))] + (copy.map { [.init("copy", .string($0))] } ?? []))
    }

    package func lines(style: TextStyle) -> [String] {
        copy.map {
            ["Made \($0.printable): a copy of the store with \(Quantity.count(views.views.count, "view"))."]
        } ?? []
    }
}
