import MoultModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension POSIXSystem {
    package func status(of path: String) throws -> FileStatus? {
        var record = stat()
        if stat(path, &record) == 0 { return FileStatus(record) }
        // Nothing has a name that is too long, such as that of a side file next to a store whose own is long.
        if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(errno) { return nil }
        throw MigrationError.system("look at", path)
    }

    package func isLink(_ path: String) throws -> Bool {
        var record = stat()
        if lstat(path, &record) == 0 { return record.st_mode & S_IFMT == S_IFLNK }
        if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(errno) { return false }
        throw MigrationError.system("look at", path)
    }

    package func resolve(_ path: String) throws -> String {
        guard let resolved = realpath(path, nil) else { throw MigrationError.system("find", path) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    package func list(_ folder: String) throws -> [String] {
        try entries(of: folder) { name, _ in name }.sorted { $0.precedesInByteOrder($1) }
    }

    /// Makes something of the name and the type (`man 3 readdir`) of each entry but the folder itself and the one above.
    func entries<Entry>(of folder: String, _ make: (_ name: String, _ type: UInt8) -> Entry) throws -> [Entry] {
        guard let stream = opendir(folder) else { throw MigrationError.system("list", folder) }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { entries.append(make(name, entry.pointee.d_type)) }
        }
        guard errno == 0 else { throw MigrationError.system("list", folder) }
        return entries
    }

    package func read(_ path: String, prefix count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try readPieces(of: path, limit: count) { bytes.append(contentsOf: $0) }
        return bytes
    }

    package func digest(of path: String) throws -> [UInt8] {
        var stream = SHA256Stream()
        try readPieces(of: path, limit: Int.max) { stream.update($0) }
        return stream.finish()
    }

    package func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    package func space(at path: String) throws -> VolumeSpace {
        var volume = statvfs()
        guard statvfs(path, &volume) == 0, let status = try status(of: path) else {
            throw MigrationError.system("look at", path)
        }
        let available = UInt64(volume.f_bavail).multipliedReportingOverflow(by: UInt64(volume.f_frsize))
        return VolumeSpace(
            available: available.overflow ? Int64.max : Int64(clamping: available.partialValue), volume: status.device)
    }

    /// Hands over a file's contents, up to `limit` bytes, in pieces of at most a mebibyte.
    private func readPieces(of path: String, limit: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        try withFile(path, O_RDONLY, to: "read") { descriptor in
            // On the heap: the stack of a thread may be smaller.
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var left = limit
            while left > 0 {
                let count = retrying { Self.systemRead(descriptor, buffer.baseAddress, min(buffer.count, left)) }
                guard count >= 0 else { throw MigrationError.system("read", path) }
                if count == 0 { return }
                body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                left -= count
            }
        }
    }

    // Inside this type the name `read` means its own method.
    private static func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.read(descriptor, buffer, count)
        #else
            Darwin.read(descriptor, buffer, count)
        #endif
    }
}

extension FileStatus {
    init(_ record: stat) {
        #if canImport(Glibc)
            let (modified, changed) = (record.st_mtim, record.st_ctim)
        #else
            let (modified, changed) = (record.st_mtimespec, record.st_ctimespec)
        #endif
        let kind: Kind =
            switch record.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        self.init(
            kind: kind, size: Int64(record.st_size), modified: Timestamp(modified), changed: Timestamp(changed),
            device: UInt64(truncatingIfNeeded: record.st_dev), inode: UInt64(record.st_ino),
            links: UInt64(record.st_nlink), mode: UInt32(record.st_mode) & 0o7777, owner: record.st_uid,
            group: record.st_gid)
    }
}
