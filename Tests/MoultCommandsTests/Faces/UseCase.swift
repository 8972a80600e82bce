import Foundation
import MoultCommands
import TestSupport
import Testing

/// Something that Moult does, through each face that has it, compared.
struct UseCase: Sendable, CustomTestStringConvertible {
    /// What is done, in a few words.
    let name: String
    /// The verbs of the command line.
    let verbs: [String]
    /// The calls of `Project` and of its mirror, with their labels.
    let calls: [String]
    /// Runs it through the faces, and expects the same answers and the same rows.
    let compare: @Sendable () async throws -> Void

    init(
        _ name: String, _ verbs: [String], _ calls: [String], _ compare: @escaping @Sendable () async throws -> Void
    ) {
        self.name = name
        self.verbs = verbs
        self.calls = calls
        self.compare = compare
    }

    var testDescription: String { name }

    static var all: [UseCase] { looking + migrating + swiftData + caring + keeping }
}

/// What there is to compare.
enum FaceInventory {
    /// Every verb, with its subverb.
    static var verbs: Set<String> { Set(Verb.all.flatMap(\.leaves).map { $0.words.joined(separator: " ") }) }

    /// Every public function of `Project`, and of its `StoreMirror` as `StoreMirror.name(…)`, read from the source.
    static var calls: Set<String> {
        get throws {
            let files = try ["Moult", "MoultCare", "MoultTools"].flatMap { module in
                let folder = packageRoot.appendingPathComponent("Sources/\(module)").path
                return try FileManager.default.subpathsOfDirectory(atPath: folder)
                    .filter { $0.hasSuffix(".swift") && ($0.contains("Project") || $0.hasSuffix("StoreMirror.swift")) }
                    .map { "\(folder)/\($0)" }
            }
            return try files.reduce(into: []) { calls, file in
                calls.formUnion(signatures(try String(contentsOfFile: file, encoding: .utf8)))
            }
        }
    }

    private static func signatures(_ source: String) -> [String] {
        var type = ""
        var calls: [String] = []
        let lines = source.split(separator: "\n")
        for (number, line) in lines.enumerated() {
            if let match = line.firstMatch(of: /^(?:public struct|extension) (\w+)/) { type = String(match.1) }
            guard ["Project", "StoreMirror"].contains(type),
                let match = line.firstMatch(of: /^ {4}public (?:static |mutating )?func (\w+)\((.*)/)
            else { continue }
            // The parameters may be on further lines.
            let rest = ([match.2] + lines[(number + 1)...].prefix(8)).joined(separator: " ")
            let labels = parameters(in: rest).map { $0.prefix { !" :".contains($0) } + ":" }.joined()
            calls.append("\(type == "Project" ? "" : "StoreMirror.")\(match.1)(\(labels))")
        }
        return calls
    }

    /// The parameters of a declaration, from behind its parenthesis.
    private static func parameters(in text: String) -> [String] {
        var (depth, all, one) = (0, [String](), "")
        for character in text {
            if character == ")", depth == 0 { break }
            if "([{".contains(character) { depth += 1 }
            if ")]}".contains(character) { depth -= 1 }
            if character == ",", depth == 0 {
                all.append(one.trimmingCharacters(in: .whitespaces))
                one = ""
            } else {
                one.append(character)
            }
        }
        let last = one.trimmingCharacters(in: .whitespaces)
        return last.isEmpty ? all : all + [last]
    }
}
