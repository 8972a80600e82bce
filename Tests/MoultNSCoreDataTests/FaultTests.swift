import MoultNSCoreData
import TestSupport
import Testing

/// Faults and callbacks, as Apple documents them.
@Suite struct FaultTests {
    let rows: Rows
    let context: NSManagedObjectContext
    let hooks: Hooks

    init() throws {
        rows = try Rows()
        (context, hooks) = (rows.context, rows.hooks)
    }

    // MARK: - awakeFromFetch

    /// `awakeFromFetch()`: change processing is disabled around it, so that public setters establish transient values
    /// and other caches without dirtying the object or its context.
    @Test func `What awakeFromFetch sets is no change`() throws {
        try rows.saved("a")
        hooks.fetched = { row in
            row.n = 77
            row.scratch = "cached"
        }
        let other = rows.other()
        let row = try #require(try rows.fetch("a", in: other))
        #expect(row.scratch == "cached" && row.n == 77)
        #expect(!other.hasChanges && !row.hasChanges && row.changedValues().isEmpty && other.updatedObjects.isEmpty)
        try other.save()
        #expect(try rows.sql("SELECT ZN FROM ZROW") == ["3"])
        _ = row.children
        row.n = 77
        #expect(row.isUpdated)
        try other.save()
        #expect(try rows.sql("SELECT ZN FROM ZROW") == ["77"])
        other.rollback()
        #expect(row.n == 77 && !other.hasChanges)
    }

    @Test func `awakeFromFetch is called for each fault that is fulfilled, before the value is read`() throws {
        let row = try rows.saved("a")
        hooks.fetched = { [hooks] row in
            hooks.calls.append("fetch")
            row.setPrimitiveValue("cached", forKey: "scratch")
        }
        #expect(row.scratch == nil && hooks.calls.isEmpty)
        context.refresh(row, mergeChanges: false)
        #expect(hooks.calls.isEmpty && row.scratch == "cached" && hooks.calls == ["fetch"])
        #expect(row.title == "a" && hooks.calls == ["fetch"])
        context.refreshAllObjects()
        row.n = 5
        #expect(hooks.calls == ["fetch", "fetch"] && row.n == 5 && row.isUpdated && row.scratch == "cached")
        try context.save()
        #expect(hooks.calls == ["fetch", "fetch"] && !context.hasChanges)
        let other = rows.other()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = other
        child.userInfo["hooks"] = hooks
        #expect(try rows.fetch("a", in: child)?.n == 5 && hooks.calls.count == 3)
    }

    /// `setPrimitiveValue(_:forKey:)` notifies nobody; an accessor does so around it.
    @Test func `A primitive value of a transient attribute is no change unless it is announced`() throws {
        let row = try rows.saved("a")
        row.setPrimitiveValue("x", forKey: "scratch")
        #expect(row.scratch == "x" && !context.hasChanges && row.changedValues().isEmpty)
        row.willChangeValue(forKey: "scratch")
        row.setPrimitiveValue("y", forKey: "scratch")
        row.didChangeValue(forKey: "scratch")
        #expect(row.scratch == "y" && row.hasChanges && !row.hasPersistentChangedValues)
        row.setPrimitiveValue("b", forKey: "title")
        #expect(row.hasPersistentChangedValues)
    }

