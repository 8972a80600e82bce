import Foundation
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

/// Stores of Moult's own with what the corpus has no example of: R-trees, files of external data, order in join
/// tables and without an inverse, unique entities.
struct SavedOwnStoreTests {  // tier: long
    private func kitchen(_ folder: ScratchFolder, history: Bool) throws -> SavedStore {
        let path = folder.path + "/Kitchen.sqlite"
        let maker = try StoreCreator(ModelVersion(names: ["1"], model: KitchenModel.make()), history: history)
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        try SampleData(seed: 3).fill(writer)
        try writer.finish()
        return try SavedStore(path, model: KitchenModel.make(), author: "cook")
    }

    @Test(arguments: [false, true])
    func `every kind of property and relationship is saved as Core Data saves it`(history: Bool) throws {
        let folder = try ScratchFolder()
        let store = try kitchen(folder, history: history)
        let turned = try store.changeEverything()
        store.close()
        try store.audit()
        for fault in store.faults.prefix(10) { Issue.record("\(fault)") }
        #expect(turned == 5, "ingredients and tags of dishes and of soups, notes of cooks")
        #expect(store.counts.inserted >= 5 && store.counts.deleted >= 5)
        #expect(history == (store.historyRows > 15))
    }

    @Test func `files of external data are those that rows name, whatever becomes of the values`() throws {
        let folder = try ScratchFolder()
        let store = try kitchen(folder, history: false)
        func check(_ moment: String) throws {
            let named = try SQLiteShell.run(
                store.path,
                "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZDISH WHERE hex(substr(ZPHOTO, 1, 1)) = '02'"
            ).split(separator: "\n").map(String.init)
            let there = try FileManager.default.contentsOfDirectory(
                atPath: folder.path + "/.Kitchen_SUPPORT/_EXTERNAL_DATA")
            #expect(there.sorted() == named.sorted(), "\(moment)")
        }
        try check("at first")
        let dish = try store.context.insert("Dish")
        try dish.setAttribute("title", .string("stew"))
        try dish.setAttribute("photo", .binary([UInt8](repeating: 1, count: 120_000)))
        try store.save()
        try check("inserted")
        for (moment, value) in [
            ("replaced", [UInt8](repeating: 2, count: 130_000)), ("small", [1, 2]), ("large", (0...255) * 500),
        ] {
            try dish.setAttribute("photo", .binary(value))
            try store.save()
            try check(moment)
            try store.context.refresh(dish, mergingChanges: false)
            #expect(try dish.attribute("photo") == .binary(value))
        }
        try dish.setAttribute("photo", .binary([UInt8](repeating: 3, count: 140_000)))
        try dish.setAttribute("title", nil)
        #expect(throws: ValidationErrors.self) { try store.context.save() }
        store.context.rollback()
        try check("refused")
        try store.context.delete(dish)
        try store.save()
        try check("deleted")
        #expect(store.faults == [])
    }

    @Test func `an R-tree holds what its table holds`() throws {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Place",
                attributes: ["latitude", "longitude"].map { AttributeDescription(name: $0, type: .double) },
                fetchIndexes: [
                    FetchIndexDescription(
                        name: "byPlace",
                        elements: ["latitude", "longitude"].map { .init(subject: .property($0), kind: .rTree) })
                ])
        ])
        let path = folder.path + "/Places.sqlite"
        try StoreCreator(ModelVersion(names: ["1"], model: model), history: true).make(at: path)
        let store = try SavedStore(path, model: model)
        func place(_ latitude: Double, _ longitude: Double, _ place: Object) throws {
            try place.setAttribute("latitude", .double(latitude))
            try place.setAttribute("longitude", .double(longitude))
        }
        func tree() throws -> String {
            try SQLiteShell.run(
                path,
                """
                SELECT (SELECT count(*) FROM Z_RT_Place_byPlace) = (SELECT count(*) FROM ZPLACE),
                    (SELECT count(*) FROM ZPLACE p JOIN Z_RT_Place_byPlace t USING (Z_PK) WHERE abs(t.ZLATITUDE_MIN -
                    p.ZLATITUDE) < 0.001 AND abs(t.ZLONGITUDE_MAX - p.ZLONGITUDE) < 0.001)
                """)
        }
        let places = try (0..<20).map { number in
            let object = try store.context.insert("Place")
            try place(Double(number), Double(-number), object)
            return object
        }
        try store.save()
        #expect(try tree() == "1|20\n")
        try place(48.5, 9.25, places[3])
        try store.context.delete(places[7])
        try store.save()
        #expect(try tree() == "1|19\n")
        store.close()
        try store.audit()
        #expect(store.faults == [])
    }

    @Test func `a unique value may pass to a new object in the save that deletes the old one`() throws {
        let folder = try ScratchFolder()
        let store = try kitchen(folder, history: true)
        let cook = try #require(try store.context.fetch(ObjectFetch(entityName: "Cook")).first)
        let name = try cook.attribute("name")
        try store.context.delete(cook)
        let other = try store.context.insert("Cook")
        try other.setAttribute("name", name)
        let difference = try store.save()
        #expect(difference.inserted.count == 1 && difference.deleted.contains { $0.table == "ZCOOK" })
        let twin = try store.context.insert("Cook")
        try twin.setAttribute("name", name)
        #expect(throws: MergeConflictError.self) { try store.context.save() }
        store.context.rollback()
        store.close()
        try store.audit()
        #expect(store.faults == [])
    }
}

private func * (bytes: ClosedRange<UInt8>, times: Int) -> [UInt8] { (0..<times).flatMap { _ in Array(bytes) } }
