import Foundation
import MoultModel
import MoultStore
import TestSupport
import Testing

/// Stores that Core Data made, changed and saved by Moult, look as if Core Data had saved them.
struct SavedCorpusTests {  // tier: long
    /// With history and derived attributes; with ordered lists; SwiftData's, and with history into which nothing was saved
    /// yet.
    private static let some = [
        "CartKitSwiftData_v1.sqlite", "BookmarksTests/Resources/Bookmarks_V5.sqlite", "4880ec31.store",
        "146fb67d.store",
    ]

    @Test(.enabled(if: Corpus.isAvailable), arguments: some.filter { Corpus.has($0) })
    func `schema, counters, versions, order keys and history stay as Core Data has them`(name: String) throws {
        let store = try #require(CorpusStores.distinct.first { $0.hasSuffix(name) })
        try change(store)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked))
struct SavedCorpusMatrixTests {
    @Test func `schema, counters, versions, order keys and history stay as Core Data has them, in every store`() throws
    {
        let begun = Date()
        var changed = 0
        for store in CorpusStores.distinct where Date().timeIntervalSince(begun) < Tier.matrix.seconds {
            try change(store)
            changed += 1
        }
        print("SavedCorpus: \(changed) of \(CorpusStores.distinct.count) stores")
        #expect(changed > 0)
    }
}

/// Changes a copy in every way that its model allows, save by save.
private func change(_ original: String) throws {
    let folder = try ScratchFolder()
    let path = try folder.copyStore(original)
    let model = try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection).corpusModel(of: original) }
    let name = CorpusStores.name(of: original)
    guard let model else {
        #expect(!CorpusStores.withModel.contains(original), "\(name)")
        return print("SavedCorpus: no model at hand for \(name)")
    }
    let store = try SavedStore(path, model: model, author: name.count % 2 == 0 ? "proof" : nil)
    let turned = try store.changeEverything()
    store.close()
    try store.audit()
    for fault in store.faults.prefix(8) { Issue.record("\(name): \(fault)") }
    print(
        "SavedCorpus: \(name): \(store.saves) saves, rows \(store.counts.inserted) inserted, \(store.counts.updated) "
            + "updated, \(store.counts.deleted) deleted, \(store.historyRows) told in history, \(turned) lists turned")
}
