import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Validation before a save")
struct ValidationTests {
    private func violations(_ office: Office) throws -> [String] {
        do {
            try office.context.save()
            return []
        } catch let error as ValidationErrors {
            return error.violations.map { "\($0.entityName).\($0.property) \($0.rule.rawValue)" }
        }
    }

    private func ruled(_ office: Office, _ values: [String: AttributeValue]) throws -> Object {
        let object = try office.context.insert("Ruled")
        let label = try office.insert("Label", "x")
        try object.setAttribute("required", .string("there"))
        try object.setToOne("one", label)
        try object.add(label, to: "few")
        for (name, value) in values { try object.setAttribute(name, value) }
        return object
    }

    static let cases: [(String, AttributeValue, Int?)] = [
        ("number", .integer(0), 1620), ("number", .integer(1), nil), ("number", .integer(10), nil),
        ("number", .integer(11), 1610), ("amount", .decimal("0.4"), 1620), ("amount", .decimal("9.50001"), 1610),
        ("amount", .decimal("9.5"), nil), ("text", .string("a"), 1670), ("text", .string("abcdef"), 1660),
        ("text", .string("ab"), nil), ("code", .string("AB12"), nil), ("code", .string("AB12x"), 1680),
        ("code", .string("xAB12"), 1680), ("day", .date(-1), 1640), ("day", .date(1001), 1630),
        ("day", .date(500), nil),
        ("day", .date(.nan), 1650), ("even", .integer(3), 1550), ("even", .integer(4), nil),
    ]

    @Test func `each rule has Core Data's number`() throws {
        let office = try Office()
        var saved = 0
        for (property, value, number) in Self.cases {
            _ = try ruled(office, [property: value])
            #expect(try violations(office) == (number.map { ["Ruled.\(property) \($0)"] } ?? []), "\(value)")
            office.context.rollback()
            if number == nil { saved += 1 }
        }
        #expect(try office.sql("SELECT count(*) FROM ZRULED") == "\(saved)")
    }

    @Test func `all violations of all objects are in one error, each with its object and property`() throws {
        let office = try Office()
        let nameless = try office.context.insert("Manager")
        let broken = try ruled(office, ["number": .integer(99), "code": .string("?")])
        try broken.setAttribute("required", nil)
        try broken.setToOne("one", nil)
        try broken.setToMany("few", (0..<3).map { try office.insert("Label", "\($0)") })
        do {
            try office.context.save()
            Issue.record("saved")
        } catch let error as ValidationErrors {
            #expect(error.coreData.constant == "NSValidationMultipleErrorsError" && error.coreData.number == 1560)
            #expect(
                Set(error.violations.map { "\($0.id == nameless.id) \($0.property) \($0.rule.rawValue)" }) == [
                    "true name 1570", "false number 1610", "false code 1680", "false required 1570", "false one 1570",
                    "false few 1590",
                ])
            #expect(error.description.contains("Ruled") && error.description.contains("few"))
        }
        #expect(nameless.isInserted && broken.isInserted, "the changes are still there")
        #expect(try office.sql("SELECT count(*) FROM ZPERSON; SELECT count(*) FROM ZLABEL") == "0\n0")
        try nameless.setAttribute("name", .string("Boss"))
        for (name, value) in ["number": AttributeValue.integer(5), "code": .string("AB1"), "required": .string("")] {
            try broken.setAttribute(name, value)
        }
        try broken.setToOne("one", broken.toMany("few")[0])
        try broken.setToMany("few", [])
        #expect(try violations(office) == ["Ruled.few 1580"])
        try broken.setToMany("few", [#require(try broken.toOne("one"))])
        try office.context.save()
    }

    @Test
    func `an update and a nullified destination are validated too; a value can be tried before it is set`() throws {
        let office = try Office()
        let object = try ruled(office, [:])
        try office.context.save()
        try object.setAttribute("number", .integer(11))
        #expect(try violations(office) == ["Ruled.number 1610"])
        office.context.rollback()
        try object.setAttribute("required", nil)
        #expect(try violations(office) == ["Ruled.required 1570"])
        try object.setAttribute("required", .string("again"))
        try object.validate(.integer(4), for: "even")
        #expect { try object.validate(.integer(5), for: "even") } throws: {
            ($0 as? ValidationErrors)?.coreData.number == 1550
        }
        try object.validateForUpdate()
        try office.context.save()
        #expect(try office.sql("SELECT ZREQUIRED FROM ZRULED") == "again")
    }

    @Test func `a required transient attribute is asked of new objects, not of those that were read`() throws {
        let model = try ManagedObjectModel("Driver = isDriving Boolean required transient, name String")
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(inMemory: model))
        let first = ObjectContext(coordinator: coordinator)
        let driver = try first.insert("Driver")
        #expect(throws: ValidationErrors.self) { try driver.validateForInsert() }
        try driver.setAttribute("isDriving", .boolean(true))
        try first.save()

        let context = ObjectContext(coordinator: coordinator)
        let same = try context.existingObject(with: driver.id)
        try same.setAttribute("name", .string("Ann"))
        try context.save()
    }

    @Test func `a required to-many relationship may be empty unless it has a minimum count`() throws {
        func few(_ name: String, minimum: Int, isOptional: Bool = false) -> RelationshipDescription {
            RelationshipDescription(
                name: name, destinationEntityName: "User", isOptional: isOptional, maxCount: 0, minCount: minimum)
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Conversation",
                relationships: [
                    few("labels", minimum: 0), few("members", minimum: 1), few("guests", minimum: 2, isOptional: true),
                ]),
            EntityDescription(name: "User"),
        ])
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(inMemory: model))
        let context = ObjectContext(coordinator: coordinator)
        let talk = try context.insert("Conversation")
        func broken() -> [String] {
            do {
                try context.save()
                return []
            } catch let errors as ValidationErrors {
                return errors.violations.map { "\($0.property) \($0.rule.rawValue)" }
            } catch {
                return ["\(error)"]
            }
        }
        #expect(broken() == ["members 1580"])
        let user = try context.insert("User")
        try talk.add(user, to: "members")
        #expect(broken() == [])
        try talk.add(user, to: "labels")
        #expect(broken() == [])
        try talk.setToMany("labels", [])
        #expect(broken() == [])
        try talk.add(user, to: "guests")
        #expect(broken() == ["guests 1580"])
    }
}
