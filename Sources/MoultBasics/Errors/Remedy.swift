/// The next steps that help after an error or a finding: a sentence of plain words and of actions.
///
/// An action names no command and no function. The words of a face make a text of it: ``SwiftWords`` for a program that
/// calls the library, the command line's own for a person who types. A sentence is written as a literal:
///
///     "Change the rows that share a value; then run \(.repair) again."
package struct Remedy: Sendable, Hashable, CustomStringConvertible {
    /// A piece of the sentence.
    package enum Part: Sendable, Hashable {
        case words(String)
        case action(Action)
        case setting(Setting)
        case permission(Permission)
        /// Text for a model's file, and the same for a model in code.
        case markup(String, String)
    }

    /// A use case, with the settings that it is to be called with.
    package struct Action: Sendable, Hashable {
        package let use: Use
        package let settings: [Setting]
    }

    /// The pieces in the order of the sentence.
    package var parts: [Part]

    /// A remedy that names no action.
    package init(_ text: String) { parts = text.isEmpty ? [] : [.words(text)] }

    /// The words that texts are made in, unless others are given: those of the face that runs.
    @TaskLocal package static var words: any RemedyWords = SwiftWords()

    /// Whether there is nothing to do.
    package var isEmpty: Bool { parts.isEmpty }

    /// Returns the sentence in the words of a face.
    package func text(in words: any RemedyWords = Self.words) -> String {
        parts.map { part in
            switch part {
            case .words(let text): text
            case .action(let action): words.text(action)
            case .setting(let setting): words.text(setting)
            case .permission(let permission): words.text(permission)
            case .markup(let text, _): text
            }
        }.joined()
    }

    /// The sentence for a model in code, in place of a model's file.
    package var inCode: Remedy {
        var remedy = self
        remedy.parts = parts.map { if case .markup(_, let code) = $0 { .words(code) } else { $0 } }
        return remedy
    }

    /// The sentence with another one in place of a part of it.
    package func replacing(_ old: Remedy, with new: Remedy) -> Remedy {
        var remedy = self
        remedy.parts = parts.replacing(old.parts, with: new.parts)
        return remedy
    }

    package static func + (left: Remedy, right: Remedy) -> Remedy {
        var whole = left
        whole.parts += right.parts
        return whole
    }

    package static func += (left: inout Remedy, right: Remedy) { left.parts += right.parts }

    /// The sentence in the words of the face that runs.
    package var description: String { text() }
}

extension String {
    /// A sentence in the words of the face that runs.
    package init(advice: Remedy) { self = advice.text() }
}

extension Remedy: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self.init(text) }

    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// The pieces of a literal.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { parts.append(.words(literal)) }
        }

        package mutating func appendInterpolation(_ text: some CustomStringConvertible) {
            appendLiteral(text.description)
        }

        package mutating func appendInterpolation(_ remedy: Remedy) { parts += remedy.parts }

        /// A use case, as a noun: `\(.repair, .only(["indexes"]))`.
        package mutating func appendInterpolation(_ use: Use, _ settings: Setting...) {
            parts.append(.action(Action(use: use, settings: settings)))
        }

        /// A use case with settings that are put together elsewhere.
        package mutating func appendInterpolation(_ use: Use, with settings: [Setting]) {
            parts.append(.action(Action(use: use, settings: settings)))
        }

        /// A setting by itself, as a noun.
        package mutating func appendInterpolation(option setting: Setting) { parts.append(.setting(setting)) }

        /// A permission, as a request: a verb with what follows it.
        package mutating func appendInterpolation(permit permission: Permission) {
            parts.append(.permission(permission))
        }

        /// Text for a model's file, such as an attribute of XML, and the same for a model in code.
        package mutating func appendInterpolation(markup text: String, _ code: String) {
            parts.append(.markup(text, code))
        }
    }
}

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
