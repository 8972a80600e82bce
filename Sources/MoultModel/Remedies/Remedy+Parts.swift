extension Remedy {
    /// A use case of Moult, whatever a face calls it.
    package enum Use: Sendable, Hashable, CaseIterable {
        // Stores.
        case migrate, plan, finish, rollback, downgrade, recover, status, inspect, validate, diagnose, repair, salvage
        case dump, log, runs, views, query, export
        case makeBackup, listBackups, verifyBackups, pruneBackups, importBackup, restoreBackup
        case listQuarantine, showQuarantine, restoreQuarantined
        case startMirror, syncMirror, verifyMirror, cutOverMirror, stopMirror
        // Models.
        case answer, lock, lint, changelog, fixture, hash, difference, compile, decompile
        // Fleets.
        case planFleet, runFleet, fleetStatus, rollbackFleet

        /// A use case by the word that the results of a fleet have for it.
        package init?(named word: String) {
            guard let use = word == "doctor" ? .diagnose : Self.allCases.first(where: { "\($0)" == word }) else {
                return nil
            }
            self = use
        }
    }

    /// A setting of a use case. One without a value stands for the setting itself, such as in "name one with …".
    package enum Setting: Sendable, Hashable {
        /// The store at hand, where a face has no name for it.
        case anyStore
        case store(String)
        /// A file or folder that is written or read, besides the store.
        case path(String)
        /// The model at hand, where a face has no name for it.
        case anyModel
        case model(String?)
        case mapping, order
        case to(String?)
        case from(String?)
        case version(String)
        case into(String?)
        case at(String)
        case set(String)
        case forget(String)
        case answers(String)
        /// The names of rules of a repair.
        case only([String])
        case budget(String?)
        case backups(String?)
        case run(String)
        case inPlace, normalise, deferred, stopAtEachVersion, frugal, again, experimental, dryRun, sql, values, json
        case wasClosed, allowLargeQuarantine, acceptLosses, overwrite, undo, restore
        // What only tools have.
        case entity(String?)
        case format(String)
        case seed, output, replace
        case file(String)
        case profile(String)
        case config(String)
        case since(String?)
        case results
        case shard(String?)
        case shards(String)
        case retry(String)
        case wait(String)
        case time, memory, approve, partition, sbatch, canary, limit, fix
    }

    /// Something that a migration is refused for unless it is permitted.
    package enum Permission: Sendable, Hashable {
        /// The migration of a store that is mirrored to CloudKit.
        case cloudKit
        /// The configuration that the app opens the store with.
        case configuration(String)
        /// The loss at a place; a noun with what it is set to, not a request.
        case loss(String)
        /// Losses at these places; whole sentences.
        case losses([String])
        /// The program with the code that is missing, by the name of the code; what follows a sentence.
        case code(String)
    }
}

/// The words of a face for what a remedy names.
package protocol RemedyWords: Sendable {
    /// A use case with its settings, as a noun.
    func text(_ action: Remedy.Action) -> String
    /// A setting by itself, as a noun.
    func text(_ setting: Remedy.Setting) -> String
    /// See ``Remedy/Permission`` for the form.
    func text(_ permission: Remedy.Permission) -> String
    /// The remedy of this face where no mapping follows from the models alone; nil for the error's own.
    func remedy(for code: MigrationError.Code) -> Remedy?
}

extension RemedyWords {
    package func remedy(for code: MigrationError.Code) -> Remedy? { nil }

    /// Does work whose texts are in these words, also the remedy of an error that leaves it.
    package func speaking<Result>(_ work: () throws -> Result) throws -> Result {
        try Remedy.$words.withValue(self) {
            do {
                return try work()
            } catch let error as MigrationError {
                throw error.inWords
            }
        }
    }

    /// The same for work that waits.
    package func speakingAsync<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
        try await Remedy.$words.withValue(self) {
            do {
                return try await work()
            } catch let error as MigrationError {
                throw error.inWords
            }
        }
    }
}

extension MigrationError {
    /// The error with its remedy as a text in the words that hold now.
    package var inWords: MigrationError {
        var error = self
        error.remedy = remedy
        return error
    }
}
