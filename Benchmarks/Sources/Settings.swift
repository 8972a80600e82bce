import Foundation
import MoultBasics

/// What one run of the benchmarks is asked for.
struct Settings {
    enum Work {
        case measure
        /// Judge the results of earlier runs again.
        case judge
        /// Write the tables and numbers of the documentation from the results of earlier runs.
        case document
    }

    var work = Work.measure
    /// Rows of the large store; the small one has a hundredth.
    var rows = 1_000_000
    /// How often each pair is measured.
    var rounds = 5
    /// Whether the memory is measured with ten times the rows, too.
    var hasLargeStore = true
    /// Whether to judge by the bounds of a small run: CI's, without optimisation and beside other work.
    var isSmall = false
    /// Where stores are made; everything in it is removed at the end.
    var scratch = FileManager.default.temporaryDirectory.path
    /// Where the figures go as JSON.
    var results = "Benchmarks/results.json"
    /// The file of the bounds.
    var bounds = "Benchmarks/bounds.json"
    /// The folder of the documentation to write.
    var documentation = "Documentation"
    /// Parts of the names of the groups to run; all of them when empty.
    var only: [String] = []
    /// The program that the groups "changes", "peers", "care" and "command" run; by default the one beside this.
    var moult = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/moult"
    /// The one kind of change of the groups "changes", "peers", "budget" and "launch" to run; all of them when empty.
    var kind = ""
    /// The beginnings of the commands of the group "growth" to measure, separated by commas; all of them when empty.
    var verbs: [String] = []

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--quick": (hasLargeStore, rows, rounds) = (false, 100_000, 3)
            case "--small": (isSmall, hasLargeStore, rows, rounds) = (true, false, 20_000, 3)
            case "--no-large": hasLargeStore = false
            case "--judge": work = .judge
            case "--document": work = .document
            case "--rows": rows = try Self.number(rest.popFirst(), word)
            case "--rounds": rounds = try Self.number(rest.popFirst(), word)
            case "--scratch": scratch = try Self.text(rest.popFirst(), word)
            case "--results": results = try Self.text(rest.popFirst(), word)
            case "--bounds": bounds = try Self.text(rest.popFirst(), word)
            case "--documentation": documentation = try Self.text(rest.popFirst(), word)
            case "--only": only = try Self.list(rest.popFirst(), word)
            case "--moult": moult = try Self.text(rest.popFirst(), word)
            case "--kind": kind = try Self.text(rest.popFirst(), word)
            case "--verbs": verbs = try Self.list(rest.popFirst(), word)
            default:
                throw MigrationError(
                    .usage, "There is no option \(word).", remedy: "Benchmarks/run --help prints them.")
            }
        }
    }

    /// The command that measures a figure again.
    func command(_ figure: Figure) -> String {
        var words = isSmall ? [CommandLine.arguments[0], "--small"] : ["Benchmarks/run"]
        words += ["--only", figure.group]
        if !isSmall || rows != 20_000 { words += ["--rows", String(rows)] }
        if !isSmall, !hasLargeStore { words.append("--no-large") }
        words += figure.options
        return words.map { $0.contains(" ") ? "'\($0)'" : $0 }.joined(separator: " ")
    }

    private static func text(_ word: String?, _ option: String) throws -> String {
        guard let word, !word.isEmpty else {
            throw MigrationError(.usage, "\(option) takes a value.", remedy: "Benchmarks/run --help prints them.")
        }
        return word
    }

    private static func list(_ word: String?, _ option: String) throws -> [String] {
        try text(word, option).split(separator: ",").map(String.init)
    }

    private static func number(_ word: String?, _ option: String) throws -> Int {
        guard let number = word.flatMap({ Int($0) }), number > 0, number <= 100_000_000 else {
            throw MigrationError(.usage, "\(option) takes a number.", remedy: "Such as \(option) 1000000.")
        }
        return number
    }
}
