import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Lowers expressions and predicates of Core Data's format language to SQL over a store's tables.
///
/// What SQLite computes exactly as ``Predicate/holds(for:variables:in:)`` does is lowered to SQLite's own operators;
/// everything else to functions that call that very code (``FormatFunctions``). What neither can do is refused, by
/// the part's printed format.
package struct FormatLowering {
    package let layout: StoreLayout
    /// The store whose objects the rows are; objects of others, and all where it is nil, are found nowhere in it.
    package let store: UUID?
    package let aliases: AliasCounter
    /// The object that key paths start at.
    package let evaluated: RowReference
    /// The lowered form of each `$name`.
    package var variables: [String: Lowered]
    /// The value of `now()`: seconds since 2001-01-01 00:00:00 UTC.
    package let now: Double
    /// The whole predicate or expression, for errors.
    package let format: String

    /// Whether an aggregate function of one value goes over the rows of the statement.
    package var groupsRows = false
    /// The closures that a mapping's expressions may call, by name, as functions of SQL.
    var transforms: TransformCalls?
    /// The SQL of `now()` in a statement that is kept; the time of ``now`` where it is nil.
    var nowText: SQLText?
    /// The log of failed conversions. With a log, a conversion of a value that cannot be converted gives nil and is
    /// noted here, instead of failing.
    var conversions: ConversionLog?
    /// Results that can be called by a name of their own.
    package var columns: [String: Lowered] = [:]

    package init(
        layout: StoreLayout, store: UUID?, aliases: AliasCounter, evaluated: RowReference,
        variables: [String: Lowered] = [:], now: Double, format: String
    ) {
        (self.layout, self.store, self.aliases, self.evaluated) = (layout, store, aliases, evaluated)
        (self.variables, self.now, self.format) = (variables, now, format)
    }

    package var model: ManagedObjectModel { layout.model }

    package func refuse(_ part: String, _ reason: String) -> MigrationError {
        MigrationError(
            .fetchUnsupported, "\(part) cannot be evaluated in the store: \(reason).",
            place: part == format ? evaluated.entity.name : "\(evaluated.entity.name): \(format)",
            remedy: "Change that part, or fetch without it and filter the objects in memory.")
    }
}

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
