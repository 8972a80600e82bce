import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import Synchronization

/// A loss that is known before a migration runs.
package struct ForeseenLoss: Sendable, Hashable {
    package var loss: MigrationLoss
    /// The stage that causes the loss; nil for an inferred edge.
    package var stage: String?
    package var fate: Fate
    /// The code to write; nil if the loss is allowed.
    package var remedy: Remedy?
    /// Whether a person has accepted the loss, answered that the values are dropped, or written the mapping or stage
    /// that leaves them out.
    package var isDeclared = false

    package enum Fate: String, Sendable {
        /// The loss is counted, and the migration runs.
        case allowed
        /// The migration is refused unless the stage's own code reads the values.
        case leftToCode
        /// The migration is refused unless the loss is declared.
        case refused
    }

    /// A sentence about the data that is lost, or left to the stage's code.
    package var sentence: String {
        guard fate == .leftToCode, let stage else { return loss.sentence }
        return "\(loss.amount) of \(loss.place) \(loss.count == 1 ? "is" : "are") left to the code of the stage "
            + "\(stage). The migration is refused if the code does not read \(loss.count == 1 ? "it" : "them")."
    }

    /// The error that refuses the migration.
    package var refusal: MigrationError {
        MigrationError(.lossNotAccepted, sentence, place: loss.place, remedy: remedy ?? "")
    }

    /// Whether rows, values or links are lost without a declaration.
    fileprivate var isUndeclared: Bool {
        guard !isDeclared, fate == .allowed, loss.count != 0, loss.isPutOff || loss.count != nil else { return false }
        switch loss.reason {
        case .removed, .otherConfiguration, .dropped, .narrowed, .redirected, .notConvertible, .unexplained:
            return [.rows, .values, .links, .order].contains(loss.kind)
        case .conflict: return loss.kind == .table
        case .repeated, .byCode: return false
        }
    }

    /// A finding that needs attention; nil if a finding about the rows already covers it.
    package var finding: Finding? {
        guard var finding = loss.finding, let remedy else { return loss.finding }
        finding.severity = fate == .refused ? .error : .warning
        finding.message = sentence
        finding.advice = remedy
        return finding
    }
}

extension PreparedMigration {
    /// Returns the losses of the migration that are known before it runs. Losses from the present store are counted;
    /// losses from a previous pass's result are not.
    ///
    /// - Throws: what reading a damaged store throws.
    package func foreseenLosses() throws -> [ForeseenLoss] {
        var losses: [ForeseenLoss] = []
        var isAsItIs = true
        for (position, pass) in plan.passes.enumerated() {
            guard case .mapping(let mapping) = pass.work else { continue }
            let found = try position == 0 ? bound?.losses(options.choice) : isAsItIs ? counted(pass) : nil
            let (older, newer) = (pass.older.model, pass.newer.model)
            losses += foreseen(
                found ?? mapping.leftBehind(from: older, to: newer, version: pass.newer.name), of: pass,
                hasCodeBefore: position > 0 && plan.passes[position - 1].mapping == nil)
            isAsItIs = false
        }
        return losses
    }

    /// Returns the error for losses of the first pass that are neither declared nor permitted by the policy.
    package func undeclaredFirstLosses() throws -> MigrationError? {
        guard let bound, let pass = plan.passes.first else { return nil }
        return undeclaredLosses(among: foreseen(try bound.losses(options.choice), of: pass, hasCodeBefore: false))
    }

    /// Returns the error for losses that are neither declared nor permitted by the policy; nil if there are none.
    package func undeclaredLosses(among losses: [ForeseenLoss]) -> MigrationError? {
        let undeclared = losses.filter { $0.isUndeclared && options.losses.refuses($0.loss) }.map(\.loss)
        guard let first = undeclared.first else { return nil }
        var places: [String] = []
        for loss in undeclared where !places.contains(loss.place) { places.append(loss.place) }
        let shown = undeclared.prefix(5).map(\.sentence).joined(separator: " ")
        let others = undeclared.count - 5
        return MigrationError(
            .lossNotAccepted,
            "The migration loses data that is not declared as lost. \(shown)"
                + (others > 0 ? " And \(Quantity.count(others, "more loss", plural: "more losses"))." : ""),
            place: first.place,
            remedy: "\(undeclared.compactMap(\.copying).map { $0 + " " }.joined())\(permit: .losses(places))")
    }

