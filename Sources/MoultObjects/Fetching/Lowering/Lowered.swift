import MoultModel
import MoultSQLite

/// What an expression is in SQL.
indirect enum Lowered {
    /// Known before the statement runs; bound as the other side of a comparison needs it.
    case constant(ExpressionValue)
    case value(LoweredValue)
    case object(RowReference)
    /// The destinations of a to-many relationship, or what a key path finds behind them.
    case collection(LoweredCollection)
    /// A composite attribute, whose elements are columns.
    case composite(RowReference, attribute: AttributeDescription, path: String)
    /// `{a, b}` where not all elements are constants.
    case elements([Lowered])
}

/// One value of a row.
struct LoweredValue {
    var sql: SQLText
    var kind: ValueKind
    var mayBeNull = true
    /// A decimal with all its digits as a text, for functions; in a comparison it is the number that a column holds.
    var exact: SQLText?
    /// The attribute whose column it is, as it stands there.
    var attribute: AttributeDescription?
}

/// Many values for one row, as a SELECT of its own inside the statement.
struct LoweredCollection {
    let scope: QueryScope
    /// The scope of the row that the collection hangs on.
    let owner: QueryScope
    /// One of the values, in terms of the scope: an object, a value or a composite. It may be nil.
    var element: Lowered
    /// Conditions that an element of the collection fulfils (SUBQUERY).
    var conditions: [SQLText] = []
    /// The order in which the elements come.
    var order: [SQLText]
    /// Whether equal elements count once.
    var isDistinct = false

    /// Holds where at least one element fulfils the condition.
    func exists(_ condition: SQLText? = nil) -> SQLText { "EXISTS (\(select("1", where: condition)))" }

    func select(_ columns: SQLText, where condition: SQLText? = nil) -> SQLText {
        scope.select(columns, where: SQLText.all(conditions + [condition].compactMap { $0 }))
    }
}

/// A condition in SQL.
struct LoweredCondition {
    var sql: SQLText
    /// Whether it can come out as NULL, which stands for false.
    var mayBeNull: Bool

    init(_ sql: SQLText, mayBeNull: Bool = false) {
        self.sql = sql
        self.mayBeNull = mayBeNull
    }

    static func constant(_ holds: Bool) -> LoweredCondition { LoweredCondition(holds ? "1" : "0") }

    /// SQL's NOT leaves NULL as it is; in Core Data's language what is not true is false.
    var negated: LoweredCondition { LoweredCondition(mayBeNull ? "(\(sql)) IS NOT TRUE" : "NOT (\(sql))") }
}
