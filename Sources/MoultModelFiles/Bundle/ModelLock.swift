import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The contents of `moult.lock`: the released versions of models, as they were at release.
///
/// The file is in the folder that contains the bundle, or inside a plain folder of versions. Several bundles in a
/// folder share it, each under its file name. For each version, in order, it has the name, checksum and fingerprint,
/// and the hash and fingerprint of each entity; and for each bundle the version that was current.
package struct ModelLock: Sendable, Equatable {
    package static let fileName = "moult.lock"

    /// One released version.
    package struct Version: Sendable, Equatable {
        package var name: String
        /// The 32 bytes of `VersionHashes.checksum`.
        package var checksum: [UInt8]
        /// The 32 bytes of `ModelFingerprint.bytes`.
        package var fingerprint: [UInt8]
        package var entities: [String: Entity]

        package init(_ version: ModelVersion) {
            let fingerprint = ModelFingerprint(of: version.model)
            name = version.name
            checksum = version.hashes.checksum
            self.fingerprint = fingerprint.bytes
            entities = version.hashes.entities.reduce(into: [:]) { entities, entry in
                entities[entry.key] = Entity(hash: entry.value, fingerprint: fingerprint.entities[entry.key] ?? [])
            }
        }

        /// The checksum that the hashes of the entities give.
        fileprivate var checksumOfEntities: [UInt8] { VersionHashes(read: entities.mapValues(\.hash)).checksum }

        init(name: String, checksum: [UInt8], fingerprint: [UInt8], entities: [String: Entity]) {
            (self.name, self.checksum, self.fingerprint, self.entities) = (name, checksum, fingerprint, entities)
        }
    }

    package struct Entity: Sendable, Equatable {
        package var hash: [UInt8]
        package var fingerprint: [UInt8]
    }

    /// The locked versions, by the bundle's file name.
    package private(set) var models: [String: [Version]]
    /// The name of the version that was current, by the bundle's file name; bundles without one are not listed.
    package private(set) var current: [String: String]

    package init() { self.init(models: [:]) }

    init(models: [String: [Version]], current: [String: String] = [:]) {
        self.models = models
        self.current = current
    }

    /// Returns the locked versions of the model at a path, in order; nil if the lock has no entry for it.
    package func versions(of modelPath: String) -> [Version]? { models[Self.key(of: modelPath)] }

    /// Returns the name of the model's version that was current; nil if the lock has none.
    package func currentName(of modelPath: String) -> String? { current[Self.key(of: modelPath)] }

    /// Locks every version of a bundle as it is now, in place of the bundle's earlier entries.
    ///
    /// To check whether a released version may be replaced, call ``check(_:of:)`` first.
    package mutating func pin(_ bundle: ModelBundle) throws {
        let key = Self.key(of: bundle.path)
        models[key] = try bundle.versions.concurrentMap(Version.init)
        current[key] = bundle.currentName
    }
}

// MARK: - Place

extension ModelLock {
    /// Returns the path of a model's lock file, which need not exist.
    package static func path(besideModelAt modelPath: String) -> String {
        isPlainFolder(modelPath) ? modelPath + "/" + fileName : folder(of: modelPath) + "/" + fileName
    }

    /// Reads the lock file next to a model; nil if there is none.
    ///
    /// - Throws: `MigrationError` with code `lockFileMismatch` if the file is not a lock file.
    package init?(besideModelAt modelPath: String) throws {
        let path = Self.path(besideModelAt: modelPath)
        guard ModelFolder.mayExist(path) else { return nil }
        try self.init(json: ModelFolder.bytes(at: path), place: path)
    }

    /// Returns the key of a model in the lock; `.` for any plain folder.
    static func key(of modelPath: String) -> String { isPlainFolder(modelPath) ? "." : modelPath.fileName }

    /// Whether the model with this key still exists in the folder of another one.
    package static func isModel(named key: String, besideModelAt modelPath: String) -> Bool {
        key == "." || FileManager.default.fileExists(atPath: folder(of: modelPath) + "/" + key)
    }

    private static func isPlainFolder(_ path: String) -> Bool {
        ModelFolder.isFolder(path) == true && !["xcdatamodeld", "xcdatamodel", "momd"].contains(path.fileExtension)
    }

