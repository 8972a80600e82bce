import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore

/// The plan of a store's migration: a value to print, save, compare and run.
///
/// A plan saved as JSON can be given to a later migration, which refuses a store that has changed since.
public struct StorePlan: Sendable {
    /// One edge of the path, from a version to a later one.
    public struct Edge: Sendable, Hashable {
        /// The name of the older version.
        public let from: String
        /// The name of the newer version.
        public let to: String
        /// One sentence for each change, and for each step of the app's code.
        public var sentences: [String] { changes.map(\.sentence) + steps.map(\.sentence) }
        /// Whether the mapping is inferred.
        public let isInferred: Bool
        /// The name of the stage registered for the edge; nil if there is none.
        public let stage: String?
        /// Whether some data of the older version is not in the newer one.
        public let losesData: Bool
        /// Whether success depends on the rows.
        public let mayFail: Bool
        /// The way to undo the step, in one sentence.
        public let undo: String

        package let changes: [Change]
        package let steps: [Step]

        /// The means by which the edge is made, without the wording of its sentences.
        var means: [String?] { [from, to, isInferred ? "inferred" : nil, stage] + policies + ["code"] + code }

        /// The names of the migration policies that make objects, in byte order.
        let policies: [String]
        /// The names of the app's code that the edge calls.
        let code: [String]
    }

    /// A change of the model, or the sentence of a stage.
    package struct Change: Sendable, Hashable {
        /// The risk of a change; unknown for a plan read from JSON.
        enum Risk: Sendable { case none, mayFail, losesData }

        package let sentence: String
        var risk = Risk.none
        /// Whether it changes a version hash; other changes are not in the text.
        package var isHashed = true
        package var isStage = false
    }

    /// A step of the app's code.
    package struct Step: Sendable, Hashable {
        let name: String
        package let sentence: String
        /// The version of the store when the step runs.
        let version: String
        let undo: String?
    }

    /// Data that the migration will not carry over.
    public struct Loss: Sendable, Hashable {
        /// `Entity`, `Entity.property` or an object of the app's own, such as an index.
        public var place: String { loss.place }
        /// A sentence about the loss and its reason.
        public let sentence: String
        /// The number of rows, values or links; nil if it cannot be counted before the migration runs.
        public var count: Int64? { loss.count }
        /// Whether the migration is refused unless the loss is declared.
        public var isRefused: Bool { fate == ForeseenLoss.Fate.refused.rawValue }
        /// The code that declares the loss; nil if it needs none.
        public let remedy: String?

        let loss: MigrationLoss
        let stage: String?
        let fate: String
    }

    /// A table of the store, and the way in which it changes.
    package struct Table: Sendable, Hashable {
        let name: String
        package let way: String
        let sentence: String
    }

    /// A statement of the first pass.
    struct Statement: Sendable, Hashable {
        let sql: String
        let sentence: String
        let rows: Int64
    }

    /// The path of the store, without symbolic links.
    public let store: String
    /// The name of the store's version.
    public let from: String
    /// The name of the version to end at.
    public let to: String
    /// The names of the versions on the path, including the first and the last.
    public let versionNames: [String]
    /// The steps, in order.
    public let edges: [Edge]
    /// The number of passes over the rows.
    public let passes: Int
    /// Whether each version on the way has a backup and a commit of its own.
    public let stopsAtEachVersion: Bool
    /// Whether some data of the store will not be in the new one.
    public let losesData: Bool
    /// The losses: everything that will not be in the new store.
    public let losses: [Loss]
    /// Objects of the store by entity.
    public let rowCounts: [String: Int64]
    /// The size of the store in bytes.
    public let bytes: Int64
    /// The findings about the store, the plan and the rows.
    public let findings: [Finding]
    /// The reason why the migration would be refused; nil if it would run.
    public let refusal: MigrationError?

    /// The place that the plan was read from; empty for a new plan.
    let place: String
    package let tables: [Table]
    /// The state of the store that the plan is made for.
    let binding: BoundPlan.Binding?
    let deferral: DeferredWork?
    let longestWork: MigrationUnit?
    package let seconds: Double?
    let space: [SpaceRequirement.Part]
    /// A sentence about the space; nil for a plan read from JSON.
    package let spaceSentence: String?
    let statements: [Statement]?
    /// The error that the migration throws before any change, whatever losses are declared; nil for a plan read from
    /// JSON.
    package let obstacle: MigrationError?
    /// The error for undeclared losses; nil for a plan read from JSON.
    package let undeclaredLoss: MigrationError?

    /// Whether there is nothing to do.
    public var isEmpty: Bool { edges.isEmpty }
    /// The estimated time of the longest piece of work that cannot be interrupted, which a budget must have room for; nil
    /// if there is nothing to do.
    public var longestUnit: Duration? { longestWork.map { .seconds($0.seconds) } }
    /// The estimated time of the whole migration; nil if it would be refused, or there is nothing to do.
    public var duration: Duration? { seconds.map { .seconds($0) } }
    /// The statements; empty unless they were requested.
    public var sql: [String] { statements?.map(\.sql) ?? [] }
}

// MARK: - From a prepared migration

