import MoultModel
import MoultPlan

extension ResolvedPlan {
    /// Makes the model of every version, and tells two from each other.
    mutating func resolveVersions(_ configurations: [String: Set<String>]) {
        if schemas.isEmpty {
            report("no-versions", name, "It has no versions.", "Return at least the current schema from schemas.")
        }
        for schema in schemas {
            do {
                versions.append(try schema.modelVersion(holding: configurations))
            } catch {
                let faults = schema.faults.isEmpty ? [error as? MigrationError].compactMap(\.self) : schema.faults
                for fault in faults {
                    report("model-invalid", fault.place, "\(schema.version): \(fault.message)", fault.remedy)
                }
            }
        }
        checkIdentifiers()
        if versions.count == schemas.count { checkChecksums() }
    }

    private mutating func checkIdentifiers() {
        for later in schemas.indices {
            guard let earlier = schemas[..<later].firstIndex(where: { $0.version == schemas[later].version }) else {
                continue
            }
            report(
                "identifier-twice", name(of: later),
                "\(types[earlier]) and \(types[later]) are both called \(name(of: later)).",
                "Give each version a versionIdentifier of its own.")
        }
    }

    /// A store's version is known by its hashes: those of two versions must differ.
    private mutating func checkChecksums() {
        for later in versions.indices {
            let same = { versions[$0].hashes.isCompatible(with: versions[later].hashes) }
            guard let earlier = versions[..<later].indices.first(where: same) else { continue }
            let unseen = differences(versions[earlier], versions[later])
            report(
                "checksum-twice", name(of: later),
                "\(label(earlier)) and \(label(later)) have models with the same checksum, "
                    + "\(versions[later].model.versionChecksum.prefix(12))…, so no store can distinguish them.\(unseen)",
                "Remove one of them, or give a property of the later one a hashModifier. A stage converts no value in JSON: where "
                    + "the type of one has changed, that takes a .transform.")
        }
    }

    /// The version by its number, and by its type where that is not clear.
    private func label(_ position: Int) -> String { "\(types[position]) (\(name(of: position)))" }

    private func differences(_ older: ModelVersion, _ newer: ModelVersion) -> String {
        guard let correspondence = try? Correspondence(from: older, to: newer) else { return "" }
        let sentences = ModelDiff(correspondence).changes.map(\.sentence)
        return sentences.isEmpty ? "" : " What differs is not in it: \(sentences.joined(separator: " "))"
    }
}
