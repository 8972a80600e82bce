import MoultModel

/// Which losses a migration is refused for, besides those that no policy lets pass (``LossCheck``).
///
/// What is declared is carried out under every policy, and counted: what ``PreparedMigration/Options/registry`` accepts
/// (places, or everything), an answer, a mapping model, a stage.
package enum LossPolicy: Sendable, Hashable {
    /// Any loss of objects, values or links that nothing declares.
    case refuseUndeclared
    /// Only the objects of entities that another configuration of the model has. What a version leaves out is deleted, as
    /// in Core Data. It is meant for an app that has both versions itself.
    ///
    /// - Parameter elsewhere: these entities, by their names in the older version.
    case asTheVersionsSay(elsewhere: Set<String> = [])

    /// Whether a loss that nothing declares is refused.
    func refuses(_ loss: MigrationLoss) -> Bool {
        switch self {
        case .refuseUndeclared: true
        case .asTheVersionsSay(let elsewhere): loss.kind == .rows && elsewhere.contains(loss.entityName)
        }
    }
}
