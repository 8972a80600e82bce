import MoultModel
import MoultSystem

extension TapeArchive {
    /// Writes an archive file by file, under a temporary name until ``finish()``.
    package struct Writer {
        private let path: String
        private let part: String
        private let system: any System

        /// - Throws: `usage` if the path is taken, `locked` if another process writes there, `fileNotFound` if its
        ///   folder is not there.
        package init(_ path: String, _ system: any System) throws {
            self.path = path
            self.system = system
            part = try UnfinishedPath.begin(path, system)
            try system.makeFile(part, .own)
        }

        /// - Parameter name: the path inside the archive.
        package func add(_ contents: [UInt8], as name: String) throws {
            try system.append(header(name, Int64(contents.count)), to: part)
            try system.append(contents + zeros(TapeArchive.padding(of: Int64(contents.count))), to: part)
        }

        /// Adds the file at a path; what it grows by in the meantime is left out.
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

        /// Ends the archive, makes it durable and gives it its name.
        ///
        /// - Parameter proof: throws where what was written is not what it should be.
        package func finish(_ proof: (_ part: String) throws -> Void = { _ in }) throws {
            try system.append(zeros(Int64(2 * TapeArchive.blockSize)), to: part)
            try system.synchronise(part)
            try proof(part)
            try UnfinishedPath.end(part, as: path, system)
            try system.synchronise(Path.folder(of: path))
        }

        /// Removes what was written.
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

        /// `length key=value` and a line break; the length counts itself.
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
