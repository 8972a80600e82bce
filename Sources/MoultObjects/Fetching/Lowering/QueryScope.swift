import MoultModel
import MoultStore

/// Numbers for the tables of one statement: `t0`, `t1`, ….
final class AliasCounter {
    private var next = 0

    func make() -> String {
        defer { next += 1 }
        return "t\(next)"
    }
}

/// The FROM clause of one SELECT, which grows as key paths are lowered: a to-one joins its destination once, however
/// often it is used.
final class QueryScope {
    private let source: SQLText
    private let aliases: AliasCounter
    private var joins: [SQLText] = []
    private var joined: [SQLText: String] = [:]
    /// What ties the rows to those of the statement around it.
    let link: SQLText?

    init(_ source: SQLText, link: SQLText?, aliases: AliasCounter) {
        self.source = source
        self.link = link
        self.aliases = aliases
    }

    var from: SQLText {
        var text: SQLText = "\(source)"
        for join in joins { text += join }
        return text
    }

    /// The alias of the row that `key` leads to; the row may not exist.
    func alias(table: String, key: SQLText) -> String {
        let join: SQLText = "\(name: table) \(key)"
        if let known = joined[join] { return known }
        let alias = aliases.make()
        joins.append(" LEFT JOIN \(name: table) AS \(name: alias) ON \(name: alias).Z_PK = \(key)")
        joined[join] = alias
        return alias
    }

    /// Adds a table whose rows multiply those of the scope: a to-many behind a to-many.
    ///
    /// - Parameter keepsRows: whether a row that has none of them stays, with NULL for all their columns.
    func multiply(by table: String, alias: String, on condition: SQLText, keepsRows: Bool) {
        let join: SQLText = keepsRows ? " LEFT JOIN" : " JOIN"
        joins.append("\(join) \(name: table) AS \(name: alias) ON \(condition)")
    }

    func select(_ columns: SQLText, where condition: SQLText? = nil) -> SQLText {
        let conditions = SQLText.all([link, condition].compactMap { $0 })
        return conditions.map { "SELECT \(columns) FROM \(from) WHERE \($0)" } ?? "SELECT \(columns) FROM \(from)"
    }
}

/// A row that stands for an object: where its key is, and which entity it is of by the model.
struct RowReference {
    let scope: QueryScope
    let entity: EntityDescription
    /// `"t0".Z_PK`, or the foreign key that leads to the row.
    let key: SQLText
    /// Nil where the row itself has not been joined.
    fileprivate let ownAlias: String?
    let mayBeNull: Bool

    init(_ scope: QueryScope, _ entity: EntityDescription, alias: String, mayBeNull: Bool = false) {
        self.scope = scope
        self.entity = entity
        key = "\(name: alias).Z_PK"
        ownAlias = alias
        self.mayBeNull = mayBeNull
    }

    init(_ scope: QueryScope, _ entity: EntityDescription, foreignKey: SQLText) {
        self.scope = scope
        self.entity = entity
        key = foreignKey
        ownAlias = nil
        mayBeNull = true
    }

    /// The alias of the row in its entity's table, joined where it was not.
    func alias(in layout: StoreLayout) -> String? {
        ownAlias ?? layout.table(for: entity).map { scope.alias(table: $0.name, key: key) }
    }
}
