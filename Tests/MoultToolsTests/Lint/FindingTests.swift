import Foundation
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport
import Testing

/// What a finding tells to do: it can be followed, and leads to no other finding.
@Suite("Findings and their remedies")
struct FindingTests {
    private static func post(_ properties: String...) -> String {
        "<entity name=\"Post\">\n\(properties.joined(separator: "\n"))\n</entity>"
    }
    private static let cloud = Lint(profiles: [.cloudkit])

    @Test func `of two findings at one element, each start tag has the corrections of both`() throws {
        let older = Self.post("<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>")
        let newer = Self.post(
            "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>",
            "<attribute name=\"rating\" attributeType=\"Integer 16\"/>")
        let model = try ExampleModel(LintExample(from: older, to: newer))
        let found = try ExampleModel.findings(at: model.path, Self.cloud).filter { $0.member == "rating" }
        #expect(Set(found.map(\.rule.code)) == ["INFER005", "SYNC002"])
        for finding in found {
            let xml = try #require(finding.xml)
            #expect(xml.contains("defaultValueString=\"0\"") && xml.contains("optional=\"YES\""), "\(xml)")
        }
        let corrected = newer.replacing(
            "<attribute name=\"rating\" attributeType=\"Integer 16\"/>", with: found[0].xml ?? "")
        let next = try ExampleModel(LintExample(from: older, to: corrected))
        #expect(try ExampleModel.findings(at: next.path, Self.cloud).filter { $0.severity != .note }.isEmpty)
    }

    @Test func `the start tag of a finding that is certain does not declare a rename that may be none`() throws {
        let older = Self.post("<attribute name=\"stars\" attributeType=\"String\" defaultValueString=\"\"/>")
        let newer = Self.post("<attribute name=\"rating\" attributeType=\"String\"/>")
        let model = try ExampleModel(LintExample(from: older, to: newer))
        let found = try ExampleModel.findings(at: model.path, Self.cloud).filter { $0.member == "rating" }
        let rename = try #require(found.first { $0.rule.code == "INFER001" }?.xml)
        #expect(rename.contains("elementID=\"stars\"") && rename.contains("optional=\"YES\""), "\(rename)")
        let cloud = try #require(found.first { $0.rule.code == "SYNC002" }?.xml)
        #expect(!cloud.contains("elementID"), "\(cloud)")
    }

    @Test func `a finding of a released version asks for a new version, which has neither it nor an error`() throws {
        let transformable = "<attribute name=\"tags\" optional=\"YES\" attributeType=\"Transformable\"/>"
        func authored(_ ordered: String, _ attribute: String) -> String {
            """
            <entity name="Post">
            <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="User" \
            inverseName="posts" inverseEntity="User"/>
            \(attribute)
            </entity>
            <entity name="User">
            <relationship name="posts" optional="YES" toMany="YES"\(ordered) deletionRule="Nullify" \
            destinationEntity="Post" inverseName="author" inverseEntity="Post"/>
            </entity>
            """
        }
        let released = LintExample.Version("App", authored(" ordered=\"YES\"", transformable))
        let same = try ExampleModel.findings(LintExample([released], released: [released]), Self.cloud)
        let advised = same.filter { ["SYNC005", "SHAPE005"].contains($0.rule.code) }
        #expect(advised.count == 2)
        for finding in advised {
            #expect(finding.remedy.hasPrefix("App is released, so add a new version"), "\(finding.remedy)")
            #expect(finding.xml == nil)
        }
        let secure = transformable.replacing("/>", with: " valueTransformerName=\"NSSecureUnarchiveFromData\"/>")
        let next = LintExample.Version("App 2", authored("", secure))
        let found = try ExampleModel.findings(
            LintExample([released, next], current: "App 2", released: [released]), Self.cloud)
        #expect(!found.contains { ["SYNC005", "SHAPE005"].contains($0.rule.code) })
        #expect(!found.contains { $0.severity == .error }, "\(found.map(\.message))")
    }

    @Test(arguments: [
        "<attribute name=\"2nd\" optional=\"YES\" attributeType=\"String\"/>",
        "<attribute name=\"a\" optional=\"YES\"/>",
        """
        <fetchedProperty name="own"><fetchRequest name="own" entity="Post" predicateString="title ==="/></fetchedProperty>
        """,
    ])
    func `what the compiler refuses is an error at its line`(property: String) throws {
        let model = try ExampleModel(LintExample(Self.post(property)))
        let found = try ExampleModel.findings(at: model.path, Lint()).filter { $0.rule.code == "SHAPE009" }
        #expect(found.count == 1 && found.first?.line == 3, "\(found.map { "\($0.line ?? 0) \($0.message)" })")
        #expect(found.first?.severity == .error)
    }

