import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSession

/// The versions of a model, with everything that a migration between them may need: answers, mapping models, rules and
/// an app's own code.
///
///     let project = try Project(models: "App.xcdatamodeld")
///     print(try await project.status(of: "app.sqlite"))
///     print(try await project.migrate("app.sqlite").report)
///
/// A project is a value. It holds no store open: every call opens the store at the given path, and closes it. A
/// relative path starts at the working folder of the process. Every call throws ``MigrationError`` and nothing else.
public struct Project: Sendable {
    /// The code of an app that migrations call, and its rules.
    public var registry: MigrationRegistry
    /// Called with each line that a call logs, on the thread that does the work; nil for no log. Every run also writes
    /// its own log next to the store (``log(of:)``).
    public var logger: (@Sendable (LogLine) -> Void)?
    package let versions: ModelVersions
    package private(set) var answers = Answers.none
    package private(set) var mappingPaths: [String] = []
    /// The names of the rules that were read from files.
    private(set) var rulesOfFiles: Set<String> = []
    /// The path of the models; nil for versions that a program has created.
    package let path: String?
    /// The names of the versions in order, if given.
    package let order: [String]?

    /// Reads every version of a model, and the answers recorded next to it.
    ///
    /// - Parameters:
    ///   - path: an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, `.omo`, a model as JSON, a folder of versions, an
    ///     `.app` or `.ipa` with a model, a store with a model inside, or a folder of such stores.
    ///   - order: the names of the versions, oldest first; nil for the order of the lock file, or of the names.
    ///   - registry: the code of an app.
    /// - Throws: `fileNotFound`, `fileNotReadable`, `modelNotFound` and `modelInvalid` for the models; `usage` for a
    ///   wrong order or wrong answers; `lockFileMismatch` for an unreadable lock file.
    public init(models path: String, order: [String]? = nil, registry: MigrationRegistry = MigrationRegistry()) throws {
        (self.path, self.order) = (path, order)
        self.registry = registry
        versions = ModelVersions(try ModelBundle(modelOrStoreAt: path, order: order))
        answers = try Answers(recordedNextTo: path)
    }

    /// Creates a project from versions that a program has created itself, such as those of its Swift types.
    ///
    /// - Throws: what the `models` of the registry throw; `usage` if it has none.
    public init(_ registry: MigrationRegistry) throws {
        guard let models = registry.models else {
            throw MigrationError(
                .usage, "The registry has no models.", remedy: "Set its models, or name a path of models.")
        }
        self.registry = registry
        (path, order) = (nil, nil)
        versions = try models()
    }

    /// Creates a project from versions that have already been read.
    ///
    /// - Parameters:
    ///   - path: the path of the models; nil for versions that a program has created.
    ///   - mappings: the paths of mapping models, which are read for each store.
    package init(
        _ versions: ModelVersions, path: String?, order: [String]?, registry: MigrationRegistry,
        answers: Answers = .none, mappings: [String] = []
    ) {
        (self.versions, self.path, self.order, self.registry) = (versions, path, order, registry)
        (self.answers, mappingPaths) = (answers, mappings)
    }

    /// The names of the versions, oldest first.
    public var versionNames: [String] { versions.versions.map(\.name) }
    /// The name of the version that the model marks as current, otherwise of the last; nil if there are no versions.
    public var currentVersionName: String? { (try? versions.target(named: nil)).map { versions.versions[$0].name } }
    /// The findings made while reading the models.
    public var findings: [Finding] { versions.findings }

    // MARK: - Inputs of a migration

    /// Adds recorded answers to the questions that the models leave open.
    ///
    /// - Parameter path: a file that `moult answer` wrote.
    /// - Throws: `usage` for a file without answers, or one that contradicts another; what reading it throws.
    public mutating func addAnswers(contentsOf path: String) throws {
        try add(Answers(json: try POSIXSystem().read(path), place: path))
    }

    /// Adds answers to the questions that the models leave open.
    ///
    /// - Parameter json: the contents of a file of answers: `{"format": 1, "answers": [ ... ]}`.
    /// - Throws: `usage` for a text without answers, or one that contradicts another.
    public mutating func addAnswers(json: String) throws { try add(Answers(json: Array(json.utf8))) }

    private mutating func add(_ more: Answers) throws { answers = try Answers(answers.list + more.list) }

    /// Adds mapping models to use instead of what would be inferred.
    ///
    /// - Parameter path: an `.xcmappingmodel`, a `.cdm`, or a folder of them.
    /// - Throws: `fileNotFound`, `modelNotFound`, `modelInvalid`; `noPath` and `question` if a mapping model does not
    ///   fit exactly two of the versions.
    public mutating func addMappings(at path: String) throws {
        _ = try [RegisteredStage](mappingsAt: path, in: versions, registry)
        mappingPaths.append(path)
    }

    /// Adds rules of the app, which migrations and ``validate(_:full:withValues:comparedWith:)`` check.
    ///
    /// - Parameter path: a file of rules, in the format of Documentation/Rules.md.
    /// - Throws: `usage` with every mistake in the file; what reading it throws.
    public mutating func addRules(contentsOf path: String) throws {
        let rules = try RulesFile(json: try POSIXSystem().read(path), place: path).rules
        registry.rules += rules
        rulesOfFiles.formUnion(rules.map(\.name))
    }

    // MARK: - Version paths

    /// Checks a path of versions without a store, and returns every reason why a migration along it cannot run: missing
    /// versions, a path to an older version, open questions, changes for which no mapping can be inferred. Empty if it
    /// can run.
    ///
    /// - Parameters:
    ///   - from: the name of the first version; nil for the oldest.
    ///   - to: the name of the last version; nil for the current one.
    public func pathIssues(from: String? = nil, to: String? = nil) -> [Finding] {
        do {
            return versions.pathIssues(
                from: from ?? versions.versions.first?.name ?? "", to: to ?? currentVersionName ?? "",
                answers: answers, registered: try stages(in: versions) + (try registry.stages(in: versions)))
        } catch {
            let error = MigrationError(any: error)
            return [
                Finding(
                    code: error.code.description, severity: .error, place: error.place, message: error.message,
                    remedy: error.remedy)
            ]
        }
    }

    /// Returns the mapping models of the added files.
    package func stages(in versions: ModelVersions) throws -> [RegisteredStage] {
        try mappingPaths.flatMap { try [RegisteredStage](mappingsAt: $0, in: versions, registry) }
    }

    /// Returns the versions file by file, with the lock file.
    package func bundle() throws -> ModelBundle {
        try path.map { try ModelBundle(modelOrStoreAt: $0, order: order) } ?? ModelBundle(versions)
    }

    /// Returns the keeper of a store: its backups, records, checks and repairs.
    package func keeper(of store: String, _ options: RunOptions = RunOptions()) -> StoreKeeper {
        var keeper = StoreKeeper(store, options) { versions }
        keeper.models = models
        return keeper
    }

    /// The files of the models; nil for versions that a program has created.
    package var models: StoreRequest.Models? {
        path.map { StoreRequest.Models(path: $0, order: order, mappings: mappingPaths) }
    }

    /// Returns the versions that a store may have had: if the models are another store's, the store's own comes first.
    package func versions(for store: String) throws -> ModelVersions {
        try path.map { try versions.onTheWay(of: store, to: $0) } ?? versions
    }
}