extension StorePlan {
    /// - Parameters:
    ///   - needs: returns the needs of a migration that can begin.
    ///   - withSQL: whether the plan includes the statements.
    ///   - withValues: whether these include the store's metadata, and the literals of the app's own objects.
    /// - Throws: what reading a damaged store throws.
    init(_ prepared: PreparedMigration, needs: (Pass) throws -> RunNeeds, withSQL: Bool, withValues: Bool) throws {
        let losses = try prepared.foreseenLosses()
        let undeclared = prepared.undeclaredLosses(among: losses)
        var (obstacle, expected) = (MigrationError?.none, RunNeeds?.none)
        switch try prepared.examined() {
        case .failure(let error): obstacle = error
        case .success(let migration): expected = try migration.map(needs)
        }
        let plan = prepared.plan
        (store, place) = (prepared.store, "")
        (from, to, versionNames) = (plan.from.name, plan.to.name, plan.versionNames)
        edges = plan.edges.map(Edge.init)
        (passes, stopsAtEachVersion) = (plan.passes.count, prepared.stopsAtEachVersion)
        losesData = !plan.losses.isEmpty || !losses.isEmpty
        self.losses = losses.map {
            Loss(
                sentence: $0.sentence, remedy: $0.remedy?.text(), loss: $0.loss, stage: $0.stage,
                fate: $0.fate.rawValue)
        }
        rowCounts = prepared.bound?.rowCounts ?? [:]
        bytes = prepared.size
        findings =
            prepared.storeFindings + prepared.missingFiles + plan.findings + (prepared.bound?.rowFindings ?? [])
            + losses.compactMap(\.finding)
        (self.obstacle, undeclaredLoss) = (obstacle, undeclared)
        refusal = obstacle ?? losses.first { $0.fate == .refused }?.refusal ?? undeclared
        tables = ((try? prepared.tableWays) ?? []).map {
            Table(name: $0.table, way: $0.kind.rawValue, sentence: $0.sentence)
        }
        (binding, deferral, longestWork) = (
            prepared.bound?.binding, prepared.deferral.map(DeferredWork.init), prepared.longestUnit
        )
        (seconds, space) = (expected?.seconds, expected?.space.peak ?? [])
        spaceSentence = expected.flatMap { SpaceRequirement.sentence($0.volumes, of: "It") }
        let script = try withSQL && obstacle == nil ? prepared.script() : nil
        statements = script?.statements.map {
            Statement(sql: withValues ? $0.sql : $0.sqlWithoutValues, sentence: $0.sentence, rows: $0.rows.progress)
        }
    }

    /// - Throws: `codeMissing` with every name of app code in the plan that is not registered.
    package func checkCode(_ registry: MigrationRegistry) throws {
        var missing: [String] = []
        for name in edges.flatMap(\.code)
        where registry.steps[name] == nil && registry.policies[name] == nil && !missing.contains(name) {
            missing.append(name)
        }
        guard let first = missing.first else { return }
        throw MigrationError(
            .codeMissing, "The kept plan calls \(missing.joined(separator: ", ")), which this program does not have.",
            place: first, remedy: "Run the migration in the program that registers it.")
    }

    /// - Throws: `planStale` if the plan was made for another store, version or model.
    package func check(_ prepared: PreparedMigration) throws {
        let fresh = prepared.plan
        let differing = [
            ("binding", binding != prepared.bound?.binding), ("from", from != fresh.from.name),
            ("to", to != fresh.to.name), ("versions", versionNames != fresh.versionNames),
            ("edges", edges.map(\.means) != fresh.edges.map { Edge($0).means }),
            ("passes", passes != fresh.passes.count),
            ("stopsAtEachVersion", stopsAtEachVersion != prepared.stopsAtEachVersion),
            ("deferral", (deferral == nil) != (prepared.deferral == nil)),
        ].first(where: \.1)?.0
        guard let differing else { return }
        throw MigrationError(
            .planStale, "The kept plan is not the one that would be made now: its \(differing) differs.",
            place: place, remedy: "The store or the model has changed since; make the plan again and read it.")
    }
}

extension StorePlan.Edge {
    init(_ edge: MigrationEdge) {
        (from, to, undo) = (edge.from, edge.to, edge.undo.sentence)
        (isInferred, stage) = (edge.isInferable, edge.stage?.name)
        (losesData, mayFail) = (edge.losesData, edge.mayFail)
        var policies: [String] = []
        if case .registered(_, let mapping) = edge.means {
            policies = Set(mapping.entityMappings.compactMap(\.policy)).inByteOrder()
        }
        self.policies = policies
        let stage = edge.stage.map { StorePlan.Change(sentence: $0.sentence, isStage: true) }
        switch edge.means {
        case .registered(let stage, _): changes = [StorePlan.Change(sentence: stage.sentence, isStage: true)]
        case .inferred, .open:
            changes =
                (stage.map { [$0] } ?? [])
                + edge.diff.changes.map { change in
                    StorePlan.Change(
                        sentence: change.sentence,
                        risk: change.losesData ? .losesData : change.mayFail ? .mayFail : .none,
                        isHashed: change.isHashed)
                }
        }
        steps =
            (edge.stage?.before ?? []).map { StorePlan.Step($0, at: edge.from) }
            + (edge.stage?.after ?? []).map { StorePlan.Step($0, at: edge.to) }
        code = edge.steps.map(\.name) + policies
    }
}

extension StorePlan.Step {
    fileprivate init(_ step: CodeStep, at version: String) {
        self.init(name: step.name, sentence: step.sentence, version: version, undo: step.undo)
    }
}
