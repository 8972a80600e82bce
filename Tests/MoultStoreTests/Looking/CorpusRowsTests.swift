import Foundation
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@Suite struct CorpusRowsTests {
    @Test(.enabled(if: Corpus.isAvailable), arguments: Corpus.stores)
    func `every object of a real store is read as the witness reads it`(path: String) throws {
        try StoreProbe.read(path) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            guard let model = snapshot.cachedModel else { return }
            let layout = try StoreLayout(actual: snapshot, model: model)
            let reader = StoreReader(connection: probe.connection, layout: layout, store: probe.path)
            var lines: [String] = []
            for entity in model.entities {
                try reader.forEachObject(of: entity) { lines.append($0.witnessLine) }
            }
            let folder = try ScratchFolder()
            let expected = try witnessLines(of: try folder.copyStore(path))
            #expect(lines.count == expected.count)
            let different = zip(lines, expected).filter { $0 != $1 }
            if let first = different.first {
                Issue.record("\(different.count) lines differ, the first:\n\(first.0)\n\(first.1)")
            }
        }
    }
}
