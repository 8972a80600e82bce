import MoultModel

extension MigrationPlan {
    /// SHA-256 over what the plan does: versions, passes and mappings. A saved plan is still the plan when the
    /// digests are equal; sentences may change from one release to the next without making it another plan.
    package var digest: [UInt8] {
        var text = ["Moult plan 1"]
        for pass in passes {
            text.append(pass.older.hashes.checksum.hexadecimal + " " + pass.newer.hashes.checksum.hexadecimal)
            switch pass.work {
            case .mapping(let mapping): text += mapping.digestLines
            case .none: break
            }
            text += pass.steps.map { "step \($0.name)" }
        }
        return Digest.sha256(Array(text.joined(separator: "\n").utf8))
    }
}

extension ResolvedMapping {
    /// The lines a person reads, with every value in full: two blobs of one length are two values.
    fileprivate var digestLines: [String] {
        let values = entityMappings.flatMap { mapping in
            mapping.attributes.sorted { $0.key.precedesInByteOrder($1.key) }.compactMap { name, source in
                source.value.map { "\(mapping.destinationEntityName ?? "").\(name) \($0.bytes.hexadecimal)" }
            }
        }
        return lines + values
    }
}

extension AttributeSource {
    fileprivate var value: AttributeValue? {
        switch self {
        case .attribute(_, let value), .constant(let value): value
        // Its line says everything.
        case .expression: nil
        }
    }
}

extension AttributeValue {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .binary(let bytes), .transformable(let bytes), .uuid(let bytes): bytes
        case .integer, .boolean, .double, .decimal, .string, .date, .uri: Array("\(self)".utf8)
        }
    }
}
