import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultSystem
import MoultTransform
import MoultVerify

/// Rules at one moment of a run: checked, and repaired where that was asked for.
struct RuleRun: Sendable {
    let rules: [ValidationRule]
    /// Such as `before the migration`.
    let moment: String
    let model: ManagedObjectModel
    let log: RuleLog

    /// - Throws: `rulesBroken` if a rule of severity error does not hold.
    func check(_ connection: Connection, external: ExternalStorage, on system: any System) throws {
        let store = try ObjectStore(over: connection, model: model, external: external, on: system)
        let findings = try check(store).run()
        log.add(RuleReport(moment: moment, findings: findings))
        try findings.refuseErrors(moment)
    }

    /// Applies the fixes and looks at what they left; the store's old state is the schema `source`.
    ///
    /// - Throws: `rulesBroken` if a fix has not repaired what its rule finds, or has broken another rule;
    ///   `verificationFailed` where more was changed than was meant to be; `quarantineTooLarge`.
    ///
    /// - Parameter isVerified: whether nothing else has changed the objects of this pass, so that every difference must
    ///   be a fix's.
    func fix(_ site: MigrationSite, isVerified: Bool) throws {
        try site.connection.withoutAppTriggers { try fixRows(site, isVerified: isVerified) }
    }

    private func fixRows(_ site: MigrationSite, isVerified: Bool) throws {
        let store = try ObjectStore(over: site.connection, model: model, external: site.external, on: site.system)
        let check = try check(store)
        let findings = try check.run()
        let fixing = try RuleFixing(store, site.connection) {
            guard !site.isCancelled() else { throw site.cancellation }
        }
        let fixes = try fixing.run(rules)
        try QuarantineLimit.check(site, store.layout)
        let remaining = try check.run()
        log.add(RuleReport(moment: moment, findings: findings, fixes: fixes, remaining: remaining))
        try refuseHarm(findings, remaining)
        if isVerified { try ChangeVerifier(site.connection, store.layout).verify() }
    }

    private func check(_ store: ObjectStore) throws -> RuleCheck {
        let counts = log.sourceCounts
        return try RuleCheck(rules, on: store, source: counts.isEmpty ? nil : { counts[$0] ?? 0 })
    }

    private func refuseHarm(_ before: [RuleFinding], _ after: [RuleFinding]) throws {
        for (rule, (old, new)) in zip(rules, zip(before, after)) {
            guard new.count > old.count || (rule.fix != nil && new.isBroken) else { continue }
            let objects = new.examples.map { "\($0.id)" }.joined(separator: ", ")
            throw MigrationError(
                .rulesBroken,
                "\(rule.name) was broken \(Quantity.count(old.count, "time")) before the fixes and is broken \(Quantity.count(new.count, "time")) after: "
                    + objects, place: new.examples.first?.id.description ?? rule.entityName,
                remedy: "Correct the fixes, or the order of the rules. The store is unchanged.")
        }
    }
}

extension ChangeVerifier {
    /// Everything that a store of this layout holds but the counters of keys, history, and what triggers derive.
    init(_ connection: Connection, _ layout: StoreLayout) {
        let tables = layout.tables.map { table in
            Table(name: table.name, columns: table.columns.compactMap { Self.column($0, of: table, layout) })
        }
        let pairs = layout.joinTables.map { join in
            Pairs(
                name: join.name, keys: join.columns.compactMap { Self.key($0, layout) },
                orders: join.columns.compactMap { if case .order = $0.role { $0.name } else { nil } })
        }
        self.init(
            connection, tables: tables, pairs: pairs,
            growing: ["Z_PRIMARYKEY", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"])
    }

    private static func column(_ column: EntityTable.Column, of table: EntityTable, _ layout: StoreLayout) -> Column? {
        func destination(_ entity: String, _ name: String) -> String? {
            let relationship = layout.model.entity(entity).flatMap { layout.model.relationship(name, of: $0) }
            return relationship.flatMap { layout.table(forEntity: $0.destinationEntityName)?.name }
        }
        switch column.role {
        case .primaryKey: return nil
        case .optimisticLock: return Column(name: column.name, grows: true)
        // A repair notes it where it gives a row its number.
        case .entity: return Column(name: column.name, property: "Z_ENT")
        case .unknown: return Column(name: column.name)
        case .attribute(let entity, let name):
            let root = name.split(separator: ".").first.map(String.init) ?? name
            let attribute = layout.model.entity(entity).flatMap { layout.model.attribute(root, of: $0) }
            return attribute?.derivation == nil ? Column(name: column.name, property: name) : nil
        case .toOne(let entity, let name):
            return Column(name: column.name, property: name, destination: destination(entity, name))
        case .toOneEntity(let entity, let name):
            return Column(
                name: column.name, property: name, destination: destination(entity, name),
                key: table.column(.toOne(entity: entity, name: name)), isEntity: true)
        case .order(let entity, let name):
            return Column(name: column.name, property: name, key: table.column(.toOne(entity: entity, name: name)))
        case .inverselessToMany(let entity, let name):
            return Column(name: column.name, property: name, destination: layout.table(forEntity: entity)?.name)
        case .inverselessOrder(let entity, let name):
            return Column(
                name: column.name, property: name, key: table.column(.inverselessToMany(entity: entity, name: name)))
        }
    }

    private static func key(_ column: JoinTable.Column, _ layout: StoreLayout) -> Column? {
        switch column.role {
        case .source(let reference):
            return Column(name: column.name, destination: layout.table(forEntity: reference.entity)?.name)
        case .reflexiveDestination(let reference):
            let relationship = layout.model.entity(reference.entity)?.relationship(reference.name)
            return Column(
                name: column.name,
                destination: relationship.flatMap { layout.table(forEntity: $0.destinationEntityName)?.name })
        case .order, .unknown: return nil
        }
    }
}
