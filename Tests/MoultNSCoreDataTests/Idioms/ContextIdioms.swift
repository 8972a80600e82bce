import MoultNSCoreData
import TestSupport
import Testing

@Suite struct ContextIdioms {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() throws { container = try Library.container() }

    @Test("NSMergeByPropertyObjectTrumpMergePolicy constant")
    func policyConstant() throws {
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
    }

    @Test("NSMergePolicy.mergeByPropertyObjectTrump")
    func policy() throws {
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let ann = Library.person("Ann", in: context)
        try context.save()
        try changeElsewhere(ann.objectID, age: 5)
        ann.age = 6
        try context.save()
        #expect(ann.age == 6)
    }

    @Test("NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)")
    func policyOfType() throws {
        context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
        let ann = Library.person("Ann", in: context)
        try context.save()
        try changeElsewhere(ann.objectID, age: 5)
        ann.age = 6
        try context.save()
        #expect(ann.age == 5)
    }

    @Test("context.retainsRegisteredObjects = true")
    func retaining() throws {
        for number in 0..<3 { Library.person("Person \(number)", in: context) }
        try context.save()
        context.reset()
        let request = NSFetchRequest<Person>(entityName: "Person")
        #expect(try context.fetch(request).count == 3 && context.registeredObjects.isEmpty)
        context.retainsRegisteredObjects = true
        #expect(try context.fetch(request).count == 3 && context.registeredObjects.count == 3)
        context.reset()
        #expect(context.retainsRegisteredObjects && context.registeredObjects.isEmpty)
        _ = try context.fetch(request)
        context.retainsRegisteredObjects = false
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("try request.execute() in perform")
    func executing() async throws {
        let other = container.newBackgroundContext()
        let request = NSFetchRequest<Person>(entityName: "Person")
        Library.person("Ann", in: context)
        #expect(try context.performAndWait { try request.execute().map(\.name) } == ["Ann"])
        #expect(try other.performAndWait { try request.execute().isEmpty })
        try context.save()
        let names = try await other.perform {
            let inner = try context.performAndWait { try request.execute().map(\.name) }
            return try inner + NSFetchRequest<Person>(entityName: "Person").execute().map(\.name)
        }
        #expect(names == ["Ann", "Ann"])
    }

    final class Watching: NSMergePolicy, @unchecked Sendable {
        var seen: [NSMergeConflict] = []
        override func resolve(mergeConflicts list: [Any]) throws {
            seen += list.compactMap { $0 as? NSMergeConflict }
            try super.resolve(mergeConflicts: list)
        }
    }

    @Test("subclass NSMergePolicy")
    func policySubclass() throws {
        let policy = Watching(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        context.mergePolicy = policy
        let ann = Library.person("Ann", in: context)
        try context.save()
        try changeElsewhere(ann.objectID, age: 5)
        ann.age = 6
        try context.save()
        #expect(policy.seen.map(\.sourceObject) == [ann])
        #expect(ann.age == 6)
    }

    @Test("NSMergeConflict in resolve(optimisticLockingConflicts:): what each side holds")
    func snapshots() throws {
        final class Adding: NSMergePolicy, @unchecked Sendable {
            var ages: [[Int?]] = []
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                for conflict in list {
                    let all = [conflict.cachedSnapshot, conflict.persistedSnapshot, conflict.objectSnapshot]
                    ages.append(all.map { $0?["age"] as? Int })
                    let names = all.map { $0?["name"] as? String }
                    guard names == ["Ann", "Ann", "Ann"] else { throw CocoaError(.coreData) }
                    conflict.sourceObject.setValue(11, forKey: "age")
                }
                try super.resolve(optimisticLockingConflicts: list)
            }
        }
        let policy = Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        context.mergePolicy = policy
        let ann = Library.person("Ann", 1, in: context)
        try context.save()
        try changeElsewhere(ann.objectID, age: 5)
        ann.age = 6
        try context.save()
        #expect(policy.ages == [[1, 5, 6]])
        #expect(ann.age == 11)
        let other = container.newBackgroundContext()
        #expect((other.object(with: ann.objectID) as? Person)?.age == 11)
    }

    @Test("a policy of errorMergePolicyType that refreshes the objects in conflict")
    func refreshingPolicy() throws {
        final class Refreshing: NSMergePolicy, @unchecked Sendable {
            var refreshes = true
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                guard refreshes else { return }
                for object in list.map(\.sourceObject) {
                    object.managedObjectContext?.refresh(object, mergeChanges: true)
                }
            }
        }
        let policy = Refreshing(merge: .errorMergePolicyType)
        context.mergePolicy = policy
        let ann = Library.person("Ann", 1, in: context)
        try context.save()
        try changeElsewhere(ann.objectID, age: 5)
        ann.isActive = false
        try context.save()
        #expect(ann.age == 5 && !ann.isActive)
        policy.refreshes = false
        try changeElsewhere(ann.objectID, age: 7)
        ann.isActive = true
        #expect(throws: NSError.self) { try context.save() }
    }

