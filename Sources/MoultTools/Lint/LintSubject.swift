import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore

/// The subject of the rules: the versions of a model, the steps between them, and its releases.
package struct LintSubject: Sendable {
    /// The versions in the model's files, oldest first.
    package let versions: [LintVersion]
    package let currentName: String?
    /// Whether the model is a source bundle of several versions that does not name its current one.
    let isUnmarked: Bool
    package let steps: [LintStep]
    package let releases: [LintRelease]
    /// The findings from reading the model.
    package let readerFindings: [Finding]
    /// The findings that the SwiftData plan of an app's own tool reports about itself; nil without a plan.
    package let planFindings: [Finding]?
    /// The declarations of the models in the source of an app's own tool.
    let declarations: [String: [String: LintDeclaration]]
    /// The versions as the planner has them: those of equal hashes are one.
    let nodes: ModelVersions
    /// The answers that fit no question.
    let answerFaults: [AnswerFault]
    /// The findings of a plan for a store about its rows; empty without a store.
    let rowFindings: [Finding]
    /// The schema of CloudKit's Production environment; nil for none.
    let schema: LintSchema?
    /// The version that ships: the current one, or else the newest; nil without a version.
    let shipping: LintVersion?
    /// The schema that CloudKit needs for the version that ships; nil without a version.
    let requirements: CloudKitRequirements?

    /// - Parameters:
    ///   - registered: mapping models and stages, whose steps the rules about inference skip.
    ///   - rows: the rows of a store; nil for none.
    ///   - planFindings: the findings that the plan of an app's own tool reports about itself; nil without a plan.
    ///   - declarations: the declarations in the tool's source, by version and entity.
    ///   - schema: the schema of CloudKit's Production environment; nil for none.
    /// - Throws: any error from comparing the versions; `usage` for a configuration that the model does not have.
    package init(
        _ bundle: ModelBundle, answers: Answers = .none, registered: [RegisteredStage] = [],
        releases: [LintRelease] = [], rows: StoreRows? = nil, planFindings: [Finding]? = nil,
        declarations: [String: [String: LintDeclaration]] = [:], schema: LintSchema? = nil
    ) throws(MigrationError) {
        let versions = bundle.versions.map {
            LintVersion($0, file: bundle.files[$0.name], mirroring: schema?.configuration)
        }
        self.schema = schema
        shipping = versions.first { $0.name == bundle.currentName } ?? versions.last
        requirements =
            if let shipping {
                try CloudKitRequirements(shipping.model, configuration: schema?.configuration)
            } else {
                nil
            }
        (self.versions, self.releases) = (versions, releases)
        (self.planFindings, self.declarations) = (planFindings, declarations)
        rowFindings = rows?.findings ?? []
        currentName = bundle.currentName
        isUnmarked = bundle.isUnmarked
        // The rules make the comparison with the lock file themselves.
        readerFindings = bundle.findings.filter { !Self.lockCodes.contains($0.code) }
        let nodes = ModelVersions(bundle)
        self.nodes = nodes
        let start = rows.flatMap { nodes.position(named: $0.version) }
        let judged = try JudgedSteps(nodes, answers: answers, registered: registered)
        answerFaults = judged.faults
        var migrations = judged.steps.enumerated().map { place, step in
            let (older, newer) = (nodes.versions[place], nodes.versions[place + 1])
            let isOnTheWay = start.map { place >= $0 } ?? false
            return LintStep(
                older: older, newer: newer, diff: step.diff, inferred: step.inferred,
                isRegistered: registered.contains {
                    older.names.contains($0.from) && newer.names.contains($0.to)
                },
                rows: isOnTheWay ? rows?.counts ?? [:] : [:])
        }
        for place in migrations.indices {
            let (older, newer) = (migrations[place].older, migrations[place].newer)
            migrations[place].unanswered = try UnansweredStep(older, newer, judged.fitting.about(older, newer))
            migrations[place].returning = nodes.versions[..<place].flatMap { judged.fitting.about($0, newer) }
        }
        var unnoticed: [LintStep] = []
        for node in nodes.versions { unnoticed += try LintStep.all(amongNamesakesOf: node) }
        steps = (unnoticed + migrations).map { $0.judgingRenames(schema) }
    }

    /// Whether the model says that its stores are mirrored to CloudKit.
    var isUsedWithCloudKit: Bool { shipping?.model.isUsedWithCloudKit ?? false }

    private static let lockCodes: Set<String> = [
        "released-version-changed", "released-version-changed-unhashed", "released-version-missing",
        "version-not-locked", "model-not-locked",
    ]

    /// Whether a version was released. Equal hashes under another name, with other contents, do not count.
    func isReleased(_ version: ModelVersion) -> Bool {
        let checksum = version.hashes.checksum
        let same = releases.flatMap(\.versions).filter { $0.checksum == checksum }
        if same.isEmpty || same.contains(where: { version.name == $0.name }) { return !same.isEmpty }
        let fingerprint = ModelFingerprint(of: version.model).bytes
        return same.contains { $0.fingerprint == fingerprint }
    }

    /// Whether the lock file has a version, so that it was released for certain.
    func isLocked(_ version: ModelVersion) -> Bool {
        let checksum = version.hashes.checksum
        return isReleased(version)
            && releases.contains { $0.isLock && $0.versions.contains { $0.checksum == checksum } }
    }

    /// Returns matches about a version with what its release means: it cannot be corrected, so the remedy is to correct
    /// the next one. In a locked version, a match is a note, but that of an error stays one: the next version has it too.
    func released(_ matches: [LintMatch], of version: ModelVersion, asErrors: Bool = false) -> [LintMatch] {
        guard isReleased(version) else { return matches }
        let isLocked = isLocked(version)
        return matches.map { match in
            var match = match
            match.remedy = "\(version.name) is released, so add a new version and correct it there. \(match.remedy)"
            match.edit = nil
            if isLocked, !asErrors { match.severity = .note }
            return match
        }
    }

    /// Returns the matches. For a released version that was edited, the remedy is to undo the edit, and no correction
    /// of the file is offered.
    func edited(_ matches: [LintMatch]) -> [LintMatch] {
        let edited = releases.flatMap { release in
            release.versions.compactMap { released -> String? in
                if case .edited(let version) = release.fate(of: released, in: versions) { version.name } else { nil }
            }
        }
        return matches.map { match in
            guard edited.contains(match.version) else { return match }
            var match = match
            match.remedy = "\(match.version) is released: undo the edit (OPEN001), and make it in a new version."
            match.edit = nil
            return match
        }
    }

    /// The versions that can still be edited, and always the newest one.
    var openVersions: [LintVersion] {
        guard let newest = versions.last else { return [] }
        let unreleased = releases.isEmpty ? [] : versions.dropLast().filter { !isReleased($0.version) }
        return unreleased + [newest]
    }

    /// The steps to versions that can still be edited.
    var openSteps: [LintStep] { releases.isEmpty ? steps : steps.filter { !isReleased($0.newer) } }
}

