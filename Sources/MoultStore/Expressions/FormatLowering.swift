import MoultModel
import MoultSQLite

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
        self.layout = layout
        self.store = store
        self.aliases = aliases
        self.evaluated = evaluated
        self.variables = variables
        self.now = now
        self.format = format
    }

    package var model: ManagedObjectModel { layout.model }

    package func refuse(_ part: String, _ reason: String) -> MigrationError {
        MigrationError(
            .fetchUnsupported, "\(part) cannot be evaluated in the store: \(reason).",
            place: part == format ? evaluated.entity.name : "\(evaluated.entity.name): \(format)",
            remedy: "Change that part, or fetch without it and filter the objects in memory.")
    }
}
