import MoultBasics
import MoultEngine
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A request to change a store. It contains only data that can be saved, so that it can be kept in the record of a
/// mirror, in the manifest of a fleet, or in the journal of its run.
package struct StoreRequest: Codable, Sendable, Hashable {
    /// The work to do.
    package enum Work: Codable, Sendable, Hashable {
        /// Only make the plan: change and recover nothing.
        case plan
        /// Do everything on a copy that is not kept.
        case rehearse
        /// Migrate the store.
        case migrate
        /// Migrate into another file; do not change the store.
        case migrateInto(String)
        /// Repair by the named rules, and delete persistent history before a date.
        case repair([String], before: String?)
        /// Apply the fixes of rules.
        case applyFixes
        /// Put objects back from the quarantine: those with these numbers, or else those of a run, or else all.
        case putBack([Int64]?, run: String?)
        /// Bring the store back to the target.
        case downgrade
    }

    /// The files to read the versions from.
    package struct Models: Codable, Sendable, Hashable {
        /// A model, a folder of versions, or a store with a model inside.
        package var path: String
        /// The names of the versions, oldest first; nil for the order of the lock file, or of the names.
        package var order: [String]?
        /// The file of answers; nil for the one next to the models.
        package var answers: String?
        /// Mapping models, or folders of them.
        package var mappings: [String]

        package init(path: String, order: [String]? = nil, answers: String? = nil, mappings: [String] = []) {
            (self.path, self.order, self.answers, self.mappings) = (path, order, answers, mappings)
        }
    }

    /// The store's path.
    package var store: String
    /// The name of the version to end at; nil for the current one.
    package var target: String?
    package var work: Work
    package var options: RunOptions
    /// The models; nil if a program has created the versions itself.
    package var models: Models?
    /// A file with rules of an app; nil for none.
    package var rules: String?
    /// A file with a plan that the migration must follow; nil for none.
    package var plan: String?

    package init(
        _ store: String, to target: String? = nil, _ work: Work, _ options: RunOptions = RunOptions(),
        models: Models? = nil, rules: String? = nil, plan: String? = nil
    ) {
        (self.store, self.target, self.work, self.options, self.models) = (store, target, work, options, models)
        (self.rules, self.plan) = (rules, plan)
    }

    /// Two options that exclude each other, or one that excludes a migration into another file, which is named `into`.
    /// Nil if the request is consistent.
    package var conflict: (String, String)? {
        let slow = [
            ("isInPlace", options.isInPlace), ("defersWork", options.defersWork), ("makesRoom", options.makesRoom),
            ("stopsAtEachVersion", options.stopsAtEachVersion),
        ]
        var isInto = false
        if case .migrateInto = work { isInto = true }
        if options.budget != nil {
            if let other = slow.first(where: \.1) { return ("budget", other.0) }
            if isInto { return ("budget", "into") }
        }
        if isInto, let other = slow.first(where: \.1) { return ("into", other.0) }
        guard options.isInPlace else { return nil }
        if options.normalises { return ("isInPlace", "normalises") }
        return options.stopsAtEachVersion ? ("isInPlace", "stopsAtEachVersion") : nil
    }

    /// - Throws: `usage` for conflicting options.
    package func check() throws {
        guard let (one, other) = conflict else { return }
        if one == "into" || other == "into" {
            throw MigrationError(
                .usage, "A migration into another file does not take the option \(one == "into" ? other : one).",
                remedy: "Do not set it.")
        }
        throw MigrationError(
            .usage, "The options \(one) and \(other) exclude each other.", remedy: "Set only one of them.")
    }
}

// MARK: - JSON

extension StoreRequest {
    /// The request as JSON.
    ///
    /// - Throws: `internal` if it cannot be encoded, such as for a path that is not valid text.
    package var document: JSONValue {
        get throws {
            do {
                let bytes = try JSONEncoder().encode(self)
                let document = try JSONValue(parsing: [UInt8](bytes), place: store, code: .internal).sortedByKey
                return document.mappingOptions { name, value in longDurations[name].map { .double($0) } ?? value }
            } catch let error as EncodingError {
                throw MigrationError(
                    .internal, "The request cannot be written as JSON.", place: store,
                    remedy: "Please report this.", cause: "\(error)")
            }
        }
    }

    private static let durations = ["budget", "patience"]

    /// The durations that are kept as seconds. As Swift encodes them, those of more than nine seconds have an integer
    /// that is too large for most readers of JSON.
    private var longDurations: [String: Double] {
        let all = [options.budget, options.patience]
        return Dictionary(uniqueKeysWithValues: zip(Self.durations, all)).compactMapValues { $0 }
            .filter { $0.value >= .seconds(9) || $0.value <= .seconds(-9) }.mapValues { $0 / .seconds(1) }
    }

