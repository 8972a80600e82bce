import MoultBasics
import MoultModel

/// A generator of table aliases for one statement: `t0`, `t1`, ….
package final class AliasCounter {
    /// The schema that contains the tables; nil if no other database is attached.
    private let schema: String?
    private var next = 0

    package init(schema: String? = nil) { self.schema = schema }

    /// Returns a table as written after FROM, without its alias.
    func table(_ name: String) -> SQLText { schema.map { "\(name: $0).\(table: name)" } ?? "\(table: name)" }

    package func make() -> String {
        defer { next += 1 }
        return "t\(next)"
    }
}

/// The FROM clause of one SELECT, which grows as key paths are lowered. A to-one joins its destination once, however
/// often it is used.
package final class QueryScope {
    private let source: SQLText
    private let aliases: AliasCounter
    private var joins: [SQLText] = []
    private var joined: [SQLText: String] = [:]
    /// The condition that links the rows to those of the enclosing statement.
    package let link: SQLText?

    package init(_ source: SQLText, link: SQLText?, aliases: AliasCounter) {
        (self.source, self.link, self.aliases) = (source, link, aliases)
    }

    /// Returns the value of an expression over the scope's row: the expression itself, or a SELECT if rows were joined.
    func value(_ expression: SQLText) -> SQLText {
        guard !joins.isEmpty else { return expression }
        var text: SQLText = "(SELECT \(expression) FROM (SELECT 1)"
        for join in joins { text += join }
        return "\(text))"
    }

    package var from: SQLText {
        var text: SQLText = "\(source)"
        for join in joins { text += join }
        return text
    }

    /// Returns the alias of the row with the given key; the row may not exist.
    package func alias(table: String, key: SQLText) -> String {
        let join: SQLText = "\(aliases.table(table)) \(key)"
        if let known = joined[join] { return known }
        let alias = aliases.make()
        joins.append(" LEFT JOIN \(aliases.table(table)) AS \(name: alias) ON \(name: alias).Z_PK = \(key)")
        joined[join] = alias
        return alias
    }

    /// Adds a table whose rows multiply those of the scope: a to-many that follows a to-many.
    ///
    /// - Parameter keepsRows: whether a row without matches is kept, with NULL for all added columns.
    package func multiply(by table: String, alias: String, on condition: SQLText, keepsRows: Bool) {
        let join: SQLText = keepsRows ? " LEFT JOIN" : " JOIN"
        joins.append("\(join) \(aliases.table(table)) AS \(name: alias) ON \(condition)")
    }

    package func select(_ columns: SQLText, where condition: SQLText? = nil) -> SQLText {
        let conditions = SQLText.all([link, condition].compactMap { $0 })
        return conditions.map { "SELECT \(columns) FROM \(from) WHERE \($0)" } ?? "SELECT \(columns) FROM \(from)"
    }
}

/// A row that represents an object: the place of its key, and its entity according to the model.
package struct RowReference {
    package let scope: QueryScope
    private let description: Shared<EntityDescription>
    package var entity: EntityDescription { description.value }
    /// `"t0".Z_PK`, or the foreign key that leads to the row.
    package let key: SQLText
    /// The alias of the row; nil if the row itself has not been joined.
    fileprivate let ownAlias: String?
    package let mayBeNull: Bool

    package init(_ scope: QueryScope, _ entity: EntityDescription, alias: String, mayBeNull: Bool = false) {
        self.scope = scope
        description = Shared(entity)
        key = "\(name: alias).Z_PK"
        ownAlias = alias
        self.mayBeNull = mayBeNull
    }

    package init(_ scope: QueryScope, _ entity: EntityDescription, foreignKey: SQLText) {
        self.scope = scope
        description = Shared(entity)
        key = foreignKey
        ownAlias = nil
        mayBeNull = true
    }

    /// Returns the alias of the row in its entity's table, and joins the table if necessary.
    package func alias(in layout: StoreLayout) -> String? {
        ownAlias ?? layout.table(for: entity).map { scope.alias(table: $0.name, key: key) }
    }
}
