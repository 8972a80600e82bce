import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ModelLock {
    private static let format = 1

    /// The file's text: the same for equal locks, with one line for each entity, so that it merges well.
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
            .init("name", .string(version.name)),
            .init("checksum", .string(version.checksum.base64)),
            .init("fingerprint", .string(version.fingerprint.base64)),
            .init("entities", JSONValue(sorted: entities)),
        ])
    }

    /// - Throws: `MigrationError` with code `lockFileMismatch` for what is no lock file, or one of a newer Moult.
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
            for name in members?.unknown([]) ?? [] {
                models[name] = try members?.objects(name, Version.init)
            }
            self.init(models: models, current: try document.dictionary("current"))
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
    /// The number of the first line that has a text; nil if none does.
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
