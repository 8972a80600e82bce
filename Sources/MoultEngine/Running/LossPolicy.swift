import MoultModel

/// A policy that decides which losses a migration is refused for, besides those that no policy lets pass
/// (``LossCheck``).
///
/// What is declared is carried out under every policy, and counted: what ``PreparedMigration/Options/registry`` accepts
/// (places, or everything), an answer, a mapping model, a stage.
package enum LossPolicy: Sendable, Hashable {
    /// Any loss of objects, values or links that nothing declares.
    case refuseUndeclared
    /// No undeclared loss: what a version leaves out is deleted, as in Core Data. It is meant for an app that has both
    /// versions itself.
    ///
    /// - Parameter holdsOthers: whether the objects of entities are refused that are in another configuration of the
    ///   new version.
    case asTheVersionsSay(holdsOthers: Bool = false)

    /// Whether a loss that nothing declares is refused.
    func refuses(_ loss: MigrationLoss) -> Bool {
        switch self {
        case .refuseUndeclared: true
        case .asTheVersionsSay(let holdsOthers): holdsOthers && loss.reason == .otherConfiguration
        }
    }
}
