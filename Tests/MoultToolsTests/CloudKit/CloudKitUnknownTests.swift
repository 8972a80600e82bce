import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultTools
import TestSupport
import Testing

/// What a model does not say about its schema is no gap and no claim.
@Suite("What a model does not say about CloudKit")
struct CloudKitUnknownTests {
    private static let secret =
        "<attribute name=\"secret\" optional=\"YES\" attributeType=\"String\" allowsCloudEncryption=\"YES\"/>"

    private func model(_ xml: String, _ facts: String = "usedWithCloudKit=\"YES\"") throws -> ManagedObjectModel {
        var findings: [Finding] = []
        let text = "<model \(facts)>\(xml)</model>"
        return try ManagedObjectModel(xmlContents: Array(text.utf8), file: "contents", findings: &findings)
    }

    private func schema(_ fields: String) throws -> CloudKitSchema {
        let text =
            "DEFINE SCHEMA RECORD TYPE CD_Post ( CD_entityName STRING, CD_moveReceipt BYTES, "
            + "CD_moveReceipt_ckAsset ASSET, \(fields) );"
        return try CloudKitSchemaFile(Array(text.utf8), path: "Production.ckdb").schema
    }

    private func gaps(_ model: ManagedObjectModel, _ fields: String) throws -> [String] {
        try CloudKitRequirements(model).lines(in: schema(fields))
    }

    /// The source of a model, and the same model as a compiler and a store keep it.
    private func forms(_ xml: String) throws -> (source: ManagedObjectModel, compiled: ManagedObjectModel) {
        let source = try model(xml)
        var findings: [Finding] = []
        let bytes = try source.compiled()
        return (source, try ManagedObjectModel(compiled: bytes, findings: &findings))
    }

    // MARK: - Encryption

    @Test func `a compiled model is right about neither a plain nor an encrypted field, and says so`() throws {
        let (source, compiled) = try forms("<entity name=\"Post\">\(Self.secret)</entity>")
        let plain = "CD_secret STRING, CD_secret_ckAsset ASSET"
        let encrypted = "CD_secret ENCRYPTED STRING, CD_secret_ckAsset ASSET"
        #expect(try gaps(source, encrypted) == [] && gaps(source, plain) == ["encrypt CD_Post.CD_secret"])
        for fields in [plain, encrypted] { #expect(try gaps(compiled, fields) == ["encryption-unknown "]) }
        // A type is known in any case.
        #expect(try gaps(compiled, "CD_secret INT64") == ["retype CD_Post.CD_secret", "encryption-unknown "])
        // A relationship and the framework's fields are never encrypted.
        let text =
            "DEFINE SCHEMA RECORD TYPE CD_Post ( CD_entityName ENCRYPTED STRING, CD_moveReceipt BYTES, "
            + "CD_moveReceipt_ckAsset ASSET, \(plain) );"
        let strange = try CloudKitSchemaFile(Array(text.utf8), path: "Production.ckdb").schema
        #expect(
            try CloudKitRequirements(compiled).lines(in: strange)
                == ["encrypt CD_Post.CD_entityName", "encryption-unknown "])
    }

    @Test func `the schema of a compiled model is marked, and keeps the encryption of Production`() throws {
        let (whole, compiled) = try forms("<entity name=\"Post\">\(Self.secret)</entity>")
        let report = try CloudKitSchemaReport(ModelVersion(names: ["App"], model: compiled))
        #expect(report.text.hasPrefix("// Uncertain: A compiled model or a store does not say"), "\(report.text)")
        #expect(report.uncertain.first?.contains("CD_Post.CD_secret") == true, "\(report.uncertain)")
        let known = try CloudKitSchemaReport(ModelVersion(names: ["App"], model: whole))
        #expect(known.text.hasPrefix("DEFINE SCHEMA\n"))
        // The comment is no part of the schema.
        let read = try CloudKitSchemaFile(Array(report.text.utf8), path: "New.ckdb").schema
        let source = try CloudKitSchemaFile(Array(known.text.utf8), path: "New.ckdb").schema
        #expect(read.types["CD_Post"]?.fieldNames == source.types["CD_Post"]?.fieldNames)
        let folder = try ScratchFolder()
        let production = folder.path + "/Production.ckdb"
        try known.text.write(toFile: production, atomically: true, encoding: .utf8)
        let merged = try CloudKitSchemaReport(ModelVersion(names: ["App"], model: compiled), merging: production)
        #expect(merged.text == known.text && merged.uncertain.isEmpty && merged.impossible.isEmpty)
    }

