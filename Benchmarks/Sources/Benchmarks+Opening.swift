import Foundation
import MoultBasics
import MoultCoreData
import MoultModel
import MoultModelFiles
import MoultSQLite
import MoultStore

/// What the launch of an app waits for: opening a store that is of the model's version already.
extension Benchmarks {
    func opening() throws -> [Figure] {
        let small = try BenchmarkStore(rows: 1000, in: folder)
        var figures = [try figure("1 entity", small.path)]
        guard let longChain else {
            skip("no corpus; set MOULT_CORPUS to measure opening a store of a large model")
            return figures
        }
        let store = folder + "/large.sqlite"
        let versions = try ModelVersions(contentsOf: longChain)
        guard let last = versions.versions.last else { return figures }
        try StoreCreator(last).make(at: store)
        figures.append(try figure("\(last.model.entities.count) entities", store))
        return figures
    }

    /// The time that opening takes beyond that of SQLite's own open and one query.
    private func figure(_ name: String, _ store: String) throws -> Figure {
        var above: [Double] = []
        try rounds { _ in
            let measured = try Command.child("open", store).run().json
            above.append((measured.number("moult") - measured.number("sqlite")) * 1000)
        }
        return Figure(
            name: "opening a current store of \(name), above SQLite's", ours: above, unit: .milliseconds)
    }
}

/// Opens a store 50 times through a coordinator, and through SQLite in turn; prints the medians in seconds.
enum OpeningWork {
    static func run(_ store: String) throws {
        let model = try ManagedObjectModel.ofStore(store)
        var (ours, theirs) = ([Double](), [Double]())
        for _ in 0..<50 {
            let begun = Clock.now
            let connection = try Connection(store, mode: .readWrite)
            _ = try connection.integer("SELECT count(*) FROM Z_METADATA")
            connection.close()
            let middle = Clock.now
            let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
            let opened = try coordinator.addPersistentStore(at: URL(fileURLWithPath: store))
            try coordinator.remove(opened)
            ours.append(Clock.now - middle)
            theirs.append(middle - begun)
        }
        print(
            JSONValue.object([.init("moult", .double(ours.median)), .init("sqlite", .double(theirs.median))]).compact)
    }
}

extension ManagedObjectModel {
    fileprivate static func ofStore(_ path: String) throws -> ManagedObjectModel {
        try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection).ownVersion().model }
    }
}
