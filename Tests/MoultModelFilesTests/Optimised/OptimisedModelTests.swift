import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Optimised models against the `.mom` of the same model, which Apple's compiler wrote beside each.
@Suite(.enabled(if: Corpus.isAskedWhole)) struct OptimisedModelTests {
    /// The bytes of each, once.
    private static func distinct() throws -> [(path: String, bytes: [UInt8])] {
        var seen: Set<[UInt8]> = []
        return try Corpus.paths { $0.hasSuffix(".omo") }
            .map { ($0, try Array(Data(contentsOf: URL(fileURLWithPath: $0)))) }
            .filter { seen.insert($0.1).inserted }
    }

    /// All that a model says, each index in one form: the two files say the same index in different ways.
    private func normal(_ model: ManagedObjectModel, indexNames: Bool) throws -> ManagedObjectModel {
        let entities = model.entities.map { entity in
            var entity = entity
            entity.fetchIndexes = entity.effectiveFetchIndexes.map { index in
                var index = index
                if !indexNames { index.name = "" }
                return index
            }
            entity.compoundIndexes = []
            for position in entity.attributes.indices { entity.attributes[position].isIndexed = false }
            return entity
        }
        return try ManagedObjectModel(
            entities: entities, configurations: model.configurations,
            fetchRequestTemplates: model.fetchRequestTemplates, versionIdentifiers: model.versionIdentifiers)
    }

    @Test func `every optimised model says what the compiled one beside it says`() throws {
        let files = Corpus.paths { $0.hasSuffix(".omo") }
        #expect(files.count == 20)
        var otherIndexNames: [String] = []
        for file in files {
            let optimised = try ManagedObjectModel(
                optimised: Array(Data(contentsOf: URL(fileURLWithPath: file))))
            var findings: [Finding] = []
            let mom = URL(fileURLWithPath: String(file.dropLast(3)) + "mom")
            let compiled = try ManagedObjectModel(compiled: Array(Data(contentsOf: mom)), findings: &findings)
            #expect(try normal(optimised, indexNames: false) == normal(compiled, indexNames: false), "\(file)")
            if try normal(optimised, indexNames: true) != normal(compiled, indexNames: true) {
                otherIndexNames.append(file)
            }
            #expect(optimised.entities.flatMap(\.attributes).count > 0)
        }
        // Here the .mom is of a later compiler than the optimised model, and names the same indexes otherwise.
        #expect(otherIndexNames.map { URL(fileURLWithPath: $0).lastPathComponent } == ["XCServerCoreData2.0.0.omo"])
    }

    @Test func `one that lies alone is read, in a bundle too`() throws {
        for (path, bytes) in try Self.distinct() {
            let scratch = try ScratchFolder()
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            let bundle = scratch.path + "/Model.momd"
            try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
            try Data(bytes).write(to: URL(fileURLWithPath: "\(bundle)/\(name).omo"))
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            let list = folder.appendingPathComponent("VersionInfo.plist")
            let hashes = try VersionInfo(parsing: Array(Data(contentsOf: list))).hashes[name]
            for place in ["\(bundle)/\(name).omo", bundle] {
                let versions = try ModelVersions(contentsOf: place)
                #expect(versions.versions.map(\.names) == [[name]])
                #expect(versions.versions.first?.hashes.entities == hashes?.entities, "\(path)")
            }
        }
    }

    /// A changed byte may lie where nothing is read, such as between two parts: then the model is the same. It may be
    /// a delete rule or a name of an index, which no hash covers: then it is another one. Never does the reader trap.
    @Test func `a damaged one is refused or is still a model`() throws {
        let files = try Self.distinct().filter { $0.bytes.count < 12_000 }
        #expect(files.count > 10)
        var (refused, read) = (0, 0)
        func expectSafe(_ bytes: [UInt8]) throws {
            do {
                _ = try ManagedObjectModel(optimised: bytes)
                read += 1
            } catch let error as MigrationError {
                #expect(error.code == .modelInvalid && !error.place.isEmpty && !error.remedy.isEmpty, "\(error)")
                refused += 1
            }
        }
        for (_, bytes) in files {
            for seed in 0..<200 { try expectSafe(bytes.mutated(seed: UInt64(seed))) }
            // Each length within the header; below, no shorter file is whole.
            for count in Array(0..<200) + stride(from: 200, to: bytes.count, by: 97) {
                #expect(throws: MigrationError.self) { try ManagedObjectModel(optimised: Array(bytes.prefix(count))) }
            }
            // A count or an offset that leads out of the file.
            for word in stride(from: 0x40, to: 0xA0, by: 4) {
                for byte in [0x7F, 0xFF] as [UInt8] {
                    var bytes = bytes
                    bytes[word] = byte
                    try expectSafe(bytes)
                }
            }
        }
        #expect(refused > 1000)
        print("damaged optimised models: \(refused) refused, \(read) read")
    }

    /// What no known file says has no known form: the reader says so, and guesses nothing.
    @Test func `what is not established is refused`() throws {
        let model = "SampleModel3/Fixtures/SampleModel3.momd/SampleModel3.omo"
        let file = try #require(Corpus.paths { $0.hasSuffix(model) }.first)
        let sound = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
        _ = try ManagedObjectModel(optimised: sound)
        func refusal(at place: Int, _ value: UInt8) -> String {
            var bytes = sound
            bytes[place] = value
            let error = #expect(throws: MigrationError.self) { try ManagedObjectModel(optimised: bytes) }
            return error?.message ?? ""
        }
        // The flags of the attribute "name", a place after its name, its type, its mark of a default.
        #expect(refusal(at: 0x527, 1).contains("the property name has parts that Moult does not know"))
        #expect(refusal(at: 0x53B, 1).contains("the property name has parts that Moult does not know"))
        #expect(refusal(at: 0x51F, 0x44).contains("the property name has 68 bytes"))
        #expect(refusal(at: 0x54F, 0xBD).contains("the type of name has parts that Moult does not know"))
        #expect(refusal(at: 0x557, 2).contains("the default of name has parts that Moult does not know"))
        // A name that nothing says, and one that no version hash was made of.
        #expect(refusal(at: 0x1D1, 0x71).contains("belongs to nothing that Moult knows"))
        #expect(refusal(at: 0x168, 0x6D).contains("contents do not match its version hashes (User)"))
        // A compiler of which no file was seen.
        #expect(refusal(at: 0x20, 0).contains("by a compiler that Moult does not know"))
    }
}

