import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultSession

/// The changes between two versions.
public struct ModelDifference: Sendable, CustomStringConvertible {
    private let diff: ModelDiff
    private let inferred: InferredMapping
    private let questions: [Question]

    /// - Throws: `usage` if an answer fits no question.
    package init(from older: ModelVersion, to newer: ModelVersion, answers: Answers = .none) throws {
        let correspondence = try EntityMatching(from: older, to: newer, answers: answers)
        diff = ModelDiff(correspondence)
        inferred = try InferredMapping(correspondence)
        questions = inferred.questions.map { $0.bound(to: older, newer) }
    }

    /// The name of the older version.
    public var from: String { diff.from }
    /// The name of the newer version.
    public var to: String { diff.to }
    /// Changes that alter the version hash, so that a store must be migrated; one sentence each.
    public var changes: [String] { diff.hashed.map(\.sentence) }
    /// Changes that Core Data does not detect; one sentence each.
    public var unnoticedChanges: [String] { diff.unhashed.map(\.sentence) }
    /// Whether the mapping can be inferred.
    public var isInferable: Bool { inferred.mapping != nil }
    package var isEmpty: Bool { diff.isEmpty }
    /// The text that `moult diff` prints.
    public var description: String { lines(style: .plain).joined(separator: "\n") }
    /// The JSON that `moult diff --json` prints, on one line.
    public var json: String { document.compact }