/// One version of a model, with its file.
package struct LintVersion: Sendable {
    package let version: ModelVersion
    /// The path of the file that the version was read from; nil for a model from code or a store.
    package let file: String?
    package let checksum: [UInt8]
    /// The configuration that is mirrored to CloudKit; nil for those that the model marks.
    let mirrored: String?

    init(_ version: ModelVersion, file: String?, mirroring configuration: String? = nil) {
        self.version = version
        self.file = file
        mirrored = configuration
        checksum = version.hashes.checksum
    }

    package var name: String { version.name }
    var model: ManagedObjectModel { version.model }
}

/// A version and the next one, with their differences and the mapping that the planner infers.
package struct LintStep: Sendable {
    let older: ModelVersion
    let newer: ModelVersion
    let diff: ModelDiff
    let inferred: InferredMapping
    /// Whether a mapping model or a stage handles the step.
    let isRegistered: Bool
    /// The number of objects of each entity in a store that will take this step; empty without a store.
    let rows: [String: Int64]
    /// The step as Core Data sees it, which reads no answers; nil without answers about it.
    var unanswered: UnansweredStep?
    /// The renames that Core Data refuses in a mirrored store.
    var forbiddenRenames: [ModelChange] = []
    /// The answers about what an earlier version than the older one had, and what returns in the newer one.
    var returning: [Answer] = []

    /// Returns the steps between versions of equal hashes, which no store takes.
    fileprivate static func all(amongNamesakesOf node: ModelVersion) throws(MigrationError) -> [LintStep] {
        var steps: [LintStep] = []
        var chain = node.namesakes + [node]
        chain.reverse()
        while let older = chain.popLast(), let newer = chain.last {
            let correspondence = try EntityMatching(from: older, to: newer)
            steps.append(
                LintStep(
                    older: older, newer: newer, diff: ModelDiff(correspondence),
                    inferred: try InferredMapping(correspondence), isRegistered: false, rows: [:]))
        }
        return steps
    }

    /// Returns the step with its forbidden renames: all in a version that is marked for use with CloudKit; otherwise those
    /// of what is in Production under its old name.
    fileprivate func judgingRenames(_ schema: LintSchema?) -> LintStep {
        var step = self
        step.forbiddenRenames = diff.renamesForbiddenByCloudKit(in: newer.model, configuration: schema?.configuration)
            .filter { newer.model.isUsedWithCloudKit || schema?.schema.hasOldName(of: $0, in: older.model) == true }
        return step
    }

    /// The places that questions and refusals are about, and the candidates for renames.
    var openPlaces: Set<String> {
        let candidates = inferred.questions.flatMap { question in
            question.candidates.map { question.property == nil ? $0.name : "\(question.entity).\($0.name)" }
        }
        return Set(inferred.questions.map(\.place) + inferred.refusals.map(\.place) + candidates)
    }
}

