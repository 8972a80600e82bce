/// Variants without rights: new files and folders are private to this user.
extension System {
    package func write(_ bytes: [UInt8], to path: String) throws { try write(bytes, to: path, .own) }
    package func append(_ bytes: [UInt8], to path: String) throws { try append(bytes, to: path, .own) }
    package func makeFolder(_ path: String) throws { try makeFolder(path, .own) }
    package func copy(_ path: String, to copy: String) throws { try self.copy(path, to: copy, .own) }
    package func lock(_ path: String) throws -> FileLock? { try lock(path, .own) }

    package func exchange(_ path: String, with other: String) throws -> Bool { false }
    package func cloneOpenFile(_ path: String, to copy: String, _ rights: FileRights) throws -> Bool { false }

    /// Returns the seconds since the monotonic clock read `start`.
    ///
    /// - Parameter end: a later reading of the clock; nil to read it now.
    package func seconds(since start: UInt64, to end: UInt64? = nil) -> Double {
        Double((end ?? monotonicNanoseconds) &- start) / 1e9
    }

    /// Returns a random UUID (RFC 9562, version 4), made of unique names.
    package func uniqueIdentifier() -> String {
        var digits = Array((uniqueName() + uniqueName()).uppercased())
        (digits[12], digits[16]) = ("4", "8")
        let ends = [8, 12, 16, 20, 32]
        return zip([0] + ends, ends).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }

    package func exists(_ path: String) throws -> Bool { try status(of: path) != nil }

    /// Returns the path of a file that need not exist, as it is from every working folder; the path itself if the
    /// working folder cannot be found.
    package func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        return (try? resolve(path)) ?? (try? resolve(".")).map { Path.join($0, path) } ?? path
    }

    /// Writes atomically: a reader, even after a power failure, finds either the old or the new contents.
    package func writeAtomically(_ bytes: [UInt8], to path: String, _ rights: FileRights = .own) throws {
        let temporary = "\(path).\(uniqueName()).part"
        do {
            try writeExactly(bytes, to: temporary, rights)
            try synchronise(temporary)
            try rename(temporary, to: path)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        try synchronise(Path.folder(of: path))
    }

    /// Writes a file, then reads it again to compare it.
    ///
    /// - Throws: `inputOutput` if it has other contents.
    package func writeExactly(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try write(bytes, to: path, rights)
        guard try read(path, prefix: bytes.count + 1) == bytes else { throw MigrationError.changedOnTheWay(path) }
    }

    /// Removes a file, or a folder with all its contents; false if the path does not exist.
    @discardableResult
    package func removeTree(_ path: String) throws -> Bool {
        guard let status = try status(of: path) else { return try remove(path) }
        // Do not empty a folder behind a symbolic link; remove only the link.
        if status.kind == .folder, try !isLink(path) {
            for name in try list(path) { try removeTree(Path.join(path, name)) }
        }
        return try remove(path)
    }

    /// Returns every file below a folder, as relative paths in byte order.
    package func files(below folder: String) throws -> [String] {
        try list(folder).flatMap { name -> [String] in
            let path = Path.join(folder, name)
            guard try status(of: path)?.kind == .folder, try !isLink(path) else { return [name] }
            return try files(below: path).map { Path.join(name, $0) }
        }
    }

    /// Copies a folder with all its contents, compares every file, and synchronises every file and folder of the copy.
    ///
    /// - Throws: `fileNotReadable` for an entry that is neither a plain file nor a folder, such as a symbolic link.
    package func copyTree(_ folder: String, to copy: String, _ rights: FileRights = .own) throws {
        guard try !isLink(folder) else { throw MigrationError.system("copy", folder, error: ELOOP) }
        try makeFolder(copy, rights)
        for name in try list(folder) {
            let (source, destination) = (Path.join(folder, name), Path.join(copy, name))
            if try status(of: source)?.kind == .folder {
                try copyTree(source, to: destination, rights)
            } else {
                try copyExactly(source, to: destination, rights)
                try synchronise(destination)
            }
        }
        try synchronise(copy)
    }

    /// Copies a file, then reads both files again to compare them.
    ///
    /// - Throws: `inputOutput` if the copy has other contents.
    package func copyExactly(_ path: String, to copy: String, _ rights: FileRights = .own) throws {
        try self.copy(path, to: copy, rights)
        guard try holdsSame(path, copy) else { throw MigrationError.changedOnTheWay(copy) }
    }

    /// Whether two files have the same contents.
    package func holdsSame(_ path: String, _ other: String) throws -> Bool {
        guard let size = try status(of: path)?.size, try status(of: other)?.size == size else { return false }
        let piece: Int64 = 1 << 20
        for place in stride(from: 0, to: size, by: Int(piece)) {
            guard try bytes(of: path, from: place, count: piece) == bytes(of: other, from: place, count: piece) else {
                return false
            }
        }
        return true
    }

    /// Returns the total size of all files below a folder; zero if there is no such folder.
    package func size(below folder: String) throws -> Int64 {
        guard try exists(folder) else { return 0 }
        return try files(below: folder).reduce(0) { try $0 + (status(of: Path.join(folder, $1))?.size ?? 0) }
    }
}

