import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// Mapping models that somebody damaged or wrote by hand.
@Suite struct MappingErrorTests {
    private func read(_ document: MappingXML) throws -> MappingModel { try read(document.text) }

    private func read(_ text: String) throws -> MappingModel {
        try MappingModelFile.Content(Array(text.utf8), isCompiled: false, file: "xcmapping.xml").mapping
    }

    private func error(_ document: MappingXML, _ code: MigrationError.Code = .modelInvalid) -> MigrationError? {
        let error = #expect(throws: MigrationError.self) { try read(document) }
        #expect(error?.code == code)
        #expect(error?.place.hasPrefix("xcmapping.xml") == true, "\(error?.place ?? "")")
        #expect(error?.remedy.isEmpty == false)
        return error
    }

    @Test func `what is not stored is computed`() throws {
        let mapping = try read(MappingXML())
        #expect(
            mapping.entityMappings.flatMap { $0.witnessLines(withHashes: false) } == [
                "mapping BoatToShip transform Boat Ship -",
                """
                from FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Boat", \
                "length > 3"), $manager.sourceContext, NO)
                """,
                "attribute name $source.name", "attribute title -",
            ])
        let boat = try #require(mapping["BoatToShip"])
        #expect(boat.sourceEntityVersionHash?.count == 32 && boat.destinationEntityVersionHash?.count == 32)
        #expect(boat.sourceEntityVersionHash != boat.destinationEntityVersionHash)
    }

    @Test func `objects that nothing refers to are no part of the mapping`() throws {
        let mapping = try read(
            MappingXML {
                $0 + """
                    <object type="XDDEVENTITYMAPPING" id="z900"><attribute name="destinationname">Ghost</attribute></object>
                    """
            })
        #expect(mapping.entityMappings.map(\.name) == ["BoatToShip"])
    }

    @Test func `a file that is no mapping model says what it is`() {
        for text in ["", "<database>", "<model/>", "<database/>", "\u{1}"] {
            let error = #expect(throws: MigrationError.self) { try read(text) }
            #expect(error?.code == .modelInvalid && error?.remedy.isEmpty == false)
        }
    }

    @Test func `a reference to nothing names the object and the line`() {
        let error = error(MappingXML { $0.replacing("idrefs=\"z3 z4\"", with: "idrefs=\"z3 z99\"") })
        #expect(error?.message == "attributemappings refers to z99, which is not of type XDDEVATTRIBUTEMAPPING.")
        #expect(error?.place == "xcmapping.xml:12: XDDEVENTITYMAPPING z2")
    }

    @Test func `two mapping models, two objects of one id and two mappings of one property are refused`() {
        #expect(
            error(MappingXML { $0 + #"<object type="XDDEVMAPPINGMODEL" id="z8"/>"# })?.message
                == "The file contains 2 mapping models instead of one.")
        #expect(
            error(MappingXML { $0 + #"<object type="XDDEVATTRIBUTEMAPPING" id="z3"/>"# })?.message
                == "Two objects have the id z3.")
        #expect(error(MappingXML { $0.replacing(">title<", with: ">name<") })?.message == "name is mapped twice.")
    }

    @Test func `a predicate that cannot be parsed says where`() {
        let error = error(MappingXML { $0.replacing("length &gt; 3", with: "length &gt;") }, .invalidPredicate)
        #expect(error?.place.contains("sourcefilterpredicatestring") == true)
    }

    @Test func `damaged base64 and a damaged model say which`() {
        #expect(
            error(MappingXML { $0.replacing("\"binary\">", with: "\"binary\">!") })?.message
                == "sourcemodeldata is not base64.")
        #expect(
            error(MappingXML { $0.replacing("\"binary\">", with: "\"binary\">AAAA") }, .propertyListInvalid)?
                .place.contains("sourcemodeldata") == true)
    }

    @Test func `an expression of an unknown class is reported by class and selector`() throws {
        var builder = KeyedArchive.Builder()
        let block = builder.object(classes: ["NSBlockExpression", "NSExpression"], [:])
        let manager = builder.object(
            classes: ["NSVariableExpression", "NSExpression"], ["NSVariable": builder.string("manager")])
        let call = builder.object(
            classes: ["NSFunctionExpression", "NSExpression"],
            [
                "NSOperand": manager, "NSSelectorName": builder.string("sum:of:"),
                "NSArguments": builder.array([block]),
            ])
        let stored = builder.archive(root: call).base64
        let error = error(MappingXML(titleExpression: stored), .unsupported)
        #expect(error?.message.hasSuffix("NSBlockExpression (sum:of:).") == true)
        #expect(error?.place.hasSuffix("XDDEVATTRIBUTEMAPPING z4: title") == true)
    }

    /// A hundred calls, each with the next one twice: read naively, they would be 2¹⁰⁰.
    @Test func `an expression that multiplies is refused`() throws {
        var builder = KeyedArchive.Builder()
        var part = builder.object(
            classes: ["NSVariableExpression", "NSExpression"], ["NSVariable": builder.string("source")])
        for _ in 0..<99 {
            part = builder.object(
                classes: ["NSFunctionExpression", "NSExpression"],
                [
                    "NSOperand": part, "NSSelectorName": builder.string("add:to:"),
                    "NSArguments": builder.array([part, part]),
                ])
        }
        let stored = builder.archive(root: part).base64
        #expect(error(MappingXML(titleExpression: stored))?.message == "The value expression is nested too deeply.")
    }
}