/// A step that has answers, without them.
struct UnansweredStep: Sendable {
    let answers: [Answer]
    let correspondence: EntityMatching
    let inferred: InferredMapping

    /// Returns nil if there are no answers.
    init?(_ older: ModelVersion, _ newer: ModelVersion, _ answers: [Answer]) throws(MigrationError) {
        guard !answers.isEmpty else { return nil }
        self.answers = answers
        correspondence = try EntityMatching(from: older, to: newer)
        inferred = try InferredMapping(correspondence)
    }
}

/// The facts about a store's rows that the rules need.
package struct StoreRows: Sendable {
    /// The name of the store's version.
    package let version: String
    /// The number of objects of each entity, without those of its sub-entities.
    package let counts: [String: Int64]
    /// The findings of a plan about the rows, such as lost or duplicate values; empty if there is no plan yet.
    package let findings: [Finding]

    package init(version: String, counts: [String: Int64], findings: [Finding] = []) {
        (self.version, self.counts, self.findings) = (version, counts, findings)
    }
}

/// The place where Swift source declares a model.
package struct LintDeclaration: Sendable {
    let file: String
    let line: Int
    /// The line of each property.
    let properties: [String: Int]

    package init(file: String, line: Int, properties: [String: Int]) {
        (self.file, self.line, self.properties) = (file, line, properties)
    }
}

extension StoreRows {
    /// Reads the objects of a store, and the findings of a plan about their values.
    ///
    /// - Parameter context: the context of the plan. With open questions, there is no plan.
    /// - Throws: `storeUnknown` for a store of another app, or of none of the versions.
    init(ofStore path: String, _ context: StoreSession.Context) throws {
        let versions = context.versions
        let (version, counts) = try ReadOnlyStore.read(path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let known = Set(versions.versions.flatMap { $0.model.entities.map(\.name) })
            guard !known.isDisjoint(with: snapshot.hashes.entities.keys) else {
                throw MigrationError(
                    .storeUnknown, "The store has none of the model's entities, so it is of another app.", place: path,
                    remedy: "Name a store of this model.")
            }
            let identifiers = snapshot.metadata.versionIdentifiers
            guard let place = versions.place(of: snapshot.hashes, identifiers: identifiers) else {
                throw MigrationError.storeUnknown(nearest: versions.nearest(to: snapshot.hashes))
            }
            let version = try place.version.held(by: snapshot.hashes)
            let counts = try snapshot.objectCounts(of: version.model, over: probe.connection)
            return (version.name, counts.compactMapValues { $0 })
        }
        var context = context
        // A changed released version is reported separately, and must not prevent the plan here.
        context.versions.findings = []
        let prepared = (try? StoreSession(StoreRequest(path, .plan), context))?.prepared
        let losses = (try? prepared?.foreseenLosses()) ?? []
        self.init(
            version: version, counts: counts,
            findings: (prepared?.bound?.rowFindings ?? []) + losses.compactMap(\.loss.finding))
    }
}
