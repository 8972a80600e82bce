#if canImport(Darwin)
    extension POSIXSystem {
        package func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
            try withFile(path, O_RDONLY | O_NOFOLLOW, to: "copy") { source in
                let isCloned = try clone(to: copy, rights) { folder, name, flags in
                    fclonefileat(source, folder, name, flags)
                }
                if isCloned { return }
                try withNewFile(copy, rights) { destination in
                    // `man 3 copyfile`: keep holes.
                    if fcopyfile(source, destination, nil, copyfile_flags_t(COPYFILE_DATA_SPARSE)) != 0 {
                        guard lseek(source, 0, SEEK_SET) == 0, lseek(destination, 0, SEEK_SET) == 0,
                            ftruncate(destination, 0) == 0
                        else { throw MigrationError.system("write", copy) }
                        try copyPieces(from: source, to: destination, path, copy)
                    }
                    // Owner and permissions are those of `rights`. Not every volume has extended attributes.
                    let kept = COPYFILE_XATTR | (rights == .like(path) ? COPYFILE_ACL : 0)
                    _ = fcopyfile(source, destination, nil, copyfile_flags_t(kept))
                }
            }
        }

        /// Clones by path: no descriptor of the file is opened or closed.
        package func cloneOpenFile(_ path: String, to copy: String, _ rights: FileRights) throws -> Bool {
            try clone(to: copy, rights) { folder, name, flags in clonefileat(AT_FDCWD, path, folder, name, flags) }
        }

        /// Makes a clone, which has the data and the extended attributes of its source, and gives it its rights. At first
        /// it has the permissions of its source, so it shows its data to no other user than that.
        ///
        /// - Returns: false, without creating anything, if the volume does not support it, or for the rights of the umask.
        private func clone(
            to copy: String, _ rights: FileRights,
            _ call: (_ folder: Int32, _ name: String, _ flags: UInt32) -> Int32
        ) throws -> Bool {
            let grant = try Grant(rights)
            let flags = UInt32(CLONE_NOFOLLOW | CLONE_NOOWNERCOPY)
            guard !grant.isOfUmask, inFolder(of: copy, { folder, name, _ in call(folder, name, flags) }) == 0 else {
                return false
            }
            let isGranted = try? withFile(copy, O_RDONLY | O_NOFOLLOW, to: "make") { descriptor in
                fchmod(descriptor, 0o600) == 0 && grant.give(descriptor, isFolder: false)
            }
            if isGranted != true { try remove(copy) }
            return isGranted == true
        }

        /// The path of this program.
        package static func ownProgram() throws -> String {
            var size: UInt32 = 0
            _ = _NSGetExecutablePath(nil, &size)
            var buffer = [CChar](repeating: 0, count: Int(size) + 1)
            guard _NSGetExecutablePath(&buffer, &size) == 0 else { throw MigrationError.system("find", "this program") }
            return try POSIXSystem().resolve(Self.text(buffer))
        }

        fileprivate static func text(_ characters: [CChar]) -> String {
            String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
#endif

#if os(macOS)
    extension POSIXSystem {
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

        private func name(ofProcess identifier: Int32) -> String {
            var buffer = [CChar](repeating: 0, count: Int(MAXPATHLEN))
            return proc_name(identifier, &buffer, UInt32(buffer.count)) > 0 ? Self.text(buffer) : ""
        }
    }
#elseif canImport(Darwin)
    // An app of the other systems may not look at another process.
    extension POSIXSystem {
        /// Returns the same text for every process that runs, because each app must see the same one: a number that is
        /// used again counts as the process that had it. The text of process 1 is the time of the boot.
        package func startTime(ofProcess identifier: Int32) -> String? {
            guard identifier == 1 else { return kill(identifier, 0) == 0 || errno == EPERM ? "running" : nil }
            var (name, time, size) = ([CTL_KERN, KERN_BOOTTIME], timeval(), MemoryLayout<timeval>.size)
            guard sysctl(&name, 2, &time, &size, nil, 0) == 0 else { return nil }
            return "\(time.tv_sec)"
        }

        package func holders(of path: String) -> [RunningProcess] { [] }
    }

    /// The data protection of a file, which a locked device enforces.
    enum FileProtection {
        /// Returns the class of a file, without opening it (`man 2 getattrlist`); nil if it is not known.
        static func ofFile(_ path: String) -> Int32? {
            var wanted = attrlist()
            wanted.bitmapcount = UInt16(ATTR_BIT_MAP_COUNT)
            wanted.commonattr = attrgroup_t(ATTR_CMN_DATA_PROTECT_FLAGS)
            // The length of the answer, and the class.
            var answer: (UInt32, UInt32) = (0, 0)
            let size = MemoryLayout.size(ofValue: answer)
            guard getattrlist(path, &wanted, &answer, size, 0) == 0, answer.0 == size, answer.1 > 0 else { return nil }
            return Int32(answer.1)
        }
    }
#endif
