import Foundation
import MoultBasics
import MoultModel
import Synchronization
import TestSupport
import Testing

@testable import MoultTools

@Suite("Shards, results and what comes first", .serialized)
struct FleetRunTests {
    private func entry(_ number: Int, device: UInt64 = 1, estimate: Double = 1, version: String = "A") -> FleetEntry {
        FleetEntry(
            number: number, path: "/s/\(number)", name: nil, device: device, inode: UInt64(number), size: 10,
            counter: 1,
            uuid: "", version: version, state: .behind, rows: 0, estimate: estimate, shard: 0, findings: [])
    }

    // MARK: - The index

    private func index(_ text: String?, _ count: Int, _ environment: [String: String] = [:]) throws -> Int? {
        try ShardIndex.index(text, of: count) { environment[$0] }
    }

    @Test func `the index of a shard is the command line's, otherwise the engine's, and never a count`() throws {
        #expect(try index("3/8", 8) == 3 && index("3", 8) == 3)
        #expect(try index(nil, 8, ["SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "2"]) == 5)
        #expect(try index(nil, 8, ["JOB_COMPLETION_INDEX": "0"]) == 0)
        #expect(try index(nil, 8, ["AWS_BATCH_JOB_ARRAY_INDEX": "7"]) == 7)
        #expect(try index(nil, 8, ["CI_NODE_INDEX": "8", "CI_NODE_TOTAL": "8"]) == 7)
        #expect(try index("1/8", 8, ["SLURM_ARRAY_TASK_ID": "5"]) == 1)
        #expect(try index(nil, 8) == nil && index(nil, 1, ["SLURM_ARRAY_TASK_ID": "5"]) == nil)
    }

    @Test func `a count that is not the manifest's, and a number that is no shard of it, are refused`() {
        for (text, environment) in [
            ("3/9", [:]), ("8", [:]), ("-1", [:]), ("x", [:]), ("1/x", [:]), ("1/2/3", [:]),
            (nil, ["SLURM_ARRAY_TASK_ID": "8"]), (nil, ["CI_NODE_INDEX": "0"]), (nil, ["JOB_COMPLETION_INDEX": ""]),
            (nil, ["SLURM_ARRAY_TASK_ID": "1", "JOB_COMPLETION_INDEX": "1"]),
        ] as [(String?, [String: String])] {
            #expect { try index(text, 8, environment) } throws: { ($0 as? MigrationError)?.code == .usage }
        }
    }

    // MARK: - The order

    @Test func `the largest store comes first, on the device with the least to do; a suspect last, and alone`() {
        var tasks = [
            FleetTask(entry(1, estimate: 1)), FleetTask(entry(2, estimate: 9)),
            FleetTask(entry(3, device: 2, estimate: 5)),
            FleetTask(entry(4, estimate: 100)),
        ]
        tasks[3].isSuspect = true
        var queue = FleetQueue(tasks)
        #expect(queue.next(running: [:], ofDevice: 1)?.entry.number == 2)
        #expect(queue.next(running: [1: 1], ofDevice: 1)?.entry.number == 3)
        #expect(queue.next(running: [1: 1, 2: 1], ofDevice: 1) == nil)
        queue.returnLater(FleetTask(entry(2, estimate: 9)))
        #expect(queue.next(running: [2: 1], ofDevice: 1)?.entry.number == 1)
        #expect(queue.next(running: [2: 1], ofDevice: 1)?.entry.number == 2)
        #expect(queue.next(running: [2: 1], ofDevice: 1) == nil)
        #expect(queue.next(running: [:], ofDevice: 1)?.entry.number == 4)
        #expect(queue.count == 0)
    }

    @Test func `a canary has stores of every version and size, and at least one`() {
        let entries = (1...200).map { entry($0, version: $0 <= 100 ? "A" : "B") }
        let chosen = Canary.chosen(entries, share: 0.05)
        #expect(chosen.count == 10 && chosen.count { $0 <= 100 } == 5)
        #expect(Canary.chosen(entries, share: 0.0001).count == 1)
        #expect(Canary.chosen(entries, share: 1).count == 200)
        #expect(Canary.chosen([], share: 0.5).isEmpty)
    }

