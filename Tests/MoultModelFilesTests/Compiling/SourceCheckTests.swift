import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// The errors that a model source can have, each with its line.
@Suite struct SourceCheckTests {
    private static let head = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        """

    /// What compiling a source says whose third line is the first of `body`: each as `LINE: SEVERITY: SENTENCE`.
    private func faults(_ body: String) throws -> [String] {
        let folder = try ScratchFolder()
        let model = folder.path + "/Boats.xcdatamodel"
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try "\(Self.head)\n\(body)\n</model>\n".write(toFile: model + "/contents", atomically: true, encoding: .utf8)
        func texts(_ faults: [ModelFault]) -> [String] {
            faults.map { fault in
                #expect(fault.text.hasPrefix(model + "/contents:\(fault.line): "))
                return String(fault.text.dropFirst(model.count + "/contents:".count))
            }
        }
        do {
            return texts(try CompiledModel(compiling: model).warnings)
        } catch let error as ModelFaults {
            return texts(error.faults)
        }
    }

    private static let boat = """
        <entity name="Boat" syncable="YES">
        <attribute name="name" attributeType="String"/>
        """

    @Test(arguments: [
        // Names.
        ("<entity name=\"\"/>", "3: error: The model has an entity without a name."),
        (
            "<entity name=\"2nd\"/>",
            "3: error: The name 2nd is not an identifier: it must begin with a letter or an underscore and contain only "
                + "letters, digits and underscores."
        ),
        ("\(boat)\n</entity>\n<entity name=\"Boat\"/>", "6: error: The model has more than one entity named Boat."),
        (
            "\(boat)\n<attribute name=\"name\" attributeType=\"Date\"/>\n</entity>",
            "5: error: Boat has more than one property named name."
        ),
        (
            "<entity name=\"Boat\">\n<attribute attributeType=\"String\"/></entity>",
            "4: error: Boat has a property without a name."
        ),
        // Inheritance.
        (
            "<entity name=\"Boat\" parentEntity=\"Ship\"/>",
            "3: error: The parent entity Ship of Boat is not in the model."
        ),
        (
            "<entity name=\"Boat\" parentEntity=\"Boat\"/>", "3: error: The entity Boat is its own ancestor."
        ),
        (
            "\(boat)\n</entity>\n<entity name=\"Ferry\" parentEntity=\"Boat\">\n<attribute name=\"name\" attributeType=\"String\"/></entity>",
            "7: error: Ferry.name has the name of a property that Ferry inherits."
        ),
        // Attributes.
        ("<entity name=\"Boat\">\n<attribute name=\"x\"/></entity>", "4: error: Boat.x has no type."),
        (
            "<entity name=\"Boat\">\n<attribute name=\"x\" attributeType=\"Text\"/></entity>",
            "4: error: Boat.x has the type Text, which is not one of Core Data's."
        ),
        (
            "<entity name=\"Boat\">\n<attribute name=\"x\" attributeType=\"String\" derived=\"YES\"/></entity>",
            "4: error: Boat.x is derived and has no derivation expression."
        ),
        (
            "<entity name=\"Boat\">\n<attribute name=\"x\" attributeType=\"Composite\" composite=\"Place\"/></entity>",
            "4: error: The composite attribute Place of Boat.x is not in the model."
        ),
        // Relationships.
        (
            "<entity name=\"Boat\">\n<relationship name=\"x\" maxCount=\"1\"/></entity>",
            "4: error: Boat.x has no destination."
        ),
        (
            "<entity name=\"Boat\">\n<relationship name=\"x\" maxCount=\"1\" destinationEntity=\"Port\"/></entity>",
            "4: error: The destination Port of Boat.x is not in the model."
        ),
        (
            "\(boat)\n<relationship name=\"x\" maxCount=\"1\" destinationEntity=\"Boat\" inverseName=\"name\"/></entity>",
            "5: error: The inverse name of Boat.x is not a relationship of Boat."
        ),
        (
            "\(boat)\n<relationship name=\"x\" maxCount=\"1\" destinationEntity=\"Boat\" inverseName=\"y\"/>\n<relationship name=\"y\" maxCount=\"1\" destinationEntity=\"Boat\" inverseName=\"y\"/></entity>",
            "5: error: Boat.x names Boat.y as its inverse, which names y as its own."
        ),
        (
            "\(boat)\n<relationship name=\"x\" toMany=\"YES\" minCount=\"3\" maxCount=\"2\" destinationEntity=\"Boat\" inverseName=\"x\"/></entity>",
            "5: error: Boat.x must have at least 3 destinations and may have at most 2."
        ),
        (
            "\(boat)\n<relationship name=\"x\" maxCount=\"1\" destinationEntity=\"Boat\"/></entity>",
            "5: warning: Boat.x should have an inverse."
        ),
        // References.
        (
            "\(boat)\n<fetchIndex name=\"byAge\">\n<fetchIndexElement property=\"age\" type=\"Binary\" order=\"ascending\"/>\n</fetchIndex></entity>",
            "6: error: The fetch index byAge of Boat refers to age, which is not a property of Boat."
        ),
        (
            "\(boat)\n<fetchIndex name=\"byAge\"/></entity>",
            "5: error: The fetch index byAge of Boat has no elements."
        ),
        (
            "\(boat)\n<compoundIndexes>\n<compoundIndex>\n<index value=\"age\"/>\n</compoundIndex></compoundIndexes></entity>",
            "7: error: A compound index of Boat refers to age, which is not a property of Boat."
        ),
        (
            "\(boat)\n<uniquenessConstraints>\n<uniquenessConstraint>\n<constraint value=\"age\"/>\n</uniquenessConstraint></uniquenessConstraints></entity>",
            "7: error: A uniqueness constraint of Boat refers to age, which is not a property of Boat."
        ),
        (
            "\(boat)\n</entity>\n<configuration name=\"Cloud\">\n<memberEntity name=\"Ship\"/></configuration>",
            "7: error: The configuration Cloud refers to the entity Ship, which is not in the model."
        ),
        (
            "\(boat)\n</entity>\n<fetchRequest name=\"All\" entity=\"Ship\"/>",
            "6: error: The fetch request All refers to the entity Ship, which is not in the model."
        ),
        (
            "\(boat)\n<fetchedProperty name=\"x\">\n<fetchRequest name=\"fetchedPropertyFetchRequest\" entity=\"Ship\"/>\n</fetchedProperty></entity>",
            "6: error: The fetched property Boat.x refers to the entity Ship, which is not in the model."
        ),
    ])
    func `an error is told with its line`(body: String, expected: String) throws {
        #expect(try faults(body) == [expected])
    }

    @Test(arguments: [
        ("\(boat)\n</entity>\n<fetchRequest name=\"All\" entity=\"Boat\" predicateString=\"name ==\"/>", 6),
        (
            "\(boat)\n<attribute name=\"x\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"canonical:(\"/></entity>",
            5
        ),
        (
            "\(boat)\n<fetchIndex name=\"i\" partialIndexPredicate=\"name ==\">\n<fetchIndexElement property=\"name\" type=\"Binary\" order=\"ascending\"/></fetchIndex></entity>",
            5
        ),
    ])
    func `a predicate or an expression that does not parse is an error of its line`(body: String, line: Int) throws {
        let found = try faults(body)
        #expect(found.count == 1)
        #expect(found[0].hasPrefix("\(line): error: ") && found[0].contains(" does not parse: "), "\(found)")
    }

    @Test func `a misspelt operator is pointed at, and the one that was meant is named`() throws {
        let request = "<fetchRequest name=\"All\" entity=\"Boat\" predicateString=\"name BEGINWITH 'a'\"/>"
        let found = try faults("\(Self.boat)\n</entity>\n\(request)")
        #expect(found.count == 1, "\(found)")
        #expect(found[0].hasSuffix("expected. Did you mean BEGINSWITH? (character 5)"), "\(found)")
    }

    @Test func `all errors are told, in the order of the lines`() throws {
        let found = try faults(
            """
            <entity name="Boat" parentEntity="Ship">
            <attribute name="x" attributeType="Text"/>
            <relationship name="y" maxCount="1"/>
            </entity>
            """)
        #expect(found.map { $0.prefix(9) } == ["3: error:", "4: error:", "5: error:"])
    }

    @Test func `a cycle of parents is told of each entity in it`() throws {
        let found = try faults(
            """
            <entity name="A" parentEntity="B"/>
            <entity name="B" parentEntity="A"/>
            <entity name="C" parentEntity="A"/>
            """)
        #expect(
            found == ["3: error: The entity A is its own ancestor.", "4: error: The entity B is its own ancestor."])
    }

    @Test func `a source that says everything has no errors, and keeps its hashes when compiled`() throws {
        let folder = try ScratchFolder()
        let path = folder.path + "/Rich.xcdatamodel"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var entity = RichModel.entity
        entity.uniquenessConstraints = [["body"]]
        let model = try RichModel.model(entity: entity)
        try model.xmlContents().write(toFile: path + "/contents", atomically: true, encoding: .utf8)
        do {
            let compiled = try CompiledModel(compiling: path)
            var findings: [Finding] = []
            let again = try ManagedObjectModel(compiled: #require(compiled.files.first).bytes, findings: &findings)
            #expect(VersionHashes(of: again).entities == VersionHashes(of: model).entities)
            #expect(again.entity("Post")?.fetchedProperties.map(\.name) == ["recent"])
            #expect(again.configurations.map(\.name) == model.configurations.map(\.name))
            #expect(again.fetchRequestTemplates.map(\.name) == model.fetchRequestTemplates.map(\.name))
        } catch let error as ModelFaults {
            Issue.record("\(error.faults.map(\.text))")
        }
    }

    @Test func `a lineage without end is an error`() throws {
        let entities = (0..<2_000).map { "<entity name=\"E\($0)\"\($0 == 0 ? "" : " parentEntity=\"E\($0 - 1)\"")/>" }
        let found = try faults(entities.joined(separator: "\n"))
        #expect(found.count == 1 && found[0].contains(" has more than 256 ancestors."), "\(found.first ?? "")")
    }

    @Test func `XML that is not well-formed is an error of its line`() throws {
        let found = try faults("<entity name=\"Boat\">\n<attribute name=\"x\"\n</entity>")
        #expect(found.count == 1 && found[0].hasPrefix("5: error: "), "\(found)")
    }
}