/// A mapping model with one entity mapping, as Xcode writes it.
struct MappingXML {
    let text: String

    /// - Parameter change: makes other objects of the sound ones.
    init(titleExpression: String? = nil, _ change: (String) -> String = { $0 }) {
        let old = Self.model("Boat", attributes: ["length": 200, "name": 700])
        let new = Self.model("Ship", attributes: ["name": 700, "title": 700])
        let expression = titleExpression.map {
            #"<attribute name="valueexpressiondata" type="binary">\#($0)</attribute>"#
        }
        let objects = """
            <object type="XDDEVMAPPINGMODEL" id="z1">
            <attribute name="sourcemodelpath" type="string">Fleet.xcdatamodeld/Fleet.xcdatamodel</attribute>
            <attribute name="sourcemodeldata" type="binary">\(old)</attribute>
            <attribute name="destinationmodeldata" type="binary">\(new)</attribute>
            <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2"></relationship>
            </object>
            <object type="XDDEVENTITYMAPPING" id="z2">
            <attribute name="sourcename" type="string">Boat</attribute>
            <attribute name="destinationname" type="string">Ship</attribute>
            <attribute name="mappingnumber" type="int16">1</attribute>
            <attribute name="migrationpolicyclassname" type="string"></attribute>
            <attribute name="sourcefilterpredicatestring" type="string">length &gt; 3</attribute>
            <relationship name="attributemappings" type="0/0" destination="X" idrefs="z3 z4"></relationship>
            <relationship name="relationshipmappings" type="0/0" destination="X"></relationship>
            </object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z4"><attribute name="name">title</attribute>\(expression ?? "")</object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name">name</attribute></object>
            """
        text = """
            <?xml version="1.0"?><!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd"><database>
            \(change(objects))
            </database>
            """
    }

    /// A model of one entity, by the numbers of its attributes' types, in base64 over several lines.
    private static func model(_ name: String, attributes: [String: Int64]) -> String {
        var builder = KeyedArchive.Builder()
        var properties: [(String, PropertyList)] = []
        for (name, number) in attributes.sorted(by: { $0.key < $1.key }) {
            let type = builder.object(classes: ["XDUMLPropertyImp"], ["_default": builder.leaf(.integer(number))])
            let facts = builder.dictionary([("XD_PAttK_attributeType", type)])
            let stereotype = builder.object(
                classes: ["XDUMLStereotypeImp"], ["XDBucketForOwnedAttributesstorage": facts])
            properties.append(
                (
                    name,
                    builder.object(
                        classes: ["XDPMAttribute"],
                        ["XDBucketForStereotypesstorage": builder.dictionary([("attribute", stereotype)])])
                ))
        }
        let entity = builder.object(
            classes: ["XDPMEntity"],
            ["_name": builder.string(name), "XDBucketForOwnedAttributesstorage": builder.dictionary(properties)])
        let package = builder.object(
            classes: ["XDUMLPackageImp"],
            ["XDBucketForClassesstorage": builder.dictionary([(name, entity)])])
        let root = builder.object(classes: ["XDPMModel"], ["_xd_rootPackage": package])
        let text = builder.archive(root: root).base64
        return text.prefix(76) + "\n" + text.dropFirst(76) + "\n"
    }
}
