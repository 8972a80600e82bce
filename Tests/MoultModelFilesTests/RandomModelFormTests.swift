import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// Random models through every form, and compiled models compared object for object.
@Suite struct RandomModelFormTests {  // tier: long
    private static let seeds = UInt64(1)...(Tier.matrix.isAsked ? 2000 : 40)

    private func model(_ seed: UInt64) throws -> ManagedObjectModel {
        var random = RandomModel(seed: seed)
        return try random.model()
    }

    @Test func `a random model is equal after source, JSON, compiled form and a store's cache`() throws {
        var findings: [Finding] = []
        for seed in Self.seeds {
            let model = try model(seed)
            let source = try ManagedObjectModel(
                xmlContents: Array(model.xmlContents().utf8), file: "", findings: &findings)
            #expect(source == model, "source, seed \(seed)")
            let json = try ManagedObjectModel(json: Array(model.json.indented.utf8), file: "", findings: &findings)
            #expect(json == model, "JSON, seed \(seed)")
            // A compiled model keeps less than a source: what it keeps survives every other form.
            let bytes = try source.compiled()
            let compiled = try ManagedObjectModel(compiled: bytes, findings: &findings)
            #expect(
                VersionHashes(of: compiled).entities == VersionHashes(of: model).entities, "compiled, seed \(seed)")
            #expect(try json.compiled() == bytes, "JSON compiled, seed \(seed)")
            // The name of an old compound index is a mutable string only when it is made.
            let again = try ArchiveComparison(compiled.compiled(), bytes).differences
            #expect(again.isEmpty, "compiled again, seed \(seed): \(again)")
            let stored = try ManagedObjectModel(modelCache: compiled.modelCache(), findings: &findings)
            #expect(stored == compiled, "store, seed \(seed)")
            let decompiled = try ManagedObjectModel(
                xmlContents: Array(compiled.xmlContents().utf8), file: "", findings: &findings)
            let back = try ArchiveComparison(decompiled.compiled(), bytes).differences
            #expect(back.isEmpty, "decompiled, seed \(seed): \(back)")
        }
        #expect(findings.isEmpty, "\(findings.prefix(3))")
    }

    @Test func `an independent reader finds the same in the source, the compiled form and a store's cache`() throws {
        let scratch = try ScratchFolder()
        var pairs: [String] = []
        for seed in Self.seeds {
            let model = try model(seed)
            let path = "\(scratch.path)/\(seed)"
            try model.xmlContents().write(toFile: path, atomically: true, encoding: .utf8)
            try Data(model.compiled()).write(to: URL(fileURLWithPath: path + ".mom"))
            try Data(model.modelCache()).write(to: URL(fileURLWithPath: path + ".cache"))
            pairs += [path, path + ".mom", path, path + ".cache"]
        }
        let ended = try ChildProcess.run("python3", [Witness.folder + "/models.py"] + pairs)
        let answers = ended.output.split(separator: "\n")
        try #require(ended.exit == 0 && answers.count * 2 == pairs.count, "\(ended.output)")
        for (number, answer) in answers.enumerated() where answer != "equal" {
            Issue.record("\(pairs[2 * number + 1]): \(answer)")
        }
    }

    /// The witness in Python is asked once for all pairs.
    @Test func `two compiled models are equal where an independent reader finds them equal`() throws {
        let scratch = try ScratchFolder()
        let script = packageRoot.appendingPathComponent("Tests/Witness/compiled.py").path
        var paths: [String] = []
        var own: [ArchiveComparison] = []
        for seed in UInt64(1)...40 {
            let first = try model(seed)
            var entities = first.entities
            switch seed % 4 {
            case 0: break
            case 1: entities[0].attributes[0].isOptional.toggle()
            case 2: entities[0].attributes.append(.init(name: "zz", type: .string))
            default: entities[0].userInfo["more"] = "1"
            }
            let second = try ManagedObjectModel(
                entities: entities, configurations: first.configurations,
                fetchRequestTemplates: first.fetchRequestTemplates, versionIdentifiers: first.versionIdentifiers,
                documentAttributes: first.documentAttributes)
            let files = [try first.compiled(), try second.compiled()]
            own.append(try ArchiveComparison(files[0], files[1]))
            for (number, bytes) in files.enumerated() {
                paths.append("\(scratch.path)/\(seed)-\(number).mom")
                try Data(bytes).write(to: URL(fileURLWithPath: paths.last ?? ""))
            }
        }
        let ended = try ChildProcess.run("python3", [script] + paths)
        let answers = ended.output.split(separator: "\n")
        try #require(ended.exit == 0 && answers.count == own.count, "\(ended.output)")
        for (comparison, answer) in zip(own, answers) {
            #expect(comparison.differences.isEmpty == (answer == "equal"), "\(answer)")
        }
        #expect(own.count { $0.differences.isEmpty } == 10)
    }

    @Test func `a difference is named by its place, with both values`() throws {
        var one = EntityDescription(name: "Post", attributes: [.init(name: "title", type: .string)])
        one.attributes.append(.init(name: "count", type: .integer64, defaultValue: .integer(2)))
        var other = one
        other.attributes[1].defaultValue = .integer(3)
        other.attributes[0].isOptional = false
        other.attributes[0].versionHashModifier = "2"
        let files = try [one, other].map { try ManagedObjectModel(entities: [$0]).compiled() }
        let found = try ArchiveComparison(files[0], files[1]).differences
        #expect(
            found.map { "\($0.place) \($0.old ?? "none") \($0.new ?? "none")" }
                == [
                    "Post.count/NSDefaultValue 2 3", "Post.title/NSIsOptional true none",
                    "Post.title/NSVersionHashModifier none 2", "Post.title/_P 243 113",
                ])
    }

    @Test func `what is no compiled model is refused`() throws {
        #expect(throws: MigrationError.self) { try ArchiveComparison([1, 2, 3], [1, 2, 3]) }
    }
}