    package var document: JSONValue {
        [
            "format": 1, "from": .string(diff.from), "to": .string(diff.to), "equal": .bool(diff.isEmpty),
            "equalForOpening": .bool(diff.hashed.isEmpty), "inferable": .bool(inferred.mapping != nil),
            "changes": .array(diff.changes.map(\.document)), "questions": .array(questions.map(\.document)),
            "refusals": .array(inferred.refusals.map(\.finding.planDocument)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        if diff.isEmpty { return ["\(diff.from.printable) and \(diff.to.printable) are equal."] }
        var lines = [style.bold("\(diff.from.printable) → \(diff.to.printable)")]
        lines += diff.hashed.map { line($0, style) }
        if !diff.unhashed.isEmpty {
            lines += ["", style.dim("Core Data does not migrate for these: the version hash is the same.")]
            lines += diff.unhashed.map { line($0, style) }
        }
        for question in questions { lines += ["", style.yellow("question: ") + question.text.printableLines] }
        for finding in inferred.refusals.map(\.finding) {
            lines += [""] + finding.lines(style: style, rule: finding.rule)
        }
        return lines + ["", verdict]
    }

    private var verdict: String {
        if diff.hashed.isEmpty { return "A store of either opens with the other." }
        if diff.hashed.allSatisfy({ [.entityLeft, .configuration].contains($0.kind) }) {
            return "A store of either opens with the other, unless it was opened with one of these configurations."
        }
        if inferred.mapping != nil { return "The mapping can be inferred." }
        let parts = [
            questions.isEmpty ? nil : Quantity.count(questions.count, "question") + " to answer",
            inferred.refusals.isEmpty
                ? nil : Quantity.count(inferred.refusals.count, "change") + " that inference does not cover",
        ]
        return "The mapping is not complete: \(parts.compactMap { $0 }.joined(separator: ", "))."
    }

    private func line(_ change: ModelChange, _ style: TextStyle) -> String {
        let mark = change.losesData ? style.red("!") : change.mayFail ? style.yellow("?") : style.green("•")
        return "  \(mark) \(change.sentence.printable)"
    }
}

extension ModelChange {
    package var document: JSONValue {
        [
            "kind": .string(kind.rawValue), "entity": JSONValue(entity), "member": JSONValue(member),
            "old": JSONValue(old), "new": JSONValue(new), "sentence": .string(sentence), "hashed": .bool(isHashed),
            "losesData": .bool(losesData), "mayFail": .bool(mayFail),
        ]
    }
}

extension Question {
    package var document: JSONValue {
        [
            "kind": .string(kind.rawValue), "from": .string(from), "to": .string(to), "entity": .string(entity),
            "property": JSONValue(property), "sentence": .string(sentence),
            "candidates": .array(candidates.map { ["name": .string($0.name), "evidence": JSONValue($0.evidence)] }),
            "answers": .array(answers.map(\.document)),
        ]
    }
}

extension Answer {
    package var document: JSONValue {
        var members: [JSONValue.Member] = [.init("from", .string(from)), .init("to", .string(to))]
        if let fromChecksum { members.append(.init("fromChecksum", .string(fromChecksum))) }
        if let toChecksum { members.append(.init("toChecksum", .string(toChecksum))) }
        members.append(.init("entity", .string(entity)))
        if let property { members.append(.init("property", .string(property))) }
        members.append(.init("is", .string(self.is.rawValue)))
        if let old { members.append(.init("old", .string(old))) }
        return .object(members)
    }
}

/// The changelog of a model, version by version, newest first.
package struct ChangelogReport: Sendable {
    private let entries: [Entry]
    private let first: ModelVersion?
    private let currentName: String?

    private struct Entry {
        let version: ModelVersion
        let diff: ModelDiff
        let isInferred: Bool
    }

    /// - Parameter steps: the steps between `versions`, in order.
    package init(_ versions: ModelVersions, _ steps: [VersionStep]) {
        first = versions.versions.first
        currentName = versions.currentName
        entries = zip(versions.versions.dropFirst(), steps).map { version, step in
            Entry(version: version, diff: step.diff, isInferred: step.inferred.mapping != nil)
        }.reversed()
    }

    package var document: JSONValue {
        let versions: [JSONValue] =
            entries.map { entry in
                [
                    "name": .string(entry.version.name), "from": .string(entry.diff.from),
                    "inferable": .bool(entry.isInferred), "changes": .array(entry.diff.changes.map(\.document)),
                ]
            }
            + (first.map { version in
                [["name": .string(version.name), "from": nil, "inferable": true, "changes": []]]
            } ?? [])
        return ["format": 1, "versions": .array(versions)]
    }

    /// The report in Markdown.
    package var lines: [String] {
        var lines = ["# Changes of the model"]
        for entry in entries {
            var migrated = entry.diff.hashed.map(Self.line)
            if !entry.isInferred { migrated += ["- The mapping from \(entry.diff.from.inMarkdown) is not inferred."] }
            if entry.diff.isEmpty { migrated = ["Nothing has changed."] }
            lines += ["", "## \(heading(entry.version))"] + (migrated.isEmpty ? [] : [""] + migrated)
            guard !entry.diff.unhashed.isEmpty else { continue }
            lines += ["", "Without a migration:", ""] + entry.diff.unhashed.map(Self.line)
        }
        guard let first else { return lines }
        let entities = first.model.entities.filter { !$0.isAbstract }.map { $0.name.inMarkdown }
        return lines + [
            "", "## \(heading(first))", "",
            "The first version, with \(Quantity.count(entities.count, "entity", plural: "entities")): "
                + "\(entities.inByteOrder().joined(separator: ", ")).",
        ]
    }

    private func heading(_ version: ModelVersion) -> String {
        version.name.inMarkdown + (version.name == currentName ? " (current)" : "")
    }

    private static func line(_ change: ModelChange) -> String {
        let mark = change.losesData ? "**Loses data.** " : ""
        return "- \(mark)\(change.sentence.inMarkdown)"
    }
}

extension String {
    /// The text with Markdown markup escaped.
    fileprivate var inMarkdown: String {
        reduce(into: "") { text, character in
            switch character {
            case "*", "_", "`", "<", "[", "#", "\\", "|": text += "\\\(character)"
            case "\n", "\r", "\r\n": text += " "
            default: text.append(character)
            }
        }
    }
}

/// A report on the contents of a mapping model.
package struct MappingReport: Sendable {
    private let name: String
    private let mapping: MappingModel
    private let versions: (from: String, to: String)?
    private let findings: [Finding]

    /// Creates a report on a mapping model read from a file.
    ///
    /// - Parameter versions: the versions that it may lead between; if there are none, those that the file itself
    ///   contains.
    /// - Throws: `noPath` and `question` if it does not fit exactly two of the versions.
    package init(of file: MappingModelFile, in versions: ModelVersions) throws {
        var pair = file.versions
        if !versions.versions.isEmpty {
            let match = try MappingMatch(of: file.mapping, named: file.name, held: file.versions, in: versions)
            pair = (versions.versions[match.source], versions.versions[match.destination])
        }
        let findings = pair.map { file.mapping.findings(from: $0.source.model, to: $0.destination.model) } ?? []
        (name, mapping) = (file.name, file.mapping)
        self.versions = pair.map { ($0.source.name, $0.destination.name) }
        self.findings = file.findings + findings
    }

    package var document: JSONValue {
        [
            "format": 1, "name": .string(name), "from": JSONValue(versions?.from), "to": JSONValue(versions?.to),
            "entityMappings": .array(mapping.entityMappings.map(\.document)),
            "findings": .array(findings.map(\.document)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        let title = versions.map { "\(name): \($0.from) → \($0.to)" } ?? name
        var lines = [style.bold(title.printable)]
        for mapping in mapping.entityMappings {
            lines += ["", mapping.sentence.printable]
            lines += mapping.notableProperties.map { "  \($0.printable)" }
        }
        let notable = findings.filter { $0.severity > .note }
        return lines + (notable.isEmpty ? [] : [""]) + notable.flatMap { $0.lines(style: style) }
    }
}

extension EntityMapping {
    package var document: JSONValue {
        [
            "name": .string(name), "type": .string("\(type)"), "source": JSONValue(sourceEntityName),
            "sourceHash": JSONValue(sourceEntityVersionHash?.base64), "destination": JSONValue(destinationEntityName),
            "destinationHash": JSONValue(destinationEntityVersionHash?.base64),
            "sourceExpression": JSONValue(sourceExpressionFormat), "policy": JSONValue(entityMigrationPolicyClassName),
            "attributes": .array(attributeMappings.map(\.document)),
            "relationships": .array(relationshipMappings.map(\.document)),
            "userInfo": JSONValue(sorted: userInfo.mapValues(JSONValue.string)),
        ]
    }

    /// `CarToCar: custom, Car → Car where color == "red", by CarPolicy`
    fileprivate var sentence: String {
        let entities = [sourceEntityName, destinationEntityName].map { $0 ?? "nothing" }.joined(separator: " → ")
        let condition = sourcePredicate.map { " where \($0.format)" } ?? ""
        let policy = entityMigrationPolicyClassName.map { ", by \($0)" } ?? ""
        return "\(name): \(type), \(entities)\(condition)\(policy)"
    }

    /// The properties other than those carried over under the same name.
    fileprivate var notableProperties: [String] {
        (attributeMappings + relationshipMappings).filter { !$0.isCarriedOver }.map { property in
            "\(property.name) = \(property.valueExpression?.format ?? "nothing: starts with its default value")"
        }
    }
}

extension PropertyMapping {
    fileprivate var document: JSONValue {
        ["name": .string(name), "valueExpression": JSONValue(valueExpression?.format)]
    }

    fileprivate var isCarriedOver: Bool {
        let carried = Expression.source(name)
        return valueExpression == carried || valueExpression?.destinationInstances?.sourceInstances == carried
    }
}