    /// What guides to constraints write: the object of the store keeps its name.
    final class Keeping: NSMergePolicy, @unchecked Sendable {
        var seen: [NSConstraintConflict] = []
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            seen += list
            for conflict in list {
                guard let kept = conflict.databaseObject else { continue }
                for object in conflict.conflictingObjects {
                    object.setValue(kept.value(forKey: "isActive"), forKey: "isActive")
                }
            }
            try super.resolve(constraintConflicts: list)
        }
    }

    @Test("resolve(constraintConflicts:), NSConstraintConflict")
    func constraints() throws {
        let container = try Library.container(Library.model { person, _ in person.uniquenessConstraints = [["name"]] })
        let context = container.viewContext
        let policy = Keeping(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        context.mergePolicy = policy
        let first = Library.person("Ann", 1, in: context)
        first.isActive = false
        try context.save()
        let second = Library.person("Ann", 2, in: context)
        try context.save()
        #expect(policy.seen.map(\.constraint) == [["name"]])
        let people = try container.newBackgroundContext().fetch(NSFetchRequest<Person>(entityName: "Person"))
        #expect(people.map(\.age) == [2] && people.map(\.isActive) == [false])
        // A policy keeps its conflicts for a report, and the object that gave way is gone by then.
        let kept = try #require(policy.seen.first)
        #expect(kept.conflictingObjects == [second] && kept.databaseObject === first)
        #expect(kept.constraintValues["name"] as? String == "Ann")
        #expect(kept.conflictingSnapshots.map { $0["age"] as? Int } == [2])

        context.mergePolicy = NSErrorMergePolicy
        Library.person("Ann", 3, in: context)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        let list = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        let conflict = try #require(list?.first)
        #expect(conflict.constraintValues["name"] as? String == "Ann")
        #expect(conflict.databaseSnapshot?["age"] as? Int == 2)
        #expect(conflict.conflictingSnapshots.map { $0["age"] as? Int } == [3])
    }

    @Test("an unresolved conflict is 133020 with NSMergeConflict")
    func conflict() throws {
        let ann = Library.person("Ann", in: context)
        try context.save()
        try changeElsewhere(ann.objectID, age: 5)
        ann.age = 6
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
        let parts = error.flatMap { $0 as any Error as? CocoaError }
        #expect(parts?.persistentStoreSaveConflicts?.count == 1)
    }

    private func changeElsewhere(_ id: NSManagedObjectID, age: Int16) throws {
        let other = container.newBackgroundContext()
        (other.object(with: id) as? Person)?.age = age
        try other.save()
    }

    @Test("context.rollback / reset / refresh / refreshAllObjects / hasChanges / insertedObjects / updatedObjects / …")
    func state() throws {
        let ann = Library.person("Ann", 1, in: context)
        #expect(context.hasChanges && context.insertedObjects == [ann])
        try context.save()
        ann.age = 2
        #expect(context.updatedObjects == [ann])
        context.refresh(ann, mergeChanges: false)
        #expect(ann.age == 1 && ann.calls.suffix(2) == ["willTurnIntoFault", "didTurnIntoFault"])
        ann.age = 3
        context.refreshAllObjects()
        #expect(ann.age == 3)
        context.rollback()
        #expect(ann.age == 1 && !context.hasChanges)
        context.delete(ann)
        #expect(context.deletedObjects == [ann] && context.registeredObjects.contains(ann))
        context.reset()
        #expect(!context.hasChanges)
    }

    @Test("child context: NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType); parent")
    func child() throws {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        Library.person("Ann", in: child)
        try child.save()
        #expect(context.insertedObjects.count == 1 && child.parent === context)
        try context.save()
        #expect(try container.newBackgroundContext().count(for: NSFetchRequest<Person>(entityName: "Person")) == 1)
    }

    @Test("child context: .init(.privateQueue)")
    func childOfType() {
        let child: NSManagedObjectContext = .init(.privateQueue)
        child.parent = context
        #expect(child.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test("perform / performAndWait / async perform / performBackgroundTask")
    func perform() async throws {
        context.performAndWait { _ = Library.person("Ann", in: context) }
        try context.performAndWait { try context.save() }
        await withCheckedContinuation { done in context.perform { done.resume() } }
        let count = try await container.performBackgroundTask { background in
            try background.count(for: NSFetchRequest<Person>(entityName: "Person"))
        }
        #expect(count == 1)
        await withCheckedContinuation { done in
            container.performBackgroundTask { background in
                Library.person("Bob", in: background)
                do { try background.save() } catch { Issue.record(error) }
                done.resume()
            }
        }
        #expect(try context.count(for: NSFetchRequest<Person>(entityName: "Person")) == 2)
    }

    @Test("async perform returning a value")
    func performValue() async throws {
        let background = container.newBackgroundContext()
        let id = try await background.perform {
            let ann = Library.person("Ann", in: background)
            try background.save()
            return ann.objectID
        }
        #expect((context.object(with: id) as? Person)?.name == "Ann")
        #expect(await background.perform { 3 } == 3)
    }

    @Test("Notification NSManagedObjectContextDidSave / ObjectsDidChange")
    func notifications() throws {
        let saved = Notes(.NSManagedObjectContextDidSave, of: context)
        let changed = Notes(.NSManagedObjectContextObjectsDidChange, of: context)
        let ann = Library.person("Ann", in: context)
        context.processPendingChanges()
        #expect(changed.list.first?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [ann])
        try context.save()
        #expect(saved.list.count == 1 && changed.list.count == 1)
        #expect(saved.list.first?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [ann])
        ann.age = 4
        try context.save()
        #expect(saved.list.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [ann])
        #expect(changed.list.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [ann])
    }

    @Test("changedValuesForCurrentEvent()")
    func valuesOfEvent() throws {
        let ann = Library.person("Ann", 1, in: context)
        let post = Post(context: context)
        ann.postSet = [post]
        try context.save()
        #expect(ann.changedValuesForCurrentEvent().isEmpty)
        ann.age = 2
        ann.age = 3
        ann.born = Date(timeIntervalSinceReferenceDate: 0)
        #expect(ann.changedValuesForCurrentEvent() as NSDictionary == ["age": 1, "born": NSNull()])
        nonisolated(unsafe) var seen: [[String: Any]] = []
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { note in
            for object in note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [] {
                seen.append(object.changedValuesForCurrentEvent())
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        context.processPendingChanges()
        #expect(seen.count == 1 && seen.first as NSDictionary? == ["age": 1, "born": NSNull()])
        // The next event begins with what this one has left; what is not saved yet is an old value too.
        #expect(ann.changedValuesForCurrentEvent().isEmpty && ann.changedValues().count == 2)
        ann.age = 4
        #expect(ann.changedValuesForCurrentEvent() as NSDictionary == ["age": 3])
        ann.age = 3
        #expect(ann.changedValuesForCurrentEvent().isEmpty)
        context.rollback()
        #expect(ann.changedValuesForCurrentEvent().isEmpty)
    }

    @Test("ObjectsDidChange names the other end of a relationship")
    func otherEnds() throws {
        let (ann, bob) = (Library.person("Ann", in: context), Library.person("Bob", in: context))
        let (first, second) = (Post(context: context), Post(context: context))
        ann.postSet = [first, second]
        try context.save()
        let id = ann.objectID
        context.reset()
        let again = try #require(try context.existingObject(with: id) as? Person)
        let other = try #require(try context.existingObject(with: bob.objectID) as? Person)
        let moved = try #require(try context.existingObject(with: first.objectID) as? Post)
        let changed = Notes(.NSManagedObjectContextObjectsDidChange, of: context)
        moved.author = other
        let post = try context.existingObject(with: second.objectID)
        #expect(again.changedValuesForCurrentEvent() as NSDictionary == ["posts": NSSet(array: [moved, post])])
        #expect(other.changedValuesForCurrentEvent() as NSDictionary == ["posts": NSSet()])
        #expect(moved.changedValuesForCurrentEvent() as NSDictionary == ["author": again])
        context.processPendingChanges()
        #expect(changed.list.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [again, other, moved])
        #expect(changed.list.last?.userInfo?[NSDeletedObjectsKey] == nil)
    }

    @Test("didSaveObjectIDsNotification, didMergeChangesObjectIDsNotification")
    func identityNotifications() throws {
        let saved = Notes(NSManagedObjectContext.didSaveObjectIDsNotification, of: context)
        let other = container.newBackgroundContext()
        let merged = Notes(NSManagedObjectContext.didMergeChangesObjectIDsNotification, of: other)
        let ann = Library.person("Ann", in: context)
        try context.save()
        let note = try #require(saved.list.first)
        #expect(note.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [ann.objectID])
        other.mergeChanges(fromContextDidSave: note)
        #expect(merged.list.count == 1)
    }

    @Test("willSaveObjectsNotification")
    func willSave() throws {
        let notes = Notes(NSManagedObjectContext.willSaveObjectsNotification, of: context)
        Library.person("Ann", in: context)
        try context.save()
        #expect(notes.list.count == 1)
    }

    @Test("Notification.Name.NSPersistentStoreRemoteChange")
    func remoteChange() {
        #expect(Notification.Name.NSPersistentStoreRemoteChange.rawValue == "NSPersistentStoreRemoteChangeNotification")
    }

    @Test("mergeChanges(fromContextDidSave:)")
    func merging() throws {
        let other = container.newBackgroundContext()
        let ann = Library.person("Ann", 1, in: context)
        try context.save()
        let same = try #require(other.object(with: ann.objectID) as? Person)
        #expect(same.age == 1)
        let notes = Notes(.NSManagedObjectContextDidSave, of: context)
        ann.age = 2
        try context.save()
        #expect(same.age == 1)
        other.mergeChanges(fromContextDidSave: try #require(notes.list.first))
        #expect(same.age == 2)
    }

    @Test("automaticallyMergesChangesFromParent")
    func automaticMerging() throws {
        context.automaticallyMergesChangesFromParent = true
        let ann = Library.person("Ann", 1, in: context)
        try context.save()
        try changeElsewhere(ann.objectID, age: 9)
        #expect(ann.age == 9)
    }

    @Test("context.obtainPermanentIDs")
    func permanentIdentities() throws {
        let ann = Library.person("Ann", in: context)
        #expect(ann.objectID.isTemporaryID)
        try context.obtainPermanentIDs(for: [ann])
        #expect(!ann.objectID.isTemporaryID)
    }

    @Test("managedObjectID(forURIRepresentation:)")
    func uri() throws {
        let ann = Library.person("Ann", in: context)
        try context.save()
        let uri = ann.objectID.uriRepresentation()
        #expect(uri.scheme == "x-coredata")
        #expect(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri) == ann.objectID)
    }

    @Test("objectID.entity, objectID.persistentStore")
    func identityParts() throws {
        let ann = Library.person("Ann", in: context)
        #expect(ann.objectID.entity.name == "Person")
        #expect(ann.objectID.persistentStore == nil)
        try context.save()
        let other = try Library.container(Library.model { person, _ in person.properties = [] })
        #expect(ann.objectID.entity === ann.entity)
        #expect(ann.objectID.entity.managedObjectModel === container.managedObjectModel)
        let store = container.persistentStoreCoordinator.persistentStores[0]
        #expect(ann.objectID.persistentStore === store)
        let id = ann.objectID
        try container.persistentStoreCoordinator.remove(store)
        #expect(id.persistentStore == nil)
        #expect(id.entity.name == "Person")
        withExtendedLifetime(other) {}
    }

    @Test("coordinator.performAndWait and perform with a result, coordinator.name")
    func coordinatorBlocks() async throws {
        let coordinator = container.persistentStoreCoordinator
        coordinator.name = "Library"
        #expect(coordinator.name == "Library")
        #expect(coordinator.performAndWait { coordinator.persistentStores.count } == 1)
        #expect(throws: CocoaError.self) { try coordinator.performAndWait { throw CocoaError(.coreData) } }
        let count = await coordinator.perform { 3 }
        #expect(count == 3)
    }

    @Test("context.delete without try")
    func delete() throws {
        let ann = Library.person("Ann", in: context)
        let post = Post(context: context)
        post.author = ann
        try context.save()
        context.delete(ann)
        try context.save()
        #expect(try context.count(for: NSFetchRequest<Post>(entityName: "Post")) == 0)
        #expect(ann.calls.contains("prepareForDeletion"))
    }

    @Test("error: (error as NSError).code == NSValidationMissingMandatoryPropertyError / NSDetailedErrors")
    func validationErrors() throws {
        let nameless = Person(context: context)
        do {
            try context.save()
            Issue.record("saved")
        } catch {
            #expect((error as NSError).code == NSValidationMissingMandatoryPropertyError)
            #expect((error as NSError).domain == NSCocoaErrorDomain)
            #expect((error as NSError).userInfo[NSValidationKeyErrorKey] as? String == "name")
            #expect((error as? CocoaError)?.code == .validationMissingMandatoryProperty)
        }
        _ = Person(context: context)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationMultipleErrorsError)
        #expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
        context.delete(nameless)
    }

    @Test("CocoaError.Code.persistentStoreIncompatibleVersionHash")
    func incompatible() throws {
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
        let old = try Library.container(at: url)
        try old.persistentStoreCoordinator.remove(old.persistentStoreCoordinator.persistentStores[0])
        let changed = Library.model { person, _ in person.properties.append(Library.attribute("nickname", .string)) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: changed)
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        }
        #expect(error.flatMap { ($0 as any Error as? CocoaError)?.code } == .persistentStoreIncompatibleVersionHash)
    }
}
