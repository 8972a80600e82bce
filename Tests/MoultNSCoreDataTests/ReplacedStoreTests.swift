import MoultNSCoreData
import TestSupport
import Testing

/// Contexts over a store whose contents are replaced by those of a backup: nothing that belongs to the old contents is
/// written into the new ones.
@Suite struct ReplacedStoreTests {
    let rows: Rows
    let context: NSManagedObjectContext
    let copy: URL
    private var coordinator: NSPersistentStoreCoordinator { rows.container.persistentStoreCoordinator }

    init() throws {
        rows = try Rows()
        context = rows.context
        copy = rows.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
    }

    private func backUp() throws {
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: rows.url, type: .sqlite)
    }

    private func remove() throws { try coordinator.remove(coordinator.persistentStores[0]) }
    private func open() throws { try coordinator.addPersistentStore(type: .sqlite, at: rows.url) }

    private func restore() throws {
        try coordinator.replacePersistentStore(at: rows.url, withPersistentStoreFrom: copy, type: .sqlite)
        try open()
    }

    private func setElsewhere(_ title: String, _ n: Int32) throws {
        let other = rows.other()
        let row = try #require(try rows.fetch(title, in: other))
        row.n = n
        try other.save()
    }

    private func expectRefused(_ context: NSManagedObjectContext) {
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }

    // MARK: - Merges and refreshes

    @Test func `A merge does not let an old change or deletion into the backup`() throws {
        context.automaticallyMergesChangesFromParent = true
        let (one, two) = (try rows.saved("a"), try rows.saved("b"))
        let second = rows.other()
        second.automaticallyMergesChangesFromParent = true
        try backUp()
        one.title = "old"
        second.delete(second.object(with: two.objectID))
        second.processPendingChanges()
        try restore()
        for title in ["a", "b"] { try setElsewhere(title, 5) }
        for each in [context, second] { expectRefused(each) }
        #expect(try rows.sql("SELECT ZTITLE, ZN FROM ZROW ORDER BY 1") == ["a|5", "b|5"])
    }

    @Test func `A deletion whose rules are not followed yet is not saved into the backup`() throws {
        let id = try rows.saved("a").objectID
        try backUp()
        let other = rows.other()
        other.delete(other.object(with: id))
        try restore()
        expectRefused(other)
        #expect(try rows.sql("SELECT ZTITLE FROM ZROW") == ["a"])
    }

    @Test func `An object of the backup can be saved once its old changes are discarded`() throws {
        let (row, gone) = (try rows.saved("a"), try rows.saved("b"))
        try backUp()
        row.n = 4
        context.delete(gone)
        context.processPendingChanges()
        try restore()
        context.refreshAllObjects()
        context.refresh(row, mergeChanges: true)
        #expect(row.n == 4)
        expectRefused(context)
        for each in [row, gone] { context.refresh(each, mergeChanges: false) }
        #expect(row.n == 3 && !gone.isDeleted && gone.title == "b" && !context.hasChanges)
        (row.title, gone.n) = ("c", 8)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZN FROM ZROW ORDER BY 1") == ["b|8", "c|3"])
    }

    // MARK: - Removed stores

    /// An old context, with a change over a row that has the same version in the backup.
    private func changed() throws -> NSManagedObjectContext {
        let row = try rows.saved("a")
        try backUp()
        // The system's clock for files is coarse.
        Thread.sleep(forTimeInterval: 0.02)
        row.n = 4
        try context.save()
        let old = rows.other()
        let other = try #require(try rows.fetch("a", in: old))
        other.title = "old"
        return old
    }

    @Test func `An old change is refused after its store was removed, replaced and added`() throws {
        let old = try changed()
        try remove()
        try restore()
        try setElsewhere("a", 7)
        expectRefused(old)
        #expect(try rows.sql("SELECT ZTITLE, ZN, Z_OPT FROM ZROW") == ["a|7|2"])
    }

    @Test func `An old change is refused after the file of its removed store was replaced`() throws {
        let old = try changed()
        try remove()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: rows.url.path + suffix) }
        try FileManager.default.copyItem(at: copy, to: rows.url)
        try open()
        try setElsewhere("a", 7)
        expectRefused(old)
        #expect(try rows.sql("SELECT ZTITLE, ZN, Z_OPT FROM ZROW") == ["a|7|2"])
    }

    @Test func `A change is saved after its store was removed and added again as it was`() throws {
        let row = try rows.saved("a")
        row.n = 4
        for _ in 0..<2 {
            try remove()
            try open()
        }
        #expect(row.n == 4)
        try context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZN FROM ZROW") == ["a|4"])
    }

    // MARK: - Undo

    private func grouped(_ body: () -> Void) -> UndoManager {
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        manager.beginUndoGrouping()
        body()
        manager.endUndoGrouping()
        return manager
    }

    @Test func `A change of the old contents is not undone in the backup`() throws {
        let row = try rows.saved("a")
        let manager = grouped { row.n = 4 }
        try context.save()
        try backUp()
        #expect(manager.canUndo)
        try restore()
        #expect(!manager.canUndo)
        context.undo()
        #expect(row.n == 4 && !context.hasChanges)
    }

    @Test func `A deletion that was undone before is not written into the backup`() throws {
        let row = try rows.saved("a")
        try backUp()
        let manager = grouped { context.delete(row) }
        try context.save()
        manager.undo()
        #expect(row.isInserted)
        try restore()
        expectRefused(context)
        context.rollback()
        try rows.saved("b")
        #expect(try rows.sql("SELECT ZTITLE FROM ZROW ORDER BY 1") == ["a", "b"])
    }

    @Test func `The undo of a deletion adds no second row to the backup`() throws {
        let row = try rows.saved("a")
        try backUp()
        let manager = grouped { context.delete(row) }
        try context.save()
        try restore()
        #expect(!manager.canUndo)
        context.undo()
        try rows.saved("b")
        #expect(try rows.sql("SELECT ZTITLE FROM ZROW ORDER BY 1") == ["a", "b"])
    }
}
