import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan

/// One migration of the group "transform" in a process of its own.
enum TransformWork {
    /// Does it and prints the seconds of each phase and the peak memory; "make" makes the store instead.
    static func run(_ work: String, _ store: String, _ rows: Int) throws {
        switch work {
        case "make": try TransformModel.makeStore(at: store, rows: rows)
        case "closure": try migrate(store, TransformModel.joined(), TransformModel.joining())
        case "expression": try migrate(store, TransformModel.joined(), TransformModel.joining(), plainly)
        case "policy":
            var registry = MigrationRegistry()
            registry.register(policy: { OrderPolicy() }, named: TransformModel.policy)
            try migrate(store, TransformModel.split(), TransformModel.splitting(), registry: registry)
        default: throw MigrationError(.usage, "There is no work \(work).", remedy: "See TransformWork.")
        }
    }

    private static func migrate(
        _ store: String, _ target: ModelVersion, _ mapping: MappingModel,
        registry: MigrationRegistry = MigrationRegistry(), _ edit: (inout Pass) throws -> Void = { _ in }
    ) throws {
        let begun = Clock.now
        let versions = try ModelVersions(versions: [TransformModel.first(), target])
        let stage = try RegisteredStage(
            mapping, named: "the mapping", in: versions, policies: Set(registry.policies.keys))
        let prepared = try PreparedMigration(
            store, versions: versions, options: .init(registered: [stage], registry: registry))
        guard var migration = try prepared.migration() else { return }
        try edit(&migration)
        try ChildWork.run(migration, on: store, since: begun)
    }

    /// The closure's call as the expression of SQL that gives the same, in the very same statement.
    private static func plainly(_ migration: inout Pass) throws {
        var count = 0
        for position in migration.script.statements.indices {
            let sql = migration.script.statements[position].sql
            guard let call = sql.range(of: "\"moult_transform_"),
                let begin = sql[call.upperBound...].firstIndex(of: "("), let end = sql[begin...].firstIndex(of: ")")
            else { continue }
            let arguments = sql[sql.index(after: begin)..<end].split(separator: ",").dropFirst()
            let text = "(\(arguments.joined(separator: " || ', ' ||")))"
            migration.script.statements[position].sql.replaceSubrange(call.lowerBound...end, with: text)
            count += 1
        }
        guard count == 1 else {
            throw MigrationError(.internal, "\(count) statements call the closure.", remedy: "Look at the script.")
        }
    }
}
