import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultTools
import TestSupport
import Testing

/// Mapping models written in Xcode's form.
@Suite struct MappingSourceTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func write(
        _ mapping: MappingModel, _ versions: (source: ModelVersion, destination: ModelVersion), as name: String
    ) throws -> String {
        try mapping.write(versions, to: scratch.path + "/\(name).xcmappingmodel")
    }

    private static func version(_ name: String, _ post: EntityDescription...) throws -> ModelVersion {
        let tag = EntityDescription(
            name: "Tag", attributes: [.init(name: "name", type: .string)],
            relationships: [.init(name: "posts", destinationEntityName: "Post", inverseName: "tags", maxCount: 0)])
        return ModelVersion(names: [name], model: try ManagedObjectModel(entities: post + [tag]))
    }

    private static func post(_ attributes: [AttributeDescription]) -> EntityDescription {
        EntityDescription(
            name: "Post", attributes: attributes,
            relationships: [.init(name: "tags", destinationEntityName: "Tag", inverseName: "posts", maxCount: 0)])
    }

    private static func versions() throws -> (source: ModelVersion, destination: ModelVersion) {
        let old = [AttributeDescription(name: "title", type: .string)]
        let new = old + [.init(name: "length", type: .integer32), .init(name: "notes", type: .string)]
        return (
            try version("1", post(old), EntityDescription(name: "Draft", attributes: old)),
            try version("2", post(new), EntityDescription(name: "Archive", attributes: old))
        )
    }

    private static func mapping() throws -> MappingModel {
        var post = EntityMapping(
            from: "Post", to: "Post", name: "Posts & <more>", sourcePredicate: try Predicate(parsing: "title != nil"),
            userInfo: ["why": "ä\n\"b\""])
        post.attributeMappings = [
            try PropertyMapping("length", "7"), try PropertyMapping("title", "$source.title"), .init("notes"),
        ]
        post.relationshipMappings = [
            PropertyMapping(
                "tags",
                .destinationInstances(.ofEntityMapping, named: "TagToTag", for: .source("tags.posts.tags")))
        ]
        var tag = EntityMapping(from: "Tag", to: "Tag", entityMigrationPolicyClassName: "App.TagPolicy")
        tag.relationshipMappings = [
            PropertyMapping(
                "posts", .destinationInstances(.ofSourceRelationship, named: "posts", for: .source("posts")))
        ]
        let versions = try versions()
        return MappingModel([post, tag, EntityMapping(adding: "Archive")])
            .completed(from: versions.source, to: versions.destination)
    }

    @Test func `every part of a mapping model comes back from its source`() throws {
        let mapping = try Self.mapping()
        let path = try write(mapping, Self.versions(), as: "whole")
        let read = try MappingModelFile(contentsOf: path)
        #expect(read.mapping == mapping && read.findings.isEmpty)
        let versions = try Self.versions()
        let held = try #require(read.versions)
        #expect(held.source == versions.source && held.destination == versions.destination)
        // The same text each time.
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(try String(contentsOfFile: write(mapping, versions, as: "again"), encoding: .utf8) == text)
    }

    @Test func `what the source form cannot represent is refused by name`() throws {
        let versions = try Self.versions()
        var mapping = try Self.mapping()
        mapping.entityMappings[0].attributeMappings.removeAll { $0.name == "title" }
        mapping.entityMappings[0].attributeMappings.append(PropertyMapping("title"))
        let unset = #expect(throws: MigrationError.self) { try write(mapping, versions, as: "unset") }
        #expect(unset?.code == .unsupported && unset?.place == "Posts & <more>")
        #expect(unset?.message.hasSuffix("with title.") == true, "\(unset.debugDescription)")

        var derived = AttributeDescription(name: "title", type: .string)
        derived.derivation = .init(expression: "notes")
        let newer = try Self.version(
            "2", Self.post([derived, .init(name: "notes", type: .string)]), EntityDescription(name: "Archive"))
        let error = #expect(throws: MigrationError.self) {
            try write(
                MappingModel([EntityMapping(from: "Tag", to: "Tag")]).completed(from: versions.source, to: newer),
                (versions.source, newer), as: "derived")
        }
        #expect(error?.code == .unsupported && error?.place == "Post", "\(error.debugDescription)")
    }
}

extension MappingModel {
    /// Writes an `.xcmappingmodel` and returns the path of its file.
    func write(_ versions: (source: ModelVersion, destination: ModelVersion), to folder: String) throws -> String {
        let text = try xmlDocument(
            from: versions.source, to: versions.destination,
            paths: ("M.xcdatamodeld/\(versions.source.name).xcdatamodel", "M.xcdatamodeld/2.xcdatamodel"))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: folder + "/xcmapping.xml", atomically: true, encoding: .utf8)
        return folder + "/xcmapping.xml"
    }
}
