import Foundation
import MoultCoreData
import MoultNSCoreData
import TestSupport
import Testing

/// Copies of what Core Data declares as `NSCopying`.
@Suite struct CopyTests {
    @Test func `a copied fetch request has the same properties, and changes alone`() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Card")
        request.predicate = NSPredicate(format: "title == 'a'")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (1, 2, 3)
        (request.includesSubentities, request.includesPendingChanges) = (false, false)
        (request.includesPropertyValues, request.returnsObjectsAsFaults) = (false, false)
        (request.shouldRefreshRefetchedObjects, request.returnsDistinctResults) = (true, true)
        request.relationshipKeyPathsForPrefetching = ["parent"]
        (request.propertiesToFetch, request.propertiesToGroupBy) = (["title"], ["title"])
        request.havingPredicate = NSPredicate(format: "count:(title) > 1")
        request.resultType = .managedObjectIDResultType
        request.affectedStores = []
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        #expect(copy !== request && copy.entityName == "Card")
        #expect(copy.predicate === request.predicate && copy.havingPredicate === request.havingPredicate)
        #expect(copy.sortDescriptors?.map(\.key) == ["title"])
        #expect(copy.fetchLimit == 1 && copy.fetchOffset == 2 && copy.fetchBatchSize == 3)
        #expect(!copy.includesSubentities && !copy.includesPendingChanges && !copy.includesPropertyValues)
        #expect(!copy.returnsObjectsAsFaults && copy.shouldRefreshRefetchedObjects && copy.returnsDistinctResults)
        #expect(copy.relationshipKeyPathsForPrefetching == ["parent"] && copy.affectedStores == [])
        #expect(copy.propertiesToFetch as? [String] == ["title"] && copy.propertiesToGroupBy as? [String] == ["title"])
        #expect(copy.resultType == .managedObjectIDResultType)
        (copy.fetchLimit, copy.predicate, copy.affectedStores) = (9, nil, nil)
        #expect(request.fetchLimit == 1 && request.predicate != nil && request.affectedStores == [])
    }

    @Test func `copied batch requests change alone, and do the same`() throws {
        let context = try Cards.container().viewContext
        let insertion = NSBatchInsertRequest(entityName: "Card", objects: [["title": "a"], ["title": "b"]])
        let update = NSBatchUpdateRequest(entityName: "Card")
        update.predicate = NSPredicate(format: "title == 'a'")
        update.propertiesToUpdate = ["title": "c"]
        let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Card"))
        let requests: [NSPersistentStoreRequest] = [insertion, update, deletion]
        let counts = try requests.map { request -> Int? in
            let copy = try #require(request.copy() as? NSPersistentStoreRequest)
            copy.affectedStores = []
            #expect(request.affectedStores == nil && type(of: copy) == type(of: request))
            let same = try #require(request.copy() as? NSPersistentStoreRequest)
            switch same {
            case let insertion as NSBatchInsertRequest: insertion.resultType = .count
            case let update as NSBatchUpdateRequest: update.resultType = .updatedObjectsCountResultType
            case let deletion as NSBatchDeleteRequest: deletion.resultType = .resultTypeCount
            default: break
            }
            switch try context.execute(same) {
            case let done as NSBatchInsertResult: return done.result as? Int
            case let done as NSBatchUpdateResult: return done.result as? Int
            case let done as NSBatchDeleteResult: return done.result as? Int
            default: return nil
            }
        }
        #expect(counts == [2, 1, 2])
        #expect(insertion.resultType == .statusOnly && update.resultType == .statusOnlyResultType)
        (deletion.copy() as? NSBatchDeleteRequest)?.fetchRequest.fetchLimit = 1
        #expect(deletion.fetchRequest.fetchLimit == 0)
        let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        (history.copy() as? NSPersistentHistoryChangeRequest)?.resultType = .count
        #expect(history.resultType == .transactionsAndChanges)
    }

    @Test func `the model of a container is copied, changed and used`() throws {
        let folder = try ScratchFolder()
        let url = URL(fileURLWithPath: folder.path + "/Cards.sqlite")
        let model = Cards.model { card in
            guard let title = card.attributesByName["title"] else { return }
            let column = NSFetchIndexElementDescription(property: title, collationType: .binary)
            card.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [column])]
            card.uniquenessConstraints = [[title]]
        }
        model.setEntities(model.entities, forConfigurationName: "all")
        model.setFetchRequestTemplate(NSFetchRequest(entityName: "Card"), forName: "cards")
        model.versionIdentifiers = ["1"]
        let container = try Cards.container(url, model: model)
        Cards.insert("a", in: container.viewContext)
        try container.viewContext.save()

        let copy = try #require(container.managedObjectModel.copy() as? NSManagedObjectModel)
        #expect(copy.versionChecksum == model.versionChecksum && copy.versionIdentifiers == ["1"])
        let card = try #require(copy.entitiesByName["Card"])
        #expect(card !== model.entitiesByName["Card"] && card.managedObjectModel === copy)
        let (parent, children) = (card.relationshipsByName["parent"], card.relationshipsByName["children"])
        #expect(parent?.destinationEntity === card && parent?.inverseRelationship === children)
        #expect(parent?.entity === card && children?.isToMany == true && parent?.isToMany == false)
        let title = try #require(card.attributesByName["title"])
        #expect(card.indexes.first?.elements.first?.property === title && card.indexes.first?.entity === card)
        #expect(card.uniquenessConstraints.first?.first as? NSPropertyDescription === title)
        #expect(copy.entities(forConfigurationName: "all")?.first === card)
        #expect(copy.fetchRequestTemplate(forName: "cards") !== model.fetchRequestTemplate(forName: "cards"))

        card.properties.append(Cards.attribute("back"))
        copy.fetchRequestTemplate(forName: "cards")?.fetchLimit = 1
        #expect(copy.versionChecksum != model.versionChecksum)
        #expect(model.entitiesByName["Card"]?.attributesByName["back"] == nil)
        #expect(model.fetchRequestTemplate(forName: "cards")?.fetchLimit == 0)
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let next = try Cards.container(url, model: copy).viewContext
        let found = try next.fetch(NSFetchRequest<NSManagedObject>(entityName: "Card"))
        #expect(found.map { $0.value(forKey: "title") as? String } == ["a"])
        found.first?.setValue("b", forKey: "back")
        try next.save()
        #expect(try SQLiteShell.run(url.path, "SELECT ZTITLE, ZBACK FROM ZCARD") == "a|b\n")
    }

    @Test func `a copied entity has its own properties and sub-entities`() throws {
        let (base, special) = (NSEntityDescription(), NSEntityDescription())
        (base.name, base.isAbstract, base.userInfo) = ("Base", true, ["note": "n"])
        (base.renamingIdentifier, base.versionHashModifier) = ("Former", "m")
        special.name = "Special"
        base.properties = [Cards.attribute("title")]
        base.subentities = [special]
        special.properties = special.properties + [Cards.attribute("more")]
        let copy = try #require(base.copy() as? NSEntityDescription)
        #expect(copy.name == "Base" && copy.isAbstract && copy.renamingIdentifier == "Former")
        #expect(copy.versionHashModifier == "m" && copy.userInfo?["note"] as? String == "n")
        #expect(copy.versionHash == base.versionHash)
        let below = try #require(copy.subentities.first)
        #expect(below !== special && below.superentity === copy && special.superentity === base)
        #expect(Set(below.propertiesByName.keys) == ["title", "more"])
        #expect(copy.properties.first !== base.properties.first && copy.properties.first?.entity === copy)
        copy.properties = []
        #expect(base.properties.count == 1 && base.properties.first?.entity === base)
    }

    @Test func `copied properties are of the same class and change alone`() throws {
        let attribute = Cards.attribute("title")
        attribute.defaultValue = "a"
        attribute.setValidationPredicates([NSPredicate(format: "SELF != ''")], withValidationWarnings: ["empty"])
        let derived = NSDerivedAttributeDescription()
        let composite = NSCompositeAttributeDescription()
        composite.elements = [Cards.attribute("part")]
        let fetched = NSFetchedPropertyDescription()
        fetched.fetchRequest = NSFetchRequest(entityName: "Card")
        let relationship = NSRelationshipDescription()
        (relationship.minCount, relationship.maxCount, relationship.isOrdered) = (1, 5, true)
        relationship.deleteRule = .denyDeleteRule
        let column = NSExpressionDescription()
        column.expressionResultType = .integer64AttributeType
        let all: [NSPropertyDescription] = [attribute, derived, composite, fetched, relationship, column]
        for property in all {
            (property.isOptional, property.isTransient) = (false, true)
            let copy = try #require(property.copy() as? NSPropertyDescription)
            #expect(copy !== property && type(of: copy) == type(of: property))
            #expect(copy.name == property.name && !copy.isOptional && copy.isTransient)
            copy.name = "other"
            #expect(property.name != "other")
        }
        let same = try #require(attribute.copy() as? NSAttributeDescription)
        #expect(same.attributeType == .stringAttributeType && same.defaultValue as? String == "a")
        #expect(same.validationPredicates.count == 1 && same.validationWarnings as? [String] == ["empty"])
        let elements = (composite.copy() as? NSCompositeAttributeDescription)?.elements
        #expect(elements?.map(\.name) == ["part"] && elements?.first !== composite.elements.first)
        let request = (fetched.copy() as? NSFetchedPropertyDescription)?.fetchRequest
        #expect(request?.entityName == "Card" && request !== fetched.fetchRequest)
        let links = try #require(relationship.copy() as? NSRelationshipDescription)
        #expect(links.minCount == 1 && links.maxCount == 5 && links.isOrdered && links.deleteRule == .denyDeleteRule)
        #expect((column.copy() as? NSExpressionDescription)?.expressionResultType == .integer64AttributeType)
    }

    @Test func `a copied index has its own columns`() throws {
        let title = Cards.attribute("title")
        let column = NSFetchIndexElementDescription(property: title, collationType: .rTree)
        column.isAscending = false
        let index = NSFetchIndexDescription(name: "byTitle", elements: [column])
        index.partialIndexPredicate = NSPredicate(format: "title != nil")
        let copy = try #require(index.copy() as? NSFetchIndexDescription)
        let made = try #require(copy.elements.first)
        #expect(copy.name == "byTitle" && copy.partialIndexPredicate === index.partialIndexPredicate)
        #expect(made !== column && made.property === title && made.collationType == .rTree && !made.isAscending)
        #expect(made.indexDescription === copy && column.indexDescription === index)
    }

    @Test func `a copied store description changes alone`() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/one.sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        (description.configuration, description.isReadOnly, description.timeout) = ("all", true, 3)
        description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy.url == description.url && copy.configuration == "all" && copy.isReadOnly && copy.timeout == 3)
        #expect(copy.options[NSPersistentHistoryTrackingKey] as? NSNumber == true && copy.type == NSSQLiteStoreType)
        #expect(copy.sqlitePragmas["synchronous"] as? NSString == "FULL" && copy.shouldMigrateStoreAutomatically)
        copy.url = URL(fileURLWithPath: "/two.sqlite")
        copy.isReadOnly = false
        copy.setOption(nil, forKey: NSPersistentHistoryTrackingKey)
        #expect(description.url?.path == "/one.sqlite" && description.isReadOnly)
        #expect(description.options[NSPersistentHistoryTrackingKey] != nil)
    }

    @Test func `a model is archived and read again`() throws {
        let model = Cards.model()
        let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
        #expect(read.versionChecksum == model.versionChecksum && read.entitiesByName.keys.sorted() == ["Card"])
    }
}
