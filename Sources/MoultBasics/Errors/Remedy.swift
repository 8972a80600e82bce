/// The next step after an error or a finding: a sentence made of plain words and actions.
///
/// An action names neither a command nor a function. Each interface turns it into text with its own words:
/// ``SwiftWords`` for a program that calls the library, and the command line's words for a person at a terminal. Write
/// a sentence as a literal:
///
///     "Change the rows that share a value; then run \(.repair) again."
package struct Remedy: Sendable, Hashable, CustomStringConvertible {
    /// A piece of the sentence.
    package enum Part: Sendable, Hashable {
        case words(String)
        case action(Action)
        case setting(Setting)
        case permission(Permission)
        /// Text for a model file, and the equivalent for a model in code.
        case markup(String, String)
    }

    /// A use case, with the settings to call it with.
    package struct Action: Sendable, Hashable {
        package let use: Use
        package let settings: [Setting]
    }

    /// The pieces in the order of the sentence.
    package var parts: [Part]

    /// Creates a remedy that names no action.
    package init(_ text: String) { parts = text.isEmpty ? [] : [.words(text)] }

    /// The default words for texts: those of the running interface.
    @TaskLocal package static var words: any RemedyWords = SwiftWords()

    /// Whether there is nothing to do.
    package var isEmpty: Bool { parts.isEmpty }

    /// Returns the sentence in the words of an interface. A command that shares its line with other words is quoted, so
    /// that it can be copied.
    package func text(in words: any RemedyWords = Self.words) -> String {
        parts.enumerated().map { place, part in
            switch part {
            case .words(let text): words.text(text)
            case .action(let action):
                isAlone(place) ? words.text(action) : words.quoted(words.text(action))
            case .setting(let setting): words.text(setting)
            case .permission(let permission): words.text(permission)
            case .markup(let text, _): text
            }
        }.joined()
    }

    /// Whether nothing else is on the line of a part.
    private func isAlone(_ place: Int) -> Bool {
        func text(_ place: Int) -> String {
            guard parts.indices.contains(place) else { return "" }
            if case .words(let text) = parts[place] { return text }
            return "…"
        }
        let before = text(place - 1).split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        let after = text(place + 1)
        return before.allSatisfy { $0 == " " } && (after.isEmpty || after.hasPrefix("\n"))
            && (place < 2 || text(place - 1).contains("\n"))
    }

    /// The sentence for a model in code instead of a model file.
    package var inCode: Remedy {
        var remedy = self
        remedy.parts = parts.map { if case .markup(_, let code) = $0 { .words(code) } else { $0 } }
        return remedy
    }

    /// Whether a sentence is a part of this one.
    package func contains(_ part: Remedy) -> Bool { parts.contains(part.parts) }

    /// Returns the sentence with one part replaced by another.
    package func replacing(_ old: Remedy, with new: Remedy) -> Remedy {
        var remedy = self
        remedy.parts = parts.replacing(old.parts, with: new.parts)
        return remedy
    }

    /// Returns the sentence with the path of a model in place of the current model.
    package func naming(_ model: String) -> Remedy {
        func named(_ setting: Setting) -> Setting { setting == .anyModel ? .path(model) : setting }
        var remedy = self
        remedy.parts = parts.map { part in
            switch part {
            case .action(let action): .action(Action(use: action.use, settings: action.settings.map(named)))
            case .setting(let setting): .setting(named(setting))
            case .words, .permission, .markup: part
            }
        }
        return remedy
    }

    package static func + (left: Remedy, right: Remedy) -> Remedy {
        var whole = left
        whole.parts += right.parts
        return whole
    }

    package static func += (left: inout Remedy, right: Remedy) { left.parts += right.parts }

    /// The sentence in the words of the running interface.
    package var description: String { text() }
}

extension String {
    /// Creates the text of a remedy in the words of the running interface.
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

        /// Appends a use case, as a noun: `\(.repair, .only(["indexes"]))`.
        package mutating func appendInterpolation(_ use: Use, _ settings: Setting...) {
            parts.append(.action(Action(use: use, settings: settings)))
        }

        /// Appends a use case with settings that were collected elsewhere.
        package mutating func appendInterpolation(_ use: Use, with settings: [Setting]) {
            parts.append(.action(Action(use: use, settings: settings)))
        }

        /// Appends a setting alone, as a noun.
        package mutating func appendInterpolation(option setting: Setting) { parts.append(.setting(setting)) }

        /// Appends a permission, as a request: a verb and its object.
        package mutating func appendInterpolation(permit permission: Permission) {
            parts.append(.permission(permission))
        }

        /// Appends text for a model file, such as an XML attribute, and the equivalent for a model in code.
        package mutating func appendInterpolation(markup text: String, _ code: String) {
            parts.append(.markup(text, code))
        }
    }
}

