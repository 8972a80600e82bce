import MoultModel
import MoultTools
import TestSupport
import Testing

/// For a model and types that differ in one thing, what is reported and what is to be written.
@Suite("Coexistence") struct CoexistenceTests {
    private static func model(
        _ change: (inout EntityDescription, inout EntityDescription) -> Void = { _, _ in }
    ) throws -> ModelVersion {
        var post = EntityDescription("Post = title String, photo Binary, tags >> Tag.posts")
        var tag = EntityDescription("Tag = name String, posts >> Post.tags")
        change(&post, &tag)
        let note = EntityDescription(name: "Note", superentityName: "Post")
        return ModelVersion(names: ["1"], model: try ManagedObjectModel(entities: [post, tag, note]))
    }

    /// One difference: the code of its reason, a part of its remedy, and what changes the entity Post.
    struct Sample: Sendable {
        let code: String
        let remedy: String
        let change: @Sendable (inout EntityDescription) -> Void

        init(_ code: String, _ remedy: String, _ change: @escaping @Sendable (inout EntityDescription) -> Void) {
            (self.code, self.remedy, self.change) = (code, remedy, change)
        }
    }

    /// What the types lack, and what to write.
    private static let lacking = [
        Sample("optional-changed", "Write: var title: String", { $0.attributes[1].isOptional = false }),
        Sample("type-changed", "Write: var title: Int16?", { $0.attributes[1].type = .integer16 }),
        Sample(
            "external-storage-changed", "Write: @Attribute(.externalStorage) var photo: Data?",
            { $0.attributes[0].allowsExternalBinaryDataStorage = true }
        ),
        Sample(
            "history-preservation-changed", "Write: @Attribute(.preserveValueOnDeletion) var title: String?",
            { $0.attributes[1].preservesValueInHistoryOnDeletion = true }
        ),
        Sample(
            "hash-modifier-changed", "Write: @Attribute(hashModifier: \"2\") var title: String?",
            { $0.attributes[1].versionHashModifier = "2" }
        ),
        Sample(
            "attribute-removed", "Write: var more: Date?", { $0.attributes.append(.init(name: "more", type: .date)) }),
        Sample("attribute-added", "Remove it from the class, or mark it @Transient.", { $0.attributes.removeLast() }),
        Sample(
            "minimum-count-changed",
            "Write: @Relationship(minimumModelCount: 2, inverse: \\Tag.posts) var tags: [Tag]? = []",
            { $0.relationships[0].minCount = 2 }
        ),
        Sample(
            "maximum-count-changed",
            "Write: @Relationship(maximumModelCount: 7, inverse: \\Tag.posts) var tags: [Tag]? = []",
            { $0.relationships[0].maxCount = 7 }
        ),
        Sample(
            "uniqueness-constraint-removed", "@Attribute(.unique) var title: String?",
            { $0.uniquenessConstraints = [["title"]] }
        ),
    ]

    @Test(arguments: lacking.indices)
    func `names the reason and what to write`(_ position: Int) throws {
        let sample = Self.lacking[position]
        let model = try Self.model { post, _ in sample.change(&post) }
        let report = try Coexistence(of: model, with: Self.model())
        let post = try #require(report.entities.first { $0.name == "Post" })
        #expect(!post.isEqual && !report.isEqual)
        let reason = try #require(post.reasons.first { $0.code == sample.code }, "\(post.reasons)")
        #expect(reason.remedy.contains(sample.remedy), "\(reason)")
        let note = try #require(report.entities.first { $0.name == "Note" })
        #expect(note.reasons.map(\.message) == ["Note inherits from Post, which differs."])
    }

    /// What SwiftData cannot say, and the word of the model that has to change.
    private static let beyond = [
        Sample("order-changed", "Turn off Ordered", { $0.relationships[0].isOrdered = true }),
        Sample("abstract-changed", "Turn off Abstract Entity", { $0.isAbstract = true }),
        Sample("hash-modifier-changed", "Remove it from the model", { $0.versionHashModifier = "2" }),
        Sample(
            "derivation-changed", "plain attribute",
            { $0.attributes[1].derivation = .init(expression: "tags.@count") }
        ),
        Sample(
            "attribute-renamed", "Rename it in the model",
            { $0.attributes[1].name = "description" }
        ),
    ]

    @Test(arguments: beyond.indices)
    func `names what SwiftData cannot say`(_ position: Int) throws {
        let sample = Self.beyond[position]
        let report = try Coexistence(of: Self.model { post, _ in sample.change(&post) })
        let post = try #require(report.entities.first { $0.name == "Post" })
        #expect(!post.isEqual)
        let reason = try #require(post.reasons.first { $0.code == sample.code }, "\(post.reasons)")
        #expect(reason.remedy.contains(sample.remedy), "\(reason)")
    }

    @Test func `what is not hashed is no reason`() throws {
        let model = try Self.model { post, tag in
            post.managedObjectClassName = "Post"
            post.userInfo = ["a": "b"]
            post.attributes[1].defaultValue = .string("x")
            post.attributes[1].allowsCloudEncryption = true
            tag.relationships[0].deleteRule = .cascade
        }
        let report = try Coexistence(of: model, with: Self.model())
        #expect(report.isEqual && report.entities.map(\.reasons.isEmpty) == [true, true, true])
    }

    @Test func `classes and entities that only one side has`() throws {
        let small = ModelVersion(names: ["s"], model: try ManagedObjectModel("Other"))
        let report = try Coexistence(of: Self.model(), with: small)
        #expect(report.entities.map(\.name) == ["Note", "Other", "Post", "Tag"])
        #expect(report.entities.allSatisfy { !$0.isEqual && !$0.reasons.isEmpty })
        let other = report.entities[1].reasons
        #expect(other.first?.message == "The types have a class Other, and the model has no such entity.")
    }

    /// Every pair of variants: the report is equal just where the hashes are, and an unequal entity has a reason.
    @Test func `an entity that differs always has a reason`() throws {
        let changes = (Self.lacking + Self.beyond).map(\.change)
        let models = try [Self.model()] + changes.map { change in try Self.model { post, _ in change(&post) } }
        for model in models {
            for types in models {
                for entity in try Coexistence(of: model, with: types).entities {
                    let isEqual = model.hashes.entities[entity.name] == types.hashes.entities[entity.name]
                    #expect(entity.isEqual == isEqual)
                    #expect(isEqual == entity.reasons.filter { $0.severity == .error }.isEmpty)
                }
            }
        }
    }
}
