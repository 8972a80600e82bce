import MoultModel
import MoultReport

extension Verb {
    static let hash = Verb(
        "hash", "Print the version hashes of a model, as Core Data computes them.",
        discussion: """
            Prints each entity's hash and the model's checksum and digest, in base64. The hash depends on how Core Data
            stores an attribute. For some attributes, such as a composite one in a model source, this is not known,
            because no store made by Apple's frameworks shows it. The hash of such an entity, the checksum and the
            digest are then omitted; --experimental prints the best guess.
            """,
        operands: [.model], options: [.order, .experimental],
        examples: ["moult hash Forum.xcdatamodeld", "moult hash Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let versions = try invocation.operandVersions(console)
        let guesses = invocation[.experimental]
        console.print(document(of: versions, guesses: guesses)) { lines(of: versions, guesses: guesses, style: $0) }
        return .done
    }

    private static func document(of versions: ModelVersions, guesses: Bool) -> JSONValue {
        let members = versions.versions.flatMap { version in
            version.names.map { JSONValue.Member($0, document(of: version.hashes, guesses: guesses)) }
        }
        return ["format": 1, "versions": .object(members)]
    }

    private static func document(of hashes: VersionHashes, guesses: Bool) -> JSONValue {
        let known = hashes.entities.filter { guesses || hashes.uncertain[$0.key] == nil }
        let isWhole = known.count == hashes.entities.count
        var members: [JSONValue.Member] = [
            .init("entities", JSONValue(sorted: known.mapValues { .string($0.base64) })),
            .init("checksum", isWhole ? .string(hashes.checksum.base64) : .null),
            .init("digest", isWhole ? .string(hashes.digest.base64) : .null),
        ]
        if !hashes.uncertain.isEmpty {
            members.append(.init("uncertain", JSONValue(sorted: hashes.uncertain.mapValues(JSONValue.string))))
        }
        return .object(members)
    }

    private static func lines(of versions: ModelVersions, guesses: Bool, style: TextStyle) -> [String] {
        versions.versions.flatMap { version in
            var table = TextTable([.left(""), .left("")])
            let hashes = version.hashes
            for name in hashes.entities.keys.sorted(by: { $0.precedesInByteOrder($1) }) {
                let reason = hashes.uncertain[name].map { guesses ? " (a guess: \($0))" : "not known: \($0)" }
                let hash = reason == nil || guesses ? hashes.entities[name, default: []].base64 : ""
                table.add("  " + name, hash + (reason ?? ""))
            }
            if guesses || hashes.uncertain.isEmpty {
                table.add("  checksum", hashes.checksum.base64)
                table.add("  digest", hashes.digest.base64)
            }
            let title = version.names.map(\.printable).joined(separator: " = ")
            return [style.bold(title)] + table.lines(style: style)
        }
    }
}
