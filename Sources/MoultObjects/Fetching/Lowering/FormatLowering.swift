import MoultModel
import MoultSQLite
import MoultStore

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
struct FormatLowering {
    let layout: StoreLayout
    /// The store whose objects the rows are; objects of others are found nowhere in it.
    let store: UUID
    let aliases: AliasCounter
    /// The object that key paths start at.
    let evaluated: RowReference
    /// What `$name` stands for.
    var variables: [String: Lowered]
    /// What `now()` is: seconds since 2001-01-01 00:00:00 UTC.
    let now: Double
    /// The whole predicate or expression, for errors.
    let format: String

    /// Whether an aggregate function of one value goes over the rows of the statement.
    var groupsRows = false
    /// Results that can be called by a name of their own.
    var columns: [String: Lowered] = [:]

    var model: ManagedObjectModel { layout.model }

    func refuse(_ part: String, _ reason: String) -> MigrationError {
        MigrationError(
            .fetchUnsupported, "\(part) cannot be asked of the store: \(reason).",
            place: part == format ? evaluated.entity.name : "\(evaluated.entity.name): \(format)",
            remedy: "Change that part, or fetch without it and test the objects in memory.")
    }
}
