import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultTools
import TestSupport
import Testing

/// The schema that CloudKit needs for a model, compared with exports, and with an implementation in Python.
@Suite("The schema that CloudKit needs")
struct CloudKitSchemaTests {  // tier: long
    @Test func `the schema of a model is the one that was written for it, byte for byte`() throws {
        let requirements = try CloudKitExample.whole.requirements()
        #expect(CloudKitSchemaFile(requirements.schema).text == (try CloudKitExample.whole.text()))
        #expect(requirements.faults.isEmpty)
        let doubts = requirements.doubts.map(\.place)
        #expect(Set(doubts) == ["CDMR", "CD_Post", "CD_Post.CD_secret", "CD_Post.CD_url"])
    }

    @Test func `an older Production lacks what is expected, and the expected errors and notes are all`() throws {
        let example = CloudKitExample.behind
        let expected = try String(
            contentsOfFile: (example.contents as NSString).deletingLastPathComponent + "/EXPECTED.txt", encoding: .utf8)
        #expect(try example.requirements().lines(in: example.schema()) == CloudKitWitness.lines(expected))
        #expect(CloudKitWitness.lines(expected).count == 17)
    }

    @Test func `two sub-entities that give one field two types are a conflict, and there is no schema`() throws {
        let requirements = try CloudKitExample.conflict.requirements()
        #expect(requirements.faults.map(\.code) == [.conflict])
        #expect(
            requirements.faults.first?.message
                == "CD_Post.CD_size would be INT64 for ImagePost.size and DOUBLE for LinkPost.size.")
        let version = ModelVersion(names: ["App"], model: try CloudKitExample.conflict.model())
        let error = try #require(throws: MigrationError.self) { try CloudKitSchemaReport(version) }
        #expect(error.code == .unsupported && error.place == "LinkPost.size")
    }

    @Test func `names that CloudKit or the framework does not allow, and too many fields, are faults`() throws {
        let entity = EntityDescription(
            name: "Post",
            attributes: [
                .init(name: "entityName", type: .string), .init(name: "größe", type: .integer16),
                .init(name: "note", type: .string), .init(name: "note_ckAsset", type: .double),
            ])
        // Each String has two fields; three are the framework's.
        func wide(_ count: Int) -> EntityDescription {
            EntityDescription(
                name: "Wide", attributes: (0..<count).map { .init(name: "a\($0)", type: .string) })
        }
        let model = try ManagedObjectModel(entities: [entity, wide(127)])
        let faults = try CloudKitRequirements(model).faults
        #expect(faults.last?.message.contains("257 fields") == true)
        // It is not known whether the server's own six fields count.
        let narrow = try CloudKitRequirements(ManagedObjectModel(entities: [wide(124)]))
        #expect(narrow.faults.isEmpty && narrow.doubts.map(\.place) == ["CD_Wide"])
        #expect(try CloudKitRequirements(ManagedObjectModel(entities: [wide(123)])).doubts.isEmpty)
        #expect(
            faults.map { "\($0.code.rawValue) \($0.name)" } == [
                "collision CD_Post.CD_entityName", "bad-name CD_Post.CD_größe", "conflict CD_Post.CD_note_ckAsset",
                "over-256 CD_Wide",
            ])
    }

    // MARK: - The pairs

    @Test(arguments: CloudKitExample.genuine)
    func `every field that a model implies is in its export with the same type, or no record has ever set it`(
        example: CloudKitExample
    ) throws {
        let (needed, found) = try (example.requirements().schema, example.schema())
        // Only these were initialised in full, or prepared; one attribute of two apps was never set by a record.
        let neverSet = [
            "done-and-done": "CD_TodoList.CD_cloudKitShareRecordID",
            "pizzahelper": "CD_PZGachaProfileMO.CD_profileName",
        ]
        var compared = 0
        for type in needed.typesInOrder {
            let other = try #require(found.types[type.name], "\(type.name)")
            for (name, field) in type.fields where CloudKitFieldRole(of: name) != .system {
                if let own = other.fields[name] {
                    #expect(own.type == field.type, "\(type.name).\(name)")
                    compared += 1
                } else if CloudKitFieldRole(of: name) == .core {
                    #expect(neverSet[example.name] == "\(type.name).\(name)")
                } else {
                    #expect(example.name != "lotus-2025-10", "\(type.name).\(name) of a schema that was initialised")
                }
            }
        }
        #expect(compared > 13)
    }

    @Test(arguments: CloudKitExample.genuine.filter { $0.name != "familienplaner" })
    func `the server's own indexes are those that are written`(example: CloudKitExample) throws {
        let (needed, found) = try (example.requirements().schema, example.schema())
        for type in needed.typesInOrder {
            for (name, field) in type.fields where CloudKitFieldRole(of: name) != .system {
                guard let own = found.types[type.name]?.fields[name] else { continue }
                #expect(own.indexes == field.indexes, "\(type.name).\(name)")
            }
            #expect(found.types[type.name]?.grants == type.grants)
        }
    }

    @Test(arguments: [CloudKitExample.whole, .behind] + CloudKitExample.pairs)
    func `the gaps are those of the implementation in Python`(example: CloudKitExample) throws {
        let witness = try CloudKitWitness.lines(
            example.contents, try #require(example.production), example.configuration)
        #expect(try example.requirements().lines(in: example.schema()) == witness)
    }

    @Test(arguments: CloudKitExample.pairs.filter { $0.name.hasPrefix("lotus") })
    func `merging a Production that has everything changes no byte of it`(example: CloudKitExample) throws {
        let version = ModelVersion(names: ["App"], model: try example.model())
        let report = try CloudKitSchemaReport(version, merging: example.production)
        #expect(report.text == (try example.text()) && report.impossible.isEmpty)
    }

    @Test(arguments: [CloudKitExample.behind] + CloudKitExample.pairs)
    func `a merged schema has all of Production, and lacks nothing that can be added`(example: CloudKitExample) throws {
        let version = ModelVersion(names: ["App"], model: try example.model())
        let report = try CloudKitSchemaReport(
            version, configuration: example.configuration, merging: example.production)
        let merged = try CloudKitSchemaFile(Array(report.text.utf8), path: "merged").schema
        let production = try example.schema()
        for type in production.typesInOrder {
            let own = try #require(merged.types[type.name])
            for (name, field) in type.fields { #expect(own.fields[name] == field) }
            #expect(own.grants == type.grants)
        }
        #expect(merged.roles == production.roles)
        let left = try example.requirements().gaps(in: merged).map(\.code)
        #expect(left.allSatisfy { [.retype, .encrypt, .orphan, .share].contains($0) }, "\(left)")
        #expect(report.impossible.count == left.count { [.retype, .encrypt].contains($0) })
    }

    @Test(arguments: CloudKitExample.pairs.filter { $0.name == "done-and-done" })
    func `the type of shares is as the server makes it`(example: CloudKitExample) throws {
        let needed = try CloudKitRequirements(example.model(), isShared: true).schema
        let share = try #require(needed.types["cloudkit.share"])
        #expect(try share == example.schema().types["cloudkit.share"])
        #expect(try example.requirements().schema.types["cloudkit.share"] == nil)
    }

    // MARK: - Mutations

    /// The schemas to change: those that have everything, and those that records made.
    private static let changed = [CloudKitExample.whole] + CloudKitExample.genuine

    @Test(arguments: changed)
    func `a field that is dropped, retyped or encrypted gives its gap and no other`(example: CloudKitExample) throws {
        let (requirements, schema) = try (example.requirements(), example.schema())
        let before = Set(requirements.lines(in: schema))
        var count = 0
        for type in requirements.schema.typesInOrder {
            for name in type.fieldNames {
                let place = "\(type.name).\(name)"
                guard let field = schema.types[type.name]?.fields[name], CloudKitFieldRole(of: name) != .system else {
                    continue
                }
                func expect(_ code: CloudKitGap.Code, _ new: CloudKitSchema.FieldType?) {
                    var changed = schema
                    changed.types[type.name]?.fields[name] = new.map { .init($0, field.indexes) }
                    let after = Set(requirements.lines(in: changed))
                    var expected = before.union(["\(code.rawValue) \(place)"])
                    if code == .retype {
                        // The asset next to a field that cannot be used serves nothing.
                        for gap in ["add-companion", "add-receipt"] { expected.remove("\(gap) \(place)_ckAsset") }
                    }
                    #expect(after == expected, "\(place)")
                    count += 1
                }
                switch CloudKitFieldRole(of: name) {
                case .system: break
                case .core: expect(.addField, nil)
                case .companion: expect(.addCompanion, nil)
                case .receipt: expect(.addReceipt, nil)
                }
                expect(.retype, .init(field.type.primitive == .reference ? .string : .reference))
                if field.type.primitive.canBeEncrypted {
                    expect(.encrypt, .init(field.type.primitive, isEncrypted: !field.type.isEncrypted))
                }
            }
        }
        #expect(count > 40)
    }

    @Test(arguments: changed)
    func `a type that is removed gives its gap, and takes those of its fields with it`(example: CloudKitExample) throws
    {
        let (requirements, schema) = try (example.requirements(), example.schema())
        let before = requirements.lines(in: schema)
        for type in requirements.schema.typesInOrder where schema.types[type.name] != nil {
            var changed = schema
            changed.types[type.name] = nil
            let others = before.filter { !$0.contains(" \(type.name).") }
            #expect(Set(requirements.lines(in: changed)) == Set(others + ["add-type \(type.name)"]))
        }
    }

    @Test(arguments: changed)
    func `an attribute that is renamed is a new field and an orphan`(example: CloudKitExample) throws {
        let (model, schema) = try (example.model(), example.schema())
        let before = try Set(example.requirements().lines(in: schema))
        var count = 0
        for place in model.entities.indices {
            var entities = model.entities.map { entity in
                var entity = entity
                // Nothing refers to the old name.
                (entity.fetchIndexes, entity.compoundIndexes, entity.uniquenessConstraints) = ([], [], [])
                return entity
            }
            let type = "CD_\(model.root(of: entities[place]).name)"
            guard let fields = schema.types[type]?.fields,
                let number = entities[place].attributes.firstIndex(where: { fields["CD_\($0.name)"] != nil })
            else { continue }
            let old = "\(type).CD_\(entities[place].attributes[number].name)"
            entities[place].attributes[number].name = "renamed_"
            let renamed = try ManagedObjectModel(entities: entities, configurations: model.configurations)
            let requirements = try CloudKitRequirements(renamed, configuration: example.configuration)
            let hasCompanion = entities[place].attributes.contains {
                $0.name == "renamed_" && $0.type.cloudKit?.hasCompanion == true
            }
            var expected = before.subtracting(["add-companion \(old)_ckAsset"])
            expected.formUnion(["add-field \(type).CD_renamed_", "orphan \(old)"])
            if hasCompanion { expected.insert("add-companion \(type).CD_renamed__ckAsset") }
            if schema.types[type]?.fields[old.dropFirst(type.count + 1) + "_ckAsset"] != nil {
                expected.insert("orphan \(old)_ckAsset")
            }
            #expect(Set(requirements.lines(in: schema)) == expected, "\(old)")
            count += 1
        }
        #expect(count > 1)
    }
}
