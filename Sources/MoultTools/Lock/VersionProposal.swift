import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport

/// The semantic version that a model should have next, from what has changed.
package struct VersionProposal: ToolAnswer {
    private let names: (older: String, newer: String)
    private let bump: VersionBump?
    /// The numbers of the two versions.
    private let numbers: (older: VersionNumber?, newer: VersionNumber?)

    /// Compares two versions.
    ///
    /// - Parameters:
    ///   - from: the name of the older version; nil for the last but one.
    ///   - to: the name of the newer version; nil for the last.
    /// - Throws: `usage` for a version that does not exist, and for a model with one version.
    package init(_ bundle: ModelBundle, from: String?, to: String?, answers: @autoclosure () throws -> Answers) throws {
        func named(_ name: String) throws -> ModelVersion {
            if let version = bundle.versions.first(where: { $0.name == name }) { return version }
            let names = bundle.versions.map(\.name)
            let near = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
            throw MigrationError.wrongRequest(
                "The model has no version \(name).\(near) Its versions are: \(names.joined(separator: ", ")).")
        }
        let newer = try to.map(named) ?? bundle.versions.last
        let before = newer.flatMap { newer in bundle.versions.firstIndex { $0.name == newer.name } } ?? 0
        let older = try from.map(named) ?? (before > 0 ? bundle.versions[before - 1] : nil)
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

    /// Whether the newer version has a number below the proposed one, or none.
    package var isTooLow: Bool {
        guard let proposed else { return false }
        return numbers.newer.map { $0 < proposed } ?? true
    }

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