    /// Whether an answer says that the values of a property are dropped.
    private func isAnswered(_ loss: MigrationLoss, of pass: MigrationPass) -> Bool {
        guard let property = loss.propertyName else { return false }
        let heirs = pass.mapping?.mappings(fromEntity: loss.entityName).compactMap(\.destinationEntityName) ?? []
        let names = heirs.compactMap(pass.newer.model.entity).flatMap { pass.newer.model.lineage(of: $0).map(\.name) }
        return options.answers.list.contains { answer in
            answer.is == .drop && (answer.property == property || answer.old == property)
                && (names + [loss.entityName]).contains(answer.entity)
        }
    }

    private func counted(_ pass: MigrationPass) throws -> [MigrationLoss] {
        try ReadOnlyStore.read(store, system: system) { probe in
            try Self.bind(pass, of: plan, over: StoreSnapshot(probe.connection), probe.connection, options)
                .losses(options.choice)
        }
    }

    func foreseen(
        _ losses: [MigrationLoss], of pass: MigrationPass, hasCodeBefore: Bool
    ) -> [ForeseenLoss] {
        let check = LossCheck(
            losses, of: pass, from: pass.older.model, accepting: options.registry.acceptedLosses)
        // A policy that calls super keeps the values that its mapping carries over.
        let carried = pass.mapping.map { mapping in
            mapping.entityMappings.reduce(into: Set<PropertyPlace>()) {
                $0.formUnion($1.carried(from: pass.older.model))
            }
        }
        return losses.compactMap { loss in
            if let property = loss.propertyName, loss.isLeftToPolicy,
                carried?.contains(PropertyPlace(loss.entityName, property)) == true
            {
                return nil
            }
            guard check.needsReading(loss) else {
                // A stage concerns the model, not what an app has added next to it.
                let isOwn = loss.reason == .unexplained || loss.kind == .table
                let isDeclared =
                    pass.stage != nil && !isOwn || check.isAccepted(loss) || isAnswered(loss, of: pass)
                return ForeseenLoss(loss: loss, stage: pass.stage, fate: .allowed, isDeclared: isDeclared)
            }
            let isLeft = loss.isLeftToPolicy || hasCodeBefore && loss.kind != .rows
            return ForeseenLoss(
                loss: loss, stage: pass.stage, fate: isLeft ? .leftToCode : .refused,
                remedy: LossRemedy(loss, of: pass, pass.older.model).advice)
        }
    }
}

extension MigrationPass {
    var mapping: ResolvedMapping? { if case .mapping(let mapping) = work { mapping } else { nil } }
}

/// A policy that decides which losses a migration is refused for, besides those that every policy refuses
/// (``LossCheck``).
///
/// Declared losses are permitted and counted under every policy. A declaration is what
/// ``PreparedMigration/Options/registry`` accepts (places, or everything), an answer, a mapping model or a stage.
package enum LossPolicy: Sendable, Hashable {
    /// Refuse every undeclared loss of objects, values or links.
    case refuseUndeclared
    /// Refuse no undeclared loss: data that a version omits is deleted, as in Core Data. Intended for an app that has
    /// both versions itself.
    ///
    /// - Parameter holdsOthers: whether to refuse the loss of objects whose entities are in another configuration of
    ///   the new version.
    case asTheVersionsSay(holdsOthers: Bool = false)

    /// Whether to refuse an undeclared loss.
    func refuses(_ loss: MigrationLoss) -> Bool {
        switch self {
        case .refuseUndeclared: true
        case .asTheVersionsSay(let holdsOthers): holdsOthers && loss.reason == .otherConfiguration
        }
    }
}

/// A check that decides which losses of one pass are refused, after the code that may read the values has run.
///
/// A property in both versions that a stage drops without any code reading it is refused, unless the loss is declared.
/// An inferred edge without code loses such values only if an answer says so.
final class LossCheck: Sendable {
    let pass: MigrationPass
    /// The position of the pass in the plan.
    let position: Int
    let losses: [MigrationLoss]
    let model: ManagedObjectModel
    let accepted: AcceptedLosses

    init(
        _ losses: [MigrationLoss], of pass: MigrationPass, at position: Int = 0, from model: ManagedObjectModel,
        accepting accepted: AcceptedLosses
    ) {
        self.pass = pass
        self.position = position
        self.losses = losses
        self.model = model
        self.accepted = pass.acceptedLosses.union(accepted)
    }

