/// The calls through which Moult creates every file and folder, and opens every one outside SQLite.
extension POSIXSystem {
    /// Opens a file or a folder, passes the descriptor to `body` and closes it.
    func withDescriptor<Result>(
        _ path: String, _ flags: Int32, to action: String, _ body: (Int32) throws -> Result
    ) throws -> Result {
        let descriptor = open(path, flags, 0)
        guard descriptor >= 0 else { throw MigrationError.system(action, path) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    /// Opens a plain file, passes the descriptor to `body` and closes it.
    ///
    /// - Parameter rights: the permissions for a missing file; nil not to create one.
    func withFile<Result>(
        _ path: String, _ flags: Int32, making rights: FileRights? = nil, to action: String,
        _ body: (Int32) throws -> Result
    ) throws -> Result {
        let descriptor = try openFile(path, flags, making: rights, to: action)
        defer { close(descriptor) }
        return try body(descriptor)
    }

    /// Creates a file, fails if the path is taken, passes the descriptor to `body` and closes it.
    func withNewFile<Result>(_ path: String, _ rights: FileRights, _ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = try makeDescriptor(path, O_WRONLY, rights)
        guard descriptor >= 0 else { throw MigrationError.system("make", path) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    func openFile(_ path: String, _ flags: Int32, making rights: FileRights? = nil, to action: String) throws -> Int32 {
        // O_NONBLOCK: opening a FIFO would block. O_NOFOLLOW: never write through a symbolic link.
        let flags = flags | O_NONBLOCK | (flags & O_ACCMODE == O_RDONLY ? 0 : O_NOFOLLOW)
        var descriptor = open(path, flags, 0)
        if descriptor < 0, errno == ENOENT, let rights {
            descriptor = try makeDescriptor(path, flags, rights)
            // Another process has just created it.
            if descriptor < 0, errno == EEXIST { descriptor = open(path, flags, 0) }
        }
        guard descriptor >= 0 else { throw MigrationError.system(action, path) }
        var record = stat()
        guard fstat(descriptor, &record) == 0, record.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw MigrationError.notAFile(path, record.st_mode & S_IFMT)
        }
        return descriptor
    }

    package func makeFolder(_ path: String, _ rights: FileRights) throws {
        let grant = try Grant(rights)
        if mkdir(path, grant.isOfUmask ? 0o755 : 0o700) == 0 {
            guard grant.isMore else { return }
            return try withDescriptor(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, to: "make the folder") { descriptor in
                guard grant.give(descriptor, isFolder: true) else {
                    throw MigrationError.system("make the folder", path)
                }
            }
        }
        let number = errno
        if number == EEXIST, try status(of: path)?.kind == .folder { return }
        throw MigrationError.system("make the folder", path, error: number)
    }

    /// Returns a negative number, with `errno`, if the file exists or cannot be created.
    private func makeDescriptor(_ path: String, _ flags: Int32, _ rights: FileRights) throws -> Int32 {
        let grant = try Grant(rights)
        // Readable only by this user until its owner is set.
        let descriptor = open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, grant.isOfUmask ? 0o644 : 0o600)
        guard descriptor >= 0, grant.isMore, !grant.give(descriptor, isFolder: false) else { return descriptor }
        let number = errno
        close(descriptor)
        unlink(path)
        errno = number
        return -1
    }

    /// Opens a file, following no symbolic link below the sidecar folder next to a store, where other users may have
    /// put one. The descriptor is closed on exec.
    private func open(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
        inFolder(of: path) { folder, name, isBelowSidecar in
            systemOpen(folder, name, flags | O_CLOEXEC | (isBelowSidecar ? O_NOFOLLOW : 0), mode)
        }
    }

    /// Calls `call` with the descriptor of a folder and a path from there, so that it follows no symbolic link below the
    /// sidecar folder except the last, which `call` must not follow.
    func inFolder(
        of path: String, _ call: (_ folder: Int32, _ path: String, _ isBelowSidecar: Bool) -> Int32
    ) -> Int32 {
        guard let (folder, names) = Path.belowSidecar(path) else {
            return retrying { call(AT_FDCWD, path, false) }
        }
        let folderFlags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC
        var parent = retrying { systemOpen(AT_FDCWD, folder, folderFlags, 0) }
        for name in names.dropLast() where parent >= 0 {
            let next = retrying { systemOpen(parent, name, folderFlags, 0) }
            closeKeepingError(parent)
            parent = next
        }
        guard parent >= 0, let name = names.last else { return parent }
        defer { closeKeepingError(parent) }
        return retrying { call(parent, name, true) }
    }

    private func closeKeepingError(_ descriptor: Int32) {
        let number = errno
        close(descriptor)
        errno = number
    }

    private func systemOpen(_ folder: Int32, _ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
        openat(folder, path, flags, mode)
    }
}

/// The permissions and ownership that ``FileRights`` stand for on this machine.
struct Grant {
    /// Nil if the file belongs to this user only, or follows the umask.
    private var status: FileStatus?
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        private var protection: Int32?
    #endif
    private var attributes = ExtendedAttributes()
    let isOfUmask: Bool

    init(_ rights: FileRights) throws {
        isOfUmask = rights == .byUmask
        guard case .like(let path) = rights else { return }
        status = try POSIXSystem().status(of: path)
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            protection = FileProtection.ofFile(path)
        #endif
        if status?.kind == .file { attributes = ExtendedAttributes(of: path) }
    }

    /// Whether a file created for this user only must be shared with others.
    var isMore: Bool { status != nil }

    /// Gives a new file its extended attributes, its owner, its group and then its permissions.
    ///
    /// - Returns: false, with `errno`, if its permissions cannot be set.
    func give(_ descriptor: Int32, isFolder: Bool) -> Bool {
        guard let status else { return true }
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            // While the file is empty. A volume without data protection refuses it.
            if let protection { _ = fcntl(descriptor, F_SETPROTECTIONCLASS, protection) }
        #endif
        if !isFolder { attributes.give(to: descriptor) }
        var mode = status.mode & 0o666 | 0o600
        var record = stat()
        guard fstat(descriptor, &record) == 0 else { return false }
        if geteuid() == 0, record.st_uid != status.owner { _ = fchown(descriptor, status.owner, gid_t.max) }
        if record.st_gid != status.group, fchown(descriptor, uid_t.max, status.group) != 0 {
            // Grant a different group no more than all users have.
            mode = mode & ~0o070 | (mode & 0o007) << 3
        }
        // Read permission on such a folder includes search permission.
        if isFolder { mode |= (mode & 0o444) >> 2 }
        return fchmod(descriptor, mode_t(mode)) == 0
    }
}

extension POSIXSystem {
    // `man 2 lseek`: SEEK_DATA finds the next data, SEEK_HOLE the next hole.
    #if os(Linux)
        static let (seekData, seekHole): (Int32, Int32) = (3, 4)
    #else
        static let (seekData, seekHole): (Int32, Int32) = (4, 3)
    #endif

    func writtenParts(of path: String) throws -> [Range<Int64>] {
        try withFile(path, O_RDONLY, to: "read") { descriptor in
            let size = Int64(lseek(descriptor, 0, SEEK_END))
            var (parts, place): ([Range<Int64>], Int64) = ([], 0)
            while place < size {
                let start = Int64(lseek(descriptor, off_t(place), Self.seekData))
                if start < 0, errno == ENXIO { break }
                // A file system without support for holes has none.
                let next = start < 0 ? place : start
                let hole = start < 0 ? -1 : Int64(lseek(descriptor, off_t(next), Self.seekHole))
                let end = hole <= next ? size : min(hole, size)
                guard next < end else { break }
                parts.append(next..<end)
                place = end
            }
            return parts
        }
    }

    func readPieces(of path: String, from offset: Int64, count: Int64, _ body: ([UInt8]) throws -> Void) throws -> Int64
    {
        try withFile(path, O_RDONLY, to: "read") { descriptor in
            var (place, left) = (offset, count)
            while left > 0 {
                var piece = [UInt8](repeating: 0, count: Int(min(left, 1 << 20)))
                let read = retrying { pread(descriptor, &piece, piece.count, off_t(place)) }
                guard read >= 0 else { throw MigrationError.system("read", path) }
                if read == 0 { break }
                piece.removeLast(piece.count - read)
                try body(piece)
                WorkMeter.current?.pulse(read)
                place += Int64(read)
                left -= Int64(read)
            }
            return place - offset
        }
    }
}
