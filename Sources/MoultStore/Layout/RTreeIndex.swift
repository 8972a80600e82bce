import MoultModel

/// An R-tree fetch index: a virtual table that three triggers keep up to date with an entity's table.
struct RTreeIndex {
    let table: VirtualTable
    let triggers: [TriggerDefinition]

    static func all(of layout: StoreLayout, numbering: EntityNumbering) -> [RTreeIndex] {
        guard layout.level.hasFetchIndexes else { return [] }
        return numbering.entities.flatMap { entity in
            entity.fetchIndexes.compactMap { RTreeIndex($0, of: entity, in: layout) }
        }
    }

    private init?(_ index: FetchIndexDescription, of entity: EntityDescription, in layout: StoreLayout) {
        guard !index.elements.isEmpty, index.elements.allSatisfy({ $0.kind == .rTree }),
            let source = layout.table(for: entity)?.name.sqlName
        else { return nil }
        let names = index.elements.flatMap { Self.components(of: $0, entity, layout.model) }
        let columns = names.compactMap { layout.column(forAttribute: $0, in: entity) }
        guard columns.count == names.count else { return nil }
        let name = "Z_RT_\(entity.name)_\(index.name)"
        let bounds = columns.flatMap { ["\($0)_MIN", "\($0)_MAX"] }
        let definitions = bounds.map { ", \($0.sqlName) FLOAT" }.joined()
        table = VirtualTable(
            name: name,
            sql: "CREATE VIRTUAL TABLE \(name.sqlName) USING RTREE (Z_PK INTEGER PRIMARY KEY\(definitions))",
            fillStatement: Self.fill(name, from: source, bounds: bounds, columns: columns))
        triggers = Self.triggers(name, on: source, bounds: bounds, columns: columns)
    }

    /// Returns the properties that an element indexes. Photos indexes a transient property that stands for several
    /// stored ones, named in its user info.
    private static func components(
        of element: FetchIndexDescription.Element, _ entity: EntityDescription, _ model: ManagedObjectModel
    ) -> [String] {
        guard case .property(let name) = element.subject else { return [""] }
        guard let parts = model.attribute(name, of: entity)?.userInfo["_NSLocationAttributeDerivedComponents"] else {
            return [name]
        }
        return parts.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    /// Returns the columns and values that Core Data's trigger inserts into a tree for a row `NEW`; nil for a trigger
    /// with different wording.
    static func insertedRow(into tree: String, by trigger: String) -> (columns: String, values: String)? {
        guard let start = trigger.firstRange(of: "INTO \(tree.sqlName) (")?.upperBound,
            let middle = trigger[start...].firstRange(of: ") VALUES ("),
            let end = trigger[middle.upperBound...].firstIndex(of: ")")
        else { return nil }
        return (String(trigger[start..<middle.lowerBound]), String(trigger[middle.upperBound..<end]))
    }

    private static func fill(_ name: String, from source: String, bounds: [String], columns: [String]) -> String {
        let values = columns.flatMap { [$0.sqlName, $0.sqlName] }.joined(separator: ", ")
        return "INSERT INTO \(name.sqlName) (Z_PK, \(bounds.sqlList)) "
            + "SELECT Z_PK, \(values) FROM \(source)"
    }

    private static func triggers(_ name: String, on source: String, bounds: [String], columns: [String])
        -> [TriggerDefinition]
    {
        let tree = name.sqlName
        // Core Data writes the stray space before the first comma.
        let values = columns.enumerated().map { position, column in
            "NEW.\(column.sqlName)\(position == 0 ? " ," : ", ")NEW.\(column.sqlName)"
        }.joined(separator: ", ")
        let row = "INTO \(tree) (Z_PK, \(bounds.sqlList)) VALUES (NEW.Z_PK, \(values)) ;"
        let actions = [
            ("INSERT", "INSERT OR REPLACE \(row)"),
            ("UPDATE", "DELETE FROM \(tree) WHERE Z_PK = NEW.Z_PK ; INSERT \(row)"),
            ("DELETE", "DELETE FROM \(tree) WHERE Z_PK = OLD.Z_PK ;"),
        ]
        return actions.map { event, action in
            let trigger = "\(name)_\(event)"
            return TriggerDefinition(
                name: trigger, table: source,
                sql: "CREATE TRIGGER \(trigger.sqlName) AFTER \(event) ON \(source) FOR EACH ROW BEGIN \(action) END")
        }
    }
}

/// An R-tree of a store.
package struct VirtualTable: Sendable, Hashable {
    package let name: String
    /// The `CREATE VIRTUAL TABLE` statement.
    package let sql: String
    /// The statement that fills the R-tree from the rows of its entity's table; nil if the R-tree was read from a
    /// store.
    package let fillStatement: String?

    package init(name: String, sql: String, fillStatement: String?) {
        (self.name, self.sql, self.fillStatement) = (name, sql, fillStatement)
    }

    /// The statements that create the R-tree, and fill it if the fill statement is known.
    package var statements: [StoreScript.Statement] {
        let fill = fillStatement.map {
            StoreScript.Statement(.fill, name, $0, "Fill the R-tree \(name).", rows: .unknown)
        }
        return [.init(.createTable, name, sql, "Make the R-tree \(name).")] + (fill.map { [$0] } ?? [])
    }
}
