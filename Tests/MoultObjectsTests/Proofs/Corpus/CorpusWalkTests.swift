import Foundation
import TestSupport
import Testing

/// Real stores, opened with their models and walked as an app would walk them.
struct CorpusWalkTests {  // tier: long
    /// Every eighth store; the matrix tier takes them all.
    static let some = Corpus.sample(CorpusStores.distinct, every: 8)

    @Test(.enabled(if: Corpus.isAvailable))
    func `every object is reached, both ends agree, values are those of plain SQL`() throws {
        try walk(Self.some)
    }
}

@Suite(.enabled(if: Corpus.isAskedWhole))
struct CorpusWalkMatrixTests {
    @Test func `every object of every store is reached, both ends agree, values are those of plain SQL`() throws {
        let opened = try walk(CorpusStores.distinct)
        #expect(opened >= 37)
    }
}

/// - Returns: how many stores were walked.
@discardableResult
private func walk(_ stores: [String]) throws -> Int {
    var (opened, objects, values, links, oneWay, lists) = (0, 0, 0, 0, 0, 0)
    for store in stores {
        let folder = try ScratchFolder()
        let name = CorpusStores.name(of: store)
        guard var walk = try StoreWalk(store, in: folder) else {
            #expect(!CorpusStores.withModel.contains(store), "\(name)")
            continue
        }
        try walk.run()
        for fault in walk.faults.prefix(5) { Issue.record("\(name): \(fault)") }
        if walk.faults.count > 5 { Issue.record("\(name): and \(walk.faults.count - 5) more") }
        opened += 1
        objects += walk.objects
        values += walk.values
        links += walk.links
        oneWay += walk.oneWayLinks
        lists += walk.orderedLists
    }
    print(
        "CorpusWalk: \(opened) of \(stores.count) stores, \(objects) objects, \(values) values, \(links) destinations "
            + "asked back, \(oneWay) without inverse, \(lists) ordered lists")
    #expect(objects > 0 && links > 0)
    return opened
}