    private static func folder(of path: String) -> String {
        let folder = path.parentFolder
        return folder == "/" ? "" : folder
    }

    /// The contradiction in a lock that was edited or merged by hand, with a text of its line; nil if there is none.
    private var contradiction: (what: String, line: String)? {
        for (model, versions) in models.inByteOrder(of: { $0.key }) {
            let names = versions.map(\.name)
            if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
                return ("has the version \(twice) of \(model) twice", "\"name\": \"\(twice)\"")
            }
            if let edited = versions.first(where: { $0.checksum != $0.checksumOfEntities }) {
                return (
                    "has the version \(edited.name) of \(model), whose checksum is not that of its entities",
                    edited.checksum.base64
                )
            }
        }
        for (model, name) in current.inByteOrder(of: { $0.key }) {
            guard models[model]?.contains(where: { $0.name == name }) != true else { continue }
            return ("names \(name) as the current version of \(model), and does not have that version", "\"current\"")
        }
        return nil
    }

    /// Returns the findings about changes to a model's released versions since they were locked.
    ///
    /// - `released-version-changed` (error): its hashes differ, so that its stores are no longer recognised.
    /// - `released-version-changed-unhashed` (warning): a detail outside the hashes differs.
    /// - `released-version-missing` (warning), `version-not-locked` (note).
    ///
    /// - Parameter versions: one for each file, as in `ModelBundle.versions`.
    package func check(_ versions: [ModelVersion], of modelPath: String) -> [Finding] {
        guard let locked = self.versions(of: modelPath) else {
            return [
                Finding(
                    code: "model-not-locked", severity: .note, place: Self.path(besideModelAt: modelPath),
                    message: "The lock file has no entry for \(modelPath.fileName).",
                    remedy: "Run \(.lock) when its versions are released.")
            ]
        }
        let current = (try? versions.concurrentMap(Version.init)) ?? []
        let place = Self.path(besideModelAt: modelPath)
        let changes = locked.compactMap { released -> Finding? in
            guard let version = current.first(where: { $0.name == released.name }) else {
                return Self.missing(released, place: place)
            }
            return version == released ? nil : Self.changed(released, to: version, place: place)
        }
        let new = current.filter { version in !locked.contains { $0.name == version.name } }
        return changes
            + new.map { version in
                Finding(
                    code: "version-not-locked", severity: .note, place: place,
                    message: "The version \(version.name) is not locked.", remedy: "Run \(.lock) when it is released.")
            }
    }

    private static func missing(_ released: Version, place: String) -> Finding {
        Finding(
            code: "released-version-missing", severity: .warning, place: place,
            message: "The released version \(released.name) is missing.",
            remedy: "Restore it: stores of that version cannot be migrated without it.")
    }

    private static func changed(_ released: Version, to version: Version, place: String) -> Finding {
        let added = version.entities.keys.filter { released.entities[$0] == nil }
        let removed = released.entities.keys.filter { version.entities[$0] == nil }
        let hashed = differing(released, version, \.hash)
        let unhashed = differing(released, version, \.fingerprint).filter { !hashed.contains($0) }
        let parts = [
            list(hashed, "changed"), list(added, "added"), list(removed, "removed"),
            list(unhashed, "changed in parts that the version hash does not cover"),
        ].compactMap(\.self)
        let what = parts.isEmpty ? "its configurations, composites or fetch requests" : parts.joined(separator: "; ")
        let isHashed = released.checksum != version.checksum
        return Finding(
            code: isHashed ? "released-version-changed" : "released-version-changed-unhashed",
            severity: isHashed ? .error : .warning, place: place,
            message: "The released version \(released.name) differs from the locked one: \(what).",
            remedy: isHashed
                ? "Undo the change and make it in a new version. If this version was never released, lock it again."
                : "Stores of that version open without a migration, so the change does not reach them: "
                    + "make it in a new version, or lock it again.")
    }

    private static func differing(_ left: Version, _ right: Version, _ part: (Entity) -> [UInt8]) -> [String] {
        left.entities.compactMap { name, entity in
            guard let other = right.entities[name], part(entity) != part(other) else { return nil }
            return name
        }
    }

    private static func list(_ names: [String], _ what: String) -> String? {
        names.isEmpty ? nil : "\(names.inByteOrder().joined(separator: ", ")) \(what)"
    }

    private static let format = 1

    /// The file's text. Equal locks have equal texts, and each entity has its own line, so that the file merges well.
    package var contents: String {
        let models = self.models.mapValues { versions in JSONValue.array(versions.map(Self.json)) }
        let current = JSONValue(sorted: self.current.mapValues(JSONValue.string))
        let document: JSONValue = .object(
            [.init("format", JSONValue(Self.format)), .init("models", JSONValue(sorted: models))]
                + (self.current.isEmpty ? [] : [.init("current", current)]))
        return document.indented + "\n"
    }

    private static func json(_ version: Version) -> JSONValue {
        let entities = version.entities.mapValues {
            JSONValue([$0.hash.base64, $0.fingerprint.base64].joined(separator: " "))
        }
        return .object([
            .init("name", .string(version.name)), .init("checksum", .string(version.checksum.base64)),
            .init("fingerprint", .string(version.fingerprint.base64)), .init("entities", JSONValue(sorted: entities)),
        ])
    }

    /// - Throws: `MigrationError` with code `lockFileMismatch` if it is not a lock file, or is from a newer Moult.
    package init(json bytes: [UInt8], place: String) throws {
        do {
            let document = try JSONFields(
                JSONValue(parsing: bytes, place: place, code: .lockFileMismatch), place: place)
            let format = try document.integer("format")
            if let format, format > Self.format { throw MigrationError.laterLock(format, place) }
            guard format == Self.format else {
                throw document.invalid("has a format that this version of Moult does not know")
            }
            var models: [String: [Version]] = [:]
            let members = try document.object("models")
            for name in members?.unknown([]) ?? [] { models[name] = try members?.objects(name, Version.init) }
            self.init(models: models, current: try document.dictionary("current"))
            if let contradiction {
                var error = document.invalid(contradiction.what)
                if let line = bytes.firstLine(with: contradiction.line) { error.place = "\(place):\(line)" }
                throw error
            }
        } catch var error as MigrationError {
            let isLater = error.code == .unsupported
            error.code = .lockFileMismatch
            if let line = bytes.firstLine(with: isLater ? "\"format\"" : "<<<<<<<") {
                error.place = "\(place):\(line)"
                if !isLater { error.message = "The lock file has an unresolved merge conflict." }
            }
            if isLater { throw error }
            error.advice = "Restore the lock file from version control, or remove it and run \(.lock)."
            throw error
        }
    }
}

