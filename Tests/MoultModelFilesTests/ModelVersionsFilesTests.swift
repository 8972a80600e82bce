import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isAskedWhole)) struct ModelVersionsCorpusTests {
    private func path(_ suffix: String) throws -> String {
        try #require(Corpus.root).path + "/" + suffix
    }

    @Test func theLongChainIsInOrder() throws {
        let versions = try ModelVersions(
            contentsOf: path("woocommerce__woocommerce-ios/Storage/Storage/Model/WooCommerce.xcdatamodeld"))
        #expect(versions.currentName == "Model 117")
        let names = versions.versions.flatMap { $0.names.reversed() }
        #expect(names == ["Model"] + (2...117).map { "Model \($0)" })
        #expect(versions.versions.last?.names.contains("Model 117") == true)
    }

    @Test func `every version list agrees with the compiled models beside it`() throws {
        let bundles = Corpus.paths { $0.hasSuffix(".momd") }
        for bundle in bundles {
            let versions = try ModelVersions(contentsOf: bundle)
            #expect(versions.currentName.flatMap(versions.position(named:)) != nil, "\(bundle)")
            let codes = Set(versions.findings.map(\.code))
            #expect(codes.isSubset(of: ["optimised-model-not-read"]), "\(versions.findings)")
        }
        #expect(bundles.count == 26)
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
