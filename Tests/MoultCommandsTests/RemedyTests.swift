import Foundation
import MoultBasics
import MoultCommands
import MoultCoreData
import MoultData
import MoultModel
import MoultTools
import TestSupport
import Testing

/// What a remedy names exists in the face that it is rendered for.
@Suite("Remedies")
struct RemedyTests {
    /// One of each kind of setting.
    private static let settings: [Remedy.Setting] = [
        .anyStore, .store("S.sqlite"), .path("P"), .anyModel, .model("M"), .mapping("P"), .order("1,2"), .to("V"),
        .from("V"),
        .version("V"), .into("P"), .at("P"), .set("Post.text=drop"), .forget("Post.text"), .only(["one-sided"]),
        .budget("1min"), .backups("P"), .run("R"), .inPlace, .normalise, .deferred, .stopAtEachVersion, .frugal, .again,
        .experimental, .dryRun, .sql, .values, .json, .wasClosed, .allowLargeQuarantine, .acceptLosses, .overwrite,
        .undo, .everything,
        .restore, .entity("E"), .format("csv"), .seed, .output, .replace, .file("P"), .profile("cloudkit"),
        .config("none"), .since("REV"), .results, .shard("1/2"), .shards("2"), .retry("vanished"), .wait("1min"), .time,
        .memory, .approve, .partition, .sbatch, .canary, .limit, .fix, .write, .plan("P"), .configuration("C"),
        .makeRoom, .cloudKit, .fullVerify, .mirroredConfiguration("C"),
    ]

    private static let permissions: [Remedy.Permission] = [
        .cloudKit, .configuration("Cloud"), .loss("Post.text"), .losses(["Post.text", "User"]), .code("step"),
    ]

    private static func name(_ setting: Remedy.Setting) -> String { String("\(setting)".prefix { $0 != "(" }) }

    private static func action(_ use: Remedy.Use, _ settings: [Remedy.Setting] = []) -> Remedy {
        "\(use, with: settings)"
    }

    /// The verb of a use case, and the words that it is typed as.
    private static func verb(_ use: Remedy.Use) throws -> (verb: Verb, words: [String]) {
        let words = use.command.split(separator: " ").map(String.init)
        var verb = try #require(Verb.all.first { $0.name == words[0] }, "\(use)")
        for word in words.dropFirst() {
            verb = try #require(verb.subverbs.first { $0.name == word }, "\(use)")
        }
        return (verb, words)
    }

