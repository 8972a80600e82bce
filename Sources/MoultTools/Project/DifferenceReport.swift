import Moult
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan

/// The differences between two versions, and between the archives of two compiled models.
package struct DifferenceReport: ToolAnswer {
    private let diff: ModelDifference
    private let archives: ArchiveComparison?

    /// - Parameter files: the paths of the two models. Their archives are compared too if both are compiled.
    /// - Throws: `usage` if a recorded answer matches no question; any error from reading the files.
    package init(
        from older: ModelVersion, to newer: ModelVersion, answers: Answers, files: (older: String, newer: String)?
    ) throws {
        diff = try ModelDifference(from: older, to: newer, answers: answers)
        let system = POSIXSystem()
        if let files, files.older.hasSuffix(".mom"), files.newer.hasSuffix(".mom"), try system.exists(files.older),
            try system.exists(files.newer)
        {
            archives = try ArchiveComparison(try system.read(files.older), try system.read(files.newer))
        } else {
            archives = nil
        }
    }

    package var isEmpty: Bool { diff.isEmpty && archives?.differences.isEmpty != false }

    package var document: JSONValue {
        guard let archives, case .object(let members) = diff.document else { return diff.document }
        return .object(members + [.init("archives", archives.document)])
    }

    package func lines(style: TextStyle) -> [String] {
        diff.lines(style: style) + (archives.map { [""] + $0.lines } ?? [])
    }
}

extension ModelBundle {
    /// Returns the model that `REV:PATH` names, and the revision as typed; nil for any other text, such as the path of
    /// a file.
    ///
    /// - Throws: `usage` if git, the repository or the revision is missing; `modelNotFound` if the commit does not
    ///   contain the model.
    package static func ofRevision(_ text: String) throws -> (bundle: ModelBundle, revision: String)? {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, try !POSIXSystem().exists(text) else { return nil }
        return (try GitRevision(exactly: parts[0], around: ".").model(at: parts[1]), parts[0])
    }
}

extension ModelBundle {
    /// Returns the version of a name; without a name the version that ships, the current one or else the newest.
    /// Versions of equal hashes are not merged into one.
    ///
    /// - Throws: `usage` for a version that does not exist, and for a model without versions.
    package func version(named name: String?) throws -> ModelVersion {
        let wanted = name ?? currentName ?? versions.last?.name ?? ""
        if let version = versions.first(where: { $0.name == wanted }) { return version }
        if name == nil, let newest = versions.last { return newest }
        let names = versions.map(\.name)
        let near = Suggestion.sentence(for: wanted, among: names)
        throw MigrationError.wrongRequest(
            "The model has no version \(wanted).\(near) Its versions are: \(names.joined(separator: ", ")).")
    }
}

extension ArchiveComparison {
    fileprivate var document: JSONValue {
        [
            "equal": .bool(differences.isEmpty),
            "differences": .array(
                differences.map {
                    ["place": .string($0.place), "old": JSONValue($0.old), "new": JSONValue($0.new)]
                }),
        ]
    }

    fileprivate var lines: [String] {
        guard !differences.isEmpty else { return ["Object for object, the compiled models are equal."] }
        return ["Object for object, the compiled models differ in \(Quantity.count(differences.count, "value")):"]
            + differences.map { "  \($0.place.printable): \(Self.shown($0.old)) → \(Self.shown($0.new))" }
    }

    private static func shown(_ value: String?) -> String {
        guard let value else { return "none" }
        let text = value.printable
        return text.count > 120 ? text.prefix(120) + "…" : text
    }
}

/// A proposal for a model's next semantic version, based on its changes.
package struct VersionProposal: ToolAnswer {
    private let names: (older: String, newer: String)
    private let bump: VersionBump?
    /// The numbers of the two versions.
    private let numbers: (older: VersionNumber?, newer: VersionNumber?)

    /// Compares two versions.
    ///
    /// - Parameters:
    ///   - from: the name of the older version; nil for the one before the newer.
    ///   - to: the name of the newer version; nil for the last one.
    /// - Throws: `usage` for a version that does not exist, and for a model with one version.
    package init(_ bundle: ModelBundle, from: String?, to: String?, answers: @autoclosure () throws -> Answers) throws {
        let newer = try to.map { try bundle.version(named: $0) } ?? bundle.versions.last
        let before = newer.flatMap { newer in bundle.versions.firstIndex { $0.name == newer.name } } ?? 0
        let older = try from.map { try bundle.version(named: $0) } ?? (before > 0 ? bundle.versions[before - 1] : nil)
        guard let older, let newer else {
            throw MigrationError.wrongRequest("The model has one version, so there is nothing to compare.")
        }
        names = (older.name, newer.name)
        bump = VersionBump(try ModelDiff(from: older, to: newer, answers: answers()))
        numbers = (Self.number(of: older), Self.number(of: newer))
    }

    private static func number(of version: ModelVersion) -> VersionNumber? {
        (version.model.versionIdentifiers + version.names).lazy.compactMap { VersionNumber($0) }.first
    }

    private var proposed: VersionNumber? { bump.flatMap { bump in numbers.older.map { $0.next(bump.level) } } }

    /// Whether the newer version has a number below the proposed one, or no number.
    package var isTooLow: Bool { if let proposed { numbers.newer.map { $0 < proposed } ?? true } else { false } }

    package var document: JSONValue {
        [
            "format": 1, "from": .string(names.older), "to": .string(names.newer),
            "level": bump.map { .string($0.level.rawValue) } ?? .null,
            "number": numbers.older.map { .string($0.description) } ?? .null,
            "proposed": proposed.map { .string($0.description) } ?? .null,
            "found": numbers.newer.map { .string($0.description) } ?? .null,
            "changes": .array((bump?.reasons ?? []).map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let (older, newer) = (names.older.printable, names.newer.printable)
        guard let bump else { return ["\(older) and \(newer) are equal."] }
        let next =
            numbers.older.map { "\($0) becomes \($0.next(bump.level))." }
            ?? "\(older) has no number such as 1.2.0. Give each version one as its identifier."
        let found = numbers.newer.map { ["\(newer) has \($0)."] } ?? []
        return [style.bold("\(older) → \(newer): \(bump.level.rawValue)")]
            + bump.reasons.map { "  • \($0.sentence.printable)" } + [next] + found
    }
}
