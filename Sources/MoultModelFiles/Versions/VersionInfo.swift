import MoultModel
import MoultPropertyList

/// The contents of the `VersionInfo.plist` of a `.momd`: the current version, and the hashes that Apple's compiler
/// computed.
package struct VersionInfo: Sendable, Equatable {
    package var currentName: String?
    /// By version name.
    package var hashes: [String: VersionHashes]
    /// Base64 by version name; only compilers since 2023 write them.
    package var checksums: [String: String]

    /// - Throws: `MigrationError` with code `propertyListInvalid`.
    package init(parsing bytes: [UInt8]) throws {
        let list = try PropertyList(parsing: bytes)
        currentName = list["NSManagedObjectModel_CurrentVersionName"]?.string
        let hashes = list["NSManagedObjectModel_VersionHashes"]?.dictionary ?? [:]
        self.hashes = hashes.mapValues { VersionHashes(read: ($0.dictionary ?? [:]).compactMapValues(\.data)) }
        checksums = (list["NSManagedObjectModel_VersionChecksums"]?.dictionary ?? [:]).compactMapValues(\.string)
    }

    /// The list of versions whose hashes were computed.
    init(hashes: [String: VersionHashes]) {
        self.hashes = hashes
        checksums = hashes.mapValues { $0.checksum.base64 }
    }

    /// The list as the newest compilers write it.
    var binary: [UInt8] {
        var entries: [String: PropertyList] = [
            "NSManagedObjectModel_VersionHashes": .dictionary(
                hashes.mapValues { .dictionary($0.entities.mapValues(PropertyList.data)) }),
            "NSManagedObjectModel_VersionChecksums": .dictionary(checksums.mapValues(PropertyList.string)),
        ]
        if let currentName { entries["NSManagedObjectModel_CurrentVersionName"] = .string(currentName) }
        return PropertyList.dictionary(entries).binary
    }

    /// Returns a finding for each disagreement of the list and the models next to it.
    ///
    /// - Parameter place: what the findings call the list.
    func findings(against versions: [ModelVersion], place: String) -> [Finding] {
        let missing = hashes.keys.filter { name in !versions.contains { $0.name == name } }
        let unlisted = versions.map(\.name).filter { hashes[$0] == nil }
        return missing.sorted().map { name in
            Finding(
                code: "listed-version-missing", severity: .warning, place: place,
                message: "The list names the version \(name), whose .mom is not in the bundle.",
                remedy: "Stores of that version cannot be migrated; add the file.")
        }
            + unlisted.sorted().map { name in
                Finding(
                    code: "version-not-listed", severity: .note, place: place,
                    message: "The list does not name the version \(name), whose .mom is in the bundle.")
            }
            + versions.compactMap { mismatch(of: $0, place: place) }
    }

    private func mismatch(of version: ModelVersion, place: String) -> Finding? {
        guard let listed = hashes[version.name], !version.hashes.isCompatible(with: listed) else { return nil }
        let names = Set(listed.entities.keys).union(version.hashes.entities.keys)
            .filter { listed.entities[$0] != version.hashes.entities[$0] }.sorted()
        return Finding(
            code: "listed-hash-differs", severity: .warning, place: place,
            message:
                "The hashes of \(version.name) in the list are not those of its .mom: \(names.joined(separator: ", ")).",
            remedy: "The .mom was replaced after the list was made; compile the bundle again.")
    }
}