    // MARK: - Attempts and results

    @Test
    func `what a dead run leaves open makes its stores suspects, and a death only of one that was alone`() throws {
        let folder = try ScratchFolder()
        let shard = ResultsFolder(folder.path).shard(0)
        try shard.make()
        let log = AttemptLog(shard)
        for line: AttemptLog.Line in [
            .run, .begin(1, isAlone: false), .begin(2, isAlone: false), .end(1), .begin(3, isAlone: false), .death(3),
            .run, .begin(2, isAlone: true), .run, .begin(2, isAlone: true),
        ] { try log.add(line) }
        try POSIXSystem().append(Array("beg".utf8), to: shard.attemptsPath)
        let during = try log.records(isAfterwards: false)
        #expect(during[2]?.isOpen == true && during[2]?.deaths == 1)
        let records = try log.records(isAfterwards: true)
        #expect(records[1]?.isSuspect == false && records[1]?.attempts == 1)
        #expect(records[2]?.isSuspect == true && records[2]?.deaths == 2 && records[2]?.attempts == 3)
        #expect(records[3]?.isSuspect == false && records[3]?.deaths == 1)
        // The next run begins a line of its own.
        try log.add(.run)
        try log.add(.forget(2))
        #expect(try log.records(isAfterwards: true)[2] == nil)
    }

    @Test func `results are read whole while they are written and joined; a torn one is none`() throws {
        let folder = try ScratchFolder()
        let shard = ResultsFolder(folder.path).shard(0)
        try shard.make()
        var result = FleetResult(entry(1), .done, verb: "migrate")
        result.backup = .init(name: "b", folder: "/b")
        result.failure = .init(code: "c", message: "m", remedy: "r")
        (result.signal, result.rows, result.differences) = (9, 5, ["grown"])
        try shard.write(result)
        try shard.write(FleetResult(entry(2), .failed, verb: "migrate"))
        try POSIXSystem().write(Array("{\"format\":1,\"n\":3,\"pa".utf8), to: shard.path + "/3.json")
        try POSIXSystem().write([], to: shard.path + "/4.json")
        let contents = try shard.contents()
        #expect(contents.results[1] == result && contents.results.count == 2)
        #expect(contents.torn.map { Path.name(of: $0) } == ["3.json", "4.json"])
        try shard.join(contents.results)
        #expect(try shard.contents().results == contents.results)
        // What is written afterwards takes precedence.
        var later = result
        later.state = .rolledBack
        try shard.write(later)
        #expect(try shard.contents().results[1]?.state == .rolledBack)
    }

    @Test func `a folder belongs to one manifest, one verb and its options`() throws {
        let folder = try ScratchFolder()
        let results = ResultsFolder(folder.path + "/r")
        let ground = try FleetGround()
        var manifest = try ground.manifest()
        manifest.digest = "one"
        try results.open(for: .init(manifest, verb: "migrate", options: []))
        // What a call that was killed has not finished.
        try POSIXSystem().write([], to: results.path + "/.fleet.json.0123abcd")
        try results.open(for: .init(manifest, verb: "migrate", options: []))
        #expect(try POSIXSystem().list(results.path) == ["fleet.json"])
        var others = [ResultsFolder.Purpose(manifest, verb: "validate", options: [])]
        others.append(.init(manifest, verb: "migrate", options: ["--accept-losses"]))
        manifest.digest = "two"
        others.append(.init(manifest, verb: "migrate", options: []))
        for other in others {
            #expect { try results.open(for: other) } throws: { ($0 as? MigrationError)?.code == .wouldReplace }
        }
    }

