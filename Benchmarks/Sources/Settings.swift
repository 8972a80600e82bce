import Foundation
import MoultBasics
import MoultModel

/// What one run of the benchmarks is asked for.
struct Settings {
    /// Rows of the large store; the small one has a hundredth.
    var rows = 1_000_000
    /// How often each pair is measured.
    var rounds = 5
    /// Whether the memory is measured with ten times the rows, too.
    var hasLargeStore = true
    /// Where stores are made; everything in it is removed at the end.
    var scratch = FileManager.default.temporaryDirectory.path
    /// Where the figures go as JSON.
    var results = "Benchmarks/results.json"
    /// A part of the names of the groups to run; all of them when empty.
    var only = ""
    /// The program that the groups "changes", "peers" and "command" run; by default the one beside this.
    var moult = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/moult"
    /// The one kind of change of the groups "changes", "peers", "budget" and "launch" to run; all of them when empty.
    var kind = ""
    /// The beginnings of the commands of the group "growth" to measure, separated by commas; all of them when empty.
    var verbs: [String] = []

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--quick":
                hasLargeStore = false
                rows = 100_000
                rounds = 3
            case "--no-large": hasLargeStore = false
            case "--rows": rows = try Self.number(rest.popFirst(), word)
            case "--rounds": rounds = try Self.number(rest.popFirst(), word)
            case "--scratch": scratch = rest.popFirst() ?? scratch
            case "--results": results = rest.popFirst() ?? results
            case "--only": only = rest.popFirst() ?? ""
            case "--moult": moult = rest.popFirst() ?? moult
            case "--kind": kind = rest.popFirst() ?? ""
            case "--verbs": verbs = (rest.popFirst() ?? "").split(separator: ",").map(String.init)
            default:
                throw MigrationError(
                    .usage, "There is no option \(word).",
                    remedy:
                        "Use --rows N, --rounds N, --quick, --no-large, --only GROUP, --kind KIND, --verbs WORDS, --moult FILE, --scratch FOLDER, --results FILE."
                )
            }
        }
    }

    private static func number(_ word: String?, _ option: String) throws -> Int {
        guard let number = word.flatMap({ Int($0) }), number > 0, number <= 100_000_000 else {
            throw MigrationError(.usage, "\(option) takes a number.", remedy: "Such as \(option) 1000000.")
        }
        return number
    }
}
