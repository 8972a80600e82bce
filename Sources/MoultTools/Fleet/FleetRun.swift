import MoultBasics

/// A run over the stores of one shard, each in a process of its own.
///
/// The processes are forked from this one, which has read the model and opens no store. A crash or an exceeded limit of
/// memory or time ends the attempt on that store alone. All processes die with this one.
package final class FleetRun {
    package struct Outcome: Sendable, Equatable {
        package enum End: Sendable, Equatable {
            case complete
            /// The user stopped the run.
            case stopped
            /// The limit of failures was reached, so no further store was started.
            case failures
        }

        package var end = End.complete
        /// The number of stores that reached each state in this run.
        package var counts: [FleetResult.State: Int] = [:]
        /// The number of stores left to do.
        package var left = 0

        package var failures: Int { counts.filter { !$0.key.isGood && $0.key != .findings }.values.reduce(0, +) }
    }

    private struct Worker {
        var task: FleetTask
        var process: ForkedProcess
        var startedAt: Timestamp
        var start: UInt64
        var seconds: Double
        /// `time` or `memory` if the process was ended for exceeding that limit.
        var limit: String?
        var wasToldAt: UInt64?
    }

    private let shard: ShardFolder
    private let policy: FleetPolicy
    private let work: FleetWork
    private let isStopping: () -> Bool
    private let tell: (FleetResult) -> Void
    private let system = POSIXSystem()
    private let log: AttemptLog
    private let mounts = MountTable()
    private var queue: FleetQueue
    private var workers: [Worker] = []
    private var outcome = Outcome()

    /// - Parameters:
    ///   - tasks: the stores without a result, and those to retry.
    ///   - tell: takes every result after it is written.
    package init(
        _ tasks: [FleetTask], of shard: ShardFolder, _ policy: FleetPolicy, _ work: FleetWork,
        isStopping: @escaping () -> Bool, tell: @escaping (FleetResult) -> Void
    ) {
        (self.shard, self.policy, self.work, self.isStopping, self.tell) = (shard, policy, work, isStopping, tell)
        log = AttemptLog(shard)
        queue = FleetQueue(tasks)
    }

    /// Runs until every store has a result, or until the run is stopped and every process has ended.
    ///
    /// - Throws: any error from writing results, after ending the processes.
    package func run() async throws -> Outcome {
        do {
            while true {
                checkWhetherToStop()
                if outcome.end == .complete { try await startSome() }
                guard !workers.isEmpty else { break }
                ForkedProcess.wait(for: workers.map(\.process), milliseconds: 100)
                try lookAfterWorkers()
            }
        } catch {
            for worker in workers { worker.process.end() }
            while let worker = workers.popLast() { while worker.process.ended() == nil { pause() } }
            throw error
        }
        outcome.left = queue.count
        return outcome
    }

    private func pause() { ForkedProcess.wait(for: [], milliseconds: 10) }

    private func checkWhetherToStop() {
        guard outcome.end == .complete else { return }
        if isStopping() {
            outcome.end = .stopped
            for worker in workers { worker.process.terminate() }
        } else if let most = policy.failures, outcome.failures >= most {
            outcome.end = .failures
        }
    }

    // MARK: - Starting

    private func startSome() async throws {
        while workers.count < policy.jobs {
            // A store that may have killed a whole run is processed alone.
            if workers.contains(where: \.task.isSuspect) { return }
            let running = workers.reduce(into: [UInt64: Int]()) { $0[$1.task.entry.device, default: 0] += 1 }
            guard var task = queue.next(running: running, ofDevice: policy.jobsOfDevice) else { return }
            if let result = obstacle(&task) {
                try finish(result)
            } else {
                try await start(task)
            }
            checkWhetherToStop()
            if outcome.end != .complete { return }
        }
    }

    /// Returns the result of a store that must not be started: its processes died too often, it is missing or
    /// unreadable, or it cannot be locked reliably; nil if the store can be started.
    private func obstacle(_ task: inout FleetTask) -> FleetResult? {
        let entry = task.entry
        var result = FleetResult(entry, .vanished, verb: work.verb)
        result.backup = task.earlier?.backup
        if task.deaths >= policy.deaths {
            result.state = .setAside
            result.evidence = "The whole run died each time this store was worked on."
            (result.attempts, result.deaths) = (task.attempts, task.deaths)
            return result
        }
        do {
            guard try system.status(of: entry.path) != nil else {
                result.attempts = 0
                result.failure = .init(
                    MigrationError(
                        .fileNotFound, "Nothing is at \(entry.path) any more.", place: entry.path,
                        remedy: "Plan again without it, or put it back and give \(option: .retry("vanished"))."))
                return result
            }
            task.differences = try difference(of: entry)
        } catch {
            result.state = .failed
            result.failure = .init(error as? MigrationError ?? .unknown(error))
            return result
        }
        guard work.isWriting else { return nil }
        let type = mounts.type(of: entry.path) ?? ""
        if let refusal = SharedFileSystem.refusal(of: entry, on: type) {
            result.state = .refused
            result.failure = .init(refusal)
            return result
        }
        return nil
    }

    /// Returns the differences between the file and the plan; empty if there are none.
    private func difference(of entry: FleetEntry) throws -> [String] {
        let (status, header) = try system.header(of: entry.path, count: 28)
        let log = try system.status(of: entry.path + "-wal")?.size ?? 0
        let counter = header.count == 28 ? header[24..<28].reduce(Int64(0)) { $0 << 8 | Int64($1) } : -1
        var found: [String] = []
        if FileIdentity(device: status.device, inode: status.inode) != entry.identity { found.append("replaced") }
        if counter != entry.counter || status.size + log != entry.size { found.append("written") }
        if status.size + log > 2 * entry.size { found.append("grown") }
        return found
    }

    private func start(_ task: FleetTask) async throws {
        var task = task
        task.attempts += 1
        try log.add(.begin(task.entry.number, isAlone: task.isSuspect))
        let (begun, work) = (task, work)
        let startedAt = system.now
        let process = try await ForkedProcess.start(memory: policy.memory.map { $0 + $0 / 4 }) {
            await work.perform(begun)
        }
        let size = (try? system.status(of: task.entry.path)?.size) ?? task.entry.size
        workers.append(
            Worker(
                task: task, process: process, startedAt: startedAt, start: system.monotonicNanoseconds,
                seconds: policy.seconds(for: task.entry, of: size)))
    }

    // MARK: - Ending

    private func lookAfterWorkers() throws {
        for place in workers.indices.reversed() {
            if let end = workers[place].process.ended() {
                let worker = workers.remove(at: place)
                try conclude(worker, end)
            } else {
                limit(&workers[place])
            }
        }
    }

    /// Ends a process that exceeds a limit. For time, it first asks the process to stop, and ends it ten seconds later.
    private func limit(_ worker: inout Worker) {
        let now = system.monotonicNanoseconds
        if let told = worker.wasToldAt {
            if system.seconds(since: told, to: now) > 10 { worker.process.end() }
        } else if system.seconds(since: worker.start, to: now) > worker.seconds {
            (worker.limit, worker.wasToldAt) = ("time", now)
            worker.process.terminate()
        } else if outcome.end == .stopped {
            worker.wasToldAt = now
        } else if let most = policy.memory, let memory = worker.process.memory, memory > most {
            (worker.limit, worker.wasToldAt) = ("memory", now)
            worker.process.end()
        }
    }

    private func conclude(_ worker: Worker, _ end: ForkedProcess.End) throws {
        var task = worker.task
        // A process stopped with the run has neither failed nor finished. The next run tries it again.
        if outcome.end == .stopped, worker.limit == nil, end.signal != nil || end.exit == 5 {
            queue.returnLater(task)
            return try log.add(.end(task.entry.number))
        }
        var result = FleetResult(task.entry, .done, verb: work.verb)
        (result.exit, result.signal, result.limit) = (end.exit, end.signal, worker.limit)
        (result.memory, result.host) = (end.peakMemory, system.hostName)
        (result.startedAt, result.endedAt) = (
            worker.startedAt.iso8601WithMilliseconds, system.now.iso8601WithMilliseconds
        )
        result.seconds = system.seconds(since: worker.start)
        (result.attempts, result.differences) = (task.attempts, task.differences)
        // A process that got a signal may have finished just before.
        if end.signal != nil || worker.limit != nil && ![0, 1].contains(end.exit) {
            task.deaths += 1
            try log.add(.death(task.entry.number))
            guard task.deaths >= policy.deaths else {
                task.isSuspect = false
                return queue.returnLater(task)
            }
            result.state = .setAside
            result.deaths = task.deaths
            result.backup = task.earlier?.backup
            result.evidence = String(decoding: worker.process.errors.suffix(4_096), as: UTF8.self)
            return try finish(result)
        }
        (result.deaths, result.limit) = (task.deaths, nil)
        result.backup = task.earlier?.backup
        let document = Self.document(worker.process.output)
        result.failure = .init(document?["error"])
        result.state = FleetResult.State(exit: end.exit ?? 70, code: result.failure?.code)
        work.conclude(task, &result, document)
        try finish(result)
    }

    /// Returns the last line, if it is a document.
    private static func document(_ output: [UInt8]) -> JSONValue? {
        output.split(separator: UInt8(ascii: "\n")).last.flatMap {
            try? JSONValue(parsing: Array($0), place: "", code: .internal)
        }
    }

    private func finish(_ result: FleetResult) throws {
        var result = result
        if let state = work.stateOfFailure, !result.state.isGood { result.state = state }
        try shard.write(result)
        try log.add(.end(result.number))
        outcome.counts[result.state, default: 0] += 1
        tell(result)
    }
}

