extension POSIXSystem {
    package func makeFile(_ path: String, _ rights: FileRights) throws { try withNewFile(path, rights) { _ in } }

    package func write(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try withFile(path, O_WRONLY | O_TRUNC, making: rights, to: "write") { descriptor in
            try bytes.withUnsafeBytes { try write($0, to: descriptor, path) }
        }
    }

    package func append(_ bytes: [UInt8], to path: String, _ rights: FileRights) throws {
        try withFile(path, O_WRONLY | O_APPEND, making: rights, to: "write") { descriptor in
            try bytes.withUnsafeBytes { try write($0, to: descriptor, path) }
        }
    }

    package func synchronise(_ path: String) throws {
        try withDescriptor(path, O_RDONLY | O_NONBLOCK, to: "synchronise") { descriptor in
            #if canImport(Darwin)
                // There, `fsync` leaves the data in the cache of the drive (`man 2 fsync`). Not every volume has this call.
                if fcntl(descriptor, F_FULLFSYNC) != -1 { return }
            #endif
            guard retrying({ fsync(descriptor) }) == 0 else { throw MigrationError.system("synchronise", path) }
        }
    }

    /// Synchronises first, because only pages that are on the drive can be dropped. Darwin has no call for this.
    package func forgetCache(of path: String) throws {
        #if !canImport(Darwin)
            try withDescriptor(path, O_RDONLY | O_NONBLOCK, to: "read") { descriptor in
                guard retrying({ fsync(descriptor) }) == 0 else { throw MigrationError.system("synchronise", path) }
                // If the system keeps pages all the same, the next read comes from memory, as usual.
                _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            }
        #endif
    }

    package func rename(_ path: String, to newPath: String) throws {
        guard systemRename(path, newPath) == 0 else { throw MigrationError.system("rename", path) }
    }

    package func rename(_ path: String, toUnused newPath: String) throws {
        if rename(path, newPath, .toUnused) == 0 { return }
        guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { throw failure(to: newPath, from: path) }
        // The volume does not support that flag. A hard link never replaces a file either. A folder cannot have a
        // second link, and a rename of it replaces only an empty folder.
        if link(path, newPath) == 0 {
            try remove(path)
        } else {
            guard errno != EEXIST else { throw failure(to: newPath, from: path) }
            guard try !exists(newPath), try !isLink(newPath) else { throw MigrationError.taken(newPath) }
            try rename(path, to: newPath)
        }
    }

    package func exchange(_ path: String, with other: String) throws -> Bool {
        if rename(path, other, .exchanging) == 0 { return true }
        guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { throw MigrationError.system("rename", path) }
        return false
    }

    private func failure(to newPath: String, from path: String) -> MigrationError {
        [EEXIST, ENOTEMPTY].contains(errno) ? .taken(newPath) : .system("rename", path)
    }

    private enum Rename { case toUnused, exchanging }

    /// `man 2 renameat2`, which Glibc's module for Swift does not have.
    private func rename(_ path: String, _ newPath: String, _ kind: Rename) -> Int32 {
        #if !canImport(Darwin)
            typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
            guard let symbol = dlsym(nil, "renameat2") else {
                errno = ENOSYS
                return -1
            }
            // RENAME_NOREPLACE and RENAME_EXCHANGE.
            let flags: UInt32 = kind == .toUnused ? 1 : 2
            return unsafeBitCast(symbol, to: Call.self)(AT_FDCWD, path, AT_FDCWD, newPath, flags)
        #else
            return renamex_np(path, newPath, UInt32(kind == .toUnused ? RENAME_EXCL : RENAME_SWAP))
        #endif
    }

    @discardableResult
    package func remove(_ path: String) throws -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT || errno == ENAMETOOLONG { return false }
        // For a folder, Linux returns EISDIR, and POSIX allows EPERM.
        if errno == EISDIR || errno == EPERM, rmdir(path) == 0 { return true }
        throw MigrationError.system("remove", path)
    }

    package func setMode(_ mode: UInt32, of path: String) throws {
        guard chmod(path, mode_t(mode)) == 0 else { throw MigrationError.system("change the permissions of", path) }
    }

    package func setSize(_ size: Int64, of path: String) throws {
        guard truncate(path, off_t(size)) == 0 else { throw MigrationError.system("change the size of", path) }
    }

    /// Copies the rest of `source` to `destination` with read and write.
    func copyPieces(from source: Int32, to destination: Int32, _ path: String, _ copy: String) throws {
        // On the heap: the stack of a thread may be smaller.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = retrying { systemRead(source, buffer.baseAddress, buffer.count) }
            guard count >= 0 else { throw MigrationError.system("read", path) }
            if count == 0 { return }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: destination, copy)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String) throws {
        var left = bytes
        while !left.isEmpty {
            let count = retrying { systemWrite(descriptor, left.baseAddress, left.count) }
            guard count >= 0 else { throw MigrationError.system("write", path) }
            left = UnsafeRawBufferPointer(rebasing: left[count...])
        }
    }
}
