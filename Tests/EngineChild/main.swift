import Foundation
import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport

// engine-child migrate STORE    the identity migration; prints each phase as it begins
// engine-child change STORE     makes the table ZITEM anew from the backup
// engine-child time STORE       the same with a new column, and prints the seconds of each phase
// engine-child infer STORE      an inferred migration to the second of KillableVersions
// engine-child normalise STORE  the same, with every table that changes made anew, as a budget does
// engine-child stages STORE     the three stages of FlightVersions, code between them, in one commit
// engine-child stops STORE      the same with a stop at each version
// engine-child mend STORE       sends the topics of a BrokenForum that are in no forum to the quarantine
// engine-child linger STORE     the first two of the three stages, by code that writes STORE.sent and waits to be killed
// engine-child linger-stops STORE   the same after a stop at the version before it
// engine-child half-backup STORE    as infer, and dies when a part of the backup is written
// engine-child half-copy STORE      as infer, and dies when half of the working copy is written
// engine-child defer STORE      an inferred migration to the second of DeferrableVersions, of which most waits
// engine-child finish STORE     what it has left
// engine-child follow STORE     takes over what is written to a store of MirroredVersions, again and again
// engine-child write STORE SEED     writes to such a store as an app does, save after save
// engine-child paced STORE      as infer, in calls of one piece each
// engine-child budget STORE     one call of it, of as many seconds as STORE.budget says; prints its time and what it allocates at most
// engine-child launch-WORD STORE    one call of an app's launch, of as many seconds (see LaunchedChild)
// engine-child hold STORE       takes the lock and waits to be killed
//
// Otherwise a third argument names a phase: the child stops itself (SIGSTOP) when it has printed it, and waits to be killed.

/// Prints a phase once, at once.
final class PhasePrinter: @unchecked Sendable {
    private var last = ""
    private let lock = NSLock()

    func print(_ phase: String) {
        lock.withLock {
            guard phase != last else { return }
            last = phase
            FileHandle.standardOutput.write(Data("\(phase)\n".utf8))
            if phase == CommandLine.arguments.dropFirst(3).first { raise(SIGSTOP) }
        }
    }
}

/// A machine that dies in the middle of every copy.
struct HalfCopy: ForwardingSystem {
    func copy(_ path: String, to copy: String, _ rights: FileRights) throws {
        let size = Int(try status(of: path)?.size ?? 0)
        try write(try read(path, prefix: size / 2), to: copy)
        kill(getpid(), SIGKILL)
    }
}

enum PacedCalls {
    static var options: MigrationOptions {
        var options = MigrationOptions()
        options.keysPerPiece = 500
        options.maximumAttempts = .max
        return options
    }
}

