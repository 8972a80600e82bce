import MoultModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A name in a folder, and what it is the name of.
package struct FolderEntry: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case file, folder, link, other }

    package var name: String
    package var kind: Kind
}

extension POSIXSystem {
    /// The names in a folder, in byte order, without `.` and `..`; no file in it is looked at where the folder says what
    /// it is.
    package func entries(of folder: String) throws -> [FolderEntry] {
        try entries(of: folder) { FolderEntry(name: $0, kind: kind($1, Path.join(folder, $0))) }
            .sorted { $0.name.precedesInByteOrder($1.name) }
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

    /// Returns the status of a plain file, and its first bytes, from one opening of it.
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

    /// The paths that a pattern of a shell matches, in byte order; none if it matches nothing.
    package func paths(matching pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cString: $0) } }
            .sorted { $0.precedesInByteOrder($1) }
    }

    /// The name by which other machines know this one.
    package var hostName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The number of processors that this process may use.
    package var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
