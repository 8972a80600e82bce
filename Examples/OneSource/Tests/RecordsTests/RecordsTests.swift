import CoreData
import Foundation
import Records
import Testing

/// A folder for the stores of one test.
private final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("records-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func store(_ name: String) -> URL { url.appendingPathComponent("\(name).sqlite") }
}

@Suite struct RecordsTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func contacts() throws -> (RecordsContainer, Repository<Contact>) {
        let container = try RecordsContainer("Contacts", model: ContactModel.second(), at: folder.store("Contacts"))
        return (container, Repository<Contact>(container.viewContext))
    }

    @Test func `A generic repository inserts, finds and counts`() throws {
        let (container, contacts) = try contacts()
        let ada = contacts.insert { ($0.givenName, $0.familyName) = ("Ada", "Lovelace") }
        contacts.insert { ($0.givenName, $0.familyName) = ("Grace", "Hopper") }
        try container.viewContext.save()
        let names = try contacts.records(sortedBy: [NSSortDescriptor(key: "familyName", ascending: true)])
        #expect(names.map(\.familyName) == ["Hopper", "Lovelace"])
        #expect(try contacts.count(where: NSPredicate(format: "givenName == %@", "Ada")) == 1)
        #expect(contacts.record(with: ada.objectID) === ada)
        #expect(ada.value(forKey: "created") as? Date == Date(timeIntervalSinceReferenceDate: 0))
        contacts.insert()
        #expect(throws: (any Error).self) { try container.viewContext.save() }
        container.viewContext.rollback()
        #expect(try contacts.count() == 2)
    }

    @Test func `Batch requests change rows, and the context hears of it`() throws {
        let (container, contacts) = try contacts()
        #expect(try contacts.insertAll((1...5).map { ["givenName": "C\($0)", "visits": $0] }) == 5)
        let third = try #require(try contacts.records(where: NSPredicate(format: "visits == 3")).first)
        #expect(try contacts.updateAll(where: NSPredicate(format: "visits > 2"), set: ["visits": 9]) == 3)
        #expect(third.visits == 9)
        #expect(try contacts.deleteAll(where: NSPredicate(format: "visits == 9")) == 3)
        #expect(try contacts.count() == 2 && contacts.record(with: third.objectID) == nil)
        #expect(!container.viewContext.hasChanges)
    }

    @Test func `An edit in a child context is saved as a whole or not at all`() throws {
        struct Refused: Error {}
        let (container, contacts) = try contacts()
        let context = container.viewContext
        let id = try context.edit { child in
            let ada = Repository<Contact>(child).insert { $0.givenName = "Ada" }
            try child.obtainPermanentIDs(for: [ada])
            return ada.objectID
        }
        #expect(context.hasChanges && contacts.record(with: id)?.givenName == "Ada")
        try context.save()
        #expect(throws: Refused.self) {
            try context.edit { child in
                Repository<Contact>(child).record(with: id)?.givenName = "Eve"
                throw Refused()
            }
        }
        #expect(!context.hasChanges && contacts.record(with: id)?.givenName == "Ada")
    }

    @Test func `A list tells of the changes of its context`() throws {
        let (container, contacts) = try contacts()
        let context = container.viewContext
        let list = try RecordList(of: "Contact", sortedBy: "givenName", in: context)
        let ada = contacts.insert { $0.givenName = "Ada" }
        context.processPendingChanges()
        contacts.insert { $0.givenName = "Grace" }
        try context.save()
        #expect(list.takeChanges() == ["insert 0", "insert 1"])
        ada.visits = 1
        try context.save()
        #expect(list.takeChanges().map { $0.prefix(8) } == ["update 0"])
        context.delete(ada)
        try context.save()
        #expect(list.takeChanges() == ["delete 0"])
        #expect(list.records.compactMap { ($0 as? Contact)?.givenName } == ["Grace"])
    }

    @Test func `A background context has the author of the container`() throws {
        let (container, _) = try contacts()
        let context = container.newBackgroundContext()
        try context.performAndWait {
            Repository<Contact>(context).insert { $0.givenName = "Ada" }
            try context.save()
        }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        #expect(transactions.map(\.author) == ["Contacts in the background"])
    }

    @Test func `A policy splits the names of an older store`() throws {
        let (old, new) = (folder.store("Old"), folder.store("New"))
        do {
            let container = try RecordsContainer("Contacts", model: ContactModel.first(), at: old)
            let batch = NSBatchInsertRequest(
                entityName: "Contact",
                objects: [["fullName": "Ada Lovelace", "visits": 4], ["fullName": "Plato", "visits": 4]])
            try container.viewContext.execute(batch)
            let coordinator = container.persistentStoreCoordinator
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        try ContactModel.migrate(old, to: new)
        let container = try RecordsContainer("Contacts", model: ContactModel.second(), at: new)
        let contacts = try Repository<Contact>(container.viewContext).records(
            sortedBy: [NSSortDescriptor(key: "givenName", ascending: true)])
        #expect(contacts.map(\.givenName) == ["Ada", "Plato"] && contacts.map(\.familyName) == ["Lovelace", nil])
        #expect(contacts.map(\.visits) == [4, 4])
    }
}
