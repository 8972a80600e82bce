import MoultModel
import MoultStore
import MoultTransform

extension Migration {
    /// Adds the run of the migration policies that the plan's mapping names.
    mutating func addPolicies(
        of plan: BoundPlan, _ registry: MigrationRegistry, batchSize: Int, pass: Int, ledger: RunLedger
    ) {
        guard PolicyRun.isNeeded(for: plan.mapping) else { return }
        let (mapping, from, to) = (plan.mapping, plan.source.model, plan.destination.model)
        let names = Set(mapping.entityMappings.filter { $0.policy != nil }.compactMap(\.sourceEntityName))
        let all = Double(max(names.reduce(0) { $0 + plan.rowCounts[$1, default: 0] }, 1))
        objectsByCode += Int64(all)
        code.append { site in
            var run = PolicyRun(
                mapping, from: from, to: to, registry: registry, external: site.external, batchSize: batchSize,
                on: site.system
            ) { done, sentence in
                if done > 0 { site.report(min(Double(done) / all, 1), nil) }
                return !site.isCancelled()
            }
            run.reads = ledger.reads(forPass: pass)
            let counts = try run.run(on: site.connection, source: site.source)
            ledger.add(counts)
            ledger.add(counts.flatMap(\.losses))
        }
    }
}

extension InstanceCounts {
    /// The objects that a policy has dropped, and the links that what it has made cannot take.
    fileprivate var losses: [MigrationLoss] {
        guard let entityName else { return [] }
        let links = lostLinks.sorted { $0.key.precedesInByteOrder($1.key) }.map { name, count in
            MigrationLoss(
                .links, .byCode, entity: entityName, property: name, count: count,
                detail: "what the policy \(policy) has made has no place for \(count == 1 ? "it" : "them")")
        }
        return [droppedObjects(entityName)].compactMap { $0 } + links
    }

    private func droppedObjects(_ entityName: String) -> MigrationLoss? {
        guard dropped > 0 else { return nil }
        let known = quarantined > 0 ? [] : reasons.sorted { $0.key.precedesInByteOrder($1.key) }
        let reasons = known.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        return MigrationLoss(
            .rows, .byCode, entity: entityName, count: dropped,
            detail: "the policy \(policy)" + (reasons.isEmpty ? "" : " (\(reasons))"))
    }
}
