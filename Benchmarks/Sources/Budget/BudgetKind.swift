import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan

/// A migration that is measured once in one run and once in calls with a budget.
enum BudgetKind: String, CaseIterable {
    /// A column comes and one gets another name.
    case added
    /// An attribute becomes required: the rows without a value are updated.
    case required
    /// A column gets another type: the table is made anew, with its indexes.
    case widened
    /// A mapping model with expressions and no code.
    case mapping
    /// A mapping model with a closure in Swift for each row.
    case closure
    /// A mapping model with four closures in Swift for each row.
    case closures
    /// A mapping model with a migration policy in Swift.
    case policy

    var sentence: String {
        switch self {
        case .added: "inferred, a column added and one renamed"
        case .required: "inferred, an attribute required"
        case .widened: "inferred, a rebuilt table"
        case .mapping: "mapping model, expressions"
        case .closure: "mapping model, a closure in Swift"
        case .closures: "mapping model, four closures in Swift"
        case .policy: "mapping model, a migration policy"
        }
    }

    /// Whether its store is one of orders.
    var hasOrders: Bool { [.mapping, .closure, .closures, .policy].contains(self) }

    /// - Parameter continuesEarlierCall: whether to use what an earlier call has found.
    func prepared(_ store: String, continuesEarlierCall: Bool) throws -> PreparedMigration {
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.continuesEarlierCall = continuesEarlierCall
        guard hasOrders else {
            let change = try BenchmarkModel.change(named: self == .added ? "in-place" : rawValue)
            options.answers = change.answers
            return try PreparedMigration(store, versions: change.versions, options: options)
        }
        if self == .policy { options.registry.register(policy: { OrderPolicy() }, named: TransformModel.policy) }
        let (target, mapping) =
            switch self {
            case .mapping: (try TransformModel.split(), try TransformModel.computing())
            case .closure: (try TransformModel.joined(), try TransformModel.joining())
            case .closures: (try TransformModel.searchable(), try TransformModel.indexing())
            default: (try TransformModel.split(), try TransformModel.splitting())
            }
        let versions = try ModelVersions(versions: [TransformModel.first(), target])
        options.registered = [
            try RegisteredStage(
                mapping, named: "the mapping", in: versions, policies: Set(options.registry.policies.keys))
        ]
        return try PreparedMigration(store, versions: versions, options: options)
    }
}