    @Test func `a reference to nothing is reported by its own rule alone`() throws {
        let index = "<fetchIndex name=\"i\"><fetchIndexElement property=\"body\" type=\"Binary\"/></fetchIndex>"
        let model = try ExampleModel(LintExample(Self.post(index)))
        #expect(try ExampleModel.findings(at: model.path, Lint()).map(\.rule.code) == ["SHAPE002"])
    }

    // MARK: Core Data reads no answers

    @Test func `what only an answer declares is a warning, until the model declares it too`() throws {
        func found(_ newer: String, _ answers: [Answer]) throws -> [LintFinding] {
            let older = Self.post("<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>")
            let model = try ExampleModel(LintExample(from: older, to: Self.post(newer)))
            let bundle = try ModelBundle(contentsOf: model.path)
            return Lint().findings(in: try LintSubject(bundle, answers: try Answers(answers)), path: model.path)
                .filter { $0.rule.category == .infer }
        }
        let body = "<attribute name=\"body\" optional=\"YES\" attributeType=\"String\"/>"
        let rename = Answer(from: "App", to: "App 2", entity: "Post", property: "body", is: .rename, old: "text")
        let renamed = try #require(try found(body, [rename]).first)
        #expect(renamed.rule.code == "INFER001" && renamed.severity == .warning)
        #expect(renamed.xml?.contains("elementID=\"text\"") == true && renamed.message.contains("Core Data itself"))
        #expect(try found(renamed.xml ?? "", [rename]).isEmpty)

        let text = "<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>"
        let pages = "<attribute name=\"pages\" attributeType=\"Integer 16\"/>"
        let value = Answer(from: "App", to: "App 2", entity: "Post", property: "pages", is: .value, value: "1")
        let valued = try #require(try found(text + pages, [value]).first)
        #expect(valued.rule.code == "INFER005" && valued.severity == .warning && valued.message.contains("134110"))
        #expect(try found(text + (valued.xml ?? ""), []).isEmpty)
    }

    /// The findings about inference of versions, as `RULE severity place`.
    private func inferred(_ versions: [String], _ answers: [Answer]) throws -> [String] {
        let all = versions.enumerated().map { LintExample.Version($0 == 0 ? "App" : "App \($0 + 1)", Self.post($1)) }
        let model = try ExampleModel(LintExample(all))
        return try ExampleModel.findings(at: model.path, Lint(), answers: try Answers(answers))
            .filter { $0.rule.category == .infer }.map { "\($0.rule.code) \($0.severity) \($0.place): \($0.message)" }
    }

    @Test func `values that only an answer drops are a warning, until the model says it too`() throws {
        let older = "<attribute name=\"rating\" optional=\"YES\" attributeType=\"String\"/>"
        let newer = older.replacing("String", with: "Integer 32")
        let drop = Answer(from: "App", to: "App 2", entity: "Post", property: "rating", is: .drop)
        let found = try inferred([older, newer], [drop])
        #expect(found.count == 1 && found.first?.hasPrefix("INFER003 warning Post.rating: ") == true, "\(found)")
        #expect(found.first?.contains("An answer drops its values, for Moult alone") == true, "\(found)")
        #expect(try inferred([older, newer.replacing("rating", with: "stars")], []) == [])
    }

    private static let text = "<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>"
    private static let count = "<attribute name=\"count\" optional=\"YES\" attributeType=\"Integer 16\"/>"
    private static let more = "<attribute name=\"more\" optional=\"YES\" attributeType=\"String\"/>"
    /// Versions in which `text` is removed and returns.
    private static let returning = [text + count, count, text + count + more]

    @Test func `what returns is kept by Core Data, so that an answer that drops it is a warning`() throws {
        func found(_ verdict: Answer.Verdict) throws -> [String] {
            try inferred(
                Self.returning, [Answer(from: "App", to: "App 3", entity: "Post", property: "text", is: verdict)])
        }
        #expect(try found(.keep) == [])
        let dropped = try found(.drop)
        #expect(dropped.count == 1 && dropped.first?.hasPrefix("INFER001 warning Post.text: ") == true, "\(dropped)")
        #expect(dropped.first?.contains("straight to App 3, and keeps them") == true, "\(dropped)")
    }

