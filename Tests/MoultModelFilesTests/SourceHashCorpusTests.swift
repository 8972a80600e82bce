import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// The hashes that Apple's tools left behind, in version lists and stores, against the XML sources of the corpus.
///
/// A source may have been edited after the list or store was made, so that models are matched by hash, not by name.
@Suite(.enabled(if: Corpus.isAskedWhole)) struct SourceHashCorpusTests {
    /// One entity's hash as Apple's tools wrote it.
    private struct Witness: Hashable {
        let repository: String
        let entity: String
        let hash: [UInt8]
    }

    @Test func `every known hash is that of a model at hand`() throws {
        let known = try Set(versionLists().flatMap(witnesses) + stores().flatMap(witnesses))
        let sources = Set(
            try CorpusSources.all.get().flatMap { witnesses($0.path, VersionHashes(of: $0.model)) })
        let compiled = Set(try compiledModels().flatMap { witnesses($0.path, VersionHashes(of: $0.model)) })
        let cached = Set(try cachedModels().flatMap { witnesses($0.path, VersionHashes(of: $0.model)) })
        let old = Set(try oldModels().flatMap { witnesses($0.path, VersionHashes(of: $0.model)) })
        let unknown = known.subtracting(sources.union(compiled).union(cached).union(old))
        print(
            "\(known.count) entity hashes known: \(known.intersection(sources).count) reproduced by an XML source, "
                + "\(known.intersection(compiled).count) by a compiled model, "
                + "\(known.intersection(cached).count) by a model cache, "
                + "\(known.intersection(old).count) by an old binary model; \(unknown.count) by none:")
        for (repository, entities) in Dictionary(grouping: unknown, by: \.repository).sorted(by: { $0.key < $1.key }) {
            print("  \(repository): \(Set(entities.map(\.entity)).sorted().joined(separator: ", "))")
        }
        #expect(known.count == 141)
        #expect(unknown.isEmpty)
    }

    @Test func `every listed version equals the source of its name, or the source was edited later`() throws {
        var (equal, edited, absent, checksums) = (0, 0, 0, 0)
        let sources = try CorpusSources.all.get()
        for list in try versionLists() {
            for (name, hashes) in list.info.hashes {
                let repository = repository(of: list.path)
                let namesakes = sources.filter {
                    self.repository(of: $0.path) == repository && $0.path.hasSuffix("/\(name).xcdatamodel/contents")
                }
                guard !namesakes.isEmpty else {
                    absent += 1
                    continue
                }
                if let source = namesakes.first(where: { VersionHashes(of: $0.model).isCompatible(with: hashes) }) {
                    equal += 1
                    guard let checksum = list.info.checksums[name] else { continue }
                    #expect(VersionHashes(of: source.model).checksum.base64 == checksum)
                    checksums += 1
                } else {
                    edited += 1
                    print("  edited later: \(list.path) \(name)")
                }
            }
        }
        print(
            "listed versions: \(equal) equal a source, \(edited) edited later, \(absent) without one; "
                + "\(checksums) checksums equal")
        #expect(equal >= 54)
        #expect(edited == 0)
        #expect(checksums >= 18)
    }

    /// Two readers and two file formats, one model: default values, limits, delete rules, constraints, user info.
    @Test func `a source and the compiled model with its hashes say the same`() throws {
        let compiled = try compiledModels().map { ($0, VersionHashes(of: $0.model)) }
        var (pairs, withIndexes) = (0, 0)
        for source in try CorpusSources.distinct.get() {
            let hashes = VersionHashes(of: source.model)
            for (other, otherHashes) in compiled
            where repository(of: other.path) == repository(of: source.path) && otherHashes.isCompatible(with: hashes) {
                pairs += 1
                let (left, right) = (source.model.entities, other.model.entities)
                #expect(left.map(comparable) == right.map(comparable), "\(source.path) \(other.path)")
                if left.map(\.fetchIndexes) == right.map(\.fetchIndexes) { withIndexes += 1 }
            }
        }
        print("sources beside the compiled model of their hashes: \(pairs) equal, \(withIndexes) in their indexes too")
        #expect(pairs > 100)
        #expect(withIndexes > 100)
    }

    /// Without what only the source says (how Xcode makes the class), and without indexes, which the projects changed
    /// in versions they had released, as they did with transient attributes.
    private func comparable(_ entity: EntityDescription) -> EntityDescription {
        var entity = entity
        entity.codeGenerationType = nil
        entity.attributes.removeAll(where: \.isTransient)
        entity.fetchIndexes = []
        entity.compoundIndexes = []
        for position in entity.attributes.indices {
            entity.attributes[position].usesScalarValueType = nil
            entity.attributes[position].attributeValueClassName = nil
            entity.attributes[position].isIndexed = false
        }
        return entity
    }

    // MARK: What is in the corpus

    private func versionLists() throws -> [(path: String, info: VersionInfo)] {
        try Corpus.paths { $0.hasSuffix("/VersionInfo.plist") }.map { path in
            (path, try VersionInfo(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))))
        }
    }

    private func stores() throws -> [CorpusStore] { try CorpusStore.all() }

    private func compiledModels() throws -> [(path: String, model: ManagedObjectModel)] {
        var findings: [Finding] = []
        return try Corpus.paths { $0.hasSuffix(".mom") }.map { path in
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            return (path, try ManagedObjectModel(compiled: bytes, findings: &findings))
        }
    }

    private func oldModels() throws -> [(path: String, model: ManagedObjectModel)] {
        var findings: [Finding] = []
        return try Corpus.paths { $0.hasSuffix(".xcdatamodel/elements") }.map { path in
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            return (path, try ManagedObjectModel(elements: bytes, findings: &findings))
        }
    }

    private func cachedModels() throws -> [(path: String, model: ManagedObjectModel)] {
        var findings: [Finding] = []
        return try stores().compactMap { store in
            guard let cache = store.modelCache else { return nil }
            return (store.path, try ManagedObjectModel(modelCache: cache, findings: &findings))
        }
    }

    private func witnesses(_ list: (path: String, info: VersionInfo)) -> [Witness] {
        list.info.hashes.values.flatMap { witnesses(list.path, $0) }
    }

    private func witnesses(_ store: CorpusStore) -> [Witness] {
        witnesses(store.path, VersionHashes(read: store.hashes))
    }

    private func witnesses(_ path: String, _ hashes: VersionHashes) -> [Witness] {
        hashes.entities.map { Witness(repository: repository(of: path), entity: $0.key, hash: $0.value) }
    }

    private func repository(of path: String) -> String {
        let root = Corpus.root?.path ?? ""
        return path.dropFirst(root.count).split(separator: "/").first.map(String.init) ?? ""
    }
}