extension Remedy {
    /// A use case of Moult, independent of its name in each interface.
    package enum Use: Sendable, Hashable, CaseIterable {
        // Stores.
        case migrate, plan, finish, rollback, downgrade, recover, status, inspect, validate, diagnose, repair, salvage
        case dump, log, runs, views, query, export
        case makeBackup, listBackups, verifyBackups, pruneBackups, importBackup, restoreBackup
        case listQuarantine, showQuarantine, restoreQuarantined
        case startMirror, syncMirror, verifyMirror, cutOverMirror, stopMirror
        // Models.
        case answer, initialise, lock, lint, changelog, fixture, hash, difference, compile, decompile, reconstruct
        case checkCloudKit
        // Fleets.
        case planFleet, runFleet, fleetStatus, rollbackFleet

        /// Returns the use case for the word that fleet results use.
        package init?(named word: String) {
            guard let use = word == "doctor" ? .diagnose : Self.allCases.first(where: { "\($0)" == word }) else {
                return nil
            }
            self = use
        }
    }

    /// A setting of a use case. Without a value it stands for the setting itself, as in "name one with …".
    package enum Setting: Sendable, Hashable {
        /// The current store, if the interface has no name for it.
        case anyStore
        case store(String)
        /// A file or folder to read or write, other than the store.
        case path(String)
        /// The current model, if the interface has no name for it.
        case anyModel
        case model(String?)
        /// A mapping model, or a folder of them.
        case mapping(String?)
        /// The names of the versions, oldest first, separated by commas.
        case order(String?)
        case to(String?)
        case from(String?)
        case version(String)
        case into(String?)
        case at(String)
        case set(String)
        case forget(String)
        case answers(String)
        /// The names of repair rules.
        case only([String])
        /// A file with rules of an app.
        case rules(String)
        /// A file with a plan that a migration must follow.
        case plan(String)
        /// The name of the configuration that the app opens the store with.
        case configuration(String)
        /// The name of the configuration that CloudKit mirrors.
        case mirroredConfiguration(String?)
        /// The date before which persistent history is deleted.
        case before(String)
        case budget(String?)
        case backups(String?)
        case run(String)
        case inPlace, normalise, deferred, stopAtEachVersion, frugal, makeRoom, again, experimental, cloudKit,
            fullVerify
        case dryRun, sql, values, json
        case wasClosed, allowLargeQuarantine, acceptLosses, overwrite, undo, restore, everything
        // Settings that only the tools have.
        case entity(String?)
        /// A predicate that the objects match.
        case matching(String)
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
        case time, memory, approve, partition, sbatch, canary, limit, fix, write
    }

    /// Something that a migration refuses to do without permission.
    package enum Permission: Sendable, Hashable {
        /// Migrates a store that is mirrored to CloudKit.
        case cloudKit
        /// The configuration that the app uses to open the store.
        case configuration(String)
        /// The loss at a place; a noun with its value, not a request.
        case loss(String)
        /// The losses at these places; whole sentences.
        case losses([String])
        /// The references at these places, which a repair would clear; a noun. It holds for one run.
        case clearing([String])
        /// The program that contains the missing code, by the name of the code; follows a sentence.
        case code(String)
    }
}

/// The words of an interface for the parts of a remedy.
package protocol RemedyWords: Sendable {
    /// Returns a use case with its settings, as a noun.
    func text(_ action: Remedy.Action) -> String
    /// Returns a setting alone, as a noun.
    func text(_ setting: Remedy.Setting) -> String
    /// Returns a permission; see ``Remedy/Permission`` for the form.
    func text(_ permission: Remedy.Permission) -> String
    /// Returns plain words of a sentence, without commands where the interface has none.
    func text(_ words: String) -> String
    /// Returns a use case as it stands in a sentence.
    func quoted(_ use: String) -> String
    /// Returns this interface's remedy if the models alone imply no mapping; nil to keep the error's own.
    func remedy(for code: MigrationError.Code) -> Remedy?
}

extension RemedyWords {
    package func text(_ words: String) -> String {
        words.replacing("run the command again", with: "try again")
            .replacing("Run the command again", with: "Try again")
    }

    package func quoted(_ use: String) -> String { use }

    package func remedy(for code: MigrationError.Code) -> Remedy? { nil }

    /// Runs `work` with these words for its texts, including the remedy of an error that it throws.
    package func speaking<Result>(_ work: () throws -> Result) throws -> Result {
        try Remedy.$words.withValue(self) {
            do {
                return try work()
            } catch let error as MigrationError {
                throw error.inWords
            }
        }
    }

    /// Runs asynchronous work in the same way.
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
    /// The error with its remedy rendered in the current words.
    package var inWords: MigrationError {
        var error = self
        error.remedy = remedy
        return error
    }
}