extension [UInt8] {
    /// Returns the number of the first line that contains a text; nil if none does.
    fileprivate func firstLine(with text: String) -> Int? {
        let lines = split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.firstIndex { String(decoding: $0, as: UTF8.self).contains(text) }.map { $0 + 1 }
    }
}

extension MigrationError {
    fileprivate static func laterLock(_ format: Int, _ place: String) -> MigrationError {
        MigrationError(
            .unsupported, "The lock file has format \(format), which a newer version of Moult has written.",
            place: place, remedy: "Use a newer version of Moult.")
    }
}

extension ModelLock.Version {
    fileprivate init(_ fields: JSONFields) throws {
        let entities = try fields.dictionary("entities").mapValues { text in
            let parts = text.split(separator: " ").map { Data(base64Encoded: String($0)).map { [UInt8]($0) } }
            guard parts.count == 2, let hash = parts[0], let fingerprint = parts[1] else {
                throw fields.invalid("has an entity without hash and fingerprint")
            }
            return ModelLock.Entity(hash: hash, fingerprint: fingerprint)
        }
        self.init(
            name: try fields.required("name"), checksum: try Self.bytes("checksum", of: fields),
            fingerprint: try Self.bytes("fingerprint", of: fields), entities: entities)
    }

    private static func bytes(_ key: String, of fields: JSONFields) throws -> [UInt8] {
        guard let data = Data(base64Encoded: try fields.required(key)) else {
            throw fields.invalid("has a \(key) that is not base64")
        }
        return [UInt8](data)
    }
}
