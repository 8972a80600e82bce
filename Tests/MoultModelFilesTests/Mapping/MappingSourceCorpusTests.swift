import Foundation
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// The mapping models that Xcode wrote, and those that Moult writes of them, by readers in Python.
@Suite(.enabled(if: Corpus.isWhole)) struct MappingSourceCorpusTests {  // tier: long
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func python(_ script: String, _ arguments: [String]) throws -> String {
        let ended = try ChildProcess.run("python3", [Witness.folder + "/" + script] + arguments)
        try #require(ended.exit == 0, "\(ended.output)")
        return ended.output
    }

    @Test func `a source of Xcode's is written again with the same models and the same mappings`() throws {
        let paths = Corpus.paths { $0.hasSuffix("/xcmapping.xml") && !$0.contains("/WooCommerceModelV") }
        #expect(paths.count == 7)
        var pairs: [String] = []
        for (number, path) in paths.enumerated() {
            let file = try MappingModelFile(contentsOf: path)
            let own = try file.mapping.write(#require(file.versions), to: scratch.path + "/\(number).xcmappingmodel")
            #expect(try CompiledMapping(compiling: own).bytes == CompiledMapping(compiling: path).bytes, "\(path)")
            pairs += [own, path]
        }
        let answers = try python("compiled.py", ["--mappings"] + pairs).split(separator: "\n")
        // An attribute that changed its type keeps the text of its default: 0.0 of an integer.
        let others = answers.filter { $0 != "equal" }
        #expect(answers.count == 7 && others.count == 1)
        #expect(others.first?.hasSuffix("defaultValueAsString/_default: \"0\" and \"0.0\"") == true, "\(others)")
        let lines = try python("mapping.py", pairs).split(separator: "\n")
        let mappings = lines.split { $0.hasPrefix("file ") }.map(Array.init)
        try #require(mappings.count == pairs.count)
        for place in stride(from: 0, to: pairs.count, by: 2) {
            #expect(mappings[place] == mappings[place + 1], "\(pairs[place + 1])")
        }
    }

    @Test func `a compiled mapping model of Xcode's comes back from its own source`() throws {
        let model = try #require(
            Corpus.paths { $0.hasSuffix("/SampleModel.xcdatamodeld") && !$0.contains("/@") }.first)
        let versions = try Corpus.versions(model).versions
        let source = try #require(versions.first { $0.name == "SampleModel2" })
        let destination = try #require(versions.first { $0.name == "SampleModel3" })
        var pairs: [String] = []
        for (number, path) in Corpus.paths(where: { $0.hasSuffix("/V2toV3.cdm") }).enumerated() {
            let mapping = try MappingModelFile(contentsOf: path).mapping
            let own = try mapping.write((source, destination), to: scratch.path + "/\(number).xcmappingmodel")
            let compiled = scratch.path + "/\(number).cdm"
            try Data(CompiledMapping(compiling: own).bytes).write(to: URL(fileURLWithPath: compiled))
            pairs += [compiled, path]
        }
        #expect(pairs.count == 10)
        let answers = try python("compiled.py", pairs)
        #expect(answers == String(repeating: "equal\n", count: 5), "\(answers)")
    }
}
