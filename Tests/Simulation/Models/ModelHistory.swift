import MoultModel
import MoultPlan

/// A model that somebody edits at random over up to twenty versions, with the truth about each edit, so that every
/// question that Moult has is answered by who knows.
struct ModelHistory {
    private(set) var models: [HistoryModel] = []
    private(set) var versions = ModelVersions(versions: [])
    /// The answers about neighbouring versions.
    private(set) var answers: [Answer] = []
    /// The app's code, by the position of the version that it leads to.
    var stages: [Int: HistoryStage] = [:]
    /// The app's mapping models, likewise.
    var mappings: [Int: HistoryMapping] = [:]
    var inferred: [Int: ResolvedMapping] = [:]
    /// How often each kind of edit was made, and how often an edge was refused for each reason.
    private(set) var edits: [String: Int] = [:]
    private(set) var refusals: [String: Int] = [:]

    /// What it was made of.
    let seed: UInt64
    private(set) var versionLimit = 0
    /// Whether its store has the other configuration.
    var isOther = false

    /// The history of a seed: with code on some of its edges, with mapping models on some, with both or neither.
    ///
    /// - Parameter versions: at most.
    init(seed: UInt64, versions: Int, _ random: inout HistoryRandom) throws {
        try self.init(seed: seed, count: Int.random(in: 3...versions, using: &random))
        versionLimit = versions
        // An app's code is written for the entities of its store.
        if models.first?.others != nil || isPlain { return }
        if seed % 2 == 1 { addStages(using: &random) }
        if seed % 3 != 0 { try addMappings(using: &random) }
    }

    init(seed: UInt64, count: Int) throws {
        self.seed = seed
        var editor = HistoryEditor(seed: seed)
        while try !append(editor) { editor = HistoryEditor(seed: editor.random.next()) }
        for _ in 0..<(count * 8) where models.count < count {
            var next = editor
            next.advance()
            if try append(next) { editor = next } else { editor.random = next.random }
        }
    }

    /// A history that was kept: the models of its versions, with the code that leads to some of them.
    init(_ models: [HistoryModel], stages: [HistoryStage], mappings: [HistoryMapping]) throws {
        seed = 0
        for model in models {
            guard try append(model) else { throw WitnessFailure("the versions cannot follow each other") }
        }
        for stage in stages where models.indices.contains(stage.position) { self.stages[stage.position] = stage }
        for mapping in mappings where models.indices.contains(mapping.position) { try add(mapping) }
    }

    /// A version as the store has it: the entities of its configuration.
    func held(_ version: Int) -> ModelVersion {
        let whole = versions.versions[version]
        return configuration.flatMap { try? whole.restricted(to: $0) } ?? whole
    }

    /// The models as the store has them.
    var parts: [HistoryModel] { models.map { isOther ? $0.rest : $0.held } }

    /// Whether SwiftData's API is one of its faces.
    var isPlain: Bool { models.first?.isPlain == true }

    /// The configuration with which the store is opened; nil for none.
    var configuration: String? {
        models.first?.others == nil
            ? nil : isOther ? HistoryModel.otherConfiguration : HistoryModel.configuration
    }

    /// Whether each configuration has a store.
    var isDivided: Bool { models.first?.isDivided == true }

    private mutating func append(_ editor: HistoryEditor) throws -> Bool {
        guard try append(editor.model) else { return false }
        for edit in editor.edits { edits[edit, default: 0] += 1 }
        return true
    }

    /// Takes the model as the next version; false where it is none, or cannot be inferred from the one before.
    private mutating func append(_ described: HistoryModel) throws -> Bool {
        guard let model = try? described.model() else { return false }
        let version = ModelVersion(names: ["V\(models.count + 1)"], model: model)
        guard !versions.versions.contains(where: { $0.hashes.isCompatible(with: version.hashes) }) else { return false }
        guard fits(described, model) else { return false }
        var next = self
        next.models.append(described)
        next.versions = ModelVersions(versions: versions.versions + [version])
        if !models.isEmpty {
            let path = try next.path(from: models.count - 1, to: models.count, keepsReturned: false)
            guard path.refusals.isEmpty else {
                for refusal in path.refusals.flatMap(\.refusals) { refusals[refusal.reason.rawValue, default: 0] += 1 }
                return false
            }
            // An entity without an identifier that Moult does not ask about is another one.
            for entity in described.entities where entity.renamingIdentifier == nil {
                guard let old = models.last?.entity(entity.id), old.name != entity.name else { continue }
                let isTo = { (answer: Answer) in answer.to == version.name && answer.entity == entity.name }
                guard path.answers.contains(where: { isTo($0) && $0.property == nil && $0.is == .rename }) else {
                    return false
                }
            }
            next.answers = path.answers
        }
        self = next
        return true
    }

