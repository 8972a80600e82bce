import MoultModel
import MoultSQLite

/// The form of an expression in SQL.
package indirect enum Lowered {
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

    var row: RowReference? { if case .object(let row) = self { row } else { nil } }
}

/// One value of a row.
package struct LoweredValue {
    package var sql: SQLText
    package var kind: ValueKind
    package var mayBeNull = true
    /// A decimal with all its digits as a text, for functions; in a comparison it is the number that a column holds.
    package var exact: SQLText?
    /// The attribute whose column it is, as it stands there.
    package var attribute: AttributeDescription?
}

/// Many values for one row, as a SELECT of its own inside the statement.
package struct LoweredCollection {
    package let scope: QueryScope
    /// The scope of the row that the collection hangs on.
    package let owner: QueryScope
    /// One of the values, in terms of the scope: an object, a value or a composite. It may be nil.
    package var element: Lowered
    /// Conditions that an element of the collection fulfils (SUBQUERY).
    package var conditions: [SQLText] = []
    /// The order in which the elements come.
    package var order: [SQLText]
    /// Whether equal elements count once.
    package var isDistinct = false

    /// Holds where at least one element fulfils the condition.
    package func exists(_ condition: SQLText? = nil) -> SQLText { "EXISTS (\(select("1", where: condition)))" }

    package func select(_ columns: SQLText, where condition: SQLText? = nil) -> SQLText {
        scope.select(columns, where: SQLText.all(conditions + [condition].compactMap { $0 }))
    }
}

/// A condition in SQL.
package struct LoweredCondition {
    package var sql: SQLText
    /// Whether it can come out as NULL, which stands for false.
    package var mayBeNull: Bool

    package init(_ sql: SQLText, mayBeNull: Bool = false) {
        self.sql = sql
        self.mayBeNull = mayBeNull
    }

    package static func constant(_ holds: Bool) -> LoweredCondition { LoweredCondition(holds ? "1" : "0") }

    /// SQL's NOT leaves NULL as it is; in Core Data's language what is not true is false.
    package var negated: LoweredCondition { LoweredCondition(mayBeNull ? "(\(sql)) IS NOT TRUE" : "NOT (\(sql))") }
}
