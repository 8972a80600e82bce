import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport
import Testing

/// Edits of a deployed model, with the gaps that each makes in CloudKit.
@Suite("Edits of a model that is deployed to CloudKit")
struct CloudKitEditTests {  // tier: long
    /// An edit of the model `whole`, whose schema is in Production, and its gaps.
    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The texts to replace in the XML.
        let changes: [(old: String, new: String)]
        let gaps: [String]

        init(_ name: String, _ old: String, _ new: String, _ gaps: String...) {
            (testDescription, changes, self.gaps) = (name, [(old, new)], gaps)
        }

        init(_ name: String, changing changes: [(String, String)], _ gaps: String...) {
            (testDescription, self.changes, self.gaps) = (name, changes.map { (old: $0.0, new: $0.1) }, gaps)
        }

        /// The XML with every change made.
        func contents() throws -> String {
            var text = try String(contentsOfFile: CloudKitExample.whole.contents, encoding: .utf8)
            for (old, new) in changes {
                try #require(text.contains(old), "\(old)")
                text = text.replacing(old, with: new)
            }
            return text
        }
    }

    private static let date =
        "<attribute name=\"made\" optional=\"YES\" attributeType=\"Date\" usesScalarValueType=\"NO\"/>"
    private static let mood =
        "<attribute name=\"mood\" optional=\"YES\" attributeType=\"Composite\" composite=\"Mood\"/>"
    private static let element = "<attribute name=\"mood\" optional=\"YES\" attributeType=\"String\"/>"
    private static let uuid =
        "<attribute name=\"uuid\" optional=\"YES\" attributeType=\"UUID\" usesScalarValueType=\"NO\"/>"
    private static let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
    private static let postsInverse =
        "<relationship name=\"posts\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\" destinationEntity=\"Post\""

    static let all: [Edit] = [
        Edit(
            "a text attribute is added", uuid,
            uuid + "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>",
            "add-field CD_Tag.CD_note", "add-companion CD_Tag.CD_note_ckAsset"),
        Edit(
            "a number is added to a sub-entity", "<attribute name=\"size\"",
            "<attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"/><attribute name=\"size\"",
            "add-field CD_Post.CD_pages"),
        Edit("an attribute is removed", date, "", "orphan CD_Tag.CD_made"),
        Edit(
            "an attribute is no longer stored", date, date.replacing("/>", with: " transient=\"YES\"/>"),
            "orphan CD_Tag.CD_made"),
        Edit("a date becomes a number", date, date.replacing("Date", with: "Double"), "retype CD_Tag.CD_made"),
        Edit("an integer becomes a wider one", "Integer 32", "Integer 64"),
        Edit(
            "a text becomes a composite", title,
            "<attribute name=\"title\" optional=\"YES\" attributeType=\"Composite\" composite=\"Mood\"/>",
            "retype CD_Post.CD_title", "orphan CD_Post.CD_title_ckAsset"),
        Edit(
            "an attribute is renamed", uuid,
            uuid.replacing("name=\"uuid\"", with: "name=\"identifier\" elementID=\"uuid\""),
            "add-field CD_Tag.CD_identifier", "orphan CD_Tag.CD_uuid"),
        Edit(
            "an attribute becomes required", title, title.replacing("optional=\"YES\"", with: "defaultValueString=\"\"")
        ),
        Edit("an attribute gets a default value", date, date.replacing("/>", with: " defaultDateTimeInterval=\"0\"/>")),
        Edit(
            "an attribute is encrypted", title, title.replacing("/>", with: " allowsCloudEncryption=\"YES\"/>"),
            "encrypt CD_Post.CD_title"),
        Edit("an attribute is no longer encrypted", " allowsCloudEncryption=\"YES\"", "", "encrypt CD_Post.CD_secret"),
        Edit("values are no longer in files of their own", " allowsExternalBinaryDataStorage=\"YES\"", ""),
        Edit(
            "a struct gets a field", element,
            element + "<attribute name=\"strength\" optional=\"YES\" attributeType=\"Integer 16\"/>"),
        Edit(
            "an enum gets a case", mood,
            mood.replacing(
                "/>", with: "><userInfo><entry key=\"enum\" value=\"glad,sad,calm\"/></userInfo></attribute>")),
        Edit(
            "an entity is added", "<entity name=\"Detail\"",
            "<entity name=\"Note\" syncable=\"YES\"/><entity name=\"Detail\"",
            "add-type CD_Note"),
        Edit("an entity is renamed", "\"Detail\"", "\"Info\"", "add-type CD_Info", "orphan CD_Detail"),
        Edit(
            "a to-many relationship becomes to-one", postsInverse,
            postsInverse.replacing("toMany=\"YES\"", with: "maxCount=\"1\""),
            "add-field CD_Tag.CD_posts"),
        Edit(
            "a to-one relationship is removed, with its inverse",
            changing: [
                (
                    "<relationship name=\"detail\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" "
                        + "destinationEntity=\"Detail\" inverseName=\"tag\" inverseEntity=\"Detail\"/>", ""
                ),
                (
                    "<relationship name=\"tag\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" "
                        + "destinationEntity=\"Tag\" inverseName=\"detail\" inverseEntity=\"Tag\"/>", ""
                ),
            ], "orphan CD_Detail.CD_tag", "orphan CD_Tag.CD_detail"),
    ]

    @Test(arguments: all)
    func `an edit has the gaps that are expected, and that the witness finds`(edit: Edit) throws {
        let contents = try edit.contents()
        var findings: [Finding] = []
        let model = try ManagedObjectModel(xmlContents: Array(contents.utf8), file: "contents", findings: &findings)
        let found = try CloudKitRequirements(model).lines(in: CloudKitExample.whole.schema())
        #expect(Set(found) == Set(edit.gaps) && found.count == edit.gaps.count, "\(found)")
        let folder = try ScratchFolder()
        let path = folder.path + "/contents"
        try contents.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try CloudKitWitness.lines(path, #require(CloudKitExample.whole.production)) == found)
    }

    @Test(arguments: all)
    func `the difference of the two versions in words names the same, each with its field`(edit: Edit) throws {
        var findings: [Finding] = []
        let model = try ManagedObjectModel(
            xmlContents: Array(edit.contents().utf8), file: "contents", findings: &findings)
        let versions = try [CloudKitExample.whole.model(), model].enumerated().map {
            ModelVersion(names: ["App \($0)"], model: $1)
        }
        let difference = try CloudKitDifference(from: versions[0], to: versions[1])
        for gap in edit.gaps {
            let name = gap.split(separator: " ")[1]
            #expect(difference.sentences.contains { $0.contains(name) }, "\(gap): \(difference.sentences)")
        }
        let isImpossible = edit.gaps.contains { $0.hasPrefix("retype") || $0.hasPrefix("encrypt") }
        // Core Data refuses a rename in a mirrored store.
        let isRename = edit.changes.contains { $0.new.contains("elementID") }
        #expect(difference.isImpossible == (isImpossible || isRename))
        #expect(difference.sentences.contains { $0.contains("forbids renaming") } == isRename)
    }

    @Test func `a name that a removed attribute had is named as such, if it returns with another type`() throws {
        let post = "<entity name=\"Post\">\n%@\n</entity>"
        func version(_ attribute: String) -> String { post.replacing("%@", with: attribute) }
        let text = "<attribute name=\"score\" optional=\"YES\" attributeType=\"String\"/>"
        let number = "<attribute name=\"score\" optional=\"YES\" attributeType=\"Integer 16\"/>"
        let schema = "DEFINE SCHEMA RECORD TYPE CD_Post ( CD_entityName STRING, CD_score STRING );"
        func messages(_ versions: String...) throws -> [String] {
            let all = versions.enumerated().map { LintExample.Version($0 == 0 ? "App" : "App \($0 + 1)", $1) }
            let model = try ExampleModel(LintExample(all))
            let file = try CloudKitSchemaFile(Array(schema.utf8), path: "Production.ckdb")
            let subject = try LintSubject(
                ModelBundle(contentsOf: model.path), schema: LintSchema(file, path: "Production.ckdb"))
            let found = Lint(profiles: [.cloudkit]).findings(in: subject, path: model.path)
            return found.filter { $0.rule.code == "SYNC014" }.map(\.message)
        }
        let clash = "CD_Post.CD_score is STRING in Production for ever, and Post.score needs INT64."
        #expect(try messages(version(text), version(number)) == [clash])
        #expect(
            try messages(version(text), version(""), version(number))
                == [clash + " The name is that of a property that was removed earlier."])
    }
}
