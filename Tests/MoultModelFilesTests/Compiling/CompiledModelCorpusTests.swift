import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// What `momc` made of the sources of the corpus, against what Moult makes of them, by a reader in Python.
@Suite(.enabled(if: Corpus.isWhole)) struct CompiledModelCorpusTests {  // tier: long
    /// Why a compiled model of the corpus differs from what Moult compiles of its source.
    private enum Difference: String, CaseIterable {
        case noIndexes = "older compilers wrote no fetch index for an indexed attribute"
        case noEntityOfIndex = "the next compilers wrote such a fetch index without its entity"
        case noSecondIndex =
            "older compilers made no index of an attribute's name next to a fetch index of another name"
        case laterSource = "the source is of a later commit, with a fetch index of another name"

        /// Nil for a difference without a name.
        init?(_ differences: [Substring]) {
            let places = differences.map { String($0.prefix { $0 != ":" }) }
            let onlyHere = differences.allSatisfy { $0.hasSuffix(": only in the first") }
            let isOfIndexes = places.allSatisfy { $0.contains("NSFetchIndexDescriptions") || $0.hasPrefix("/index ") }
            let indexes = differences.filter { $0.hasPrefix("/index ") }
            if isOfIndexes, !onlyHere, !indexes.isEmpty, indexes.allSatisfy({ $0.hasSuffix(": only in the first") }) {
                self = .noSecondIndex
            } else if onlyHere, places.allSatisfy({ $0.contains("Index") || $0.hasPrefix("/index ") }) {
                self = .noIndexes
            } else if places.allSatisfy({ $0.hasPrefix("/index ") }) {
                self = .noEntityOfIndex
            } else if differences.contains(where: { $0.contains("byMakerAndNumberPlate") }), differences.count == 3 {
                self = .laterSource
            } else {
                return nil
            }
        }
    }

    /// One of several equal `.mom` files, how many there are, and the sources that may be its own.
    private struct Original {
        let path: String
        let count: Int
        let sources: [String]
    }

    private static let depth = (Corpus.root?.path.split(separator: "/").count ?? 0)

    /// The repository of a path, and the name of the file without ending: what a source and its compiled form share.
    private func origin(_ path: String) -> String {
        let stem = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent.drop { $0 == "_" }
        return path.split(separator: "/")[Self.depth] + "/" + stem
    }

    private func bytes(_ path: String) -> Data { FileManager.default.contents(atPath: path) ?? Data() }

    private func originals() throws -> [Original] {
        let sources = Dictionary(grouping: Corpus.paths { $0.hasSuffix(".xcdatamodel") }, by: origin)
        let files = Dictionary(grouping: Corpus.paths { $0.hasSuffix(".mom") }) { path in
            origin(path) + "/" + bytes(path).base64EncodedString()
        }
        return try files.values.map { paths in
            let path = try #require(paths.first)
            let own = Dictionary(grouping: sources[origin(path)] ?? []) {
                bytes($0 + "/contents") + bytes($0 + "/elements")
            }
            return Original(path: path, count: paths.count, sources: own.values.compactMap(\.first))
        }.sorted { $0.path < $1.path }
    }

    @Test func `a compiled model is object for object what momc made of its source`() throws {
        let scratch = try ScratchFolder()
        var (equal, total) = (0, 0)
        var named: [Difference: Int] = [:]
        let originals = try originals()
        var questions: [(original: Original, own: String)] = []
        for original in originals {
            for source in original.sources {
                guard let model = try? CompiledModel(compiling: source) else { continue }
                let own = scratch.path + "/\(questions.count).mom"
                try Data(#require(model.files.first).bytes).write(to: URL(fileURLWithPath: own))
                questions.append((original, own))
            }
        }
        let answers = try python(questions.flatMap { [$0.own, $0.original.path] })
        try #require(answers.count == questions.count)
        for original in originals {
            let own = zip(questions, answers).filter { $0.0.original.path == original.path }.map(\.1)
            try #require(!own.isEmpty, "\(original.path) has no source")
            total += original.count
            if own.contains("equal") {
                equal += original.count
                continue
            }
            let ways = own.compactMap { Difference($0.split(separator: "\t")) }
            let way = try #require(ways.first, "\(original.path): \(own.min { $0.count < $1.count } ?? "")")
            named[way, default: 0] += original.count
        }
        print("\(equal) of \(total) compiled models equal object for object")
        for way in Difference.allCases { print("\(named[way] ?? 0): \(way.rawValue)") }
        #expect(total == 58 && equal == 42)
        #expect(named == [.noIndexes: 8, .noEntityOfIndex: 5, .noSecondIndex: 1, .laterSource: 2])
    }

    @Test func `a compiled model of the newest compilers is written again byte for byte`() throws {
        var equal = 0
        for original in try originals() {
            let theirs = [UInt8](bytes(original.path))
            let root = try KeyedArchive(parsing: theirs).root
            // Older compilers do not name themselves.
            guard let tool = root?["CDMCompilerToolVersion"]?.real,
                let xcode = root?["CDMCompilerXcodeVersion"]?.integer
            else { continue }
            let compiler = CompilerVersion(tool: tool, xcode: xcode)
            let source = original.sources.first { source in
                (try? CompiledModel(compiling: source, compiler: compiler))?.files.first?.bytes == theirs
            }
            let own = try #require(source, "\(original.path)")
            equal += original.count
            // Without the names: two keys, two values, and of each a place and a reference.
            let widths = Int(theirs[theirs.count - 26]) + Int(theirs[theirs.count - 25])
            let unnamed = try #require(CompiledModel(compiling: own).files.first).bytes
            #expect(theirs.count - unnamed.count == 25 + 26 + 9 + 5 + 4 * widths, "\(original.path)")
        }
        print("\(equal) compiled models equal byte for byte")
        #expect(equal == 18)
    }

    @Test func `the list of versions is that of momc, hash for hash and checksum for checksum`() throws {
        let scratch = try ScratchFolder()
        let lists = Corpus.paths { $0.hasSuffix(".momd/VersionInfo.plist") }
        let origins = Set(lists.map { origin(String($0.dropLast("/VersionInfo.plist".count))) })
        let sources = Corpus.paths { $0.hasSuffix(".xcdatamodeld") }.filter { origins.contains(origin($0)) }
        var compiled: [(origin: String, path: String)] = []
        for source in sources {
            guard let file = try? CompiledModel(compiling: source).files.last else { continue }
            let path = scratch.path + "/\(compiled.count).plist"
            try Data(file.bytes).write(to: URL(fileURLWithPath: path))
            compiled.append((origin(source), path))
        }
        let read = try python(["--versions"] + lists + compiled.map(\.path)).map(VersionList.init)
        try #require(read.count == lists.count + compiled.count)
        let own = Dictionary(grouping: zip(compiled, read.dropFirst(lists.count)), by: \.0.origin)
        var (equal, checksums) = (0, 0)
        for (list, theirs) in zip(lists, read) {
            let key = origin(String(list.dropLast("/VersionInfo.plist".count)))
            for (name, hashes) in theirs.hashes {
                // Of several commits of a source, one has the hashes.
                let same = own[key]?.first { $0.1.hashes[name] == hashes }?.1
                let version = try #require(same, "\(list): \(name)")
                equal += 1
                guard let checksum = theirs.checksums[name] else { continue }
                #expect(version.checksums[name] == checksum, "\(list): \(name)")
                checksums += 1
            }
        }
        print("\(equal) versions with equal hashes in lists, \(checksums) with equal checksums")
        #expect(equal == 58 && checksums == 18)
    }

    @Test func `no source of the corpus has an error`() throws {
        var sources = 0
        for path in Corpus.paths(where: { $0.hasSuffix(".xcdatamodel") }) {
            guard FileManager.default.fileExists(atPath: path + "/contents") else { continue }
            if path.contains("woocommerce"), !path.contains("7.xcdatamodel") { continue }
            sources += 1
            do {
                _ = try CompiledModel(compiling: path)
            } catch let error as ModelFaults {
                Issue.record("\(error.faults.map(\.text))")
            }
        }
        #expect(sources > 100)
    }

    @Test func `a compiled model comes back from its own source`() throws {
        let scratch = try ScratchFolder()
        var models: [(path: String, bytes: Data, model: ManagedObjectModel)] = []
        var findings: [Finding] = []
        for original in try originals() {
            let bytes = bytes(original.path)
            models.append((original.path, bytes, try ManagedObjectModel(compiled: Array(bytes), findings: &findings)))
        }
        for store in try CorpusStore.all() {
            guard let cache = store.modelCache else { continue }
            models.append((store.path, Data(cache), try ManagedObjectModel(modelCache: cache, findings: &findings)))
        }
        var refused = 0
        var (compiled, sources): ([String], [String]) = ([], [])
        for (number, (path, bytes, model)) in models.enumerated() {
            // Code can set rules that a model editor does not have.
            guard model.entities.allSatisfy({ $0.attributes.allSatisfy(\.validation.rules.isEmpty) }) else {
                #expect(throws: MigrationError.self, "\(path)") { try SourceFiles(model) }
                refused += 1
                continue
            }
            let own = scratch.path + "/\(number)"
            let source = own + ".xcdatamodel"
            for file in try SourceFiles(model, defaults: SourceFiles.documentDefaults).files {
                try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
                try file.text.write(toFile: source + "/" + file.path, atomically: true, encoding: .utf8)
            }
            do {
                let file = try #require(CompiledModel(compiling: source).files.first)
                let again = try ManagedObjectModel(compiled: file.bytes, findings: &findings)
                #expect(try again.withoutSecondIndexes == model.withoutSecondIndexes, "\(path)")
                try bytes.write(to: URL(fileURLWithPath: own))
                try Data(file.bytes).write(to: URL(fileURLWithPath: own + ".mom"))
                sources += [source + "/contents", own]
                if path.hasSuffix(".mom") { compiled += [own + ".mom", own] }
            } catch let error as ModelFaults {
                Issue.record("\(path): \(error.faults.map(\.text))")
            }
        }
        print("\(models.count - refused) models decompiled and compiled again, \(refused) refused")
        #expect(models.count - refused > 60 && refused < 10)
        try compare(decompiled: sources, compiled)
    }

    /// Of the sources of one bundle with many versions, which are much alike, the quick tests take some.
    @Test func `a source comes back from its compiled form`() throws {
        let scratch = try ScratchFolder()
        var (pairs, sources, findings): ([String], Set<Data>, [Finding]) = ([], [], [])
        for (number, path) in Corpus.paths(where: { $0.hasSuffix(".xcdatamodel") }).enumerated() {
            guard Tier.matrix.isAsked || number.isMultiple(of: 12),
                sources.insert(bytes(path + "/contents") + bytes(path + "/elements")).inserted
            else { continue }
            let first = try #require(CompiledModel(compiling: path).files.first)
            let model = try ManagedObjectModel(compiled: first.bytes, findings: &findings)
            let own = scratch.path + "/\(number)"
            try FileManager.default.createDirectory(atPath: own + ".xcdatamodel", withIntermediateDirectories: true)
            for file in try SourceFiles(model, defaults: SourceFiles.documentDefaults).files {
                try file.text.write(
                    toFile: own + ".xcdatamodel/" + file.path, atomically: true, encoding: .utf8)
            }
            let again = try #require(CompiledModel(compiling: own + ".xcdatamodel").files.first)
            try Data(first.bytes).write(to: URL(fileURLWithPath: own + ".1"))
            try Data(again.bytes).write(to: URL(fileURLWithPath: own + ".2"))
            pairs += [own + ".1", own + ".2"]
        }
        // The source of a decimal number's default says 0 or 0.0; the model has a zero.
        let zeros = /\/property [^\t]*\/NSDefaultValue\/NS\.exponent: \["int", "0"\] and \["int", "-1"\]/
        let others = try python(pairs).filter { answer in
            answer != "equal" && !answer.split(separator: "\t").allSatisfy { $0.wholeMatch(of: zeros) != nil }
        }
        print("\(pairs.count / 2) sources compiled, decompiled and compiled again")
        #expect(pairs.count > 30 && others.isEmpty, "\(others)")
    }

    /// By readers in Python: each source with the model that it was written from, and each model compiled from it.
    private func compare(decompiled sources: [String], _ compiled: [String]) throws {
        let differences = try python(sources, "models.py").filter { $0 != "equal" }
        // Those of old compilers, which made no indexes of what they call indexed.
        #expect(
            differences.allSatisfy { $0.hasSuffix(" indexes are not made") && !$0.contains("\t") }, "\(differences)")
        let answers = try python(compiled).map {
            $0 == "equal" ? nil : Difference($0.split(separator: "\t")) ?? .laterSource
        }
        let equal = answers.count { $0 == nil }
        print("\(equal) of \(answers.count) different .mom files equal after decompiling and compiling")
        #expect(answers.count * 2 == compiled.count && equal == 24)
        #expect(!answers.contains(.laterSource))
    }

    @Test func `a compiled mapping model is object for object what mapc made of its source`() throws {
        let scratch = try ScratchFolder()
        let source = try #require(Corpus.paths { $0.hasSuffix("MappingModels/V2toV3.xcmappingmodel") }.first)
        var mapping = try MappingModelFile(contentsOf: source).mapping
        let own = (now: scratch.path + "/now.cdm", before: scratch.path + "/before.cdm")
        try Data(CompiledMapping(compiling: source).bytes).write(to: URL(fileURLWithPath: own.now))
        // Four of the compiled files are of commits before the policy got its name of now.
        for position in mapping.entityMappings.indices
        where mapping.entityMappings[position].entityMigrationPolicyClassName != nil {
            mapping.entityMappings[position].entityMigrationPolicyClassName =
                "CoreDataPlus_Tests_macOS.V2to3MakerPolicyPolicy"
        }
        try Data(mapping.compiled()).write(to: URL(fileURLWithPath: own.before))
        let originals = Corpus.paths { $0.hasSuffix("/V2toV3.cdm") }
        let now = try python(originals.flatMap { [own.now, $0] })
        let before = try python(originals.flatMap { [own.before, $0] })
        #expect(now.count == 5 && now.count { $0 == "equal" } == 1)
        for (one, other) in zip(now, before) { #expect([one, other].contains("equal"), "\(one)") }
    }

    @Test func `every mapping model of the corpus comes back from its compiled form`() throws {
        var mappings = 0
        for path in Corpus.paths(where: { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }) {
            // Some are empty or packed.
            guard let file = try? MappingModelFile(contentsOf: path) else { continue }
            let again = try MappingModelFile.Content(file.mapping.compiled(), isCompiled: true, file: path)
            #expect(again.mapping == file.mapping && again.findings.isEmpty, "\(path)")
            mappings += 1
        }
        print("\(mappings) mapping models compiled and read back")
        #expect(mappings > 10)
    }

    /// The sources of Xcode 14.2 and later; older ones repeat `syncable` in every property and have the diagram.
    @Test func `a source of the corpus is written as Xcode has written it, character for character`() throws {
        var (equal, others): (Int, [String]) = (0, [])
        for path in Corpus.paths(where: { $0.hasSuffix(".xcdatamodel/contents") }) {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let version = text.firstMatch(of: /lastSavedToolsVersion="(\d+)/).flatMap { Int($0.output.1) } ?? 0
            guard version >= 21_000, !path.contains("woocommerce") || path.contains("7.xcdatamodel") else { continue }
            var findings: [Finding] = []
            let model = try ManagedObjectModel(xmlContents: Array(text.utf8), file: path, findings: &findings)
            let own = try model.xmlContents()
            // An attribute that changed its type keeps the text of its default: 0.0 or NO of an integer, 0 of a decimal.
            let (usual, theirs) = (Self.withUsualDefaults(own), Self.withUsualDefaults(text))
            if usual == theirs.trimmingCharacters(in: .newlines) { equal += 1 } else { others.append(path) }
        }
        print("\(equal) sources written as Xcode has written them")
        #expect(equal > 40 && others.isEmpty, "\(others)")
    }

    @Test func `the diagram of a source is written as Xcode has written it`() throws {
        // A few old files have the entities in another order.
        func diagram(_ text: String) -> [Substring] {
            let tags = ["<element ", "<elements>", "</element>", "</elements>"]
            return text.split(separator: "\n").filter { line in
                let tag = line.drop { $0 == " " }
                return tags.contains { tag.hasPrefix($0) }
            }.sorted()
        }
        var texts: Set<String> = []
        for path in Corpus.paths(where: { $0.hasSuffix(".xcdatamodel/contents") }) {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            guard !diagram(text).isEmpty, texts.insert(text).inserted else { continue }
            var findings: [Finding] = []
            let model = try ManagedObjectModel(xmlContents: Array(text.utf8), file: path, findings: &findings)
            #expect(diagram(try model.xmlContents()) == diagram(text), "\(path)")
        }
        #expect(texts.count > 100)
    }

    private static func withUsualDefaults(_ text: String) -> String {
        text.replacing("defaultValueString=\"0.0\"", with: "defaultValueString=\"0\"")
            .replacing("\"Integer 64\" defaultValueString=\"NO\"", with: "\"Integer 64\" defaultValueString=\"0\"")
    }

    // MARK: Python

    private func python(_ arguments: [String], _ script: String = "compiled.py") throws -> [String] {
        let ended = try ChildProcess.run("python3", [Witness.folder + "/" + script] + arguments)
        try #require(ended.exit == 0, "\(ended.output)")
        return ended.output.split(separator: "\n").map(String.init)
    }

    /// What a `VersionInfo.plist` says, as Python reads it.
    private struct VersionList {
        let hashes: [String: [String: String]]
        let checksums: [String: String]

        init(_ line: String) throws {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            hashes = try #require(object["NSManagedObjectModel_VersionHashes"] as? [String: [String: String]])
            checksums = object["NSManagedObjectModel_VersionChecksums"] as? [String: String] ?? [:]
        }
    }
}

extension ManagedObjectModel {
    /// Without what today's compilers make of a fetch index of one attribute, ascending and under another name.
    fileprivate var withoutSecondIndexes: ManagedObjectModel {
        get throws {
            let entities = entities.map { entity in
                var entity = entity
                let all = entity.fetchIndexes
                let names = Set(entity.attributes.map(\.name))
                entity.fetchIndexes = all.filter { index in
                    !names.contains(index.name)
                        || !all.contains { $0.name != index.name && $0.elements == index.elements }
                }
                return entity
            }
            return try ManagedObjectModel(
                entities: entities, configurations: configurations, composites: composites,
                fetchRequestTemplates: fetchRequestTemplates, versionIdentifiers: versionIdentifiers,
                documentAttributes: documentAttributes, diagram: diagram)
        }
    }
}
