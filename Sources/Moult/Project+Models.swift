import MoultLint
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem

extension Project {
    /// Says what changed between two versions.
    ///
    /// - Parameters:
    ///   - from: the name of the older version.
    ///   - to: the name of the newer version.
    /// - Throws: `noPath` for a version that does not exist; `usage` if a recorded answer fits no question.
    public func difference(from: String, to: String) throws -> ModelDifference {
        let (older, newer) = (try version(named: from), try version(named: to))
        return ModelDifference(try DiffReport(from: older, to: newer, answers: answers))
    }

    private func version(named name: String) throws -> ModelVersion {
        versions.versions[try versions.target(named: name)].named(name)
    }

    /// Checks the models by rules: released versions, inference, data, sync, source and shape.
    ///
    /// - Parameters:
    ///   - profiles: further rules to apply.
    ///   - ignoring: the codes of rules to leave out, such as `SHAPE003`, in upper or lower case.
    ///   - revision: a git revision to compare with, such as `origin/main`; nil for none.
    ///   - lock: the lock file to compare with; nil for `moult.lock` next to the model.
    ///   - store: a store whose objects the findings count; nil for none.
    /// - Throws: `usage` for a rule that does not exist, and without git or that revision; `modelInvalid` for a lock file
    ///   that cannot be read; `modelNotFound` if it has no versions of this model; `storeUnknown` for a store of another
    ///   app.
    public func lint(
        profiles: Set<LintProfile> = [], ignoring: Set<String> = [], since revision: String? = nil,
        lock: String? = nil, countingObjectsOf store: String? = nil
    ) async throws -> LintResult {
        try await onThread { _ in
            let ignored = try ignoring.sorted().map { code in
                if let rule = LintRule.named(code) { return rule.code }
                throw MigrationError(.usage, "There is no rule \(code).", remedy: "Documentation/Lint lists the rules.")
            }
            let lint = Lint(
                profiles: Set(profiles.map(\.rules)), ignored: Set(ignored), acceptedLosses: registry.acceptedLosses)
            let (bundle, plan) = (try bundle(), path == nil ? registry.plan : nil)
            let subject = try LintSubject(
                bundle, answers: answers,
                registered: try plan?.stages ?? (registry.stages(in: versions) + stages(in: versions)),
                releases: try LintRelease.all(of: bundle, lock: lock, since: revision),
                rows: try store.map {
                    try StoreRows(
                        ofStore: $0, in: versions,
                        options: .init(answers: answers, registered: stages(in: versions), registry: registry))
                },
                planFindings: plan?.findings, declarations: plan?.lintDeclarations ?? [:])
            return LintResult(
                LintReport(
                    lint.findings(in: subject, path: bundle.path), of: subject, path: bundle.path, rules: lint.rules))
        }
    }

    /// Writes every version of the model as JSON, and a bundle of all in Xcode's form.
    ///
    /// - Parameters:
    ///   - folder: the folder for the files; it is created.
    ///   - name: the name of the bundle, without `.xcdatamodeld`.
    ///   - replacing: whether a file that holds another model of the same name is replaced.
    /// - Returns: the names of the versions that were written.
    /// - Throws: `wouldReplace` if there is such a file; what writing throws.
    @discardableResult
    public func exportSchema(
        to folder: String, name: String = "Model", replacing: Bool = false
    ) async throws -> [String] {
        try await onThread { _ in
            let files = try SchemaFiles(versions, in: folder, name: name)
            try files.write(likeModelAt: path, replacing: replacing, POSIXSystem())
            return files.names
        }
    }

    /// Compiles a model into a `.mom` or `.momd`, or a mapping model into a `.cdm`, as Apple's `momc` and `mapc` do.
    ///
    /// - Parameters:
    ///   - source: an `.xcdatamodeld`, `.xcdatamodel`, a model as JSON, a folder of versions, or an `.xcmappingmodel`.
    ///   - output: the product, or the folder for it; nil for the working folder.
    ///   - module: the Swift module of classes whose name begins with a dot.
    ///   - isRehearsal: whether to check the source and write nothing.
    /// - Returns: what was written. Errors in the source are in it too; nothing is written then.
    /// - Throws: `wouldReplace` for a path with something else; `usage` for one that ends wrongly; what reading and
    ///   writing throw.
    public static func compile(
        _ source: String, to output: String? = nil, module: String? = nil, isRehearsal: Bool = false
    ) async throws -> CompileReport {
        try await onThread { _ in
            try CompileReport(compiling: source, to: output, module: module, isRehearsal: isRehearsal)
        }
    }
}

/// The changes between two versions.
public struct ModelDifference: Sendable, CustomStringConvertible {
    private let report: DiffReport

    init(_ report: DiffReport) { self.report = report }

    /// The name of the older version.
    public var from: String { report.names.from }
    /// The name of the newer version.
    public var to: String { report.names.to }
    /// Changes that change the version hash, so that a store has to be migrated; one sentence each.
    public var changes: [String] { report.hashed }
    /// Changes that Core Data does not notice; one sentence each.
    public var unnoticedChanges: [String] { report.unhashed }
    /// Whether the mapping can be inferred.
    public var isInferable: Bool { report.isInferable }
    /// The text that `moult diff` prints.
    public var description: String { report.lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult diff --json` prints, on one line.
    public var json: String { report.document.compact }
}