    /// Refuses losses whose values no code can have read by now.
    ///
    /// - Throws: `lossNotAccepted`.
    func refuse(unlessReadIn reads: PropertyReads) throws {
        try refuse(losses.filter { !$0.isLeftToPolicy }.filter { isUnread($0, reads) })
    }

    /// Returns the losses, once all code has run.
    ///
    /// - Throws: `lossNotAccepted`.
    func settled(by reads: PropertyReads) throws -> [MigrationLoss] {
        let lost = losses.compactMap { loss -> MigrationLoss? in
            var loss = loss
            guard let property = loss.propertyName else { return loss }
            if loss.isLeftToPolicy, reads.isCarried(property, of: loss.entityName) { return nil }
            loss.isReadByCode = reads.isRead(property, of: loss.entityName)
            // The code decides what becomes of the values.
            return loss.isInBoth && loss.isReadByCode ? nil : loss
        }
        try refuse(lost.filter { isUnread($0, reads) })
        return lost
    }

    /// Whether a loss must be declared if no code reads the values.
    func needsReading(_ loss: MigrationLoss) -> Bool { loss.isInBoth && isRefused(loss) }

    private func isUnread(_ loss: MigrationLoss, _ reads: PropertyReads) -> Bool {
        guard needsReading(loss) else { return false }
        guard let property = loss.propertyName else { return true }
        return !reads.isRead(property, of: loss.entityName) && !reads.isCarried(property, of: loss.entityName)
    }

    /// Whether the loss is refused if no code reads the values.
    private func isRefused(_ loss: MigrationLoss) -> Bool { pass.stage != nil && !isAccepted(loss) && loss.count != 0 }

    /// Whether the loss is accepted. An inherited property may be named by the entity that declares it. A previous name
    /// of an entity or a property counts unless something else has that name now.
    func isAccepted(_ loss: MigrationLoss) -> Bool {
        let entity = model.entity(loss.entityName)
        let lineage = entity.map { model.lineage(of: $0).map(\.name) } ?? []
        let entities = ([loss.entityName] + lineage).flatMap { name in
            [name] + pass.formerNames.names(ofEntity: name).filter { model.entity($0) == nil }
        }
        let properties = loss.propertyName.map { name -> [String?] in
            let taken = Set(entity.map { model.lineage(of: $0).flatMap(\.propertyNames) } ?? [])
            return [name] + pass.formerNames.names(of: name, in: loss.entityName).subtracting(taken).sorted()
        }
        return entities.contains { entity in
            (properties ?? [nil]).contains { property in
                var loss = loss
                (loss.entityName, loss.propertyName) = (entity, property)
                return accepted.contains(loss)
            }
        }
    }

    private func refuse(_ refused: [MigrationLoss]) throws {
        guard let first = refused.first else { return }
        let all = refused.map(\.sentence).joined(separator: " ")
        throw MigrationError(
            .lossNotAccepted,
            "The stage \(pass.stage ?? "") would lose data, and none of its code has read it. \(all)",
            place: first.place,
            remedy: LossRemedy(first, of: pass, model).advice)
    }
}

extension AcceptedLosses {
    fileprivate func union(_ other: AcceptedLosses) -> AcceptedLosses {
        var all = self
        all.formUnion(other)
        return all
    }
}

/// The reports of the passes of one run: objects made by migration policies, losses, and properties that code has read.
package final class LossAccounting: Sendable {
    private struct State {
        var counts: [InstanceCounts] = []
        var losses: [MigrationLoss] = []
        var reads: [Int: PropertyReads] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Clears the reports: a run that was rehearsed first reports them again.
    func begin() { state.withLock { $0 = State() } }

    func add(_ counts: [InstanceCounts]) { state.withLock { $0.counts += counts } }
    package var counts: [InstanceCounts] { state.withLock { $0.counts } }

    func add(_ losses: [MigrationLoss]) { state.withLock { $0.losses += losses } }
    package var losses: [MigrationLoss] { state.withLock { $0.losses } }

    /// Returns the record of the properties that code has read for the pass at a position of the plan: its policies and
    /// the earlier steps of its stage.
    func reads(forPass position: Int) -> PropertyReads {
        state.withLock { state in
            if let known = state.reads[position] { return known }
            let reads = PropertyReads()
            state.reads[position] = reads
            return reads
        }
    }
}
