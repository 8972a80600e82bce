import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultObjects
import TestSupport
import Testing

@testable import MoultCommands

@Suite("An app's own tool")
struct RegistryTests {
    private let console = Console(isJSON: true)
    private let registry = MigrationRegistry { try ModelVersions(contentsOf: Tool.examples + "/Forum.xcdatamodeld") }

    private func invocation(_ arguments: String..., registry: MigrationRegistry) throws -> Invocation {
        try Invocation(.status, path: "status", arguments: ["forum.sqlite"] + arguments, registry: registry)
    }

    @Test func `the app's versions stand where no model is named, and give way to one that is`() throws {
        let own = try invocation(registry: registry)
        #expect(try own.versions(console).versions.map(\.name) == ["Forum", "Forum 2", "Forum 3"])
        let named = try invocation(
            "--model", Tool.examples + "/Forum.xcdatamodeld/Forum 2.xcdatamodel", registry: registry)
        #expect(try named.versions(console).versions.map(\.name) == ["Forum 2"])
    }

    @Test func `without a model there is nothing to work with, and the app's own order cannot be changed`() throws {
        let plain = try invocation(registry: MigrationRegistry())
        #expect(try plain.versionsIfKnown(console) == nil)
        #expect { try plain.namedVersions(console) } throws: { ($0 as? MigrationError)?.code == .usage }
        // The store would have one, but there is none.
        #expect { try plain.versions(console) } throws: { ($0 as? MigrationError)?.code == .fileNotFound }
        let ordered = try invocation("--order", "Forum 2,Forum", registry: registry)
        #expect { try ordered.versions(console) } throws: { ($0 as? MigrationError)?.code == .usage }
    }

    @Test func `a registered mapping that loses what both versions have needs --accept-losses`() async throws {
        let tool = try StoreVerbTests.besideForumStore()
        let store = tool.folder.path + "/forum.sqlite"
        var registry = registry
        let versions = try #require(try registry.models?())
        var user = EntityMapping(from: "User", to: "User")
        user.attributeMappings = [PropertyMapping("email", nil as MoultModel.Expression?)]
        var post = EntityMapping(from: "Post", to: "Post")
        post.attributeMappings = [try PropertyMapping("body", "$source.text")]
        let others = ["Forum", "Thread"].map { EntityMapping(from: $0, to: $0) }
        registry.register(mapping: MappingModel([user, post] + others), from: "Forum", to: "Forum 2")
        let attribute = versions.versions[1].model.entity("User").flatMap { entity in
            versions.versions[1].model.attribute("email", of: entity)
        }
        #expect(attribute?.defaultValue != nil || attribute?.isOptional == true)
        let way = [store, "--to", "Forum 2", "--json"]
        let before = try SQLiteShell.run(store, ".sha3sum --schema")
        #expect(await MoultCommand.run(registry, arguments: ["plan"] + way) == 3)
        #expect(await MoultCommand.run(registry, arguments: ["migrate"] + way) == 3)
        #expect(try SQLiteShell.run(store, ".sha3sum --schema") == before)
        #expect(await MoultCommand.run(registry, arguments: ["plan", "--accept-losses"] + way) == 0)
        #expect(await MoultCommand.run(registry, arguments: ["migrate", "--accept-losses"] + way) == 0)
    }

