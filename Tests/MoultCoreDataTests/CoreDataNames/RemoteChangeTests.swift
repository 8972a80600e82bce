import Dispatch
import Foundation
import MoultCoreData
import MoultNSCoreData
import TestSupport
import Testing

/// The notification of changes to a store by any coordinator of the process.
@Suite struct RemoteChangeTests {
    let folder: ScratchFolder
    let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/Cards.sqlite")
    }

    private let options = [NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey]

    @Test func `batch requests are announced, if they change anything`() throws {
        let container = try Cards.container(url, options: options)
        let heard = Heard(container)
        let context = container.newBackgroundContext()
        func run(_ request: NSPersistentStoreRequest) throws -> Bool {
            try context.execute(request)
            return heard.isNext
        }
        let update = NSBatchUpdateRequest(entityName: "Card")
        update.propertiesToUpdate = ["title": "b"]
        let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Card"))
        #expect(try run(NSBatchInsertRequest(entityName: "Card", objects: [["title": "a"]])))
        #expect(try run(update) && run(deletion))
        let token = heard.last?.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        #expect(token == container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(heard.last?.userInfo?[NSPersistentStoreURLKey] as? URL == url)
        try context.execute(deletion)
        #expect(heard.count == 3)
    }

    @Test func `another coordinator over the file hears of saves and batch requests, if it has the option`() throws {
        let (one, two) = (try Cards.container(url, options: options), try Cards.container(url, options: options))
        let silent = try Cards.container(url, options: [NSPersistentHistoryTrackingKey])
        let (heard, nothing) = (Heard(two), Heard(silent))
        Cards.insert("a", in: one.viewContext)
        try one.viewContext.save()
        #expect(heard.isNext)
        let store = try #require(two.persistentStoreCoordinator.persistentStores.first)
        #expect(heard.last?.userInfo?[NSStoreUUIDKey] as? String == store.identifier)
        let token = heard.last?.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        #expect(token == one.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        try one.viewContext.execute(NSBatchInsertRequest(entityName: "Card", objects: [["title": "b"]]))
        #expect(heard.isNext && nothing.count == 0)
        // Neither of another store, nor of one that is closed.
        let other = try Cards.container(
            URL(fileURLWithPath: folder.path + "/Other.sqlite"), options: options)
        Cards.insert("c", in: other.viewContext)
        try other.viewContext.save()
        try two.persistentStoreCoordinator.remove(store)
        Cards.insert("d", in: one.viewContext)
        try one.viewContext.save()
        let third = try Cards.container(url, options: options)
        let last = Heard(third)
        Cards.insert("e", in: one.viewContext)
        try one.viewContext.save()
        // What was posted before has been heard by now.
        #expect(last.isNext && heard.count == 2)
    }
}

/// The remote change notifications of a container's coordinator.
private final class Heard: Sendable {
    private let notifications = SharedList<Told>()
    private let arrival = DispatchSemaphore(value: 0)

    private struct Told: @unchecked Sendable { let notification: Notification }

    init(_ container: NSPersistentContainer) {
        let (notifications, arrival) = (notifications, arrival)
        _ = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
        ) { notification in
            notifications.add(Told(notification: notification))
            arrival.signal()
        }
    }

    /// Whether there is one more, which may take a moment.
    var isNext: Bool { arrival.wait(timeout: .now() + 20) == .success }
    var count: Int { notifications.elements.count }
    var last: Notification? { notifications.elements.last?.notification }
}
