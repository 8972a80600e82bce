import Foundation
import MoultCoreData
import TestSupport
import Testing

/// Composite attributes: two of one type, with one inside of each.
@Suite struct CompositeAttributeTests {
    private static let accent = CompositeDescription(
        name: "Accent",
        elements: [
            AttributeDescription(name: "level", type: .integer16), AttributeDescription(name: "name", type: .string),
        ])

    private static let colorScheme = CompositeDescription(
        name: "ColorScheme",
        elements: [
            AttributeDescription(name: "accent", type: .composite, compositeName: "Accent"),
            AttributeDescription(name: "changed", type: .date), AttributeDescription(name: "opacity", type: .double),
            AttributeDescription(name: "primary", type: .string),
        ])

    private static func model(
        _ more: [AttributeDescription] = [], colorScheme: CompositeDescription = colorScheme
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                EntityDescription(
                    name: "Aircraft",
                    attributes: [
                        AttributeDescription(name: "tail", type: .string),
                        AttributeDescription(name: "colorScheme", type: .composite, compositeName: "ColorScheme"),
                        AttributeDescription(name: "trim", type: .composite, compositeName: "ColorScheme"),
                    ] + more)
            ], composites: [accent, colorScheme])
    }

    private let store: TestStore

    init() throws { store = try TestStore() }

    private func container(
        _ model: ManagedObjectModel, versions: ModelVersions? = nil, allowing: Bool = false
    ) throws -> PersistentContainer {
        try store.container(model, versions: versions) { description in
            description.setOption(allowing, forKey: PersistentStoreOption.allowsUncertainVersionHashes)
        }
    }

    /// Two aircraft, closed.
    private func populate() throws {
        let container = try container(Self.model())
        let context = container.viewContext
        try context.performAndWait {
            let red = try context.insertNewObject(forEntityName: "Aircraft")
            try red.setValue("N1", forKey: "tail")
            try red.setValue(Self.red, forKey: "colorScheme")
            try red.setValue(["primary": "Blue"], forKey: "trim")
            let blue = try context.insertNewObject(forEntityName: "Aircraft")
            try blue.setValue("N2", forKey: "tail")
            try blue.setValue(["primary": "Blue", "accent": ["level": 7]] as [String: Any], forKey: "colorScheme")
            try context.save()
        }
        try container.close()
    }

    private static var red: [String: Any] {
        [
            "primary": "Red", "opacity": 0.5, "changed": Date(timeIntervalSinceReferenceDate: 60),
            "accent": ["name": "Silver", "level": 2] as [String: Any],
        ]
    }

    private static func isRed(_ scheme: [String: Any]) -> Bool {
        let accent = scheme["accent"] as? [String: Any] ?? [:]
        return scheme.count == 4 && accent.count == 2 && scheme["primary"] as? String == "Red"
            && scheme["opacity"] as? Double == 0.5 && accent["level"].map { "\($0)" } == "2"
            && scheme["changed"] as? Date == Date(timeIntervalSinceReferenceDate: 60)
            && accent["name"] as? String == "Silver"
    }

    @Test func `a store whose form is not known is made only where a guess at its hash is accepted`() throws {
        let odd = AttributeDescription(name: "odd", type: .binary, uncertainty: "is of a kind that no store shows")
        let error = #expect(throws: MigrationError.self) { try container(Self.model([odd])) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("Aircraft.odd is of a kind that no store shows") == true)
        #expect(error?.remedy.contains(PersistentStoreOption.allowsUncertainVersionHashes) == true)
        #expect(try store.files().isEmpty)
        try container(Self.model([odd]), allowing: true).close()
        // A store that is there is opened without being asked for it again.
        try container(Self.model([odd])).close()
    }

    @Test func `a store with composite attributes is made, and carries its model`() throws {
        try populate()
        // One column for each element that holds a value, as the shell finds them.
        let columns = try store.sql(
            "SELECT count(*) FROM pragma_table_info('ZAIRCRAFT') WHERE name NOT LIKE 'Z\\_%' ESCAPE '\\'")
        #expect(columns == "11")
        #expect(try store.sql("SELECT length(Z_CONTENT) > 500 FROM Z_MODELCACHE") == "1")
        try container(Self.model()).close()
    }

    @Test func `the value of a composite attribute is a dictionary, and one of those inside of it`() throws {
        try populate()
        let container = try container(Self.model())
        let context = container.viewContext
        try context.performAndWait {
            let all = try context.all("Aircraft", by: "tail")
            let scheme = try #require(try all[0].value(forKey: "colorScheme") as? [String: Any])
            #expect(Self.isRed(scheme))
            #expect(try all[0].value(forKeyPath: "colorScheme.accent.name") as? String == "Silver")
            #expect(all[1]["colorScheme.primary"] as? String == "Blue")
            // What a new dictionary does not name is gone.
            try all[0].setValue(["accent": ["name": "Gold"]], forKey: "colorScheme")
            try all[1].setValue(nil, forKey: "colorScheme")
            try all[1].setValue("Green", forKey: "trim.primary")
            try context.save()
        }
        try container.close()
        let again = try self.container(Self.model())
        try again.viewContext.performAndWait {
            let all = try again.viewContext.all("Aircraft", by: "tail")
            let scheme = try all[0].value(forKey: "colorScheme") as? [String: [String: String]]
            #expect(scheme == ["accent": ["name": "Gold"]])
            #expect(try (all[0].value(forKey: "trim") as? [String: String]) == ["primary": "Blue"])
            #expect((try all[1].value(forKey: "colorScheme") as? [String: Any])?.isEmpty == true)
            #expect(try (all[1].value(forKey: "trim") as? [String: String]) == ["primary": "Green"])
        }
        try again.close()
    }

    @Test func `what is no element of it, or no dictionary, is refused by its path`() throws {
        let container = try container(Self.model())
        let context = container.viewContext
        try context.performAndWait {
            let aircraft = try context.insertNewObject(forEntityName: "Aircraft")
            func error(_ value: Any) -> MigrationError? {
                do { try aircraft.setValue(value, forKey: "colorScheme") } catch { return error as? MigrationError }
                return nil
            }
            #expect(error("Red")?.code == .wrongType)
            #expect(error(["accent": "Silver"])?.place == "Aircraft.colorScheme.accent")
            #expect(error(["primry": "Red"])?.code == .unknownKey)
            #expect(error(["accent": ["hue": 1]])?.place == "Aircraft.colorScheme.accent.hue")
            #expect(error(["primary": 5])?.place == "Aircraft.colorScheme.primary")
        }
        try container.close()
    }

    @Test(arguments: [
        ("colorScheme.primary == \"Red\"", ["N1"]), ("trim.primary == \"Blue\"", ["N1"]),
        ("colorScheme.accent.level > 2", ["N2"]), ("colorScheme.accent.level > 1", ["N1", "N2"]),
        ("colorScheme.primary == trim.primary", []), ("trim.primary == nil", ["N2"]),
        ("colorScheme.changed < CAST(100, \"NSDate\") AND colorScheme.opacity BETWEEN {0.4, 0.6}", ["N1"]),
        ("colorScheme.primary BEGINSWITH[c] \"b\" OR colorScheme.accent.name LIKE \"S*\"", ["N1", "N2"]),
    ])
    func `predicates reach its elements, in the store and in memory`(format: String, expected: [String]) throws {
        try populate()
        let container = try container(Self.model())
        let context = container.viewContext
        try context.performAndWait {
            var request = FetchRequest<ManagedObject>(entityName: "Aircraft")
            request.predicate = try FetchPredicate(format: format)
            request.sortDescriptors = [FetchSortDescriptor(key: "colorScheme.opacity", ascending: false)]
            let found = try context.fetch(request).compactMap { $0["tail"] as? String }
            #expect(found.sorted() == expected)
            let predicate = try FetchPredicate(format: format)
            let held = try context.all("Aircraft", by: "tail").filter { try predicate.evaluate(with: $0) }
            #expect(held.compactMap { $0["tail"] as? String } == expected)
        }
        try container.close()
    }

    @Test func `a store migrates, its elements carried over, renamed, widened and added`() throws {
        try populate()
        var next = Self.colorScheme
        // `opacity` goes, `primary` becomes `main`, `coats` is new.
        next.elements.removeAll { $0.name == "opacity" }
        next.elements[2] = AttributeDescription(name: "main", type: .string, renamingIdentifier: "primary")
        next.elements.append(
            AttributeDescription(name: "coats", type: .integer16, isOptional: false, defaultValue: .integer(2)))
        let seats = AttributeDescription(name: "seats", type: .integer16, isOptional: false, defaultValue: 4)
        let model = try Self.model([seats], colorScheme: next)
        let container = try container(model, versions: ModelVersions([("1", Self.model()), ("2", model)]))
        try container.viewContext.performAndWait {
            let all = try container.viewContext.all("Aircraft", by: "tail")
            #expect(all[1]["colorScheme.accent.level", as: Int?.self] == 7)
            #expect(all.map { $0["seats", as: Int?.self] } == [4, 4])
        }
        try container.close()
        // The shell finds the values under the names of the new elements; two attributes are of the type.
        #expect(
            try store.sql("SELECT ZMAIN, ZMAIN1, ZCOATS, ZCOATS1, ZLEVEL, ZCHANGED FROM ZAIRCRAFT ORDER BY ZTAIL")
                == "Red|Blue|2|2|2|60\nBlue||2|2|7|")
        let columns = try store.sql("SELECT group_concat(name) FROM pragma_table_info('ZAIRCRAFT')")
        #expect(!columns.contains("OPACITY") && !columns.contains("PRIMARY"))
    }

    @Test func `an element that could not be read is set once it was read`() throws {
        try populate()
        let disk = try UnreadableDisk(store.folder.path)
        let container = try container(Self.model())
        let id = try #require(try container.viewContext.all("Aircraft", by: "tail").last).objectID
        let context = container.newBackgroundContext()
        let aircraft = try context.object(with: id)
        disk.failing { aircraft["trim.primary"] = (aircraft["trim.primary"] as? String ?? "") + "!" }
        for _ in 0..<2 {
            let error = try #require(throws: MigrationError.self) { try context.save() }
            #expect(error.message.hasPrefix("Aircraft.trim of "), "\(error)")
        }
        #expect(aircraft["trim.primary"] as? String == nil)
        aircraft["trim.primary"] = "Green"
        try context.save()
        let all = try context.all("Aircraft", by: "tail")
        #expect(all.map { $0["trim.primary", as: String.self] } == ["Blue", "Green"])
        #expect(try store.sql("SELECT count(*) FROM ZAIRCRAFT WHERE 'Green' IN (ZPRIMARY, ZPRIMARY1)") == "1")
    }

    @Test func `a text that becomes an enum keeps its values, and goes back`() throws {
        let plain = AttributeDescription(name: "kind", type: .string)
        let coded = AttributeDescription(
            name: "kind", type: .composite, elements: [AttributeDescription(name: "kind", type: .string)],
            userInfo: ["EnumType": "1"])
        try populate()
        let first = try Self.model([plain])
        try container(first, versions: ModelVersions([("0", Self.model()), ("1", first)])).close()
        _ = try store.sql("UPDATE ZAIRCRAFT SET ZKIND = lower(ZTAIL)")
        for attribute in [coded, plain] {
            let next = try Self.model([attribute])
            let previous = try Self.model([attribute == coded ? plain : coded])
            try container(next, versions: ModelVersions([("1", previous), ("2", next)])).close()
            #expect(try store.sql("SELECT group_concat(ZKIND) FROM ZAIRCRAFT") == "n1,n2")
        }
    }
}
