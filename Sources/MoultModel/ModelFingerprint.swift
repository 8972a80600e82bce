/// A SHA-256 of the whole model, including what the version hash leaves out, such as indexes, default values, delete
/// rules and class names.
///
/// Equal version hashes mean "equal for opening" (`VersionHashes.isCompatible(with:)`); equal fingerprints mean
/// "equal". What a file says about itself (`documentAttributes`, `diagram`), and the order of lists that mean sets, are left out.
package struct ModelFingerprint: Sendable, Hashable {
    /// 32 bytes.
    package let bytes: [UInt8]
    /// The same for each entity alone, so that a difference can be named.
    package let entities: [String: [UInt8]]

    package init(of model: ManagedObjectModel) {
        let parts = model.entities.map { entity in
            var part = CanonicalBytes()
            part.add(entity)
            return (name: entity.name, digest: part.digest)
        }
        entities = Dictionary(parts.map { ($0.name, $0.digest) }) { first, _ in first }
        var whole = CanonicalBytes()
        whole.list(parts) { $0.append($1.digest) }
        whole.list(model.configurations) { $0.add($1) }
        whole.list(model.composites) { $0.add($1) }
        whole.list(model.fetchRequestTemplates) { $0.add($1) }
        whole.add(model.versionIdentifiers.sorted { $0.precedesInByteOrder($1) })
        bytes = whole.digest
    }
}

extension ManagedObjectModel {
    /// Whether both say the same in everything but what their files say of themselves.
    package func isIdentical(to other: ManagedObjectModel) -> Bool {
        ModelFingerprint(of: self) == ModelFingerprint(of: other)
    }
}
