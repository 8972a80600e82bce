import Moult
import MoultBasics
import MoultEngine
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultStore

/// A request to check models: the rules, and the releases to compare with.
package struct LintRequest: Sendable {
    package var profiles: Set<LintRule.Profile>
    /// The codes of rules to leave out, in upper or lower case.
    package var ignored: [String] = []
    /// The severities that replace those of the rules, by the code of the rule; nil turns a rule off.
    package var severities: [String: Finding.Severity?] = [:]
    /// A git revision to compare with; nil for none.
    package var revision: String?
    /// The lock file to compare with; nil for the one next to the model.
    package var lock: String?
    /// A store whose objects the findings count; nil for none.
    package var store: String?
    /// The places at which rules do not apply.
    package var exceptions: [LintException] = []
    /// The places of the losses that the project's configuration accepts, with the file and line of each.
    package var declaredLosses: [(place: String, location: String)] = []
    /// Whether the request is for all models that the exceptions may name. Otherwise it reports nothing about exceptions
    /// that match nothing.
    package var isOfAllModels = true
    /// Whether a model may be missing from the revision, because it is newer.
    package var allowsNewModels = false
    /// The treatment of corrections; nil to leave them to a person.
    package var correction: Correction?
    /// The file with the schema of CloudKit's Production environment, and the configuration that is mirrored, if it is
    /// not the one that the model marks; nil for no file.
    package var schema: (path: String, configuration: String?)?
    /// The codes of the only rules to apply; nil for all.
    package var only: Set<String>?
    /// The use case that the findings are of.
    private(set) var use = Remedy.Use.lint

    /// The treatment of corrections.
    package enum Correction: Sendable {
        /// Says what would be written.
        case preview
        /// Writes them into the model's files.
        case write
    }

    package init(profiles: Set<LintRule.Profile> = []) { self.profiles = profiles }

    /// Limits the request to the rules about the schema of CloudKit that a model needs, and about what Core Data refuses
    /// to mirror.
    package mutating func limitToCloudKit(schema: String, configuration: String?) {
        self.schema = (schema, configuration)
        profiles = [.cloudkit]
        only = Set((LintRule.refused + LintRule.deployed).map(\.code))
        use = .checkCloudKit
        isOfAllModels = false
    }

    /// Returns the rules to apply.
    ///
    /// - Throws: `usage` for a rule that does not exist; `modelInvalid` with line and column for a schema that cannot be
    ///   read; `fileNotFound` for a missing one.
    package func lint(accepting losses: AcceptedLosses) throws -> Lint {
        let codes = try ignored.map { code in
            if let rule = LintRule.named(code) { return rule.code }
            let near = Suggestion.sentence(for: code.uppercased(), among: LintRule.all.map(\.code))
            throw MigrationError.wrongRequest("There is no rule \(code).\(near)")
        }
        let turnedOff = severities.filter { $0.value == nil }.keys
        var lint = Lint(
            profiles: profiles, ignored: Set(codes).union(turnedOff), severities: severities.compactMapValues { $0 },
            acceptedLosses: losses, exceptions: exceptions)
        lint.turnedOff = turnedOff.sorted()
        (lint.only, lint.use) = (only, use)
        lint.schema = try schema.map { try LintSchema(contentsOf: $0.path, configuration: $0.configuration) }
        return lint
    }
}

/// Rules that apply only to some apps.
public enum LintProfile: String, Sendable, Hashable, CaseIterable {
    /// Stores that are mirrored to CloudKit.
    case cloudKit
    /// Stores that an app shares with its extensions.
    case appExtension

    var rules: LintRule.Profile {
        switch self {
        case .cloudKit: .cloudkit
        case .appExtension: .extension
        }
    }
}

extension PlanOutline {
    /// The declarations of the models, by version and entity, with the paths of the files. A program records only the
    /// module and name of a file. The file is searched for below the current directory; if it is not found, its
    /// recorded name is used.
    package var lintDeclarations: [String: [String: LintDeclaration]] {
        let names = Set(declarations.values.flatMap { $0.values.map(\.file) })
        let paths = SwiftFiles(named: names).paths
        return declarations.mapValues { entities in
            entities.mapValues {
                LintDeclaration(file: paths[$0.file] ?? $0.file, line: $0.line, properties: $0.properties)
            }
        }
    }
}

/// The paths of source files, by `Module/File.swift`.
private struct SwiftFiles {
    private(set) var paths: [String: String] = [:]
    private let wanted: [String: [String]]

    init(named names: Set<String>) {
        wanted = Dictionary(grouping: names.sorted()) { Path.name(of: $0) }
        if !wanted.isEmpty { search(".", depth: 0) }
    }

    private mutating func search(_ folder: String, depth: Int) {
        let system = POSIXSystem()
        guard depth <= 12, let names = try? system.list(folder) else { return }
        for name in names.sorted() where !name.hasPrefix(".") && !["Pods", "Carthage", "DerivedData"].contains(name) {
            let path = folder == "." ? name : Path.join(folder, name)
            if let candidates = wanted[name] {
                // Two modules may have files of the same name.
                for file in candidates where candidates.count == 1 || path.contains(Path.folder(of: file) + "/") {
                    paths[file] = paths[file] ?? path
                }
            } else if !name.contains("."), (try? system.isLink(path)) == false,
                (try? system.status(of: path))??.kind == .folder
            {
                search(path, depth: depth + 1)
            }
        }
    }
}