    @Test func `one shard has one run at a time, and its lock ends with the process`() throws {
        let folder = try ScratchFolder()
        let shard = ResultsFolder(folder.path).shard(0)
        try shard.make()
        let held = try shard.take(waiting: 0)
        #expect(shard.owner?.mayBeAlive == true)
        #expect { try shard.take(waiting: 0.1) } throws: { ($0 as? MigrationError)?.code == .locked }
        withExtendedLifetime(held) {}
    }

    @Test func `files that a killed process has not finished are removed by the next one, and no others`() throws {
        let folder = try ScratchFolder()
        let shard = ResultsFolder(folder.path).shard(0)
        try shard.make()
        try shard.write(FleetResult(entry(2), .done, verb: "migrate"))
        for name in [".7.part", "results.jsonl.0123abcd.part", "canary.json.0123abcd.part"] {
            try POSIXSystem().write([], to: shard.path + "/" + name)
        }
        withExtendedLifetime(try shard.take(waiting: 0)) {}
        #expect(try POSIXSystem().list(shard.path).sorted() == ["2.json", "lock", "owner.json"])
    }

    // MARK: - Where stores are

    @Test
    func `a store on a file system that machines share is refused, with what to do; one on a disk is not`() throws {
        for type in ["nfs", "nfs4", "lustre", "cifs", "ceph", "9p", "fuse.sshfs"] {
            let refusal = try #require(SharedFileSystem.refusal(of: entry(1), on: type))
            #expect(refusal.message.contains(type) && refusal.remedy.contains("Project.validate("))
        }
        for type in ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", ""] {
            #expect(SharedFileSystem.refusal(of: entry(1), on: type) == nil)
        }
    }

    @Test func `the type of a path's file system is that of the last mount at the longest place above it`() {
        let table = MountTable(
            """
            22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
            30 22 0:40 / /data rw - nfs4 server:/data rw,vers=4.2
            31 30 0:41 / /data/fast rw shared:5 master:1 - xfs /dev/nvme0n1 rw
            32 22 0:42 / /with\\040space rw - lustre mds@tcp:/fs rw
            33 22 0:43 / /twice rw - nfs a:/b rw
            34 22 0:44 / /twice rw - tmpfs tmpfs rw
            """)
        #expect(table.type(of: "/data/x") == "nfs4" && table.type(of: "/data/fast/x") == "xfs")
        #expect(table.type(of: "/database") == "ext4" && table.type(of: "/with space/x") == "lustre")
        #expect(table.type(of: "/twice/x") == "tmpfs")
        #if os(Linux)
            #expect(MountTable().type(of: "/proc/self") == "proc")
        #endif
    }

    // MARK: - Slurm

    @Test func `the jobs are a canary, an array with one task for each shard, and a merge`() throws {
        var array = SlurmArray(manifest: "/f/fleet one.jsonl", results: "/f/r", shards: 12, program: "/usr/bin/moult")
        #expect(array.scripts.map(\.name) == ["run", "merge"])
        array.canary = (0.01, 0.02)
        array.runOptions = ["--jobs", "2"]
        array.options = ["--account=lab"]
        let scripts = array.scripts
        #expect(scripts.map(\.name) == ["canary", "gate", "run", "merge"])
        #expect(scripts.map { $0.follows?.condition } == [nil, "afterany", "afterok", "afterany"])
        #expect(scripts.map { $0.follows?.name } == [nil, "canary", "gate", "run"])
        for script in scripts {
            #expect(script.text.hasPrefix("#!/bin/bash\n#SBATCH ") && script.text.contains("#SBATCH --requeue"))
            #expect(script.text.contains("'/f/fleet one.jsonl'") && script.text.contains("#SBATCH --account=lab"))
            #expect(try ChildProcess.run("bash", ["-n", "-c", script.text]).exit == 0)
        }
        #expect(scripts[2].text.contains("--array=0-11\n") && scripts[2].text.contains("--jobs 2 --approve"))
        #expect(!scripts[2].text.contains("ARRAY_TASK_COUNT"))
    }
}
