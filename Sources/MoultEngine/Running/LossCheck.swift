import MoultModel
import MoultObjects
import MoultPlan
import MoultStore

/// Decides what the losses of one pass come to, when the code that may read the values has run.
///
/// What both versions have is refused where a stage drops it and no code has read it, unless the loss is declared. An
/// inferred edge without code loses such values only where an answer says so.
struct LossCheck: Sendable {
    let pass: MigrationPass
    let losses: [MigrationLoss]
    let model: ManagedObjectModel
    let accepted: AcceptedLosses

    init(
        _ losses: [MigrationLoss], of pass: MigrationPass, from model: ManagedObjectModel,
        accepting accepted: AcceptedLosses
    ) {
        self.pass = pass
        self.losses = losses
        self.model = model
        self.accepted = pass.acceptedLosses.union(accepted)
    }

    /// Refuses what no code can have read by now.
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
            // What became of the values is the code's affair.
            return loss.isInBoth && loss.isReadByCode ? nil : loss
        }
        try refuse(lost.filter { isUnread($0, reads) })
        return lost
    }

    /// Whether a loss has to be declared where no code reads the values.
    func needsReading(_ loss: MigrationLoss) -> Bool { loss.isInBoth && isRefused(loss) }

    private func isUnread(_ loss: MigrationLoss, _ reads: PropertyReads) -> Bool {
        guard needsReading(loss) else { return false }
        guard let property = loss.propertyName else { return true }
        return !reads.isRead(property, of: loss.entityName) && !reads.isCarried(property, of: loss.entityName)
    }

    /// Whether it is refused where no code reads it.
    private func isRefused(_ loss: MigrationLoss) -> Bool { pass.stage != nil && !isAccepted(loss) && loss.count != 0 }

    /// An inherited property may be named by the entity that declares it. A former name of an entity or a property counts
    /// as long as nothing else has it now.
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
