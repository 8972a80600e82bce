#if canImport(Darwin)
    import Darwin

    extension POSIXSystem {
        package func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            try withFile(path, O_RDONLY | O_NOFOLLOW, to: "copy") { source in
                try withNewFile(copy, rights) { destination in
                    // `man 3 copyfile`: keep holes.
                    let flags = copyfile_flags_t(COPYFILE_DATA_SPARSE)
                    if fcopyfile(source, destination, nil, flags) == 0 { return }
                    guard lseek(source, 0, SEEK_SET) == 0, lseek(destination, 0, SEEK_SET) == 0,
                        ftruncate(destination, 0) == 0
                    else { throw MigrationError.system("write", copy) }
                    try copyPieces(from: source, to: destination, path, copy)
                }
            }
        }

        /// Returns the start time of a process, in seconds and microseconds since 1970 (`libproc.h`).
        package func startTime(ofProcess identifier: Int32) -> String? {
            var record = proc_bsdinfo()
            let size = Int32(MemoryLayout<proc_bsdinfo>.size)
            guard proc_pidinfo(identifier, PROC_PIDTBSDINFO, 0, &record, size) == size else { return nil }
            return "\(record.pbi_start_tvsec).\(record.pbi_start_tvusec)"
        }

        /// Returns the processes that have the file open; the system does not report which of them hold a lock.
        package func holders(of path: String) -> [RunningProcess] {
            let all = UInt32(PROC_ALL_PIDS)
            let needed = proc_listpidspath(all, 0, path, 0, nil, 0)
            guard needed > 0 else { return [] }
            var identifiers = [pid_t](repeating: 0, count: Int(needed) / MemoryLayout<pid_t>.size + 16)
            let used = identifiers.withUnsafeMutableBytes {
                proc_listpidspath(all, 0, path, 0, $0.baseAddress, Int32($0.count))
            }
            guard used > 0 else { return [] }
            return identifiers.prefix(Int(used) / MemoryLayout<pid_t>.size)
                .filter { $0 > 0 && $0 != processIdentifier }.sorted()
                .map { RunningProcess(identifier: $0, name: name(ofProcess: $0)) }
        }

        /// The path of this program.
        package static func ownProgram() throws -> String {
            var size: UInt32 = 0
            _ = _NSGetExecutablePath(nil, &size)
            var buffer = [CChar](repeating: 0, count: Int(size) + 1)
            guard _NSGetExecutablePath(&buffer, &size) == 0 else { throw MigrationError.system("find", "this program") }
            let path = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return try POSIXSystem().resolve(String(decoding: path, as: UTF8.self))
        }

        private func name(ofProcess identifier: Int32) -> String {
            var buffer = [CChar](repeating: 0, count: Int(MAXPATHLEN))
            guard proc_name(identifier, &buffer, UInt32(buffer.count)) > 0 else { return "" }
            return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The extended attributes of a file, which are not copied yet.
    struct ExtendedAttributes {
        init() {}
        init(of path: String) {}
        func give(to descriptor: Int32) {}
    }
#endif