    @Test func `the command line parses every use case as it says it`() throws {
        for use in Remedy.Use.allCases {
            let (verb, words) = try Self.verb(use)
            let paths = verb.operands.filter { !$0.isOptional }.map { Remedy.Setting.path($0.name) }
            let typed = Self.action(use, with(verb, paths)).text(in: CommandWords())
            let arguments = typed.split(separator: " ").map(String.init)
            #expect(Array(arguments.dropFirst().prefix(words.count)) == words, "\(typed)")
            #expect(throws: Never.self, "\(typed)") {
                _ = try Invocation(
                    verb, path: words.joined(separator: " "), arguments: Array(arguments.dropFirst(1 + words.count)))
            }
        }
    }

    /// The model stands first in the words of a verb that takes one.
    private func with(_ verb: Verb, _ paths: [Remedy.Setting]) -> [Remedy.Setting] {
        verb.operands.first?.name == "MODEL" ? [.anyModel] + paths.dropFirst() : paths
    }

    @Test func `a command that shares its line with words is quoted, and one that does not is not`() {
        for use in Remedy.Use.allCases {
            let command = Self.action(use).text(in: CommandWords())
            #expect(command.contains(" \(use.command)") && !command.contains("`"), "\(use): \(command)")
            let sentences: [(Remedy, String)] = [
                ("Use \(use).", "Use `\(command)`."), ("\(use) does it.", "`\(command)` does it."),
                ("First:\n  \(use)\nThen wait.", "First:\n  \(command)\nThen wait."),
                ("\(use) \(use)", "`\(command)` `\(command)`"), ("  \(use)", "  \(command)"),
            ]
            for (remedy, text) in sentences { #expect(remedy.text(in: CommandWords()) == text) }
            #expect(!("Use \(use)." as Remedy).text(in: SwiftWords()).contains("`"))
        }
    }

    @Test func `what permits a loss can be pasted where it is said to go`() {
        #expect(
            ("\(permit: .loss("Post.text"))" as Remedy).text(in: CommandWords())
                == "\"acceptedLosses\": [\"Post.text\"] in moult.json, or --accept-losses")
        #expect(("\(permit: .clearing(["Post.user"]))" as Remedy).text(in: CommandWords()) == "--accept-losses")
    }

    @Test func `every command in an explanation can be copied: it stands alone or between backticks`() {
        var quoted = 0
        for explanation in Explanation.all {
            for line in explanation.remedy.text(in: CommandWords()).split(separator: "\n") {
                let pieces = line.split(separator: "`", omittingEmptySubsequences: false)
                #expect(pieces.count % 2 == 1, "\(explanation.code): \(line)")
                quoted += pieces.count / 2
                let outside = pieces.enumerated().filter { $0.offset % 2 == 0 }.map { String($0.element) }
                let isAlone = pieces.count == 1 && line.drop { $0 == " " }.hasPrefix("moult ") && !line.hasSuffix(".")
                #expect(isAlone || !outside.contains { $0.contains(/\bmoult [a-z]/) }, "\(explanation.code): \(line)")
            }
        }
        #expect(quoted > 100)
    }

    @Test func `a command in a remedy of the sources is an action or between backticks`() throws {
        for line in try Self.sources("").flatMap({ $0.split(separator: "\n") })
        where line.contains("remedy: \"") || line.contains("advice = \"") {
            let start = line.contains("remedy: \"") ? "remedy: \"" : "advice = \""
            let text = line.components(separatedBy: start).last ?? ""
            #expect(!text.contains(/(^|[^`])(\\\(Program\.name\)|\bmoult) [a-z\\]/), "\(line)")
        }
    }

    @Test func `a command names what a person has named`() throws {
        let (migrate, _) = try Self.verb(.migrate)
        let words = CommandWords(
            try Invocation(
                migrate, path: "migrate", arguments: ["it's.sqlite", "--model", "M.momd", "--backups", "B"]))
        #expect(
            Self.action(.repair, [.only(["indexes", "one-sided"])]).text(in: words).hasSuffix(
                " repair 'it'\\''s.sqlite' --model M.momd --backups B --only indexes,one-sided"))
        #expect(
            Self.action(.salvage).text(in: words).hasSuffix(" salvage 'it'\\''s.sqlite' SAVED.sqlite --model M.momd"))
        #expect(Self.action(.lock, [.anyModel, .again]).text(in: words).hasSuffix(" lock M.momd --again"))
        #expect(Self.action(.rollback, [.store("other")]).text(in: words).contains(" rollback other "))
    }

    @Test func `the command that does a migration again has every option that it was begun with`() throws {
        let (migrate, _) = try Self.verb(.migrate)
        let values = [
            "budget": "30s", "order": "1,2", "verify": "full", "to": "2", "rules": "/rules.json",
            "answers": "/answers.json", "mapping": "/mappings", "plan": "/plan.json", "store-configuration": "Cloud",
            "backups": "/backups",
        ]
        // These are no part of what a run is to do with its store; what moult.json sets is in the request.
        let others: Set = [
            "config", "model", "dry-run", "into", "profile", "events", "json", "help",
        ]
        var count = 0
        for option in migrate.options where !others.contains(option.name) {
            var typed = ["/app.sqlite", "--model", "/App.momd", "--\(option.name)"]
            if option.value != nil { typed.append(try #require(values[option.name], "\(option.name)")) }
            // These need another one.
            if ["fix", "allow-large-quarantine"].contains(option.name) { typed += ["--rules", "/rules.json"] }
            if option.name == "allow-large-quarantine" { typed.append("--fix") }
            let request = try Invocation(migrate, path: "migrate", arguments: typed).request(.migrate)
            let again = request.again.text(in: CommandWords(store: "/app.sqlite"))
            let words = again.split(separator: " ").dropFirst(2).map(String.init)
            let same = try Invocation(migrate, path: "migrate", arguments: words).request(.migrate)
            #expect(same == request, "\(again)")
            count += 1
        }
        #expect(count > 20)
    }

    @Test func `every action in the sources is of a verb with these options`() throws {
        let options = Dictionary(
            uniqueKeysWithValues: Self.settings.map { setting in
                let text = CommandWords().text(setting)
                return (Self.name(setting), text.hasPrefix("--") ? text.dropFirst(2).prefix { $0 != " " } : "")
            })
        let uses = Dictionary(uniqueKeysWithValues: Remedy.Use.allCases.map { ("\($0)", $0) })
        var checked = 0
        for line in try Self.sources("").flatMap({ $0.split(separator: "\n") }) where line.contains("\\(.") {
            for piece in line.components(separatedBy: "\\(.").dropFirst() {
                guard let use = uses[String(piece.prefix { $0.isLetter })] else { continue }
                let verb = try Self.verb(use).verb
                for setting in Self.inner(piece).matches(of: #/(?:, |\[|: )\.(\w+)/#) {
                    guard let option = options[String(setting.output.1)], !option.isEmpty else { continue }
                    checked += 1
                    #expect(verb.options.contains { $0.name == option }, "\(line): \(verb.name) --\(option)")
                }
            }
        }
        #expect(checked > 30)
    }

    @Test func `what the library's words name is public`() throws {
        let library = try ["Moult", "MoultCare", "MoultTools"].flatMap(Self.sources)
        func isThere(_ function: Substring, of type: Substring) -> Bool {
            let name = function.prefix { $0 != "(" }
            let labels = function.dropFirst(name.count + 1).dropLast().split(separator: ":").map(String.init)
            let start = name == "init" ? "public init(" : "func \(name)("
            return library.contains { text in
                guard text.contains("extension \(type)") || text.contains("struct \(type)") else { return false }
                return text.components(separatedBy: start).dropFirst().contains { Self.labels($0) == labels }
            }
        }
        let options = try Self.sources("").filter { $0.contains("public struct RunOptions") }
        var checked = 0
        let texts =
            Remedy.Use.allCases.map { Self.action($0).text(in: SwiftWords()) } + Self.settings.map(SwiftWords().text)
        for text in texts {
            for name in text.matches(of: #/(Project|StoreMirror)\.(\w+\([\w:]*\))/#) {
                checked += 1
                #expect(isThere(name.output.2, of: name.output.1), "\(text)")
            }
            for name in text.matches(of: #/RunOptions\.(\w+)/#) {
                checked += 1
                #expect(options.contains { $0.contains("public var \(name.output.1)") }, "\(text)")
            }
        }
        #expect(checked > 40)
    }

    @Test func `no words but those of the command line have verbs or options`() {
        let named = #/\bmoult [a-z]|--[a-z]/#
        for words: any RemedyWords in [SwiftWords(), DescriptionWords(), ConfigurationWords()] {
            for use in Remedy.Use.allCases {
                #expect(!Self.action(use, Self.settings).text(in: words).contains(named), "\(use)")
            }
            for setting in Self.settings { #expect(!words.text(setting).contains(named), "\(setting)") }
            for permission in Self.permissions { #expect(!words.text(permission).contains(named), "\(permission)") }
            for code in [MigrationError.Code.question, .cannotInfer, .cloudKit] {
                #expect(words.remedy(for: code)?.text(in: words).contains(named) != true, "\(code)")
            }
        }
    }

    @Test func `who calls a function is not told to run a command`() {
        let remedy: Remedy = "Close every app that has it open and run the command again. Run the command again."
        for words: any RemedyWords in [SwiftWords(), DescriptionWords(), ConfigurationWords()] {
            #expect(remedy.text(in: words) == "Close every app that has it open and try again. Try again.")
        }
        #expect(remedy.text(in: CommandWords()).hasSuffix("and run the command again. Run the command again."))
    }

    @Test func `a product above the library names its own functions, and the product of the others`() {
        let restore = Self.action(.rollback, [.to("20260101-V1")])
        #expect(restore.text(in: SwiftWords()) == #"Project.rollback(_:to:options:) with to: "20260101-V1""#)
        #expect(
            restore.text(in: ConfigurationWords())
                == "BackupManager(storeAt:).restore(_:) with the backup 20260101-V1")
        for words: any RemedyWords in [DescriptionWords(), ConfigurationWords()] {
            #expect(Self.action(.salvage).text(in: words) == "Project.salvage(_:into:as:) (product Moult)")
        }
    }

    /// The text up to the parenthesis that closes it.
    private static func inner(_ text: String) -> Substring {
        var depth = 1
        return text.prefix { character in
            if "([".contains(character) { depth += 1 }
            if ")]".contains(character) { depth -= 1 }
            return depth > 0
        }
    }

    /// The labels of the parameters that begin a text, up to their closing parenthesis.
    private static func labels(_ text: String) -> [String] {
        var (depth, labels, parameter) = (1, [String](), "")
        for character in text.replacing("->", with: "") {
            if "([<{".contains(character) { depth += 1 }
            if ")]>}".contains(character) { depth -= 1 }
            if depth == 0 || depth == 1 && character == "," {
                let words = parameter.split { " \n:".contains($0) }
                if let label = words.first { labels.append(String(label)) }
                parameter = ""
                if depth == 0 { break }
            } else {
                parameter.append(character)
            }
        }
        return labels
    }

    private static func sources(_ module: String) throws -> [String] {
        let folder = packageRoot.appendingPathComponent("Sources/\(module)")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }
}