    @Test func `an answer that fits no question is found, and the others still count`() throws {
        func post(_ from: String, _ to: String, _ property: String, _ verdict: Answer.Verdict) -> Answer {
            Answer(from: from, to: to, entity: "Post", property: property, is: verdict)
        }
        let drop = post("App", "App 3", "text", .drop)
        for (answer, severity, says) in [
            (post("App", "App 9", "text", .new), "error", "there is no version App 9"),
            (post("App 3", "App", "text", .keep), "error", "App 3 is not before App"),
            (post("App 2", "App 3", "gone", .drop), "error", "Post of App 3 has no property gone"),
            (post("App 2", "App 3", "count", .keep), "error", "neither its type nor its destination changes"),
            (post("App", "App 3", "gone", .keep), "warning", "App 3 has no Post.gone"),
            (Answer(from: "App", to: "App 3", entity: "Gone", is: .drop), "warning", "App 3 has no Gone"),
            (
                post("App", "App 3", "count", .drop), "warning",
                "nothing is removed after App and returns as Post.count of App 3"
            ),
        ] {
            let found = try inferred(Self.returning, [answer, drop])
            let own = found.filter { $0.hasPrefix("INFER009 \(severity) \(answer.place): ") }
            #expect(own.count == 1 && own.first?.hasSuffix(" fits no question: \(says).") == true, "\(found)")
            #expect(found.count == 2 && found.contains { $0.hasPrefix("INFER001 warning Post.text: ") }, "\(found)")
        }
    }

    @Test func `an identifier that a later version drops is reported for every older version that skips it`() throws {
        let text = "<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>"
        let body = "<attribute name=\"body\" optional=\"YES\" attributeType=\"String\" elementID=\"text\"/>"
        let note = "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>"
        func found(_ versions: [String], released: Int = 0) throws -> [LintFinding] {
            let all = versions.enumerated().map { number, xml in
                LintExample.Version(number == 0 ? "Diary" : "Diary \(number + 1)", xml)
            }
            return try ExampleModel.findings(LintExample(all, released: Array(all.prefix(released))), Lint())
                .filter { $0.rule.code == "DATA013" }
        }
        let bare = body.replacing(" elementID=\"text\"", with: "")
        let three = [Self.post(text), Self.post(body), Self.post(bare, note)]
        let finding = try #require(try found(three).first)
        #expect(finding.place == "Post.body" && finding.version == "Diary 3", "\(finding.message)")
        #expect(try found(three, released: 2).count == 1)
        // Done as the remedy says, it is gone.
        #expect(try found([three[0], three[1], Self.post(finding.xml ?? "", note)]).isEmpty)
        #expect(try found([three[0], three[1]]).isEmpty)
        // An entity is as good as a property.
        let entities = [
            Self.post(text), Self.post(text).replacing("\"Post\"", with: "\"Entry\" elementID=\"Post\""),
            Self.post(text, note).replacing("\"Post\"", with: "\"Entry\""),
        ]
        #expect(try found(entities).map(\.place) == ["Entry"])
    }

    private static func owner(_ name: String, _ relationships: String...) -> String {
        "<entity name=\"\(name)\">\(relationships.joined())</entity>"
    }
    private static func cascade(_ name: String, _ destination: String, rule: String = "Cascade") -> String {
        "<relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" deletionRule=\"\(rule)\" destinationEntity=\"\(destination)\"/>"
    }

    @Test
    func `a circle of cascades is noted once, also over a sub-entity, and a tree or a broken circle is none`() throws {
        func circles(_ entities: String...) throws -> [String] {
            let model = try ExampleModel(LintExample(entities.joined(separator: "\n")))
            return try ExampleModel.findings(at: model.path, Lint()).filter { $0.rule.code == "SHAPE004" }.map {
                "\($0.severity.rawValue) \($0.place)"
            }
        }
        let circle = [
            Self.owner("A", Self.cascade("bs", "B")), Self.owner("B", Self.cascade("cs", "C")),
            Self.owner("C", Self.cascade("as", "A")),
        ]
        #expect(try circles(circle[0], circle[1], circle[2]) == ["note A.bs"])
        let kind = "<entity name=\"Special\" parentEntity=\"A\"/>"
        let special = Self.owner("C", Self.cascade("as", "Special"))
        #expect(try circles(circle[0], kind, circle[1], special) == ["note B.cs"])
        #expect(try circles(circle[0], circle[1], Self.owner("C", Self.cascade("as", "A", rule: "Nullify"))) == [])
        #expect(try circles(Self.owner("A", Self.cascade("children", "A"))) == [])
    }
}
