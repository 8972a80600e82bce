import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A format of pictures that every browser shows.
package enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case png, jpeg, gif, webp

    /// Recognises the format by the first bytes; nil for any other bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(12))
        if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: Array("GIF87a".utf8)) || start.starts(with: Array("GIF89a".utf8)) {
            self = .gif
        } else if start.starts(with: Array("RIFF".utf8)), start.dropFirst(8).elementsEqual(Array("WEBP".utf8)) {
            self = .webp
        } else {
            return nil
        }
    }

    package var mediaType: String { "image/\(rawValue)" }
    package var name: String { self == .webp ? "WebP" : rawValue.uppercased() }
    package var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}

extension ObjectReader {
    /// Binary data of an object: its size, its format if it is a picture, and whether it has a file of its own.
    package struct DataSummary: Sendable, Hashable {
        package let bytes: Int64
        package let picture: PictureFormat?
        /// Whether the bytes are in a file of external storage.
        package let isExternal: Bool
        /// Whether external storage has no such file.
        package var isMissing = false
    }

    /// Returns what is known of binary data from the value of its column, with a look at the start of its file; nil for
    /// a value that is not binary data.
    package func summary(of value: SQLiteValue, _ column: EntityContents.Column) throws -> DataSummary? {
        switch value {
        case .blob(let bytes):
            return DataSummary(bytes: Int64(bytes.count), picture: PictureFormat(bytes), isExternal: false)
        case .text(let path):
            guard case .attribute(_, _, isExternal: true) = column.source,
                path.hasPrefix(contents.externalFolder + "/")
            else { return nil }
            let (system, storage) = (POSIXSystem(), ExternalStorage(store: probe.path))
            guard try storage.holds(Path.name(of: path), on: system), let size = try system.status(of: path)?.size
            else {
                return DataSummary(bytes: 0, picture: nil, isExternal: true, isMissing: true)
            }
            return DataSummary(
                bytes: size, picture: PictureFormat(try system.read(path, prefix: 12)), isExternal: true)
        case .null, .integer, .real: return nil
        }
    }

    /// Returns the bytes of an object's attribute, from the row or from external storage; nil for any other value.
    package func data(_ name: String, of key: Int64, in entity: EntityContents) throws -> [UInt8]? {
        guard let column = entity.column(name) else { return nil }
        let stored: String
        var isExternal = false
        switch column.source {
        case .attribute(let name, _, let external): (stored, isExternal) = (name, external)
        case .raw(let name): stored = name
        case .key, .entity, .toOne, .toOneEntity: return nil
        }
        let restriction = entity.restriction.map { " AND " + $0 } ?? ""
        let sql = "SELECT \(stored.quotedName) FROM \(entity.table.quotedName) WHERE Z_PK = ?\(restriction)"
        guard case .blob(let bytes)? = try rows(sql, [.integer(key)], { $0.value(0) }).first else { return nil }
        guard isExternal else { return bytes }
        switch ExternalStorage.Cell(bytes) {
        case .inline(let value): return value
        case .file(let name): return try ExternalStorage(store: probe.path).contents(of: name, on: POSIXSystem())
        case nil: return bytes
        }
    }
}