let printer = PhasePrinter()
let observer = MigrationObserver(onProgress: { printer.print($0.phase.rawValue) })
guard (3...4).contains(CommandLine.arguments.count) else { exit(2) }
let store = CommandLine.arguments[2]
do {
    switch CommandLine.arguments[1] {
    case "migrate":
        _ = try Migrator().run(Pass(from: "1", to: "2"), on: store, observer)
    case "change":
        let script = StoreScript(statements: [
            .init(.dropTable, "ZITEM", "DROP TABLE main.ZITEM", "The table is dropped"),
            .init(
                .createTable, "ZITEM",
                "CREATE TABLE main.ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZNAME VARCHAR)", "It is made anew"),
            .init(
                .fill, "ZITEM", reads: ["ZITEM"],
                "INSERT INTO main.ZITEM SELECT Z_PK, Z_ENT, upper(ZNAME) FROM source.ZITEM", "Its rows are filled in",
                rows: 100_000),
        ])
        _ = try Migrator().run(Pass(script, from: "1", to: "2"), on: store, observer)
    case "time":
        let columns = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER, ZRATE FLOAT"
        let script = StoreScript(statements: [
            .init(.dropTable, "ZITEM", "DROP TABLE main.ZITEM", "The table is dropped"),
            .init(
                .createTable, "ZITEM",
                "CREATE TABLE main.ZITEM (\(columns), ZDATE TIMESTAMP, ZNAME VARCHAR, ZBODY VARCHAR, ZDATA BLOB, ZEXTRA)",
                "It is made anew"),
            .init(
                .fill, "ZITEM", reads: ["ZITEM"], "INSERT INTO main.ZITEM SELECT *, 0 FROM source.ZITEM",
                "It is filled", rows: 1_000_000),
            .init(
                .createIndex, "ZITEM", "CREATE INDEX main.ZITEM_ZNAME_INDEX ON ZITEM (ZNAME)", "An index is made",
                rows: 1_000_000),
            .init(
                .createIndex, "ZITEM", "CREATE INDEX main.ZITEM_ZCOUNT_INDEX ON ZITEM (ZCOUNT)", "An index is made",
                rows: 1_000_000),
        ])
        let outcome = try Migrator().run(Pass(script, from: "1", to: "2"), on: store)
        for timing in outcome.seconds { print(timing.phase.rawValue, timing.seconds) }
        print("all", outcome.totalSeconds)
    case "infer", "normalise":
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.choice = CommandLine.arguments[1] == "normalise" ? .normalised : .cheapest
        let prepared = try PreparedMigration(store, versions: KillableVersions.make(), options: options)
        if let migration = try prepared.migration() { _ = try Migrator().run(migration, on: store, observer) }
    case "stages", "stops":
        let prepared = try PreparedMigration(
            store, versions: FlightVersions.make(),
            options: .init(registry: FlightVersions.registry(), stopsAtEachVersion: CommandLine.arguments[1] == "stops")
        )
        _ = try Migrator().run(prepared, observer)
    case "mend":
        let homeless = ValidationRule("homeless", of: "Topic", .orphan(relationship: "forum"), fix: .quarantine)
        let audit = try RuleAudit(store, [homeless], version: BrokenForum.versions().versions[0])
        if let migration = try audit.mending() { _ = try Migrator().run(migration, on: store, observer) }
    case "paced":
        let migrator = Migrator(options: PacedCalls.options)
        while true {
            var options = PreparedMigration.Options(losses: .asTheVersionsSay())
            options.continuesEarlierCall = true
            let prepared = try PreparedMigration(store, versions: KillableVersions.make(), options: options)
            guard case .paused = try migrator.run(prepared, within: .one, observer) else { break }
        }
    case "budget":
        let started = POSIXSystem().monotonicNanoseconds
        let text = try String(contentsOfFile: store + ".budget", encoding: .utf8)
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.continuesEarlierCall = true
        let prepared = try PreparedMigration(store, versions: KillableVersions.make(), options: options)
        let outcome = try Migrator().run(prepared, within: .seconds(Double(text) ?? 0), since: started)
        let seconds = POSIXSystem().seconds(since: started)
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        func kibibytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            return Int(line.filter(\.isNumber)) ?? 0
        }
        // Pages of the program itself, some 40 MiB of a debug build, are not what the call takes (`man 5 proc`).
        let memory = kibibytes("VmHWM:") - kibibytes("RssFile:")
        if case .paused(let pause) = outcome {
            print("paused", seconds, memory, pause.next)
        } else {
            print("finished", seconds, memory)
        }
    case "half-backup":
        let dying = MigrationObserver(onProgress: { progress in
            guard progress.phase == .backup else { return }
            printer.print("part of the backup")
            kill(getpid(), SIGKILL)
        })
        let prepared = try PreparedMigration(store, versions: KillableVersions.make())
        if let migration = try prepared.migration() { _ = try Migrator().run(migration, on: store, dying) }
    case "half-copy":
        let prepared = try PreparedMigration(store, versions: KillableVersions.make())
        if let migration = try prepared.migration() { _ = try Migrator(system: HalfCopy()).run(migration, on: store) }
    case "linger", "linger-stops":
        var registry = MigrationRegistry()
        let send = StepCode(
            execute: { _ in
                try Data().write(to: URL(fileURLWithPath: store + ".sent"))
                printer.print("sent")
                while true { sleep(1) }
            }, undo: { _ in try FileManager.default.removeItem(atPath: store + ".sent") })
        registry.steps = ["look": StepCode(execute: { _ in }), "send": send]
        registry.stages = [
            RegisteredStage(
                from: "V2", to: "V3", name: "decompose", sentence: "Something is sent.",
                before: [
                    CodeStep(name: "look", sentence: "Nothing is done."),
                    CodeStep(name: "send", sentence: "It is sent."),
                ])
        ]
        let prepared = try PreparedMigration(
            store, versions: FlightVersions.make(),
            options: .init(registry: registry, stopsAtEachVersion: CommandLine.arguments[1] == "linger-stops"))
        _ = try Migrator().run(prepared, observer)
    case "defer":
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        let prepared = try PreparedMigration(store, versions: DeferrableVersions.make(), options: options)
        if let migration = try prepared.migration() { _ = try Migrator().run(migration, on: store, observer) }
    case "finish":
        _ = try Migrator(options: MigrationOptions(isFrugal: true)).finishDeferred(store, .all, observer)
    case "follow":
        var mirror = try MirroredStore(of: store, .init(MirroredVersions.make(to: "on")))
        while true {
            _ = try mirror.synchronise()
            printer.print("followed")
        }
    case "write":
        let model = try MirroredVersions.make(to: "on").versions[0].model
        guard let seed = CommandLine.arguments.dropFirst(3).first.flatMap({ UInt64($0) }) else { exit(2) }
        let writer = try RandomWriter(store, model: model, seed: seed)
        while true {
            try writer.save(writes: 15)
            printer.print("saved")
        }
    case let verb where verb.hasPrefix("launch-"): try LaunchedChild.run(String(verb.dropFirst(7)), store)
    case "hold":
        let lock = try StoreLock(store, POSIXSystem())
        printer.print("held")
        withExtendedLifetime(lock) { while true { sleep(1) } }
    default: exit(2)
    }
} catch let error as MigrationError {
    printer.print("error \(error.code)")
    exit(error.exitCode)
}
