import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Lowers expressions and predicates of Core Data's format language to SQL over a store's tables.
///
/// Operations that SQLite computes exactly as ``Predicate/holds(for:variables:in:)`` does are lowered to SQLite's own
/// operators; the others become calls of functions that run the same evaluation (``FormatFunctions``). A part that
/// neither can compute is refused, with its printed format.
package struct FormatLowering {
    package let layout: StoreLayout
    /// The store that contains the rows. Objects of other stores match no row; if it is nil, no object does.
    package let store: UUID?
    package let aliases: AliasCounter
    /// The object at which key paths start.
    package let evaluated: RowReference
    /// The lowered form of each `$name`.
    package var variables: [String: Lowered]
    /// The value of `now()`: seconds since 2001-01-01 00:00:00 UTC.
    package let now: Double
    /// The whole predicate or expression, for errors.
    package let format: String

    /// Whether an aggregate function with a single value ranges over the rows of the statement.
    package var groupsRows = false
    /// The closures that a mapping's expressions may call as SQL functions, by name.
    var transforms: TransformCalls?
    /// The SQL of `now()` in a statement that is stored; if nil, the time of ``now`` is used.
    var nowText: SQLText?
    /// The log of failed conversions. If it is set, a conversion without a result returns nil and is recorded here
    /// instead of failing.
    var conversions: ConversionLog?
    /// Results that expressions can refer to by name.
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

/// The SQL form of an expression.
package indirect enum Lowered {
    /// A value known before the statement runs, bound as the other side of a comparison requires.
    case constant(ExpressionValue)
    case value(LoweredValue)
    case object(RowReference)
    /// The destinations of a to-many relationship, or the values that a key path reads from them.
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
    /// A decimal with all its digits as text, for functions. Comparisons use the number stored in the column instead.
    package var exact: SQLText?
    /// The attribute whose column holds the value, if it is read unchanged.
    package var attribute: AttributeDescription?
}

/// Many values for one row, as a subquery inside the statement.
package struct LoweredCollection {
    package let scope: QueryScope
    /// The scope of the row that owns the collection.
    package let owner: QueryScope
    /// An element, expressed in the scope: an object, a value or a composite. It may be nil.
    package var element: Lowered
    /// The conditions that elements of the collection meet (SUBQUERY).
    package var conditions: [SQLText] = []
    /// The sort order of the elements.
    package var order: [SQLText]
    /// Whether equal elements are counted once.
    package var isDistinct = false

    /// Returns a condition that holds if at least one element meets `condition`.
    package func exists(_ condition: SQLText? = nil) -> SQLText { "EXISTS (\(select("1", where: condition)))" }

    package func select(_ columns: SQLText, where condition: SQLText? = nil) -> SQLText {
        scope.select(columns, where: SQLText.all(conditions + [condition].compactMap { $0 }))
    }
}

/// A condition in SQL.
package struct LoweredCondition {
    package var sql: SQLText
    /// Whether the condition can evaluate to NULL, which counts as false.
    package var mayBeNull: Bool

    package init(_ sql: SQLText, mayBeNull: Bool = false) {
        self.sql = sql
        self.mayBeNull = mayBeNull
    }

    package static func constant(_ holds: Bool) -> LoweredCondition { LoweredCondition(holds ? "1" : "0") }

    /// The negated condition. SQL's NOT keeps NULL; in Core Data's language, anything that is not true is false.
    package var negated: LoweredCondition { LoweredCondition(mayBeNull ? "(\(sql)) IS NOT TRUE" : "NOT (\(sql))") }
}