    @Test func `a compiled version and its source differ in no encryption`() throws {
        let (source, compiled) = try forms("<entity name=\"Post\">\(Self.secret)</entity>")
        #expect(source == source && !compiled.describesCloudEncryption)
        let versions = [source, compiled].enumerated().map { ModelVersion(names: ["App \($0)"], model: $1) }
        for (older, newer) in [(versions[0], versions[1]), (versions[1], versions[0])] {
            let difference = try CloudKitDifference(from: older, to: newer)
            #expect(difference.sentences == [] && difference.uncertain.count == 1, "\(difference)")
            #expect(try ModelDiff(from: older, to: newer).changes.allSatisfy { $0.kind != .cloudEncryption })
        }
        let plain = try model("<entity name=\"Post\">\(Self.secret.replacing("YES\"/>", with: "NO\"/>"))</entity>")
        let changed = try ModelDiff(from: versions[0], to: ModelVersion(names: ["App 2"], model: plain)).changes
        #expect(changed.contains { $0.kind == .cloudEncryption })
    }

    // MARK: - Switches

    @Test(arguments: ["YES", "yes", "true", "1"])
    func `a switch of the root is read as those below it`(word: String) throws {
        let post = "<entity name=\"Post\"/>"
        #expect(try model(post, "usedWithCloudKit=\"\(word)\"").isUsedWithCloudKit)
        let member =
            "<configuration name=\"C\" usedWithCloudKit=\"\(word)\"><memberEntity name=\"Post\"/></configuration>"
        #expect(try model(post + member, "").isUsedWithCloudKit)
    }

    @Test func `a text that is no switch is a finding`() throws {
        var findings: [Finding] = []
        let text = "<model usedWithCloudKit=\"maybe\"><entity name=\"Post\"/></model>"
        let model = try ManagedObjectModel(xmlContents: Array(text.utf8), file: "contents", findings: &findings)
        #expect(findings.map(\.code) == ["switch-not-read"] && !model.isUsedWithCloudKit)
    }

    // MARK: - Configurations

    @Test func `a member of a configuration has the fields of its ancestors, and not those of its siblings`() throws {
        func date(_ name: String) -> String { "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"Date\"/>" }
        let family = try model(
            """
            <entity name="Base" isAbstract="YES">\(date("b"))</entity>
            <entity name="Kid" parentEntity="Base">\(date("k"))</entity>
            <entity name="Other" parentEntity="Base">\(date("o"))</entity>
            <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Kid"/></configuration>
            """, "")
        let fields = try #require(CloudKitRequirements(family).schema.types["CD_Base"]).fields.keys
        #expect(fields.contains("CD_b") && fields.contains("CD_k") && !fields.contains("CD_o"))
    }

    @Test func `configurations without a mark are named, unless each has all entities or one is chosen`() throws {
        func configured(_ members: String) throws -> ManagedObjectModel {
            try model(
                "<entity name=\"Post\"/><entity name=\"Draft\"/><configuration name=\"Cloud\">\(members)</configuration>",
                "")
        }
        let part = try configured("<memberEntity name=\"Post\"/>")
        let whole = try configured("<memberEntity name=\"Post\"/><memberEntity name=\"Draft\"/>")
        #expect(try CloudKitRequirements(part).unknowns.map(\.code) == [.configurationUnknown])
        #expect(try CloudKitRequirements(part).unknowns.first?.message.contains("Cloud") == true)
        #expect(try CloudKitRequirements(part, configuration: "Cloud").unknowns.isEmpty)
        #expect(try CloudKitRequirements(whole).unknowns.isEmpty)
    }

    // MARK: - What no schema can have

    @Test func `nothing is added next to a field of another type, nor for a name that CloudKit does not allow`() throws
    {
        let text = "<attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/>"
        let post = try model("<entity name=\"Post\">\(text)</entity>")
        #expect(try gaps(post, "CD_x INT64") == ["retype CD_Post.CD_x"])
        let requirements = try CloudKitRequirements(post)
        let merged = try requirements.adding(to: schema("CD_x INT64"))
        #expect(merged.types["CD_Post"]?.fields["CD_x_ckAsset"] == nil)
        let named = try CloudKitRequirements(model("<entity name=\"Émile\"/>"))
        #expect(named.faults.map(\.code) == [.badName] && named.lines(in: CloudKitSchema()) == [])
    }

    @Test func `a gap of a field of the framework or of a relationship has a remedy that can be followed`() throws {
        let pair = try model(
            """
            <entity name="Post"><relationship name="tag" optional="YES" maxCount="1" destinationEntity="Tag" \
            inverseName="posts" inverseEntity="Tag"/><relationship name="twins" optional="YES" toMany="YES" \
            destinationEntity="Post" inverseName="twins" inverseEntity="Post"/></entity>
            <entity name="Tag"><relationship name="posts" optional="YES" toMany="YES" destinationEntity="Post" \
            inverseName="tag" inverseEntity="Post"/></entity>
            """)
        let text = """
            DEFINE SCHEMA RECORD TYPE CD_Post ( CD_tag REFERENCE, CD_moveReceipt STRING );
            RECORD TYPE CD_Tag ( CD_entityName INT64 );
            """
        let production = try CloudKitSchemaFile(Array(text.utf8), path: "Production.ckdb").schema
        let gaps = try CloudKitRequirements(pair).gaps(in: production)
        func gap(_ name: String) throws -> CloudKitGap { try #require(gaps.first { $0.name == name }, "\(name)") }
        #expect(try gap("CD_Post.CD_entityName").message.hasSuffix("so CloudKit refuses every record of Post."))
        #expect(try gap("CDMR").message.hasSuffix("so CloudKit refuses every pair of Post.twins."))
        #expect(try gap("CD_Post.CD_tag").remedy.text().hasPrefix("No relationship can have the type"))
        #expect(try gap("CD_Tag.CD_entityName").message.hasSuffix("and the framework needs STRING."))
        #expect(try gap("CD_Tag.CD_entityName").remedy.text().contains("Add an entity of another name"))
        #expect(gaps.allSatisfy { !$0.remedy.text().contains("Leave this attribute") && !$0.remedy.isEmpty })
    }

    // MARK: - Renames

    private static let posts = [
        "<entity name=\"Post\"><attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/></entity>",
        "<entity name=\"Post\"><attribute name=\"headline\" optional=\"YES\" attributeType=\"String\" elementID=\"title\"/></entity>",
    ]

    private func findings(_ schema: String) throws -> [LintFinding] {
        let example = try ExampleModel(LintExample(from: Self.posts[0], to: Self.posts[1]))
        let file = try CloudKitSchemaFile(Array(schema.utf8), path: "Production.ckdb")
        let subject = try LintSubject(
            ModelBundle(contentsOf: example.path), schema: LintSchema(file, path: "Production.ckdb"))
        return Lint(profiles: [.cloudkit]).findings(in: subject, path: example.path)
    }

    @Test func `a rename of what was deployed is refused by each rule, and none says to deploy the new name`() throws {
        let found = try findings("DEFINE SCHEMA RECORD TYPE CD_Post ( CD_entityName STRING, CD_title STRING );")
        let rename = try #require(found.first { $0.rule.code == "SYNC011" }, "\(found.map(\.rule.code))")
        #expect(!found.contains { $0.rule.code == "SYNC009" })
        let gaps = found.filter { $0.gap?.field?.hasPrefix("CD_headline") == true }
        #expect(gaps.map(\.gap?.code) == [.addField, .addCompanion])
        for gap in gaps { #expect(gap.remedy == rename.remedy && gap.message.contains("forbids renaming")) }
        let versions = try Self.posts.enumerated().map { ModelVersion(names: ["App \($0)"], model: try model($1)) }
        let difference = try CloudKitDifference(from: versions[0], to: versions[1])
        #expect(difference.sentences.count { $0.contains("forbids renaming") } == 2, "\(difference)")
        #expect(difference.isImpossible && !difference.sentences.contains { $0.hasPrefix("Deploy the field") })
    }

    @Test func `a rename of what Production never had is no more than a new field`() throws {
        let found = try findings("DEFINE SCHEMA RECORD TYPE CD_Post ( CD_entityName STRING );")
        #expect(!found.contains { $0.rule.code == "SYNC011" })
        #expect(found.contains { $0.gap?.code == .addField && $0.remedy.contains("deploy") })
    }
}
