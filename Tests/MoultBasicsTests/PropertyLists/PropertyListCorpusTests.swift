import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@Suite(.enabled(if: Corpus.isAvailable)) struct PropertyListCorpusTests {
    @Test func `the metadata of every store is read as Foundation reads it and comes back`() throws {
        for store in Corpus.stores {
            let text = try SQLiteShell.run(store, "SELECT hex(Z_PLIST) FROM Z_METADATA", immutable: true)
            let bytes = [UInt8](hexadecimal: text)
            let list = try PropertyList(parsing: bytes)
            let foundation = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
            #expect(PropertyList(foundation: foundation) == list, "\(store)")
            #expect(try PropertyList(parsing: list.binary) == list, "\(store)")
            #expect(list["NSStoreModelVersionHashes"]?.dictionary?.isEmpty == false, "\(store)")
        }
        #expect(Corpus.stores.count > 15)
    }

    @Test func `every property list file is read as Foundation reads it`() throws {
        let files = Corpus.paths { $0.hasSuffix(".plist") || $0.hasSuffix(".xccurrentversion") }
        for file in files {
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            let foundation = try PropertyListSerialization.propertyList(from: data, format: nil)
            #expect(try PropertyList(foundation: foundation) == PropertyList(parsing: Array(data)), "\(file)")
        }
        print("\(files.count) property list files read")
        #expect(files.count > (Corpus.isSmall ? 5 : 50))
    }
}

@Suite struct PropertyListMutationTests {
    @Test func `mutated lists never crash`() {
        let binary = PropertyListTests.sample.binary
        let xml = Array(
            "<plist><dict><key>a</key><array><date>2001-01-01T00:00:00Z</date><data>AAAA</data></array></dict></plist>"
                .utf8)
        for seed in UInt64(0)..<5000 {
            for bytes in [binary, xml] {
                guard let list = try? PropertyList(parsing: bytes.mutated(seed: seed)) else { continue }
                _ = list.binary
            }
        }
    }
}