extension FleetResult.State {
    /// The codes of errors that may not occur on the next attempt: another process had the store open, a disk was full,
    /// a disk failed, or the work was cancelled.
    private static let passing: Set<MigrationError.Code> = [.locked, .insufficientStorage, .inputOutput, .cancelled]

    init(exit: Int32, code: String?) {
        if let code, Self.passing.contains(where: { $0.description == code }) {
            self = .failed
        } else if code == MigrationError.Code.planStale.description {
            self = .changed
        } else {
            self =
                switch exit {
                case 0: .done
                case 1: .findings
                case 2, 3, 4: .refused
                default: .failed
                }
        }
    }
}

/// File systems that several machines share, where a lock on one machine may not exclude another.
enum SharedFileSystem {
    /// The file system types, as ``MountTable`` names them.
    private static let types: Set<String> = [
        "nfs", "nfs4", "lustre", "gpfs", "cifs", "smb3", "smbfs", "afpfs", "webdav", "ceph", "fuse.ceph", "glusterfs",
        "fuse.glusterfs",
        "beegfs", "pvfs2", "orangefs", "afs", "ocfs2", "gfs2", "9p", "panfs", "wekafs", "fuse.sshfs", "fuse.s3fs",
        "fuse.juicefs", "fuse.gcsfuse", "virtiofs",
    ]

    /// Returns the error for a store that must not be changed, because it is in a device's backup or on a shared file
    /// system; nil for any other.
    static func refusal(of entry: FleetEntry, on type: String) -> MigrationError? {
        if entry.isInDeviceBackup {
            return MigrationError(
                .unsupported,
                "The store is a file of a device's backup, which has the digest of it and keeps its log as another file.",
                place: entry.path,
                remedy: "Restore the backup, or copy the store out of it with its log, and plan a fleet of the copies.")
        }
        guard types.contains(type) else { return nil }
        return MigrationError(
            .unsupported,
            "The store is on a file system that machines share (\(type)), where locks may not keep another machine out.",
            place: entry.path,
            remedy: "Copy it to a disk of this machine, migrate the copy with \(.migrate), check it with "
                + "\(.validate), put it next to the store under a new name, and let one program change what points to it."
        )
    }
}