/// The only way to read a whole file into memory: a plain file of limited size.
extension System {
    /// The size limit in bytes for a file written by Moult or by a person.
    package static var largestText: Int { 128 << 20 }
    /// The size limit in bytes for a file of external data: the largest value in SQLite.
    package static var largestValue: Int { 1_000_000_000 }

    /// - Parameters:
    ///   - limit: the most bytes; a larger file is not read.
    ///   - code: the error code for a file that is too large or not a plain file.
    /// - Throws: `code` if the file is larger or not a plain file: a folder, a FIFO, a device.
    package func read(_ path: String, limit: Int? = nil, as code: MigrationError.Code = .fileNotReadable) throws
        -> [UInt8]
    {
        let limit = limit ?? Self.largestText
        do {
            // Files in /proc report no size, and a file can grow in the meantime.
            if let size = try status(of: path)?.size, size > limit { throw MigrationError.tooLarge(path, size, limit) }
            let bytes = try read(path, prefix: limit + 1)
            guard bytes.count <= limit else { throw MigrationError.tooLarge(path, nil, limit) }
            return bytes
        } catch var error as MigrationError where error.code == .fileNotReadable {
            error.code = code
            throw error
        }
    }
}

extension MigrationError {
    fileprivate static func tooLarge(_ path: String, _ size: Int64?, _ limit: Int) -> MigrationError {
        MigrationError(
            .fileNotReadable,
            "\(path) has \(size.map(String.init) ?? "more") bytes; Moult reads at most \(limit) of it.",
            place: path, remedy: "Name another file. If Moult itself made this one, move it away.")
    }
}

extension System {
    /// Passes a part of a file to `body` in pieces of at most one mebibyte, so that memory use stays constant.
    ///
    /// Always uses the real machine, because it only reads, and only files that are not being written.
    ///
    /// - Parameters:
    ///   - offset: the position of the first byte.
    ///   - count: the number of bytes; nil for the rest of the file.
    /// - Returns: the number of bytes read.
    @discardableResult
    package func readPieces(
        of path: String, from offset: Int64 = 0, count: Int64? = nil, _ body: ([UInt8]) throws -> Void
    ) throws -> Int64 {
        try POSIXSystem().readPieces(of: path, from: offset, count: count ?? .max, body)
    }

    /// Returns the parts of a file that contain data, in ascending order; the rest are holes, which read as zeros and
    /// take no space. Always uses the real machine, as above.
    package func writtenParts(of path: String) throws -> [Range<Int64>] { try POSIXSystem().writtenParts(of: path) }

    /// Returns a part of a file that fits into memory; shorter if the file ends earlier.
    package func bytes(of path: String, from offset: Int64, count: Int64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try readPieces(of: path, from: offset, count: count) { bytes += $0 }
        return bytes
    }
}
