import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultStore

/// The models to check, with the answers and mapping models for migrations between them.
package struct LintedModels {
    let bundle: ModelBundle
    let versions: ModelVersions
    let answers: Answers
    /// The paths of mapping models.
    let mappings: [String]

    package init(_ bundle: ModelBundle, _ versions: ModelVersions, answers: Answers, mappings: [String]) {
        (self.bundle, self.versions, self.answers, self.mappings) = (bundle, versions, answers, mappings)
    }
}

extension ModelBundle {
    /// Whether the model is inside a store.
    package var isInsideStore: Bool { get throws { try ReadOnlyStore.isDatabase(path) } }
}

/// One model of a request, with everything that it is checked against.
struct LintTarget {
    let lint: Lint
    let bundle: ModelBundle
    let releases: [LintRelease]
    let subject: LintSubject
    private let answers: Answers
    private let registered: [RegisteredStage]
    private let plan: PlanOutline?

    /// - Parameter plan: the plan of an app's own tool; nil for models from files.
    /// - Throws: any error from ``Project/lint(profiles:ignoring:since:lock:countingObjectsOf:)``.
    init(
        _ request: LintRequest, _ lint: Lint, _ models: LintedModels, plan: PlanOutline?, _ registry: MigrationRegistry
    ) throws {
        (self.lint, self.plan, bundle, answers) = (lint, plan, models.bundle, models.answers)
        let versions = models.versions
        let mappings = try models.mappings.flatMap { try [RegisteredStage](mappingsAt: $0, in: versions, registry) }
        registered = try plan?.stages ?? registry.stages(in: versions) + mappings
        releases = try LintRelease.all(
            of: bundle, lock: request.lock, since: request.revision, allowsNew: request.allowsNewModels)
        let rows = try request.store.map {
            try StoreRows(
                ofStore: $0,
                StoreSession.Context(
                    versions, answers: models.answers, registered: plan == nil ? mappings : [], registry: registry))
        }
        subject = try LintSubject(
            bundle, answers: answers, registered: registered, releases: releases, rows: rows,
            planFindings: plan?.findings, declarations: plan?.lintDeclarations ?? [:],
            schema: lint.schema(for: bundle))
    }

    /// Reads the model at a path; nil for the models in the app's code.
    init(
        _ request: LintRequest, _ lint: Lint, ofModelAt path: String?, _ registry: MigrationRegistry,
        _ models: (String?) throws -> LintedModels
    ) throws {
        try self.init(request, lint, models(path), plan: path == nil ? registry.plan : nil, registry)
    }

    /// The findings of the rules.
    var findings: [LintFinding] { lint.findings(in: subject, path: bundle.path) }

    /// Returns the findings that the model would have with other contents of its files.
    func findings(in other: ModelBundle) throws -> [LintFinding] {
        let subject = try LintSubject(
            other, answers: answers, registered: registered, releases: releases, planFindings: plan?.findings,
            schema: subject.schema)
        return lint.findings(in: subject, path: bundle.path)
    }

    /// The versions that were not released: those that no release has, neither by its contents nor by its name. If
    /// nothing says what was released, only the newest version counts.
    var unreleasedVersions: Set<String> {
        guard !releases.isEmpty else { return Set(subject.versions.suffix(1).map(\.name)) }
        var open = Set(subject.versions.filter { !subject.isReleased($0.version) }.map(\.name))
        for release in releases {
            for version in release.versions {
                switch release.fate(of: version, in: subject.versions) {
                case .same(let own), .editedUnhashed(let own), .edited(let own): open.remove(own.name)
                case .missing: break
                }
            }
        }
        return open
    }
}
