import MoultBasics
import MoultModel

/// The source and destination versions of a mapping model, by their positions.
package struct MappingMatch: Sendable, Hashable {
    package var source: Int
    package var destination: Int
}

extension MappingMatch {
    /// Finds the two versions by the hashes of the entities that the mapping maps. Other entities have no hashes in it.
    /// A version whose concrete entities are all mapped is therefore preferred, and one that equals the model in the
    /// mapping's file is preferred to that.
    ///
    /// - Parameters:
    ///   - name: the name of the mapping in errors.
    ///   - held: the models that the file holds, if any.
    /// - Throws: `noPath` if no version fits, with the entity whose hash differs in the nearest one; `question` if
    ///   several fit, with all of them.
    package init(
        of mapping: MappingModel, named name: String, held: (source: ModelVersion, destination: ModelVersion)? = nil,
        in versions: ModelVersions
    ) throws(MigrationError) {
        let sides = [
            MappingSide(
                word: "source", held: held?.source,
                hashes: mapping.entityMappings.compactMap { mapping in
                    mapping.sourceEntityName.map { ($0, mapping.sourceEntityVersionHash) }
                }),
            MappingSide(
                word: "destination", held: held?.destination,
                hashes: mapping.entityMappings.compactMap { mapping in
                    mapping.destinationEntityName.map { ($0, mapping.destinationEntityVersionHash) }
                }),
        ]
        let candidates = sides.map { $0.candidates(in: versions) }
        let misfits = zip(sides, candidates).filter { $0.1.isEmpty }.map { $0.0.misfit(in: versions) }
        guard misfits.isEmpty else {
            throw MigrationError(
                .noPath, "The mapping model \(name) fits no pair of versions. \(misfits.joined(separator: " "))",
                place: name,
                remedy: "Refresh its data models in Xcode (Editor, Refresh Data Models) and save it, or give the "
                    + "versions that it was made for.")
        }
        let pairs = candidates[0].flatMap { source in
            candidates[1].map { MappingMatch(source: source, destination: $0) }
        }
        let changing = pairs.filter { $0.source != $0.destination }
        let possible = changing.isEmpty ? pairs : changing
        guard let match = possible.first, possible.count == 1 else {
            let names = possible.map {
                "\(versions.versions[$0.source].name) to \(versions.versions[$0.destination].name)"
            }
            throw MigrationError(
                .question,
                "The mapping model \(name) fits several pairs of versions, and Moult does not guess: "
                    + "\(names.joined(separator: ", ")).", place: name,
                remedy: "Name the two versions when you register the mapping.")
        }
        self = match
    }
}

/// The entities of one side of a mapping model, as they were when it was made.
private struct MappingSide {
    let word: String
    let held: ModelVersion?
    /// By entity; nil if the mapping does not record a hash.
    private let hashes: [String: [UInt8]?]

    init(word: String, held: ModelVersion?, hashes: [(String, [UInt8]?)]) {
        self.word = word
        self.held = held
        self.hashes = Dictionary(hashes) { first, second in first ?? second }
    }

    /// Returns the positions of the best matching versions.
    func candidates(in versions: ModelVersions) -> [Int] {
        let fitting = versions.versions.indices.filter { differing(in: versions.versions[$0]).isEmpty }
        if let held {
            let equal = fitting.filter { versions.versions[$0].hashes.isCompatible(with: held.hashes) }
            if !equal.isEmpty { return equal }
        }
        let complete = fitting.filter { position in
            versions.versions[position].model.entities.allSatisfy { $0.isAbstract || hashes.keys.contains($0.name) }
        }
        return complete.isEmpty ? fitting : complete
    }

    /// Returns the entities that the version lacks or has in another form, in byte order.
    private func differing(in version: ModelVersion) -> [String] {
        hashes.filter { name, hash in
            guard let actual = version.hashes.entities[name] else { return true }
            return hash != nil && hash != actual
        }.keys.inByteOrder()
    }

    /// Returns the reason why the nearest version does not fit.
    func misfit(in versions: ModelVersions) -> String {
        let counted = versions.versions.map { (version: $0, entities: differing(in: $0)) }
        // Among equally near versions, prefer the one that the file names: it was edited after the mapping was made.
        let ranked = counted.map { (rank: 2 * $0.entities.count + ($0.version.name == held?.name ? 0 : 1), at: $0) }
        guard let nearest = ranked.min(by: { $0.rank < $1.rank })?.at else { return "There are no versions." }
        let reasons = nearest.entities.map { reason($0, in: nearest.version, among: versions) }
        let since = held.map { changes(since: $0, in: nearest.version, of: nearest.entities) } ?? ""
        return "Nearest to its \(word) is \(nearest.version.name): \(reasons.joined(separator: "; ")).\(since)"
    }

    private func reason(_ entity: String, in version: ModelVersion, among versions: ModelVersions) -> String {
        guard let actual = version.hashes.entities[entity] else { return "it has no entity \(entity)" }
        let expected = (hashes[entity] ?? nil) ?? []
        let holders = versions.versions.filter { $0.hashes.entities[entity] == expected }.map(\.name)
        let known = holders.isEmpty ? "which no version has" : "as in \(holders.joined(separator: " and "))"
        return "the hash of \(entity) is \(actual.base64), and the mapping was made for \(expected.base64), \(known)"
    }

    /// Returns the changes in these entities since the mapping was made, as sentences.
    private func changes(since old: ModelVersion, in new: ModelVersion, of entities: [String]) -> String {
        guard let correspondence = try? EntityMatching(from: old, to: new) else { return "" }
        let sentences = ModelDiff(correspondence).hashed.filter { entities.contains($0.entity ?? "") }.map(\.sentence)
        return sentences.isEmpty ? "" : " Since then: \(sentences.joined(separator: " "))"
    }
}
