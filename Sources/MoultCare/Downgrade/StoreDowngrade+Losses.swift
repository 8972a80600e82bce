import MoultEngine
import MoultModel
import MoultPlan
import MoultReport
import MoultSQLite
import MoultStore
import MoultSystem

extension StoreDowngrade {
    /// A way back by a mapping, and why it would lose something.
    struct Back {
        var migration: Migration?
        var losses: [String]
        var findings: [Finding] = []
    }

    /// The way forward, reversed: it says what became of what, and the rows say whether all of it fits.
    static func mapped(
        _ store: String, from source: ModelVersion, to goal: ModelVersion, _ part: StorePart,
        _ versions: ModelVersions, _ answers: Answers, _ system: any System
    ) throws -> Back {
        do {
            let inferred = try InferredMapping(back: source, to: goal, in: versions, answers: answers)
            // In a plan the store's version is the first of two, whatever their age.
            let pair = ModelVersions(versions: [source, goal].map(\.underOneName))
            var stage = RegisteredStage(
                from: source.name, to: goal.name, name: "downgrade", sentence: "The store goes back.")
            stage.mapping = .success(try inferred.requireMapping(from: source.name, to: goal.name))
            stage.acceptedLosses = .all
            // What is lost is looked at below.
            var context = StoreSession.Context(pair, registered: [stage])
            (context.losses, context.part) = (.asTheVersionsSay(), part)
            var options = RunOptions()
            options.isExperimental = true
            let prepared = try StoreSession(
                StoreRequest(store, to: goal.name, .plan, options), context, on: system
            ).prepared
            guard let bound = prepared.bound else { return Back(losses: []) }
            let warnings = bound.rowFindings.filter { $0.severity > .note }
            let unfit = warnings.filter { $0.severity == .error || $0.code == "values-rounded" }
            let lost = try bound.losses(prepared.options.choice)
            let losses =
                unfit.map { sentence($0, inferred.missing, from: source, to: goal) }
                + (try sentences(of: lost, in: bound.source, prepared.store, answers, system))
            guard losses.isEmpty, var migration = try prepared.migration() else { return Back(losses: losses) }
            migration.operation = .downgrade
            let dropped = lost.filter { $0.isWithoutData && !$0.isOfOwnIndex }
            return Back(migration: migration, losses: [], findings: warnings + dropped.compactMap(\.finding))
        } catch let error as MigrationError
            where [.question, .cannotInfer, .noPath, .dataConflict].contains(error.code)
        {
            return Back(losses: ["There is no reverse mapping: \(error.message)"])
        }
    }

    /// Returns a sentence about the finding that stands in the way. For a value that the older version requires, it
    /// says how to give one.
    private static func sentence(
        _ finding: Finding, _ missing: [Refusal], from source: ModelVersion, to goal: ModelVersion
    ) -> String {
        let parts = finding.place.split(separator: ".", maxSplits: 1).map(String.init)
        guard finding.code == "required-missing", parts.count == 2, let entity = goal.model.entity(parts[0]),
            let declaring = goal.model.lineage(of: entity).first(where: { above in
                missing.contains { $0.place == "\(above.name).\(parts[1])" }
            })
        else { return finding.message }
        let answer = Answer(
            from: source.name, to: goal.name, entity: declaring.name, property: parts[1], is: .value, value: "…")
        return "\(finding.message) To give them one, answer: \(answer.json)"
    }

    // MARK: - What would be lost

    /// Of what a mapping leaves behind, what is a loss for the older version. The history of what it does not have is of
    /// no use to it, a link is there once as well, and an attribute that holds only what the way forward has filled in
    /// does not need a place. An index, a trigger or a view holds no data: it is named in a warning, as on the way forward.
    static func sentences(
        of losses: [MigrationLoss], in layout: StoreLayout, _ store: String, _ answers: Answers, _ system: any System
    ) throws -> [String] {
        let real = losses.filter { loss in
            loss.kind != .history && loss.reason != .repeated && loss.count != 0 && !loss.isWithoutData
        }
        func mayBeFilled(_ loss: MigrationLoss) -> Bool { loss.kind == .values && loss.reason == .removed }
        guard real.contains(where: mayBeFilled) else { return real.map(\.sentence) }
        return try StoreProbe.read(store, system: system) { probe in
            try real.filter { loss in
                try !mayBeFilled(loss) || !holdsOnlyFilled(loss, answers, probe.connection, layout)
            }.map(\.sentence)
        }
    }

    /// Whether an attribute that goes holds nothing but its default value, or the one that an answer gave it.
    private static func holdsOnlyFilled(
        _ loss: MigrationLoss, _ answers: Answers, _ connection: Connection, _ layout: StoreLayout
    ) throws -> Bool {
        guard let entity = layout.model.entity(loss.entityName), let name = loss.propertyName,
            let attribute = layout.model.attribute(name, of: entity), let table = layout.table(for: entity)?.name,
            let column = layout.column(forAttribute: name, in: entity), let number = layout.entityNumbers[entity.name]
        else { return false }
        let lineage = layout.model.lineage(of: entity).map(\.name)
        let answered = answers.list.filter { $0.is == .value && $0.property == name && lineage.contains($0.entity) }
        let filled = ([attribute.defaultValue] + answered.map { $0.value(for: attribute) }).compactMap { $0?.stored }
        guard !filled.isEmpty else { return false }
        let others = filled.map { _ in " AND \(column.quotedName) IS NOT ?" }.joined()
        return try connection.integer(
            "SELECT count(*) FROM \(table.quotedName) WHERE Z_ENT = \(number) "
                + "AND \(column.quotedName) IS NOT NULL\(others)", filled) == 0
    }
}

extension MigrationLoss {
    /// Whether it is an index whose name is one of Core Data's own.
    fileprivate var isOfOwnIndex: Bool { kind == .index && entityName.hasPrefix("Z") }
    fileprivate var isWithoutData: Bool { [.index, .trigger, .view].contains(kind) }
}

extension ModelVersion {
    /// The version as what the store and the person call it, and nothing else.
    fileprivate var underOneName: ModelVersion {
        var version = self
        version.names = [name]
        return version
    }
}
