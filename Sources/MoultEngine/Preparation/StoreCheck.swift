import MoultBasics
import MoultModel
import MoultPlan
import MoultSQLite
import MoultStore

/// A check of a store, as a value that states its requirement in a sentence.
package protocol StoreCheck: Sendable {
    var sentence: String { get }
    /// Throws if the store does not satisfy the requirement.
    func check(_ connection: Connection) throws
}

/// The check that a store is still the one that a plan was made for.
package struct UnchangedStore: StoreCheck {
    package let binding: BoundPlan.Binding
    /// The resolved path of the store.
    package let store: String

    package init(binding: BoundPlan.Binding, store: String) { (self.binding, self.store) = (binding, store) }

    package var sentence: String { "Check that the store is the one for which the plan was made." }

    /// - Throws: `planStale`.
    package func check(_ connection: Connection) throws {
        guard try BoundPlan.Binding(StoreSnapshot(connection)) != binding else { return }
        throw MigrationError(
            .planStale, "The store is not the one for which the plan was made: its version or its tables have changed.",
            place: store, remedy: "Make the plan again.")
    }
}

/// A version that a run keeps while code changes the objects of its store.
package struct KeptVersion: Sendable {
    package let version: ModelVersion
    /// The resolved path of the store.
    package let store: String
    package let system: any System

    package init(version: ModelVersion, store: String, system: any System) {
        (self.version, self.store, self.system) = (version, store, system)
    }

    /// Returns the model of the part of the version that the store holds.
    package func model(over connection: Connection) throws -> ManagedObjectModel {
        try bound(to: connection).target.model
    }

    func verifySteps(_ connection: Connection, catalogueDigest: [UInt8]) throws {
        try StoreVerification(bound(to: connection), store: store, system: system)
            .verifySteps(connection, catalogueDigest: catalogueDigest)
    }

    private func bound(to connection: Connection) throws -> BoundPlan {
        let snapshot = try StoreSnapshot(connection)
        let version = try version.held(by: snapshot.hashes)
        return try BoundPlan(
            ResolvedMapping(identityOf: version.model), from: version, to: version, over: snapshot,
            connection: connection, experimental: true, makesHistory: false, as: .whole)
    }
}

/// A repair, of which the verification knows the version and the indexes.
package protocol RepairedStore: Sendable {
    /// The version of the store, which the repair leaves as it is.
    var kept: KeptVersion { get }
    /// Returns the digest of the catalogue before the steps, with the unique indexes that waited for the rows.
    func digestWithoutWaiting(_ connection: Connection, _ digest: [UInt8]) throws -> [UInt8]
}

/// The verification that steps have left a valid store of the version.
package indirect enum StepVerification: Sendable {
    case none
    /// Verified against the plan of the pass.
    case plan(StoreVerification)
    /// Verified against the version, which the steps have not changed.
    case version(KeptVersion)
    /// The same after a repair, which may have made the unique indexes that waited for the rows.
    case repair(any RepairedStore)

    /// - Parameter digest: the digest of the catalogue before the steps.
    func verify(_ connection: Connection, catalogueDigest digest: [UInt8]) throws {
        switch self {
        case .none: return
        case .plan(let plan): try plan.verifySteps(connection, catalogueDigest: digest)
        case .version(let version): try version.verifySteps(connection, catalogueDigest: digest)
        case .repair(let repair):
            try repair.kept.verifySteps(connection, catalogueDigest: repair.digestWithoutWaiting(connection, digest))
        }
    }
}

/// The pass after another.
package indirect enum NextPass: Sendable {
    /// The pass at a position of a plan, bound to the previous pass's result.
    case planned(Int, of: PreparedMigration)
    /// A pass that does not depend on the previous one.
    case fixed(Pass)

    /// - Parameter connection: the connection to the previous pass's working copy.
    func bound(to connection: Connection, _ ledger: LossAccounting) throws -> Pass {
        switch self {
        case .planned(let position, let prepared): try prepared.pass(at: position, over: connection, ledger)
        case .fixed(let pass): pass
        }
    }

    fileprivate var outline: [String] {
        switch self {
        case .planned(let position, let prepared):
            return prepared.plan.passes[position...].flatMap { pass in
                ["Then, bound to the result: \(pass.older.name) → \(pass.newer.name)"]
                    + pass.steps.map { "  Step \($0.name): \($0.sentence)" }
            }
        case .fixed(let pass): return pass.outline
        }
    }
}

// MARK: - Printing and comparing

extension Pass: CustomStringConvertible, Equatable {
    /// The work in order, one sentence each: statements, names of code, checks. Passes bound later are named only.
    package var outline: [String] {
        var lines = preconditions.map(\.sentence) + script.statements.map(\.sentence)
        if let policies { lines.append("Policies: \(policies.names.joined(separator: ", "))") }
        if losses != nil { lines.append("Refuse what would be lost unread.") }
        if isCompacted { lines.append(StoreCompaction.sentence) }
        lines += verification.sentences
        for step in steps {
            lines.append("Step \(step.name): \(step.sentence)\(step.action.canBeUndone ? " It can be undone." : "")")
            lines += step.rules.map { [$0.sentence] } ?? []
        }
        lines += rules.map { [$0.sentence] } ?? []
        if unnamedFiles != nil { lines.append("Move files of external data away that no row names.") }
        return ["\(from) → \(to)"] + lines.map { "  \($0)" } + (next?.outline ?? [])
    }

    package var description: String { outline.joined(separator: "\n") }

    /// Whether both do the same, judged by their outlines and the statements of the first pass.
    package static func == (one: Pass, other: Pass) -> Bool {
        one.script == other.script && one.outline == other.outline
    }
}
