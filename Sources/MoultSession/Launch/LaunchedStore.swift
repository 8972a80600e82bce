import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A store that a launch prepares: how to find out its version, and how to migrate it.
package protocol LaunchedStore: Sendable {
    /// The store's path.
    var path: String { get }
    /// The wording of remedies.
    var words: any RemedyWords { get }
    /// The options of its migrations, without what the launch decides.
    var ownOptions: RunOptions { get }

    /// Examines the store, which exists, and prepares its migration; nil if it has the app's version.
    ///
    /// - Parameter adjust: sets what the launch decides: the budget, the accepted losses, the number of attempts.
    func session(on system: any System, _ adjust: (inout RunOptions) -> Void) throws -> StoreSession?

    /// Runs the migration, and calls the app's own observers.
    func run(_ session: StoreSession, _ observer: MigrationObserver) throws -> MigrationReport
}

extension StoreLaunch {
    /// The versions of a model, for a launch.
    public struct Models: Sendable {
        /// Returns the hashes of the app's version without reading every version; nil if they are known only from all.
        fileprivate let currentHashes: @Sendable () throws -> VersionHashes?
        /// Returns what the migration of the store at a path needs.
        fileprivate let context: @Sendable (String) throws -> StoreSession.Context

        package init(
            currentHashes: @escaping @Sendable () throws -> VersionHashes?,
            context: @escaping @Sendable (String) throws -> StoreSession.Context
        ) {
            (self.currentHashes, self.context) = (currentHashes, context)
        }

        /// The versions in an app's compiled model.
        ///
        /// If the store has the current version, the list of the bundle (`VersionInfo.plist`) is all that is read.
        ///
        /// - Parameters:
        ///   - url: a `.momd`, or anything else that `Project(models:order:registry:)` reads.
        ///   - registry: the code that migrations call.
        public static func bundle(_ url: URL, registry: MigrationRegistry = MigrationRegistry()) -> Models {
            Models(
                currentHashes: { try VersionInfo.currentHashes(ofModelAt: url.path) },
                context: { try StoreSession.Context(modelsAt: url.path, for: $0, registry) })
        }

        /// Versions that the program has created, oldest first.
        public static func versions(_ versions: ModelVersions, registry: MigrationRegistry = MigrationRegistry())
            -> Models
        {
            Models(
                currentHashes: { try versions.currentHashes },
                context: { _ in StoreSession.Context(versions, registry: registry) })
        }

        /// Models without files, oldest first. Their names are those given, or else their identifiers; numbers if these
        /// do not tell them apart.
        package static func inCode(
            _ models: [ManagedObjectModel], named names: [String]? = nil,
            registry: MigrationRegistry = MigrationRegistry()
        ) -> Models {
            let given = names ?? models.map { $0.versionIdentifiers.first ?? "" }
            let areNames = Set(given).count == models.count && !given.contains("")
            let versions = models.enumerated().map { number, model in
                ModelVersion(names: [areNames ? given[number] : "\(number + 1)"], model: model)
            }
            return .versions(ModelVersions(joining: versions, currentName: versions.last?.name), registry: registry)
        }
    }
}

extension ModelVersions {
    /// The hashes of the current version.
    package var currentHashes: VersionHashes { get throws { versions[try target(named: nil)].hashes } }
}

extension StoreSession.Context {
    /// - Parameters:
    ///   - path: the path of the models, with the recorded answers next to them.
    ///   - store: the store to migrate.
    fileprivate init(modelsAt path: String, for store: String, _ registry: MigrationRegistry) throws {
        let models = ModelVersions(try ModelBundle(modelOrStoreAt: path))
        let answers = try Answers(recordedNextTo: path)
        let versions = try models.onTheWay(of: store, to: path)
        self.init(versions, answers: try answers.known(in: versions, ofModelsAt: path) { _ in }, registry: registry)
    }
}

/// A store that is known by its path and the versions of a model.
struct LaunchedFile: LaunchedStore {
    let path: String
    let models: StoreLaunch.Models
    let options: RunOptions

    var words: any RemedyWords { SwiftWords() }
    var ownOptions: RunOptions { options }

    func session(on system: any System, _ adjust: (inout RunOptions) -> Void) throws -> StoreSession? {
        var options = options
        adjust(&options)
        let session = try StoreSession(at: path, options, on: system, isCurrent: isCurrent) { connection in
            if try isCurrent(StoreMetadata(from: connection)) { return nil }
            return (StoreRequest(path, .migrate, options), try models.context(path))
        }
        // A migration removes the leftovers of a dead run. Without one, they are removed here.
        if session == nil { try options.migrator(on: system).recoverIfNeeded(path) }
        return session
    }

    private func isCurrent(_ metadata: StoreMetadata) throws -> Bool {
        guard options.configuration == nil, let hashes = try models.currentHashes() else { return false }
        return metadata.hashes?.entities == hashes.entities
    }

    func run(_ session: StoreSession, _ observer: MigrationObserver) throws -> MigrationReport {
        try session.run(observer)
    }
}

/// The words of a launch, which has functions of its own for some use cases, over those of its stores.
struct LaunchWords: RemedyWords {
    let own: any RemedyWords

    func text(_ action: Remedy.Action) -> String {
        action.use == .rollback ? "StoreLaunch.goBack()" : own.text(action)
    }

    func text(_ setting: Remedy.Setting) -> String {
        switch setting {
        case .again: "StoreLaunch.tryAgain()"
        case .budget: "StoreLaunch.budget"
        default: own.text(setting)
        }
    }

    func text(_ permission: Remedy.Permission) -> String { own.text(permission) }

    func text(_ words: String) -> String { own.text(words) }

    func quoted(_ use: String) -> String { own.quoted(use) }

    func remedy(for code: MigrationError.Code) -> Remedy? { own.remedy(for: code) }
}
