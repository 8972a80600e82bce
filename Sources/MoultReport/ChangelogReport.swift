import MoultModel
import MoultPlan

/// The history of a model in words, version by version, newest first.
package struct ChangelogReport: Sendable {
    private let entries: [Entry]
    private let first: ModelVersion?
    private let currentName: String?

    private struct Entry {
        let version: ModelVersion
        let diff: ModelDiff
        let isInferred: Bool
    }

    /// - Parameter steps: those of `versions`, in their order.
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

    /// Markdown.
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
                + "\(entities.sorted { $0.precedesInByteOrder($1) }.joined(separator: ", ")).",
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
    /// As text that Markdown takes for no markup.
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