    /// Whether a store of the model's configuration is of no earlier version too, and whether no entity that was
    /// another configuration's for a while comes back: whether its objects do depends on the way.
    private func fits(_ described: HistoryModel, _ model: ManagedObjectModel) -> Bool {
        guard described.others != nil else { return true }
        let whole = ModelVersion(names: ["V"], model: model)
        guard described.isDivided == true else {
            return fits(described, whole, HistoryModel.configuration, \.held, besides: models.indices.map(held))
        }
        // A store that is looked at by itself may be any part of any version.
        let names = [HistoryModel.configuration, HistoryModel.otherConfiguration]
        let known = versions.versions.flatMap { version in
            [version] + names.compactMap { try? version.restricted(to: $0) }
        }
        let parts: [(String, (HistoryModel) -> HistoryModel)] = [(names[0], { $0.held }), (names[1], { $0.rest })]
        return parts.allSatisfy { name, part in
            part(described).entities.contains { !$0.isAbstract && !$0.isEmpty }
                && fits(described, whole, name, part, besides: known)
        }
    }

    private func fits(
        _ described: HistoryModel, _ whole: ModelVersion, _ configuration: String,
        _ part: (HistoryModel) -> HistoryModel, besides known: [ModelVersion]
    ) -> Bool {
        guard let own = try? whole.restricted(to: configuration),
            !known.contains(where: { $0.hashes.isCompatible(with: own.hashes) })
        else { return false }
        for entity in part(described).entities.map(\.id) {
            let was = models.filter { $0.entity(entity) != nil }.map { part($0).entity(entity) != nil }
            if was.contains(true), was.last == false { return false }
        }
        return true
    }

    /// A way with every question answered.
    struct AnsweredPath {
        var answers: [Answer]
        var refusals: [(edge: MigrationEdge, refusals: [Refusal])]
        var passes: [MigrationPass]
        /// What left and returns with its values, by the position of the version it returns in.
        var kept: [Int: Set<HistoryWorld.Return>] = [:]
    }

    /// - Parameter keepsReturned: whether an attribute that left and returns has its values again.
    func path(from: Int, to: Int, keepsReturned: Bool) throws -> AnsweredPath {
        var (given, kept) = (answers, [Int: Set<HistoryWorld.Return>]())
        let registered = try registry.stages(in: versions)
        for _ in 0..<100 {
            let path = try MigrationPath(versions, from: from, to: to, answers: Answers(given), registered: registered)
            if path.questions.isEmpty || !path.refusals.isEmpty {
                return AnsweredPath(answers: given, refusals: path.refusals, passes: path.passes, kept: kept)
            }
            for question in path.questions {
                let answer = answer(question, keepsReturned: keepsReturned)
                given.append(answer)
                if answer.is == .keep, question.kind == .returned, let position = versions.position(named: answer.to) {
                    let place = HistoryWorld.Return(entity: answer.entity, property: answer.property ?? "")
                    kept[position, default: []].insert(place)
                }
            }
        }
        throw WitnessFailure("Moult asks again and again.")
    }

    /// What happens on the way, a line for each edge, for whoever looks into a difference.
    func changes(from: Int, to: Int) -> String {
        let path = try? MigrationPath(
            versions, from: from, to: to, answers: Answers(answers), registered: registry.stages(in: versions))
        return (path?.edges ?? []).map { edge in
            let sentences = edge.diff.changes.map(\.sentence) + (edge.stage.map { [$0.sentence] } ?? [])
            let code = mappings[edge.newer].map { " \($0.description(to: models[edge.newer]))" } ?? ""
            return "\n  \(edge.to): \(sentences.joined(separator: " "))\(code)"
        }.joined()
    }

    private func answer(_ question: Question, keepsReturned: Bool) -> Answer {
        var answer = Answer(
            from: question.from, to: question.to, entity: question.entity, property: question.property, is: .new)
        let old = oldName(of: question)
        switch question.kind {
        case .rename, .ambiguousIdentifier:
            answer.is = old == nil ? .new : .rename
            answer.old = old
        case .conversion: answer.is = old == nil ? .drop : .keep
        case .returned:
            let canKeep = question.property != nil && question.answers.contains { $0.is == .keep }
            answer.is = keepsReturned && canKeep && old != nil ? .keep : .drop
        }
        return answer
    }

    /// What the thing asked about was called in the version before; nil where it is another one.
    private func oldName(of question: Question) -> String? {
        guard let from = versions.position(named: question.from), let to = versions.position(named: question.to),
            let entity = models[to].entities.first(where: { $0.name == question.entity })
        else { return nil }
        guard let property = question.property else { return models[from].entity(entity.id)?.name }
        if let attribute = models[to].attribute(property, of: entity.id) {
            return models[from].entities.flatMap(\.attributes).first { $0.id == attribute.id }?.description.name
        }
        guard let (link, end) = models[to].end(property, of: entity.id), let old = models[from].link(link.id),
            question.kind != .returned
        else { return nil }
        // Both ends may have one name, in two entities.
        let isFirst = (end.entity, end.name) == (link.end.entity, link.end.name)
        return isFirst ? old.end.name : old.inverse?.name
    }
}
