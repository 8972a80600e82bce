import MoultModel
import MoultSystem

extension TapeArchive {
    /// Unpacks an archive. It may come from anywhere, so its names lead nowhere but below the folder that is given, only
    /// plain files are made, and never more than the archive's own bytes.
    package struct Reader {
        private let path: String
        private let system: any System

        package init(_ path: String, _ system: any System) {
            self.path = path
            self.system = system
        }

        /// Unpacks files below a folder that exists; their paths, in the archive's order.
        ///
        /// - Parameter isWanted: is asked for each path; what is not wanted is passed over without being read.
        /// - Throws: `backupInvalid` for an archive that is cut off or damaged, names a place outside the folder, has a
        ///   name twice, or holds links.
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

        /// Reads the headers alone, and calls `body` for each plain file with the place of its first byte.
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

        /// A name leads below the folder and comes once, and there are only so many, for they are kept in memory.
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

        /// The records of an extended header: `length key=value` and a line break each.
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
            else {
                throw TapeArchive.invalid("a header is damaged.", path)
            }
            let prefix = String(decoding: field(Field.prefix), as: UTF8.self)
            let name = String(decoding: field(Field.name), as: UTF8.self)
            type = header[Field.type.0]
            let isExtended = type == UInt8(ascii: "x")
            self.name = isExtended ? name : extended["path"] ?? (prefix.isEmpty ? name : "\(prefix)/\(name)")
            self.size = isExtended ? size : extended["size"].flatMap(Int64.init) ?? size
            guard self.size >= 0 else { throw TapeArchive.invalid("a header is damaged.", path) }
        }
    }
}