    @Test func `Accessors for every key use the primitive values`() throws {
        let object = Accessed(context: context)
        object.setValue("Ann", forKey: "name")
        #expect(
            object.value(forKey: "name") as? String == "Ann" && object.value(forKeyPath: "name") as? String == "Ann")
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.value(forKey: "name") as? String == "Ann" && !object.isFault)
        #expect(try rows.sql("SELECT ZNAME FROM ZACCESSED") == ["Ann"])
    }

    // MARK: - Faults

    @Test func `An object is a fault until a value is accessed, and a relationship until it is read`() throws {
        try rows.saved("kid", in: rows.saved("parent"))
        let other = rows.other()
        let kid = try #require(try rows.fetch("kid", in: other))
        #expect(kid.isFault && kid.faultingState != 0)
        #expect(kid.hasFault(forRelationshipNamed: "parent") && kid.hasFault(forRelationshipNamed: "children"))
        #expect(kid.title == "kid" && !kid.isFault && kid.faultingState == 0)
        #expect(kid.hasFault(forRelationshipNamed: "parent") && kid.hasFault(forRelationshipNamed: "children"))
        #expect(kid.children?.isEmpty == true && !kid.hasFault(forRelationshipNamed: "children"))
        let parent = try #require(kid.parent)
        #expect(parent.isFault && !kid.hasFault(forRelationshipNamed: "parent"))
        #expect(try other.existingObject(with: parent.objectID) === parent && !parent.isFault)
        other.refresh(kid, mergeChanges: false)
        #expect(kid.isFault)
        kid.willAccessValue(forKey: "nothing")
        #expect(kid.isFault)
        kid.willAccessValue(forKey: nil)
        #expect(!kid.isFault)
        other.refresh(kid, mergeChanges: false)
        kid.n = 4
        #expect(!kid.isFault && !Row(context: other).isFault)
    }

    @Test func `A fetch without faults and with prefetching leaves none`() throws {
        try rows.saved("kid", in: rows.saved("parent"))
        let request = NSFetchRequest<Row>(entityName: "Row")
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = ["children"]
        let other = rows.other()
        let found = try other.fetch(request)
        #expect(found.map(\.isFault) == [false, false])
        #expect(found.map { $0.hasFault(forRelationshipNamed: "children") } == [false, false])
    }

    /// `relationshipKeyPathsForPrefetching`: no fault has to be fired for the relationships.
    @Test func `A prefetched relationship is none, though its object is a fault`() throws {
        try rows.saved("kid", in: rows.saved("parent"))
        let request = NSFetchRequest<Row>(entityName: "Row")
        request.relationshipKeyPathsForPrefetching = ["children", "parent"]
        let other = rows.other()
        let found = try other.fetch(request)
        #expect(found.map(\.isFault) == [true, true])
        for key in ["children", "parent"] {
            #expect(found.map { $0.hasFault(forRelationshipNamed: key) } == [false, false], "\(key)")
        }
        other.refresh(found[0], mergeChanges: false)
        #expect(found[0].hasFault(forRelationshipNamed: "children"))
    }

    /// `shouldDeleteInaccessibleFaults`: an inaccessible fault is marked as deleted, with nil values.
    @Test func `An object whose row is gone is deleted once it is read`() throws {
        let row = try rows.saved("a")
        context.refresh(row, mergeChanges: false)
        let other = rows.other()
        other.delete(other.object(with: row.objectID))
        try other.save()
        #expect(!row.isDeleted && row.title == nil && row.isDeleted)
        try context.save()
    }

    // MARK: - willSave

    /// `willSave()`: a change by a standard accessor calls it again before the save.
    @Test func `willSave is called again for what it changes`() throws {
        let (one, two, three) = (try rows.saved("one"), try rows.saved("two"), try rows.saved("three"))
        hooks.saving = { [hooks] row in
            hooks.calls.append(row.title ?? "")
            if row === one, row.n < 6 { row.n += 1 }
            if row === two { (one.n, three.n) = (max(one.n, 5), 9) }
        }
        let notes = Notes(.NSManagedObjectContextDidSave, of: context)
        (one.title, two.title) = ("1", "2")
        try context.save()
        #expect(hooks.calls == ["1", "2", "1", "three", "1"])
        #expect(try rows.sql("SELECT ZTITLE, ZN FROM ZROW ORDER BY Z_PK") == ["1|6", "2|3", "three|9"])
        #expect(notes.list.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [one, two, three])
    }

    /// `willSave()`: only standard accessors call it again, so a date of modification is set by a primitive value.
    @Test func `willSave is not called again for a primitive value`() throws {
        let rows = try Rows { $0.properties.append(Library.attribute("changedAt", .date)) }
        let row = try rows.saved("a")
        rows.hooks.saving = { [hooks = rows.hooks] row in
            hooks.calls.append("willSave")
            row.setPrimitiveValue(Date(timeIntervalSinceReferenceDate: Double(hooks.calls.count)), forKey: "changedAt")
            if row.n < 4 { row.n += 1 }
        }
        row.title = "b"
        try rows.context.save()
        #expect(rows.hooks.calls.count == 2 && !rows.context.hasChanges)
        #expect(try rows.sql("SELECT ZTITLE, ZN, ZCHANGEDAT FROM ZROW") == ["b|4|2"])
    }

    /// It differs from itself, which is no change. SQLite has no such value.
    @Test func `not a number is refused by its key`() throws {
        let rows = try Rows { $0.properties.append(Library.attribute("share", .double)) }
        let row = try rows.saved("a")
        row.setValue(Double.nan, forKey: "share")
        let error = #expect(throws: NSError.self) { try rows.context.save() }
        #expect(error?.code == NSManagedObjectValidationError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "share")
        row.setValue(0.5, forKey: "share")
        try rows.context.save()
        #expect(try rows.sql("SELECT ZTITLE, ZSHARE FROM ZROW") == ["a|0.5"])
    }

    /// Core Data gives up after 1000 attempts.
    @Test func `A willSave that always changes its object makes the save fail`() throws {
        let row = try rows.saved("a")
        hooks.saving = { [hooks] row in
            hooks.calls.append("willSave")
            row.n += 1
        }
        row.title = "b"
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.domain == NSCocoaErrorDomain && error?.localizedDescription.contains("1000 attempts") == true)
        #expect(hooks.calls.count == 1000 && row.hasChanges)
        #expect(try rows.sql("SELECT ZTITLE, ZN FROM ZROW") == ["a|3"])
    }
}
