import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport

extension Verb {
    static let schemaBump = Verb(
        "bump", "Propose the next semantic version of a model from what has changed.",
        discussion: """
            Compares the last two versions, or those that --from and --to name. A major change removes, renames or
            restricts something. A minor change only adds. A patch leaves the version hashes unchanged. The number of a
            version is its identifier (Core Data Model Identifier in Xcode), such as 1.2.0. If the identifier is not
            such a number, the name of the version is used. With --check, exits with 1 if the newer version has a number
            that is lower than the proposed one, or has none.
            """,
        operands: [.model], options: [from, to, lower, .answers, .order],
        examples: [
            "moult schema bump Forum.xcdatamodeld",
            "moult schema bump Forum.xcdatamodeld --from Forum --to \"Forum 2\"",
        ]
    ) { invocation, console in
        // Versions with equal hashes are a patch, and not one version.
        let bundle = try invocation.operandBundle(console)
        let (older, newer) = try pair(of: bundle, invocation)
        let answers = try invocation.answers()
        let diff = try ModelDiff(from: older, to: newer, answers: answers)
        let bump = VersionBump(diff)
        let (before, after) = (number(of: older), number(of: newer))
        let proposed = bump.flatMap { bump in before.map { $0.next(bump.level) } }
        console.print([
            "format": 1, "from": .string(older.name), "to": .string(newer.name),
            "level": bump.map { .string($0.level.rawValue) } ?? .null,
            "number": before.map { .string($0.description) } ?? .null,
            "proposed": proposed.map { .string($0.description) } ?? .null,
            "found": after.map { .string($0.description) } ?? .null,
            "changes": .array((bump?.reasons ?? []).map(\.document)),
        ]) { style in
            guard let bump else { return ["\(older.name.printable) and \(newer.name.printable) are equal."] }
            let heading = style.bold("\(older.name.printable) → \(newer.name.printable): \(bump.level.rawValue)")
            let numbers =
                before.map { "\($0) becomes \($0.next(bump.level))." }
                ?? "\(older.name.printable) has no number such as 1.2.0. Give each version one as its identifier."
            let found = after.map { ["\(newer.name.printable) has \($0)."] } ?? []
            return [heading] + bump.reasons.map { "  • \($0.sentence.printable)" } + [numbers] + found
        }
        guard invocation[.check], let proposed else { return .done }
        return after.map { $0 >= proposed } == true ? .done : .findings
    }

    private static let lower = Option.checking(
        "the newer version has a number that is lower than the proposed one, or has none")
    private static let from = Option.value("from", "VERSION", "The older version; by default the last but one.")
    private static let to = Option.value("to", "VERSION", "The newer version; by default the last.")

    private static func pair(of bundle: ModelBundle, _ invocation: Invocation) throws -> (ModelVersion, ModelVersion) {
        func named(_ name: String) throws -> ModelVersion {
            if let version = bundle.versions.first(where: { $0.name == name }) { return version }
            let names = bundle.versions.map(\.name)
            let near = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
            throw invocation.wrong(
                "The model has no version \(name).\(near) Its versions are: \(names.joined(separator: ", ")).")
        }
        let newer = try invocation[value: to].map(named) ?? bundle.versions.last
        let before = newer.flatMap { newer in bundle.versions.firstIndex { $0.name == newer.name } } ?? 0
        let older = try invocation[value: from].map(named) ?? (before > 0 ? bundle.versions[before - 1] : nil)
        guard let older, let newer else {
            throw invocation.wrong("The model has one version, so there is nothing to compare.")
        }
        return (older, newer)
    }

    private static func number(of version: ModelVersion) -> VersionNumber? {
        (version.model.versionIdentifiers + version.names).lazy.compactMap { VersionNumber($0) }.first
    }
}
