import Foundation
import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@Suite struct CorpusRowsTests {
    /// What looking at a store comes to.
    private struct Looked {
        var lines: [String] = []
        var undecodable: [String] = []
        var counts: [String: Int] = [:]
        /// What the witness needs to know of the model of a store that carries none.
        var model: String?
    }

    @Test(.enabled(if: Corpus.isAskedWhole), arguments: CorpusStores.distinct)
    func `every object is read as the witness reads it, and no byte changes`(path: String) throws {
        let folder = try ScratchFolder()
        let copy = try folder.copyStore(path)
        let before = try record(folder.path)
        let looked = try look(at: copy, original: path)
        #expect(try record(folder.path) == before)

        #expect(looked.undecodable == [])
        for (query, count) in looked.counts { #expect(try shellCount(query, of: copy) == count) }
        let model = try looked.model.map { text in
            try POSIXSystem().write(Array(text.utf8), to: folder.path + "/model.txt")
            return folder.path + "/model.txt"
        }
        let expected = try Witness.lines(of: copy, model: model)
        #expect(looked.lines.count == expected.count)
        let different = zip(looked.lines, expected).filter { $0 != $1 }
        if let first = different.first {
            Issue.record("\(different.count) lines differ, the first:\n\(first.0)\n\(first.1)")
        }
    }

    private func look(at copy: String, original: String) throws -> Looked {
        try ReadOnlyStore.read(copy) { probe in
            let snapshot = try StoreSnapshot(probe.connection)
            let model = try #require(snapshot.corpusModel(of: original))
            let layout = try StoreLayout(actual: snapshot, model: model)
            let reader = StoreReader(connection: probe.connection, layout: layout, store: probe.path)
            var looked = Looked(model: snapshot.cachedModel == nil ? model.witnessText : nil)
            for entity in model.entities {
                let before = looked.lines.count
                try reader.forEachObject(of: entity) { row in
                    looked.lines.append(row.witnessLine)
                    if row.values.contains(where: \.isUndecodable) { looked.undecodable.append(row.witnessLine) }
                }
                let table = try #require(layout.table(for: entity)?.name)
                let number = try #require(layout.entityNumbers[entity.name])
                looked.counts["SELECT count(*) FROM \(table) WHERE Z_ENT = \(number)"] = looked.lines.count - before
            }
            return looked
        }
    }

    private func shellCount(_ query: String, of copy: String) throws -> Int? {
        Int(try SQLiteShell.run(copy, query).dropLast())
    }

    /// Every file of a folder, with its bytes and the time they last changed.
    private func record(_ folder: String) throws -> [String: [UInt8]] {
        let system = POSIXSystem()
        var files: [String: [UInt8]] = [:]
        for name in try system.files(below: folder) {
            let file = Path.join(folder, name)
            let time = try #require(try system.status(of: file)).modified
            files["\(name) \(time)"] = try system.read(file)
        }
        return files
    }
}

extension PropertyValue {
    var isUndecodable: Bool { if case .undecodable = self { true } else { false } }
}
