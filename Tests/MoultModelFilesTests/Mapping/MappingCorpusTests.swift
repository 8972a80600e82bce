import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// The mapping models that Xcode wrote, against a reader in Python and against the models beside them.
@Suite(.enabled(if: Corpus.isAskedWhole)) struct MappingCorpusTests {
    /// The folders and compiled files; the two that lie packed in the corpus are unpacked.
    private static let paths =
        Corpus.paths {
            $0.hasSuffix(".cdm") || $0.hasSuffix("/xcmapping.xml") || $0.hasSuffix("/xcmapping.xml.xz")
        }.map { path in
            if path.hasSuffix(".cdm") { return path }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            return path.hasSuffix(".xz") ? unpacked(path, folder.lastPathComponent) : folder.path
        }
    private static let scratch = Result { try ScratchFolder() }

    /// All that can be read, read once: the largest has three megabytes.
    private static let files = Result {
        try Dictionary(
            uniqueKeysWithValues: paths.filter { !isEmpty($0) }.map { ($0, try MappingModelFile(contentsOf: $0)) })
    }

    /// What the witness prints of each file, in one run.
    private static let witnessLines = Result {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Witness/mapping.py").standardizedFileURL.path
        let files = paths.filter { !isEmpty($0) }.map { $0.hasSuffix(".cdm") ? $0 : $0 + "/xcmapping.xml" }
        let output = String(decoding: try outputOfPython([script] + files), as: UTF8.self)
        var (lines, path) = ([String: [String]](), "")
        for line in output.split(separator: "\n") {
            if line.hasPrefix("file ") {
                path = String(line.dropFirst(5))
            } else {
                lines[path, default: []].append(String(line))
            }
        }
        return lines
    }

    private func file(_ path: String) throws -> MappingModelFile { try #require(try Self.files.get()[path]) }

    private static func isEmpty(_ path: String) -> Bool { path.contains("/WooCommerceModelV") }

    /// The path of a folder of that name with the unpacked file in it.
    private static func unpacked(_ path: String, _ name: String) -> String {
        let folder = ((try? scratch.get().path) ?? "") + "/" + name
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = try? outputOfPython(
            ["-c", "import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())", path])
        try? text?.write(to: URL(fileURLWithPath: folder + "/xcmapping.xml"))
        return folder
    }

    /// The witness applies the format's defaults with code of its own.
    @Test(arguments: paths.filter { !isEmpty($0) })
    func `a mapping model says what an independent reader reads in it`(path: String) throws {
        let file = try file(path)
        #expect(file.findings.isEmpty, "\(file.findings)")
        #expect(!file.mapping.entityMappings.isEmpty)
        let isCompiled = path.hasSuffix(".cdm")
        let found = file.mapping.entityMappings.flatMap { $0.witnessLines(withHashes: isCompiled) }
        let expected = try #require(try Self.witnessLines.get()[isCompiled ? path : path + "/xcmapping.xml"])
        let different = zip(found, expected).first { $0 != $1 }
        #expect(different == nil && found.count == expected.count, "\(different.debugDescription)")
    }

    /// How many entity mappings of each type real mapping models have.
    @Test(arguments: [
        ("Migration2to3ModelMapping.xcmappingmodel", "1/1/0/0"), ("Moody 2-Moody 3.xcmappingmodel", "0/0/3/0"),
        ("Moody 3-Moody 4.xcmappingmodel", "0/0/1/2"), ("Moody 4-Moody 5.xcmappingmodel", "0/0/0/2"),
        ("Moody 5-Moody 6.xcmappingmodel", "1/1/1/0"), ("Modelv1v4.xcmappingmodel", "2/0/2/2"),
        ("MappingModel1.0.0to1.1.0.xcmappingmodel", "0/0/23/0"),
        ("MappingModel1.0.0to1.2.0.xcmappingmodel", "0/0/23/0"), ("V2toV3.xcmappingmodel", "3/1/1/0"),
        ("V2toV3.cdm", "3/1/1/0"),
    ])
    func `entity mappings are of the types that were counted`(name: String, counts: String) throws {
        let files = Self.paths.filter { $0.hasSuffix("/" + name) }
        #expect(!files.isEmpty)
        for path in files {
            let types = try file(path).mapping.entityMappings.map(\.type)
            let counted = [EntityMappingType.custom, .add, .copy, .transform].map { type in types.count { $0 == type } }
            #expect(counted.map(String.init).joined(separator: "/") == counts, "\(path)")
        }
    }

    @Test func `the models in a mapping model have the hashes of the files of their names`() throws {
        let sources = try CorpusSources.all.get()
        var unequal: [String] = []
        for path in Self.paths where path.hasSuffix(".xcmappingmodel") && !Self.isEmpty(path) {
            let versions = try #require(try file(path).versions)
            for version in [versions.source, versions.destination] {
                let namesakes = sources.filter { $0.path.hasSuffix("/\(version.name).xcdatamodel/contents") }
                let isFound = namesakes.contains {
                    VersionHashes(of: $0.model).isCompatible(with: version.hashes)
                }
                if !isFound { unequal.append(version.name) }
            }
        }
        // LoopKit's Modelv4 has gained an entity since the mapping was made.
        #expect(unequal == ["Modelv4"])
    }

    /// What Xcode compiled, for the one mapping model whose source is at hand too.
    @Test func `a source says what Xcode compiled from it, expression for expression`() throws {
        let source = try #require(Self.paths.first { $0.hasSuffix("/V2toV3.xcmappingmodel") })
        let compiled = Self.paths.filter { $0.hasSuffix("/V2toV3.cdm") }
        #expect(compiled.count == 5)
        let expected = try file(source).mapping
        for path in compiled {
            var mapping = try file(path).mapping
            for position in mapping.entityMappings.indices
            where mapping.entityMappings[position].type == .custom {
                // The older builds name the module and class of their time.
                mapping.entityMappings[position].entityMigrationPolicyClassName =
                    expected.entityMappings[position].entityMigrationPolicyClassName
            }
            #expect(mapping == expected, "\(path)")
        }
    }

    @Test func `an empty mapping model is reported as such`() throws {
        let empty = Self.paths.filter(Self.isEmpty)
        #expect(empty.count == 9)
        for path in empty {
            let error = #expect(throws: MigrationError.self) { try MappingModelFile(contentsOf: path) }
            #expect(error?.code == .modelInvalid)
            #expect(error?.message == "The mapping model is an empty file.")
            #expect(error?.place == path + "/xcmapping.xml")
        }
    }

    @Test func `mutated mapping models never crash`() throws {
        for name in ["V2toV3.cdm", "Migration2to3ModelMapping.xcmappingmodel"] {
            let path = try #require(Self.paths.first { $0.hasSuffix("/" + name) })
            let isCompiled = name.hasSuffix(".cdm")
            let file = isCompiled ? path : path + "/xcmapping.xml"
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
            for seed in UInt64(0)..<(isCompiled ? 500 : 60) {
                do {
                    _ = try MappingModelFile.Content(bytes.mutated(seed: seed), isCompiled: isCompiled, file: name)
                } catch let error as MigrationError {
                    #expect(error.code != .internal && !error.place.isEmpty && !error.remedy.isEmpty, "\(error)")
                }
            }
        }
    }
}

extension EntityMapping {
    /// As `Tests/Witness/mapping.py` prints it.
    func witnessLines(withHashes: Bool) -> [String] {
        let names = [sourceEntityName, destinationEntityName, entityMigrationPolicyClassName].map { $0 ?? "-" }
        var lines = ["mapping \(name) \(type) " + names.joined(separator: " ")]
        if let sourceExpressionFormat { lines.append("from " + sourceExpressionFormat) }
        if withHashes {
            let hashes = [sourceEntityVersionHash, destinationEntityVersionHash].map { $0?.hexadecimal ?? "-" }
            lines.append("hashes " + hashes.joined(separator: " "))
        }
        lines += attributeMappings.map { "attribute \($0.name) \($0.valueExpression?.format ?? "-")" }
        return lines + relationshipMappings.map { "relationship \($0.name) \($0.valueExpression?.format ?? "-")" }
    }
}

private func outputOfPython(_ arguments: [String]) throws -> Data {
    let ended = try ChildProcess.run("python3", arguments)
    #expect(ended.exit == 0)
    return Data(ended.output.utf8)
}
