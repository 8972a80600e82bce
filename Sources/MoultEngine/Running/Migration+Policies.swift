import MoultModel
import MoultStore
import MoultTransform

extension Migration {
    /// Adds the run of the migration policies that the plan's mapping names.
    mutating func addPolicies(
        of plan: BoundPlan, _ registry: MigrationRegistry, batchSize: Int, ledger: PolicyLedger
    ) {
        policies = ledger
        guard PolicyRun.isNeeded(for: plan.mapping) else { return }
        let (mapping, from, to) = (plan.mapping, plan.source.model, plan.destination.model)
        let names = Set(mapping.entityMappings.filter { $0.policy != nil }.compactMap(\.sourceEntityName))
        let all = Double(max(names.reduce(0) { $0 + plan.rowCounts[$1, default: 0] }, 1))
        objectsByCode += Int64(all)
        code.append { site in
            let run = PolicyRun(
                mapping, from: from, to: to, registry: registry, external: site.external, batchSize: batchSize,
                on: site.system
            ) { done, sentence in
                if done > 0 { site.report(min(Double(done) / all, 1), nil) }
                return !site.isCancelled()
            }
            ledger.add(try run.run(on: site.connection, source: site.source))
        }
    }
}
