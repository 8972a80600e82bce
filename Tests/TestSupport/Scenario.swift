import Foundation
import MoultModel

/// A situation on one screen, read from a file of Tests/Scenarios: a model in its versions, rows, and what a migration
/// says and leaves.
///
///     A Double goes back to a Float where it is one.
///     model 1
///         Item = n Float
///     model 2
///         Item = n Double
///     sql
///         INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 1, 1, 0.1)
///     migrate
///         The type of Item.n changes from Float to Double.
///     expect SELECT count(ZN) FROM ZITEM
///         1
///     back 1
///         1 value for Item.n has no equal of type Float and would be lost.
///
/// A line that begins with `#` is a remark. Models are in the notation of ``MoultModel/EntityDescription/init(_:)``.
package struct Scenario: Sendable {
    /// What is done, or has to be true.
    package enum Verb: String, Sendable {
        /// The sqlite3 shell runs the lines.
        case sql
        /// The lines, a JSON list, answer the questions of what follows.
        case answers
        /// The store goes to the version, or to the newest one; the lines are the sentences of the plan.
        case migrate
        /// The lines are the losses of the last migration.
        case lost
        /// The lines are the places of the findings of the kind, of what was done or looked at last.
        case finding
        /// A migration is refused with the code; each line is in its message.
        case refused
        /// The store goes back to the version; where there are lines, they begin what would be lost, and it stays.
        case back
        /// The sqlite3 shell answers the query with the lines.
        case expect
    }

    package struct Step: Sendable {
        package let verb: Verb
        package let argument: String
        package let lines: [String]
    }

    package struct Unreadable: Error, CustomStringConvertible { package let description: String }

    /// The first line.
    package let title: String
    package let versions: ModelVersions
    /// Whether the store keeps persistent history: a line says `history`.
    package let hasHistory: Bool
    package let steps: [Step]

    /// The text of a file.
    package init(_ text: String) throws {
        var blocks: [(head: String, lines: [String])] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("    "), !blocks.isEmpty {
                blocks[blocks.count - 1].lines.append(String(line.dropFirst(4)))
            } else {
                blocks.append((String(line), []))
            }
        }
        title = blocks.first?.head ?? ""
        var (versions, steps): ([ModelVersion], [Step]) = ([], [])
        hasHistory = blocks.contains { $0.head == "history" }
        for block in blocks.dropFirst() where block.head != "history" {
            let words = block.head.split(separator: " ", maxSplits: 1).map(String.init)
            let argument = words.count > 1 ? words[1] : ""
            if words[0] == "model" {
                let model = try ManagedObjectModel(block.lines.joined(separator: "\n"))
                versions.append(ModelVersion(names: [argument], model: model))
            } else if let verb = Verb(rawValue: words[0]) {
                steps.append(Step(verb: verb, argument: argument, lines: block.lines))
            } else {
                throw Unreadable(description: "\(title): what is \"\(block.head)\"?")
            }
        }
        (self.versions, self.steps) = (ModelVersions(versions: versions), steps)
    }

    private static let folder = packageRoot.appendingPathComponent("Tests/Scenarios").path

    /// The files of Tests/Scenarios; none where the folder cannot be read, which a test counts.
    package static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()

    package init(named name: String) throws {
        try self.init(String(contentsOfFile: Self.folder + "/" + name, encoding: .utf8))
    }
}