    /// Reads a saved request. Options that are missing, such as those of a later Moult, have their defaults.
    ///
    /// - Parameter place: the place that it was read from, for errors.
    /// - Throws: `metadataInvalid` for a document that is not a request.
    package init(_ document: JSONValue, place: String) throws {
        do {
            let defaults = try StoreRequest("", .plan).document
            let whole = document.overlaying(defaults)
            var seconds: [String: Double] = [:]
            let readable = whole.mappingOptions { name, value in
                guard Self.durations.contains(name), let number = value.double else { return value }
                seconds[name] = number
                return defaults["options"]?[name] ?? .null
            }
            self = try JSONDecoder().decode(Self.self, from: Data(readable.compact.utf8))
            if let budget = seconds["budget"] { options.budget = .seconds(budget) }
            if let patience = seconds["patience"] { options.patience = .seconds(patience) }
        } catch let error as DecodingError {
            throw MigrationError(
                .metadataInvalid, "The record holds no request that this version of Moult understands.", place: place,
                remedy: "Use the version of Moult that wrote it.", cause: "\(error)")
        }
    }
}

extension JSONValue {
    /// Returns the document of a request with each member of its options replaced.
    fileprivate func mappingOptions(_ transform: (String, JSONValue) -> JSONValue) -> JSONValue {
        guard let members else { return self }
        return .object(
            members.map { member in
                guard member.key == "options", let own = member.value.members else { return member }
                return Member("options", .object(own.map { Member($0.key, transform($0.key, $0.value)) }))
            })
    }

    /// Returns the document with missing members taken from another, the options member by member.
    fileprivate func overlaying(_ defaults: JSONValue) -> JSONValue {
        guard let own = members, let others = defaults.members else { return self }
        return .object(
            own.map { member in
                guard member.key == "options", let other = defaults["options"] else { return member }
                return Member("options", member.value.overlaying(other))
            } + others.filter { self[$0.key] == nil })
    }
}

/// The options for changing a store; the defaults are the safe ones.
public struct RunOptions: Sendable, Hashable, Codable {
    /// The folder for backups; nil for the one next to the store.
    public var backupFolder: String?
    /// Whether the old store is kept as a backup. Without it the run needs less space and cannot be rolled back.
    public var keepsBackup = true
    /// The policy for the backups that are kept after a run.
    public var retention = RetentionPolicy()
    /// Whether to remove expired backups, and to continue without keeping one, if space is short.
    public var makesRoom = false
    /// The time to wait for a process that is about to close the store.
    public var patience: Duration = .seconds(2)
    /// The number of consecutive runs between the same versions that may die before another run is refused.
    public var maximumAttempts = 5

    /// Whether each version on the way has a backup and a commit of its own. Otherwise the whole path is one commit.
    public var stopsAtEachVersion = false
    /// Whether to change the store itself in one transaction, after its backup; refused unless only the schema changes.
    public var isInPlace = false
    /// Whether every changed table is rebuilt, with its columns in the order of a new store. Otherwise a table is kept
    /// if possible, with new columns at its end.
    public var normalises = false
    /// Whether to change the schema at once and leave slow work for a later call to finish.
    public var defersWork = false
    /// The time that one call may take; nil for no limit. A call that uses it up reports `paused`, and the next one
    /// continues.
    public var budget: Duration?
    /// The accepted losses, by the names of the older version, in addition to the registry's. A migration that would
    /// lose any other objects, values or links is refused, unless an answer, a mapping model or a stage declares the
    /// loss. A repair that would clear more than half of a relationship's references, of 20 or more, is refused too.
    public var acceptedLosses = AcceptedLosses.none
    /// Whether the new store is compared with the old one, row by row; otherwise only its pages are checked.
    public var comparesStores = true
    /// Whether the rows of tables that were not written to are compared too. Otherwise these tables count as unchanged
    /// because none of their pages is in SQLite's log or journal.
    public var comparesUnwrittenTables = false
    /// Whether to migrate a store that is mirrored to CloudKit.
    public var allowsCloudKit = false
    /// The name of the configuration that the app opens the store with; nil for the one whose entities the store has.
    public var configuration: String?
    /// Whether to write version hashes that are not certain.
    public var isExperimental = false
    /// Whether the fixes of the rules are applied.
    public var appliesFixes = false
    /// Whether a repair or a fix may quarantine more than a quarter of an entity's objects.
    public var allowsLargeQuarantine = false

    /// The defaults.
    public init() {}

    /// Returns a budget in seconds, clamped to the range of a duration; zero if the number is not a number.
    package static func budget(seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, -1e9), 1e9))
    }

    /// Returns the engine with these options.
    ///
    /// - Parameter isSequential: whether everything runs on one thread, for a system that counts its calls.
    package func migrator(on system: any System = POSIXSystem(), isSequential: Bool = false) -> Migrator {
        var options = MigrationOptions(
            backupFolder: backupFolder, isFrugal: !keepsBackup, retention: retention,
            patience: Int32(clamping: Int64(patience / .milliseconds(1))))
        options.maximumAttempts = maximumAttempts
        options.isSequential = isSequential
        options.isPaced = budget != nil
        if budget != nil || isInPlace || stopsAtEachVersion { options.excludedWays = [.deferred, .into] }
        if makesRoom || defersWork { options.excludedWays.insert(.into) }
        return Migrator(options: options, system: system)
    }
}
