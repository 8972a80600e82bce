import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Random models through every form, and compiled models compared object for object.
@Suite struct RandomModelFormTests {
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
            #expect(VersionHashes(of: compiled) == VersionHashes(of: model), "compiled, seed \(seed)")
            #expect(try json.compiled() == bytes, "JSON compiled, seed \(seed)")
            #expect(try compiled.compiled() == bytes, "compiled again, seed \(seed)")
            let stored = try ManagedObjectModel(modelCache: compiled.modelCache(), findings: &findings)
            #expect(stored == compiled, "store, seed \(seed)")
            let decompiled = try ManagedObjectModel(
                xmlContents: Array(compiled.xmlContents().utf8), file: "", findings: &findings)
            #expect(try decompiled.compiled() == bytes, "decompiled, seed \(seed)")
        }
        #expect(findings.isEmpty, "\(findings.prefix(3))")
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
                fetchRequestTemplates: first.fetchRequestTemplates, versionIdentifiers: first.versionIdentifiers)
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
        let one = EntityDescription(name: "Post", attributes: [.init(name: "title", type: .string)])
        var other = one
        other.attributes[0].isOptional = false
        other.attributes[0].versionHashModifier = "2"
        let files = try [one, other].map { try ManagedObjectModel(entities: [$0]).compiled() }
        let found = try ArchiveComparison(files[0], files[1]).differences
        #expect(
            found.map { "\($0.place) \($0.old ?? "none") \($0.new ?? "none")" }
                == ["Post.title/NSIsOptional true none", "Post.title/NSVersionHashModifier none 2"])
    }

    @Test func `what is no compiled model is refused`() throws {
        #expect(throws: MigrationError.self) { try ArchiveComparison([1, 2, 3], [1, 2, 3]) }
    }
}
