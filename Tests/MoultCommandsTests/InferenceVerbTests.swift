import Foundation
import TestSupport
import Testing

@Suite("What real models have, through every verb")
struct InferenceVerbTests {  // tier: long
    private func edit(_ moult: Tool, _ versions: [String], _ change: (String) -> String) throws {
        for version in versions {
            let path = moult.folder.path + "/Forum.xcdatamodeld/\(version).xcdatamodel/contents"
            try change(String(contentsOfFile: path, encoding: .utf8)).write(
                toFile: path, atomically: true, encoding: .utf8)
        }
    }

    @Test func `a new required to-many without a minimum count is inferred and may be empty (wire, Awful)`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try edit(moult, ["Forum 2"]) { text in
            text.replacingOccurrences(
                of: "<relationship name=\"posts\" optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\"",
                with: """
                    <relationship name="labels" toMany="YES" deletionRule="Nullify" destinationEntity="Label" \
                    inverseName="users" inverseEntity="Label"/>
                    <relationship name="posts" optional="YES" toMany="YES" deletionRule="Nullify"
                    """
            ).replacingOccurrences(
                of: "</model>",
                with: """
                    <entity name="Label" syncable="YES"><attribute name="text" optional="YES" attributeType="String"/>
                    <relationship name="users" toMany="YES" deletionRule="Nullify" destinationEntity="User" \
                    inverseName="labels" inverseEntity="User"/></entity></model>
                    """)
        }
        let model = ["--model", "Forum.xcdatamodeld"]
        let target = ["--to", "Forum 2"]
        let plan = try moult.run(Tool.path, ["plan", "forum.sqlite"] + model + target)
        #expect(plan.exit == 0, "\(plan.errors)")
        #expect(plan.output.contains("A relationship User.labels is added: required to-many Label."))
        #expect(!plan.output.contains("warning"), "\(plan.output)")
        let migrated = try moult.run(Tool.path, ["migrate", "forum.sqlite"] + model + target)
        #expect(migrated.exit == 0, "\(migrated.errors)")
        for verb in ["validate", "inspect", "repair"] {
            let result = try moult.run(Tool.path, [verb, "forum.sqlite"] + model)
            #expect(result.exit == 0, "\(verb): \(result.output)\(result.errors)")
        }
        #expect(try moult.run(Tool.path, ["rollback", "forum.sqlite"] + model).exit == 0)
    }

    @Test func `a Boolean default of 0.0 is NO, through every verb and without a word (kiwix)`() throws {
        let moult = try Tool.besideForumModel()
        try edit(moult, ["Forum", "Forum 2", "Forum 3"]) {
            $0.replacingOccurrences(
                of: "attributeType=\"Boolean\" defaultValueString=\"NO\"",
                with: "attributeType=\"Boolean\" defaultValueString=\"0.0\"")
        }
        let model = ["--model", "Forum.xcdatamodeld"]
        let made = try moult.run(
            Tool.path, ["create", "forum.sqlite", "--version", "Forum", "--rows", "Thread=20,Forum=2"] + model)
        #expect(made.exit == 0 && made.errors.isEmpty, "\(made.errors)")
        for verb in ["status", "inspect", "validate", "plan", "migrate", "validate", "rollback"] {
            let result = try moult.run(Tool.path, [verb, "forum.sqlite"] + (verb == "inspect" ? [] : model))
            #expect(result.exit == 0, "\(verb): \(result.errors)")
            #expect(!result.errors.contains("warning"), "\(verb): \(result.errors)")
        }
    }

    @Test func `a default that cannot be read is one warning for all versions, and the store is migrated`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        try edit(moult, ["Forum", "Forum 2"]) {
            $0.replacingOccurrences(
                of: "attributeType=\"Boolean\" defaultValueString=\"NO\"",
                with: "attributeType=\"Boolean\" defaultValueString=\"perhaps\"")
        }
        let status = try moult("status", "forum.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(status.exit == 0, "\(status.errors)")
        let said = (status.output + status.errors).components(separatedBy: "default-not-read").count - 1
        #expect(said == 1, "\(status.output)\(status.errors)")
        #expect((status.output + status.errors).contains("The same in: Forum."))
        #expect(try moult("migrate", "forum.sqlite", "--model", "Forum.xcdatamodeld").exit == 0)
    }
}
