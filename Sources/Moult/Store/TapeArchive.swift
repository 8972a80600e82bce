import MoultBasics
import MoultEngine

/// An archive in the standard POSIX format, which every `tar` reads (POSIX.1-2017, pax Interchange Format).
///
/// Names and sizes that do not fit into a plain header are stored in an extended header before it.
package enum TapeArchive {
    static let blockSize = 512

    /// The fields of a header: the offset and length of each.
    enum Field {
        static let name = (0, 100)
        static let mode = (100, 8)
        static let owner = (108, 8)
        static let group = (116, 8)
        static let size = (124, 12)
        static let modified = (136, 12)
        static let checksum = (148, 8)
        static let type = (156, 1)
        static let magic = (257, 8)
        static let prefix = (345, 155)
    }

    /// The largest size that eleven octal digits hold.
    static let largestSize: Int64 = 0o777_7777_7777

    /// The most files in an archive: as many as fit in a manifest.
    static let largestCount = 1 << 20

    /// Returns the sum of all bytes of a header, with spaces in the checksum field.
    package static func checksum(_ header: [UInt8]) -> Int64 {
        var sum: Int64 = 0
        for (place, byte) in header.enumerated() {
            let isOwn = place >= Field.checksum.0 && place < Field.checksum.0 + Field.checksum.1
            sum += isOwn ? 32 : Int64(byte)
        }
        return sum
    }

    static func padding(of size: Int64) -> Int64 { (Int64(blockSize) - size % Int64(blockSize)) % Int64(blockSize) }

    static func invalid(_ message: String, _ path: String) -> MigrationError {
        MigrationError(
            .backupInvalid, "\(path) is not a complete archive: \(message)", place: path,
            remedy: "Copy it again from its origin, or use another.")
    }

    /// A reader for archives from any source: names cannot lead out of the given folder, only plain files are made, and
    /// never more bytes than the archive has.
    package struct Reader {
        private let path: String
        private let system: any System

        package init(_ path: String, _ system: any System) {
            self.path = path
            self.system = system
        }

        /// Unpacks files below an existing folder. Returns their paths, in the archive's order.
        ///
        /// - Parameter isWanted: called with each path; unwanted files are skipped without being read.
        /// - Throws: `backupInvalid` for an archive that is truncated or damaged, names a path outside the folder, has
        ///   a name twice, or contains links.
        @discardableResult
        package func unpack(into folder: String, where isWanted: (String) -> Bool = { _ in true }) throws -> [String] {
            var names: [String] = []
            try forEachFile { entry, place in
                guard isWanted(entry.name) else { return }
                try unpack(entry, at: place, into: folder)
                names.append(entry.name)
            }
            return names
        }

        /// Reads only the headers, and calls `body` for each plain file with the offset of its first byte.
        private func forEachFile(_ body: (Entry, Int64) throws -> Void) throws {
            guard let status = try system.status(of: path), status.kind == .file else {
                throw MigrationError(
                    .fileNotFound, "There is no file at \(path).", place: path, remedy: "Check the path of the archive."
                )
            }
            let size = status.size
            var place: Int64 = 0
            var extended: [String: String] = [:]
            var known: Set<String> = []
            while place < size {
                let header = try bytes(at: place, TapeArchive.blockSize)
                place += Int64(TapeArchive.blockSize)
                if header.allSatisfy({ $0 == 0 }) { return }
                let entry = try Entry(header, extended, path)
                guard entry.size <= size - place else { throw TapeArchive.invalid("\(entry.name) is cut off.", path) }
                switch entry.type {
                case UInt8(ascii: "x"):
                    guard entry.size <= 1 << 16 else {
                        throw TapeArchive.invalid("an extended header is too long.", path)
                    }
                    extended = try records(try bytes(at: place, Int(entry.size)))
                case UInt8(ascii: "0"), 0:
                    try check(entry, &known)
                    try body(entry, place)
                    extended = [:]
                case UInt8(ascii: "5"): extended = [:]
                default: throw TapeArchive.invalid("\(entry.name) is neither a file nor a folder.", path)
                }
                place += entry.size + TapeArchive.padding(of: entry.size)
            }
            throw TapeArchive.invalid("its end is missing.", path)
        }

        /// Checks that a name is below the folder and unique. Limits the number of names, which are kept in memory.
        private func check(_ entry: Entry, _ known: inout Set<String>) throws {
            guard entry.name.isPathBelow else {
                throw TapeArchive.invalid("\(entry.name) leads out of the folder.", path)
            }
            guard known.insert(entry.name).inserted else {
                throw TapeArchive.invalid("it contains \(entry.name) twice.", path)
            }
            guard known.count <= TapeArchive.largestCount else {
                throw TapeArchive.invalid("it contains more than \(TapeArchive.largestCount) files.", path)
            }
        }

        private func unpack(_ entry: Entry, at place: Int64, into folder: String) throws {
            var parent = folder
            for part in entry.name.split(separator: "/").dropLast() {
                parent = Path.join(parent, String(part))
                try system.makeFolder(parent)
            }
            let file = Path.join(folder, entry.name)
            try system.write([], to: file)
            try system.readPieces(of: path, from: place, count: entry.size) { try system.append($0, to: file) }
            try system.synchronise(file)
            try system.synchronise(parent)
        }

        private func bytes(at place: Int64, _ count: Int) throws -> [UInt8] {
            let bytes = try system.bytes(of: path, from: place, count: Int64(count))
            guard bytes.count == count else { throw TapeArchive.invalid("it is cut off at byte \(place).", path) }
            return bytes
        }

        /// Returns the records of an extended header, each `length key=value` and a line break.
        private func records(_ bytes: [UInt8]) throws -> [String: String] {
            var (rest, found) = (bytes[...], [String: String]())
            while !rest.isEmpty {
                guard let space = rest.firstIndex(of: UInt8(ascii: " ")),
                    let length = Int(String(decoding: rest[..<space], as: UTF8.self)), length <= rest.count,
                    length > space - rest.startIndex + 1, let equals = rest.firstIndex(of: UInt8(ascii: "=")),
                    equals > space, equals < rest.startIndex + length - 1
                else { throw TapeArchive.invalid("an extended header is damaged.", path) }
                let end = rest.startIndex + length
                found[String(decoding: rest[(space + 1)..<equals], as: UTF8.self)] = String(
                    decoding: rest[(equals + 1)..<(end - 1)], as: UTF8.self)
                rest = rest[end...]
            }
            return found
        }
    }

    /// The contents of a header.
    private struct Entry {
        let name: String
        let size: Int64
        let type: UInt8

        init(_ header: [UInt8], _ extended: [String: String], _ path: String) throws {
            func field(_ field: (Int, Int)) -> [UInt8] {
                Array(header[field.0..<(field.0 + field.1)].prefix { $0 != 0 })
            }
            func number(_ place: (Int, Int)) -> Int64? {
                let text = String(decoding: field(place), as: UTF8.self).filter { $0 != " " }
                return Int64(text, radix: 8)
            }
            guard number(Field.checksum) == TapeArchive.checksum(header), let size = number(Field.size), size >= 0
            else { throw TapeArchive.invalid("a header is damaged.", path) }
            let prefix = String(decoding: field(Field.prefix), as: UTF8.self)
            let name = String(decoding: field(Field.name), as: UTF8.self)
            type = header[Field.type.0]
            let isExtended = type == UInt8(ascii: "x")
            self.name = isExtended ? name : extended["path"] ?? (prefix.isEmpty ? name : "\(prefix)/\(name)")
            self.size = isExtended ? size : extended["size"].flatMap(Int64.init) ?? size
            guard self.size >= 0 else { throw TapeArchive.invalid("a header is damaged.", path) }
        }
    }

    /// A writer that adds files to an archive, under a temporary name until ``finish()``.
    package struct Writer {
        private let path: String
        private let part: String
        private let system: any System

        /// - Throws: `usage` if the path is taken, `locked` if another process writes there, `fileNotFound` if its
        ///   folder does not exist.
        package init(_ path: String, _ system: any System) throws {
            self.path = path
            self.system = system
            part = try StagedPath.begin(path, system)
            try system.makeFile(part, .own)
        }

        /// - Parameter name: the path inside the archive.
        package func add(_ contents: [UInt8], as name: String) throws {
            try system.append(header(name, Int64(contents.count)), to: part)
            try system.append(contents + zeros(TapeArchive.padding(of: Int64(contents.count))), to: part)
        }

        /// Adds the file at a path, without any data appended to it meanwhile.
        package func add(file: String, as name: String) throws {
            let size = try system.status(of: file)?.size ?? 0
            try system.append(header(name, size), to: part)
            let read = try system.readPieces(of: file, count: size) { try system.append($0, to: part) }
            guard read == size else {
                throw MigrationError(
                    .inputOutput, "\(file) became shorter while it was read.", place: file,
                    remedy: "Run the command again while no process writes to it.")
            }
            try system.append(zeros(TapeArchive.padding(of: size)), to: part)
        }

        /// Ends the archive, makes it durable and renames it to its path.
        ///
        /// - Parameter proof: throws if the written archive is wrong.
        package func finish(_ proof: (_ part: String) throws -> Void = { _ in }) throws {
            try system.append(zeros(Int64(2 * TapeArchive.blockSize)), to: part)
            try system.synchronise(part)
            try proof(part)
            try StagedPath.end(part, as: path, system)
            try system.synchronise(Path.folder(of: path))
        }

        /// Removes the unfinished archive.
        package func discard() { _ = try? system.remove(part) }

        // MARK: - Headers

        private func header(_ name: String, _ size: Int64) -> [UInt8] {
            var extended: [UInt8] = []
            if name.utf8.count > TapeArchive.Field.name.1 { extended += record("path", name) }
            if size > TapeArchive.largestSize { extended += record("size", "\(size)") }
            let own = block(name, size: min(size, TapeArchive.largestSize), type: "0")
            guard !extended.isEmpty else { return own }
            return block("extended", size: Int64(extended.count), type: "x") + extended
                + zeros(TapeArchive.padding(of: Int64(extended.count))) + own
        }

        /// Returns a record, `length key=value` and a line break; the length includes itself.
        private func record(_ key: String, _ value: String) -> [UInt8] {
            let rest = " \(key)=\(value)\n"
            var length = rest.utf8.count
            while "\(length)".utf8.count + rest.utf8.count != length {
                length = "\(length)".utf8.count + rest.utf8.count
            }
            return Array("\(length)\(rest)".utf8)
        }

        private func block(_ name: String, size: Int64, type: String) -> [UInt8] {
            var block = [UInt8](repeating: 0, count: TapeArchive.blockSize)
            func put(_ text: String, _ field: (Int, Int)) {
                for (place, byte) in text.utf8.prefix(field.1).enumerated() { block[field.0 + place] = byte }
            }
            func put(_ number: Int64, _ field: (Int, Int)) {
                let digits = String(number, radix: 8)
                put(String(repeating: "0", count: max(0, field.1 - 1 - digits.count)) + digits, field)
            }
            put(name, Field.name)
            put(0o600, Field.mode)
            put(0, Field.owner)
            put(0, Field.group)
            put(size, Field.size)
            put(system.now.seconds, Field.modified)
            put(type, Field.type)
            put("ustar\u{0}00", Field.magic)
            put(TapeArchive.checksum(block), (Field.checksum.0, 7))
            return block
        }

        private func zeros(_ count: Int64) -> [UInt8] { [UInt8](repeating: 0, count: Int(count)) }
    }
}