/// Where the two compiled forms of a version lie beside each other, or only one of them.
@Suite(.enabled(if: Corpus.isWhole)) struct TwoCompiledFormsTests {
    private let scratch: ScratchFolder
    /// A folder with `Model.mom` and `Model.omo` of the same model.
    private var folder: String { scratch.path + "/Models" }

    init() throws {
        scratch = try ScratchFolder()
        let found = try #require(Corpus.paths { $0.hasSuffix("XCServerCoreData2.0.2.omo") }.first)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for ending in ["mom", "omo"] {
            try FileManager.default.copyItem(
                atPath: String(found.dropLast(3)) + ending, toPath: "\(folder)/Model.\(ending)")
        }
    }

    private func cut(_ ending: String) throws {
        let url = URL(fileURLWithPath: "\(folder)/Model.\(ending)")
        try Data(Data(contentsOf: url).prefix(900)).write(to: url)
    }

    @Test(arguments: ["Model.mom", "Model.omo", ""])
    func `a cut .mom is replaced by the .omo beside it, with a warning`(name: String) throws {
        let whole = try ModelVersions(contentsOf: folder)
        try cut("mom")
        let read = try ModelVersions(contentsOf: "\(folder)/\(name)")
        #expect(read.versions.map(\.hashes) == whole.versions.map(\.hashes) && read.versions.count == 1)
        #expect(read.findings.contains { $0.code == "optimised-model-read" && $0.message.contains("Model.omo") })
    }

    @Test(arguments: ["Model.mom", "Model.omo", ""])
    func `a cut .omo leaves the .mom beside it`(name: String) throws {
        let whole = try ModelVersions(contentsOf: folder)
        try cut("omo")
        let read = try ModelVersions(contentsOf: "\(folder)/\(name)")
        #expect(read.versions.map(\.hashes) == whole.versions.map(\.hashes))
    }

    @Test func `a folder with .omo files alone is a folder of versions`() throws {
        let whole = try ModelVersions(contentsOf: folder)
        try FileManager.default.removeItem(atPath: folder + "/Model.mom")
        #expect(try ModelVersions(contentsOf: folder).versions.map(\.hashes) == whole.versions.map(\.hashes))
    }

    @Test func `where both are cut the error is that of the .mom`() throws {
        try cut("mom")
        try cut("omo")
        let error = #expect(throws: MigrationError.self) { try ModelVersions(contentsOf: folder) }
        #expect(error?.place.hasPrefix(folder + "/Model.mom") == true && error?.exitCode == 4)
    }
}
