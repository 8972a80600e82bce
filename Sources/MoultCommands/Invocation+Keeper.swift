import MoultModel
import MoultReport

extension Invocation {
    /// The keeper of a store: its backups, records, checks and repairs.
    ///
    /// - Parameters:
    ///   - store: the path of the store; the verb's own where nil.
    ///   - versions: asked only where the versions of the model are needed.
    func keeper(
        of store: String? = nil, _ versions: @escaping @Sendable () throws -> ModelVersions? = { nil }
    ) throws -> StoreKeeper {
        StoreKeeper(try store ?? required(Operand.store), try runOptions(), versions: versions)
    }
}
