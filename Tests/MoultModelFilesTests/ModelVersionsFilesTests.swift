import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isAskedWhole)) struct ModelVersionsCorpusTests {
    private func path(_ suffix: String) throws -> String {
        try #require(Corpus.root).path + "/" + suffix
    }

    @Test func `the long chain is in order`() throws {
        let versions = try ModelVersions(
            contentsOf: path("woocommerce__woocommerce-ios/Storage/Storage/Model/WooCommerce.xcdatamodeld"))
        #expect(versions.currentName == "Model 117")
        let names = versions.versions.flatMap { $0.names.reversed() }
        #expect(names == ["Model"] + (2...117).map { "Model \($0)" })
        #expect(versions.versions.last?.names.contains("Model 117") == true)
    }

    @Test func `every version list agrees with the compiled models beside it`() throws {
        let bundles = Corpus.paths { $0.hasSuffix(".momd") }
        var named = 0
        for bundle in bundles {
            let versions = try ModelVersions(contentsOf: bundle)
            #expect(versions.currentName.flatMap(versions.position(named:)) != nil, "\(bundle)")
            let codes = Set(versions.findings.map(\.code))
            #expect(codes == [], "\(versions.findings)")
            // A list of one version does not name it as the current one.
            guard let current = try VersionInfo.currentHashes(ofModelAt: bundle) else { continue }
            named += 1
            let version = versions.currentName.flatMap(versions.position(named:)).map { versions.versions[$0] }
            #expect(current.entities == version?.hashes.entities, "\(bundle)")
        }
        #expect(bundles.count == 26 && named == 19)
    }

    /// Core Data's own copy holds the hashes that Apple's compiler has put into the version list.
    @Test func `an optimised model stands for the compiled one beside it, whichever compiler wrote it`() throws {
        let files = Corpus.paths { $0.hasSuffix(".omo") }
        #expect(files.count == 20)
        for file in files {
            let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
            let list = try VersionInfo(
                parsing: [UInt8](Data(contentsOf: folder.appendingPathComponent("VersionInfo.plist"))))
            let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
            let versions = try ModelVersions(contentsOf: file)
            #expect(versions.versions.map(\.names) == [[name]])
            #expect(versions.versions.first?.hashes.entities == list.hashes[name]?.entities)
            #expect(versions.findings.isEmpty, "\(file): \(versions.findings)")
        }
    }

    @Test func `an optimised model that is another version, damaged or alone is reported`() throws {
        let source = try path("richardpiazza__XCServerCoreData/Tests/XCServerCoreData.momd")
        let scratch = try ScratchFolder()
        let bundle = scratch.path + "/XCServerCoreData.momd"
        try FileManager.default.copyItem(atPath: source, toPath: bundle)
        for file in try FileManager.default.contentsOfDirectory(atPath: bundle) {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: bundle + "/" + file)
        }
        func codes() throws -> [String] { try ModelVersions(contentsOf: bundle).findings.map(\.code) }
        let (old, new) = (bundle + "/XCServerCoreData2.0.0.omo", bundle + "/XCServerCoreData2.0.2.omo")
        #expect(try codes() == [])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: old))
        try bytes.write(to: URL(fileURLWithPath: new))
        #expect(try codes() == ["optimised-model-differs"])
        for damaged in [Data(), bytes.prefix(10), bytes.prefix(bytes.count / 2), Data(bytes.reversed())] {
            try damaged.write(to: URL(fileURLWithPath: new))
            #expect(try codes() == ["optimised-model-differs"])
        }
        try FileManager.default.removeItem(atPath: bundle + "/XCServerCoreData2.0.2.mom")
        #expect(
            Set(try codes()) == ["optimised-model-alone", "listed-version-missing", "current-version-missing"])
        try FileManager.default.removeItem(atPath: new)
        let error = #expect(throws: MigrationError.self) { try ModelVersions(contentsOf: old + "x") }
        #expect(error?.code == .fileNotFound)
        // Without its .mom the version is read from the optimised form.
        try FileManager.default.removeItem(atPath: bundle + "/XCServerCoreData2.0.0.mom")
        let versions = try ModelVersions(contentsOf: bundle)
        #expect(Set(versions.findings.map(\.code)) == ["listed-version-missing", "current-version-missing"])
        #expect(versions.position(named: "XCServerCoreData2.0.0") != nil)
    }

    @Test func `every source bundle reads, those of the oldest form too`() throws {
        let bundles = Corpus.paths { $0.hasSuffix(".xcdatamodeld") && !$0.contains("WooCommerce") }
        var empty = 0
        for bundle in bundles {
            do {
                let versions = try ModelVersions(contentsOf: bundle)
                if FileManager.default.fileExists(atPath: bundle + "/.xccurrentversion") {
                    #expect(versions.currentName.flatMap(versions.position(named:)) != nil, "\(bundle)")
                }
                #expect(!versions.findings.contains { $0.code.hasPrefix("unknown") }, "\(versions.findings)")
            } catch let error as MigrationError where error.code == .modelNotFound {
                empty += 1
            }
        }
        print("source bundles: \(bundles.count) read, of which \(empty) hold no version in the corpus")
        // Four bundles of the corpus are kept without their versions.
        #expect(empty == 4)
    }
}

@Suite struct VersionFindingTests {
    private func versions(_ contents: [String]) throws -> (ModelVersions, ScratchFolder) {
        let folder = try ScratchFolder()
        for (number, text) in contents.enumerated() {
            let version = folder.path + "/M.xcdatamodeld/M \(number + 1).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: version + "/contents"))
        }
        return (try ModelVersions(contentsOf: folder.path + "/M.xcdatamodeld"), folder)
    }

    private func contents(_ number: Int, default text: String) -> String {
        """
        <model><entity name='Book'>\(String(repeating: "\n", count: number))
        <attribute name='isLocal' optional='YES' attributeType='Boolean' defaultValueString='\(text)'/>
        <attribute name='new\(number)' optional='YES' attributeType='String' glow='1'/></entity></model>
        """
    }

    @Test func `a cause that all versions have is one finding, at the newest, with the others named`() throws {
        let (versions, folder) = try versions((1...6).map { contents($0, default: $0 == 2 ? "often" : "perhaps") })
        let findings = versions.findings.filter { $0.severity == .warning }
        #expect(findings.count == 2, "\(findings)")
        #expect(findings[0].place.hasSuffix("/M 6.xcdatamodel/contents:8: Book.isLocal"))
        #expect(findings[0].message.hasSuffix(" The same in: M 1, M 3, M 4 and 1 more."))
        #expect(findings[1].message.contains("\"often\"") && !findings[1].message.contains("The same in"))
        let notes = versions.findings.filter { $0.severity == .note }
        #expect(notes.count == 1 && notes[0].message.contains("glow"))
        _ = folder
    }

    @Test func `a version with an odd default is a version like any other`() throws {
        let (versions, folder) = try versions((1...2).map { contents($0, default: "0.0") })
        #expect(Set(versions.findings.map(\.severity)) == [.note])
        #expect(versions.versions.count == 2)
        #expect(versions.versions[0].model.entity("Book")?.attribute("isLocal")?.defaultValue == .boolean(false))
        _ = folder
    }
}
