#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Without a word about rights, what is made is this user's alone.
extension System {
    package func write(_ bytes: [UInt8], to path: String) throws { try write(bytes, to: path, .own) }
    package func append(_ bytes: [UInt8], to path: String) throws { try append(bytes, to: path, .own) }
    package func makeFolder(_ path: String) throws { try makeFolder(path, .own) }
    package func copy(_ path: String, to copy: String) throws { try self.copy(path, to: copy, .own) }
    package func lock(_ path: String) throws -> FileLock? { try lock(path, .own) }

    package func exchange(_ path: String, with other: String) throws -> Bool { false }
    package func cloneOpenFile(_ path: String, to copy: String, _ rights: FileRights) throws -> Bool { false }

    /// Seconds since the clock that never goes back said `start`.
    ///
    /// - Parameter end: what it says now, or has said later; nil to look at it.
    package func seconds(since start: UInt64, to end: UInt64? = nil) -> Double {
        Double((end ?? monotonicNanoseconds) &- start) / 1e9
    }

    package func exists(_ path: String) throws -> Bool { try status(of: path) != nil }

    /// Writes so that a reader, or a machine that loses power, finds the old contents or the new, never a part.
    package func writeAtomically(_ bytes: [UInt8], to path: String, _ rights: FileRights = .own) throws {
        let temporary = "\(path).\(uniqueName()).part"
        do {
            try write(bytes, to: temporary, rights)
            try synchronise(temporary)
            try rename(temporary, to: path)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        try synchronise(Path.folder(of: path))
    }

    /// Removes a file, or a folder with all it holds; false where nothing has that name.
    @discardableResult
    package func removeTree(_ path: String) throws -> Bool {
        guard let status = try status(of: path) else { return try remove(path) }
        // A folder reached through a symbolic link is not ours to empty: remove the link.
        if status.kind == .folder, try !isLink(path) {
            for name in try list(path) { try removeTree(Path.join(path, name)) }
        }
        return try remove(path)
    }

    /// Every file below a folder, as paths from that folder, in byte order.
    package func files(below folder: String) throws -> [String] {
        try list(folder).flatMap { name -> [String] in
            let path = Path.join(folder, name)
            guard try status(of: path)?.kind == .folder, try !isLink(path) else { return [name] }
            return try files(below: path).map { Path.join(name, $0) }
        }
    }

    /// Copies a folder with all it holds, compares every file, and synchronises every file and folder of the copy.
    ///
    /// - Throws: `fileNotReadable` for what is neither a plain file nor a folder, such as a symbolic link.
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

    /// Copies a file, and reads both files again to compare them.
    ///
    /// - Throws: `inputOutput` if the copy does not hold the same bytes.
    package func copyExactly(_ path: String, to copy: String, _ rights: FileRights = .own) throws {
        try self.copy(path, to: copy, rights)
        guard try holdsSame(path, copy) else { throw MigrationError.changedOnTheWay(copy) }
    }

    /// Whether two files hold the same bytes.
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

    /// The sum of the sizes of all files below a folder; zero where there is none.
    package func size(below folder: String) throws -> Int64 {
        guard try exists(folder) else { return 0 }
        return try files(below: folder).reduce(0) { try $0 + (status(of: Path.join(folder, $1))?.size ?? 0) }
    }
}

/// The one way to read a whole file into memory: a plain one, of no more than so many bytes.
extension System {
    /// The most bytes of a file that Moult has written, or that a person has written for it.
    package static var largestText: Int { 128 << 20 }
    /// The most bytes of a file of external data: what SQLite holds in one value.
    package static var largestValue: Int { 1_000_000_000 }

    /// - Parameters:
    ///   - limit: bytes. Nothing is read of a file that has more.
    ///   - code: what a file that is too large, or none, counts as.
    /// - Throws: `code` if the file is larger, or is no plain file: a folder, a FIFO, a device.
    package func read(_ path: String, limit: Int? = nil, as code: MigrationError.Code = .fileNotReadable) throws
        -> [UInt8]
    {
        let limit = limit ?? Self.largestText
        do {
            // What /proc shows has no size, and what grows in the meantime had less.
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
    /// Hands over a part of a file in pieces of at most a mebibyte, so that memory does not grow with the file.
    ///
    /// Always of the real machine: it only reads, and files that are not written to.
    ///
    /// - Parameters:
    ///   - offset: the first byte.
    ///   - count: bytes; the rest of the file when nil.
    /// - Returns: the bytes that were there.
    @discardableResult
    package func readPieces(
        of path: String, from offset: Int64 = 0, count: Int64? = nil, _ body: ([UInt8]) throws -> Void
    ) throws -> Int64 {
        try POSIXSystem().readPieces(of: path, from: offset, count: count ?? .max, body)
    }

    /// The parts of a file in which something was ever written, in ascending order; the others read as zeros and take
    /// no space. Of the real machine, as above.
    package func writtenParts(of path: String) throws -> [Range<Int64>] { try POSIXSystem().writtenParts(of: path) }

    /// A part of a file, for parts that memory holds; shorter where the file ends before.
    package func bytes(of path: String, from offset: Int64, count: Int64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try readPieces(of: path, from: offset, count: count) { bytes += $0 }
        return bytes
    }
}
