import CZlib

/// A zip archive (PKWARE's APPNOTE.TXT, version 6.3.10), such as an `.ipa`. Nothing is unpacked to the disk.
package struct ZipArchive: Sendable {
    /// A file in the archive.
    package struct Entry: Sendable, Hashable {
        /// The path in the archive.
        package let name: String
        /// The number of bytes of the contents.
        package let size: Int
        fileprivate let packedSize: Int
        fileprivate let method: Int
        fileprivate let checksum: UInt32
        fileprivate let offset: Int64
    }

    package let path: String
    /// The files, in the archive's order; without folders.
    package let entries: [Entry]
    private let size: Int64

    /// The size limit of the list of files: the longest names of as many files as an archive can have take more.
    private static let greatestList: Int64 = 64 << 20
    /// The limit on the size of the end record: 22 bytes and a comment.
    private static let greatestEnd: Int64 = 22 + 0xFFFF

    /// Reads the list of files.
    ///
    /// - Throws: `modelInvalid` for an archive that is damaged or encrypted, that names a file twice, or whose names lead
    ///   out of a folder; `unsupported` for one in several parts or of the 64-bit form.
    package init(contentsOf path: String, _ system: any System = POSIXSystem()) throws {
        self.path = path
        guard let status = try system.status(of: path), status.kind == .file else {
            throw MigrationError(
                .fileNotFound, "There is no archive at this path.", place: path, remedy: "Check the path.")
        }
        size = status.size
        let tail = max(0, size - Self.greatestEnd)
        let end = try system.bytes(of: path, from: tail, count: size - tail)
        guard let place = Self.endRecord(in: end) else { throw Self.damaged("its end is missing", path) }
        let fields = Fields(end[place...])
        let (count, length, offset) = (fields[10, 2], Int64(fields[12, 4]), Int64(fields[16, 4]))
        guard fields[4, 2] == 0, fields[8, 2] == count, count < 0xFFFF, length < 0xFFFF_FFFF, offset < 0xFFFF_FFFF
        else {
            throw MigrationError(
                .unsupported, "The archive has several parts, or the 64-bit form.", place: path,
                remedy: "Unpack it, and name the model in it.")
        }
        guard length <= Self.greatestList, offset + length <= size else {
            throw Self.damaged("its list of files is cut off", path)
        }
        let list = try system.bytes(of: path, from: offset, count: length)
        entries = try Self.entries(in: list, count: count, path)
    }

    /// Returns the position of the end record, which is followed only by its comment.
    private static func endRecord(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= 22 else { return nil }
        return stride(from: bytes.count - 22, through: 0, by: -1).first { place in
            let fields = Fields(bytes[place...])
            return fields[0, 4] == 0x0605_4B50 && fields[20, 2] == bytes.count - place - 22
        }
    }

    private static func entries(in list: [UInt8], count: Int, _ path: String) throws -> [Entry] {
        var (entries, names, place) = ([Entry](), Set<String>(), 0)
        for _ in 0..<count {
            guard place + 46 <= list.count else { throw damaged("its list of files is cut off", path) }
            let fields = Fields(list[place...])
            let next = place + 46 + fields[28, 2] + fields[30, 2] + fields[32, 2]
            guard fields[0, 4] == 0x0201_4B50, next <= list.count else {
                throw damaged("its list of files is damaged", path)
            }
            let name = String(decoding: list[(place + 46)..<(place + 46 + fields[28, 2])], as: UTF8.self)
            place = next
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            guard !name.hasPrefix("/"), !parts.contains(".."), !name.contains("\\"), !name.contains("\0") else {
                throw damaged("the name \(name) leads out of it", path)
            }
            guard names.insert(name).inserted else { throw damaged("it contains \(name) twice", path) }
            guard !name.hasSuffix("/") else { continue }
            guard fields[8, 2] & 1 == 0 else { throw damaged("\(name) is encrypted", path) }
            entries.append(
                Entry(
                    name: name, size: fields[24, 4], packedSize: fields[20, 4], method: fields[10, 2],
                    checksum: UInt32(fields[16, 4]), offset: Int64(fields[42, 4])))
        }
        return entries
    }

    /// Returns the contents of a file.
    ///
    /// - Parameter limit: the most bytes; a larger file is not read.
    /// - Throws: `modelInvalid` for a file that is larger, damaged, or packed by a method other than DEFLATE.
    package func contents(of entry: Entry, limit: Int, _ system: any System = POSIXSystem()) throws -> [UInt8] {
        guard entry.size <= limit, entry.packedSize <= limit else {
            throw Self.damaged("\(entry.name) has \(entry.size) bytes, more than any model", path)
        }
        let header = Fields(try system.bytes(of: path, from: entry.offset, count: 30)[...])
        guard header.count == 30, header[0, 4] == 0x0403_4B50 else {
            throw Self.damaged("\(entry.name) has no header", path)
        }
        let place = entry.offset + 30 + Int64(header[26, 2] + header[28, 2])
        let packed = try system.bytes(of: path, from: place, count: Int64(entry.packedSize))
        guard packed.count == entry.packedSize else { throw Self.damaged("\(entry.name) is cut off", path) }
        let bytes: [UInt8]
        switch entry.method {
        case 0: bytes = packed
        // One more byte than the entry says shows that there is more.
        case 8: bytes = (try? RawDeflate.inflate(packed, limit: entry.size + 1)) ?? []
        default: throw Self.damaged("\(entry.name) is packed by the method \(entry.method)", path)
        }
        guard bytes.count == entry.size, Self.checksum(of: bytes) == entry.checksum else {
            throw Self.damaged("\(entry.name) is damaged", path)
        }
        return bytes
    }

    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { bytes in
            UInt32(truncatingIfNeeded: crc32(0, bytes.baseAddress, UInt32(clamping: bytes.count)))
        }
    }

    private static func damaged(_ what: String, _ path: String) -> MigrationError {
        MigrationError(
            .modelInvalid, "The archive cannot be read: \(what).", place: path,
            remedy: "Use another copy of it, or unpack it and name the model in it.")
    }
}

/// The numbers of a header, which are little-endian.
private struct Fields {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// The number of `length` bytes at an offset; bytes after the end count as zero.
    subscript(offset: Int, length: Int) -> Int {
        bytes.dropFirst(offset).prefix(length).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
