extension POSIXSystem {
    package func status(of path: String) throws -> FileStatus? {
        var record = stat()
        if stat(path, &record) == 0 { return FileStatus(record) }
        // A name that is too long cannot exist, such as that of a side file next to a store with a long name.
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
        try entries(of: folder) { name, _ in name }.inByteOrder()
    }

    /// Maps the name and type (`man 3 readdir`) of each entry, except the folder itself and its parent.
    func entries<Entry>(of folder: String, _ make: (_ name: String, _ type: UInt8) -> Entry) throws -> [Entry] {
        guard let stream = opendir(folder) else { throw MigrationError.system("list", folder) }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // An entry is as long as its name: a copy of the field would read beyond the last one.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
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

    /// Passes a file's contents, up to `limit` bytes, to `body` in pieces of at most one mebibyte.
    private func readPieces(of path: String, limit: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        try withFile(path, O_RDONLY, to: "read") { descriptor in
            // On the heap: the stack of a thread may be smaller.
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var left = limit
            while left > 0 {
                let count = retrying { systemRead(descriptor, buffer.baseAddress, min(buffer.count, left)) }
                guard count >= 0 else { throw MigrationError.system("read", path) }
                if count == 0 { return }
                body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                WorkMeter.current?.pulse(count)
                left -= count
            }
        }
    }
}

extension FileStatus {
    init(_ record: stat) {
        #if canImport(Darwin)
            let (modified, changed) = (record.st_mtimespec, record.st_ctimespec)
        #else
            let (modified, changed) = (record.st_mtim, record.st_ctim)
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

/// A name in a folder, and the kind of the entry.
package struct FolderEntry: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case file, folder, link, other }

    package var name: String
    package var kind: Kind
}

extension POSIXSystem {
    /// Returns the names in a folder, in byte order, without `.` and `..`. It reads an entry's own status only if the
    /// folder does not record the type.
    package func entries(of folder: String) throws -> [FolderEntry] {
        try entries(of: folder) { FolderEntry(name: $0, kind: kind($1, Path.join(folder, $0))) }
            .inByteOrder { $0.name }
    }

    /// `man 3 readdir`: DT_REG, DT_DIR and DT_LNK; some file systems answer DT_UNKNOWN.
    private func kind(_ type: UInt8, _ path: String) -> FolderEntry.Kind {
        switch type {
        case 8: return .file
        case 4: return .folder
        case 10: return .link
        case 0:
            var record = stat()
            guard lstat(path, &record) == 0 else { return .other }
            return switch record.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        default: return .other
        }
    }

    /// Opens a plain file once and returns its status and first bytes.
    package func header(of path: String, count: Int) throws -> (status: FileStatus, bytes: [UInt8]) {
        try withFile(path, O_RDONLY, to: "read") { descriptor in
            var record = stat()
            guard fstat(descriptor, &record) == 0 else { throw MigrationError.system("look at", path) }
            var bytes = [UInt8](repeating: 0, count: count)
            let read = retrying { pread(descriptor, &bytes, count, 0) }
            guard read >= 0 else { throw MigrationError.system("read", path) }
            bytes.removeLast(count - read)
            return (FileStatus(record), bytes)
        }
    }

    /// Returns the paths that a shell pattern matches, in byte order; empty if it matches nothing.
    package func paths(matching pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cString: $0) } }
            .inByteOrder()
    }

    /// The network name of this machine.
    package var hostName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The number of processors that this process may use.
    package var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
