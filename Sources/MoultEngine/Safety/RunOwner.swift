import MoultModel
import MoultStore
import MoultSystem

/// The process that holds the lock of a store's sidecar: one run of Moult at a time.
package struct RunOwner {
    /// Nil if the system does not tell and the lock's file does not either.
    package var process: Int32?
    /// When it began, as its record says; nil if the record is another's.
    package var since: String?

    /// Takes the lock and leaves this process's record in its file.
    ///
    /// - Throws: `locked`, naming the process that has it.
    package static func take(_ sidecar: Sidecar, _ system: any System) throws -> FileLock {
        guard let file = try system.lock(sidecar.lock, sidecar.rights) else {
            let owner = RunOwner(of: sidecar, system)
            let since = owner.since.map { " since \($0)" } ?? ""
            let who = owner.process.map { " (process \($0)\(since))" } ?? ""
            throw MigrationError(
                .locked, "Another run of Moult\(who) is changing this store.", place: sidecar.store,
                remedy: "Wait for it to end. A run that died holds no lock.")
        }
        let record = JSONValue.object([
            .init("pid", .integer(Int64(system.processIdentifier))),
            .init("start", .string(system.startTime(ofProcess: system.processIdentifier) ?? "")),
            .init("since", .string(system.now.iso8601)),
        ])
        try system.write(Array(record.compact.utf8), to: sidecar.lock, sidecar.rights)
        return file
    }

    /// Reads which process holds a lock that could not be taken.
    package init(of sidecar: Sidecar, _ system: any System) {
        let bytes = (try? system.read(sidecar.lock)) ?? []
        let record = try? JSONValue(parsing: bytes, place: sidecar.lock, code: .internal)
        let recorded = record?["pid"]?.integer.flatMap(Int32.init(exactly:))
        // One that has just taken the lock has not written its record yet: the file names the one before it, or none.
        process = system.holders(of: sidecar.lock).first?.identifier ?? recorded
        since = process == recorded ? record?["since"]?.string : nil
    }
}
