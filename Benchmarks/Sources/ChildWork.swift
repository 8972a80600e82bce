import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultSQLite
import MoultStore
import MoultTools

/// What is measured in a process of its own, so that its memory and its start are its own; prints one line of JSON.
enum ChildWork {
    static func run(_ arguments: [String]) throws {
        // As the command line does; an app that has objects of its own does not.
        if !["objects", "models", "names", "reading", "launch"].contains(arguments.first) {
            Connection.keepNoMemoryStatistics()
        }
        #if os(Linux)
            if arguments.count > 2, arguments[0] == "names" {
                return try NamesWork.run(arguments[1], arguments[2], Int(arguments.last ?? "") ?? 0)
            }
        #endif
        switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
        case ("migrate", let store?, let change?):
            try migrate(store, change, isDeferred: arguments.contains("--deferred"))
        case ("budget", let work?, let store?):
            let rest = arguments.dropFirst(3)
            try BudgetWork.run(rest.first ?? "", store, work == "call" ? Double(rest.last ?? "") ?? 0 : nil)
        case ("backup", let store?, _): try backUp(store)
        case ("statements", let store?, let statements?): try execute(statements, on: store)
        case ("compile", let bundle?, _): try compile(bundle)
        case ("open", let store?, _): try OpeningWork.run(store)
        case ("launch", let kind?, let store?): try LaunchWork.run(kind, store, arguments.dropFirst(3).first ?? "")
        case ("export", let store?, let folder?): try export(store, to: folder)
        case ("objects", let work?, let store?):
            try ObjectsWork.run(work, store, arguments.dropFirst(3).first.flatMap { Int($0) } ?? 0)
        case ("models", let work?, let store?):
            try ModelsWork.run(work, store, arguments.dropFirst(3).first.flatMap { Int($0) } ?? 0)
        case ("reading", let work?, let store?):
            try ReadingWork.run(work, store, arguments.dropFirst(3).first.flatMap { Int($0) } ?? 0)
        case ("transform", let work?, let store?):
            try TransformWork.run(work, store, arguments.dropFirst(3).first.flatMap { Int($0) } ?? 0)
        case ("make", let folder?, let rows?): _ = try BenchmarkStore(rows: Int(rows) ?? 0, in: folder)
        default: throw MigrationError(.usage, "There is no such work: \(arguments).", remedy: "See ChildWork.")
        }
    }

    /// Everything `moult migrate` does, from the look at the store to the history's entry.
    private static func migrate(_ store: String, _ name: String, isDeferred: Bool) throws {
        let change = try BenchmarkModel.change(named: name)
        let begun = Clock.now
        var options = PreparedMigration.Options(answers: change.answers, losses: .asTheVersionsSay())
        options.defersWork = isDeferred
        let prepared = try PreparedMigration(store, versions: change.versions, options: options)
        guard let migration = try prepared.migration() else { return }
        try run(migration, on: store, since: begun)
    }

    /// Runs a migration that is prepared since `begun`, and prints its phases.
    static func run(_ migration: Pass, on store: String, since begun: Double) throws {
        let planned = Clock.now
        let outcome = try Migrator().run(migration, on: store)
        let ended = Clock.now
        var fields = [
            JSONValue.Member("prepare", .double(planned - begun)), .init("run", .double(ended - planned)),
            .init("peak", .integer(peakMemory)), .init("statements", JSONValue(migration.script.statements.count)),
            .init("bytes", .integer(outcome.bytesAfter)),
        ]
        fields += outcome.seconds.map { .init($0.phase.rawValue, .double($0.seconds)) }
        print(JSONValue.object(fields).compact)
    }

    /// A backup alone, proven, with its manifest.
    private static func backUp(_ store: String) throws {
        let begun = Clock.now
        let backup = try Migrator().backUp(store, version: "V1")
        print(
            JSONValue.object([
                .init("run", .double(Clock.now - begun)), .init("bytes", .integer(backup.manifest.size)),
            ]).compact)
    }

    /// What `moult compile` does before it writes the files.
    private static func compile(_ bundle: String) throws {
        let begun = Clock.now
        let compiled = try CompiledModel(compiling: bundle)
        print(
            JSONValue.object([
                .init("run", .double(Clock.now - begun)), .init("peak", .integer(peakMemory)),
                .init("bytes", JSONValue(compiled.files.map(\.bytes.count).reduce(0, +))),
            ]).compact)
    }

    /// Statements in one transaction and nothing else, with the connection set as the engine sets its own.
    private static func execute(_ statements: String, on store: String) throws {
        let connection = try Connection(store, mode: .readWrite)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT; PRAGMA synchronous = FULL")
        let begun = Clock.now
        try connection.execute("BEGIN IMMEDIATE; \(statements); COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
        print(JSONValue.object([.init("run", .double(Clock.now - begun))]).compact)
        connection.close()
    }

    /// The most memory that the process has had resident, in bytes (`man 5 proc`, VmHWM).
    static var peakMemory: Int64 {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int64($0) } ?? 0) * 1024
    }
}

enum Clock {
    /// Seconds that only go forward.
    static var now: Double { Double(POSIXSystem().monotonicNanoseconds) / 1e9 }
}

extension ChildWork {
    /// Prints the seconds of the work and the peak memory.
    static func show(_ work: () throws -> Void) throws {
        let begun = Clock.now
        try work()
        print(
            JSONValue.object([.init("run", .double(Clock.now - begun)), .init("peak", .integer(peakMemory))]).compact)
    }

    /// - Throws: `internal` if a result of the work is not right.
    static func check(_ isRight: Bool, _ what: String) throws {
        guard isRight else { throw MigrationError(.internal, "\(what) is not as it must be.", remedy: "") }
    }
}
