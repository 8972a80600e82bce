import MoultNSCoreData
import TestSupport
import Testing

/// The errors of a save that validation stops, as `CoreDataErrors.h` and the Core Data Programming Guide describe them.
@Suite struct ValidationErrorTests {
    private enum Refusal: Error { case untitled }

    private func error(_ rows: Rows) throws -> NSError {
        try #require(throws: NSError.self) { try rows.context.save() }
    }

    @Test func `An error that a class throws is thrown as it is`() throws {
        let rows = try Rows()
        let own = NSError(domain: "Mine", code: 7, userInfo: ["why": "so"])
        rows.hooks.inserting = { _ in throw own }
        let row = Row(context: rows.context)
        let found = try error(rows)
        #expect(found.domain == "Mine" && found.code == 7 && found.userInfo["why"] as? String == "so")
        rows.hooks.inserting = { if $0.title == nil { throw Refusal.untitled } }
        #expect(throws: Refusal.untitled) { try rows.context.save() }
        row.title = "a"
        try rows.context.save()
    }

    @Test func `Several errors are listed themselves under 1560`() throws {
        let rows = try Rows { $0.attributesByName["title"]?.isOptional = false }
        rows.hooks.inserting = { row in
            if row.n == 4 { throw NSError(domain: "Mine", code: 7) }
            let parts = [NSError(domain: "Mine", code: 8), NSError(domain: "Mine", code: 9)]
            if row.n == 5 {
                throw NSError(
                    domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError,
                    userInfo: [NSDetailedErrorsKey: parts])
            }
        }
        let (one, two, three) = (
            Row(context: rows.context), Row(context: rows.context), Row(context: rows.context)
        )
        (one.n, two.n, one.title, two.title) = (4, 5, "a", "b")
        let found = try error(rows)
        #expect(found.domain == NSCocoaErrorDomain && found.code == NSValidationMultipleErrorsError)
        let parts = try #require(found.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(
            parts.map { "\($0.domain) \($0.code)" }.sorted() == [
                "Mine 7", "Mine 8", "Mine 9", "NSCocoaErrorDomain 1570",
            ])
        #expect(parts.last?.userInfo[NSValidationObjectErrorKey] as? NSManagedObjectID == three.objectID)
    }

    @Test func `An error of a rule has the value and the predicate`() throws {
        let rows = try Rows { row in
            row.attributesByName["title"]?.setValidationPredicates(
                [NSPredicate(format: "length >= 2")], withValidationWarnings: ["short"])
        }
        let row = Row(context: rows.context)
        row.title = "a"
        let short = try error(rows)
        #expect(short.code == NSManagedObjectValidationError)
        #expect(short.userInfo[NSValidationKeyErrorKey] as? String == "title")
        #expect(short.userInfo[NSValidationValueErrorKey] as? String == "a")
        let predicate = try #require(short.userInfo[NSValidationPredicateErrorKey] as? NSPredicate)
        #expect(predicate.evaluate(with: "ab") && !predicate.evaluate(with: "a"))
        // `CocoaError` has the values of the same keys.
        let parts = try #require(short as any Error as? CocoaError)
        #expect(parts.validationKey == "title" && parts.validationValue as? String == "a")
        #expect(parts.validationObject as? NSManagedObjectID == row.objectID)
        #expect(parts.validationPredicate?.evaluate(with: "ab") == true)
        #expect(parts.affectedObjects == nil && parts.affectedStores == nil)
        #expect(parts.persistentStoreSaveConflicts == nil)
        row.title = "ab"
        try rows.context.save()
    }
}