    @Test func `a command is named as it is typed, once, whatever the tool is called`() {
        let text = "See moult repair --help, or forum-moult backup list."
        #expect(
            Program.named(text, as: "forum-moult") == "See forum-moult repair --help, or forum-moult backup list.")
        #expect(Program.named("moult status", as: "forum") == "forum status")
    }

    @Test func `in an app's own tool, verbs over a model need no model named, and complete the tool's name`() throws {
        let tool = Tool(folder: try ScratchFolder())
        let path = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path + "/wealth-ledger"
        let hash = try tool.run(path, ["hash", "--json"]).document
        let versions = try #require(hash["versions"] as? [String: any Sendable])
        #expect(Set(versions.keys) == ["1.0.0", "1.1.0", "1.2.0", "1.3.0"])
        #expect(try tool.run(path, ["ddl", "--version", "1.1.0"]).output.contains("CREATE TABLE ZASSET"))
        #expect(try tool.run(path, ["answer"]).output == "No question is open.\n")
        #expect(try tool.run(path, ["lock", "--check"]).exit == 1)
        #expect(try tool.run(path, ["lock"]).exit == 0)
        #expect(try tool.run(path, ["lock", "--check"]).exit == 0)
        let lock = tool.folder.path + "/moult.lock"
        // As if a released version had been changed.
        let checksum = try #require(
            (versions["1.1.0"] as? [String: any Sendable])?["checksum"] as? String)
        #expect(try String(contentsOfFile: lock, encoding: .utf8).contains(checksum))
        try SchemaFiles.changeHash(ofVersion: "1.1.0", inLock: lock)
        #expect(try tool.run(path, ["lock", "--check"]).output.contains("[released-version-changed] "))
        // A model that is named goes before; plain moult has none.
        let named = try tool.run(path, ["hash", Tool.examples + "/Forum.xcdatamodeld", "--json"]).document
        #expect((named["versions"] as? [String: any Sendable])?.keys.contains("Forum 2") == true)
        for verb in ["hash", "ddl", "answer", "lock"] {
            let plain = try tool(verb)
            #expect(plain.exit == 2 && plain.errors.contains("moult \(verb) needs MODEL"), "\(plain.errors)")
        }
        let bash = try tool.run(path, ["completions", "bash"]).output
        #expect(
            bash.contains("_wealth_ledger() {")
                && bash.contains("complete -o default -F _wealth_ledger 'wealth-ledger'"))
        #expect(try tool.run(path, ["completions", "fish"]).output.contains("complete -c 'wealth-ledger' "))
        let zsh = try tool.run(path, ["completions", "zsh"]).output
        #expect(zsh.hasPrefix("#compdef wealth-ledger\n_wealth_ledger") && zsh.contains("\n_wealth_ledger() {"))
        #expect(try tool.run(path, ["quarantine", "show", "x.sqlite"]).exit != 0)
        #expect(try tool.run(path, ["answer", "--help"]).output.contains("wealth-ledger answer"))
    }

    @Test func `a kept plan that names an app's code is refused by plain moult, which names the app's tool`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let plan = try moult("plan", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--json")
        #expect(plan.output.contains("\"code\":[]"))
        let named = plan.output.replacing("\"code\":[]", with: "\"code\":[\"ThreadMigrationPolicy\"]")
        try Data(named.utf8).write(to: URL(fileURLWithPath: moult.folder.path + "/plan.json"))
        let migrate = ["migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld", "--plan", "plan.json"]
        let before = try moult.listing()
        let refused = try moult.run(Tool.path, migrate)
        #expect(refused.exit == 3)
        #expect(refused.errors.contains("The kept plan calls ThreadMigrationPolicy, which this program does not have."))
        #expect(refused.errors.contains("    await MoultCommand.main(registry)"))
        let document = try moult.run(Tool.path, migrate + ["--json"]).document
        #expect((document["error"] as? [String: any Sendable])?["code"] as? String == "codeMissing")
        #expect(try moult.listing() == before)
    }

    @Test func `only a plan that names missing code is answered with the program that would have it`() throws {
        let text = CommandWords().text(.code("P"))
        #expect(text.contains("await MoultCommand.main(registry)") && text.contains("with P"))
        let moult = try StoreVerbTests.besideForumStore()
        let other = try moult.run(Tool.path, ["migrate", "missing.sqlite", "--model", "Forum.xcdatamodeld"])
        #expect(other.exit == 4 && !other.errors.contains("MoultCommand.main"), "\(other)")
    }
}
