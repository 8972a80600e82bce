import Moult
import MoultBasics
import MoultModel
import MoultStore

/// The columns of an entity of a store, as queries and exports name them, and its to-many relationships.
package struct EntityReport: ToolAnswer {
    private let entity: EntityContents
    private let rows: Int64?
    /// The to-many relationships, each with the view of its pairs.
    private let lists: [(join: JoinContents, view: String)]

    /// - Throws: `usage` if the store has no such entity.
    package init(_ name: String, of store: String, versions: ModelVersions) throws {
        let contents = try ReadOnlyStore.read(store) { try StoreContents($0, in: versions) }
        guard let entity = contents.whole(name) else { throw contents.unknown(name) }
        self.entity = entity
        rows = try StoreInspection(of: store, in: versions).rowCounts[name]
        let views = StoreViews(contents).views
        lists = contents.joins(of: name).map { join in
            (join, views.first { $0.meaning == join.meaning + "." }?.name ?? join.name)
        }
    }

    /// The columns with their types.
    private var columns: [(name: String, type: String)] { entity.columns.map { ($0.name, $0.meaning) } }

    private func type(of list: JoinContents) -> String {
        "\(list.orderColumn == nil ? "" : "ordered ")to-many \(list.destination)"
    }

    package var document: JSONValue {
        func named(_ list: [(name: String, type: String)]) -> JSONValue {
            .array(list.map { ["name": .string($0.name), "type": .string($0.type)] })
        }
        let toMany: [JSONValue] = lists.map { join, view in
            ["name": .string(join.relationship), "type": .string(type(of: join)), "view": .string(view)]
        }
        return [
            "format": 1, "entity": .string(entity.name), "rows": rows.map(JSONValue.integer) ?? .null,
            "columns": named(columns), "toMany": .array(toMany),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var table = TextTable([.left("column"), .left("type")])
        for (name, type) in columns { table.add(name, type) }
        for (join, view) in lists { table.add(join.relationship, "\(type(of: join)), in the view \(view)") }
        let count = rows.map { ", \(Quantity.count($0, "object"))" } ?? ""
        return [style.bold(entity.name.printable) + count, ""] + table.lines(style: style)
    }
}

extension StoreContents {
    /// Returns the to-many relationships of an entity, inherited ones included.
    func joins(of name: String) -> [JoinContents] {
        guard let model = layout?.model, let entity = model.entity(name) else { return [] }
        let lineage = model.lineage(of: entity).map(\.name)
        return joins.filter { lineage.contains($0.entity) }
    }

    /// Returns the error for an entity that the store does not have.
    func unknown(_ name: String) -> MigrationError {
        let names = entities.map(\.name)
        let near = Suggestion.nearest(to: name, among: names).map { "Did you mean \($0)? " } ?? ""
        return MigrationError(
            .usage, "The store has no entity \(name).", place: name,
            remedy: "\(near)Its entities are: \(names.joined(separator: ", ")).")
    }
}

extension StoreContents {
    /// Returns the error of a query with what may have been meant by a name that it does not know.
    func explaining(_ error: MigrationError, in sql: String) -> MigrationError {
        func name(after words: String) -> String? {
            guard let text = error.message.split(separator: words).dropFirst().last else { return nil }
            return text.split(separator: ".").last.map { String($0).trimmed }
        }
        var error = error
        if let table = name(after: "no such table: ") {
            let near = Suggestion.nearest(to: table, among: entities.map(\.name) + joins.map(\.name))
            let owner = entities.filter { table.lowercased().hasPrefix($0.name.lowercased() + "_") }
                .max { $0.name.utf8.count < $1.name.utf8.count }
            if let near {
                error.advice = "Did you mean \(near)? " + error.advice
            } else if let owner {
                error.advice = "\(.inspect, .anyStore, .entity(owner.name)) shows the views of \(owner.name)."
            }
        } else if let column = name(after: "no such column: ") {
            let words = Set(sql.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
            let named = entities.compactMap { whole($0.name) }.filter { words.contains($0.name.lowercased()) }
            let names = named.flatMap { $0.columns.map(\.name) }
            // An element of a composite attribute has a dot in its name, which SQL takes for one between two names.
            let near =
                names.first { $0.lowercased().hasSuffix("." + column.lowercased()) }
                ?? Suggestion.nearest(to: column, among: names)
            let entity = named.first { $0.column(near ?? "") != nil } ?? named.first
            let hint = near.map { "Did you mean \($0.contains(".") ? $0.quotedName : $0)? " } ?? ""
            if let entity {
                error.advice =
                    "\(hint)\(.inspect, .anyStore, .entity(entity.name)) shows the columns of \(entity.name)."
            }
        }
        return error
    }
}
