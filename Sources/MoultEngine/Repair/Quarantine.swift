import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore
import MoultVerify
import Synchronization

/// The objects that runs removed from a store, with all their data: `<name>.moult/quarantine.sqlite`.
///
/// A run writes its objects, durably, before its commit. They count once it has committed: a run that fails removes
/// them, and recovery removes those of a run that died. A restored object is recorded in the same way, in the table
/// `restoration`; its entry stays, but is no longer listed. The table `undone` has the runs that a rollback has undone:
/// neither what they removed nor what they restored counts.
package struct Quarantine: Sendable {
    package typealias Entry = QuarantineEntry

    package let sidecar: StoreRecords
    private let system: any System
    /// Whether the entries of an unfinished run count.
    private let countsUnfinished: Bool

    /// - Parameter countsUnfinished: whether the unfinished run is known to have committed.
    package init(_ sidecar: StoreRecords, _ system: any System = POSIXSystem(), countsUnfinished: Bool = false) {
        (self.sidecar, self.system, self.countsUnfinished) = (sidecar, system, countsUnfinished)
    }

    private static let format: Int64 = 2

    // MARK: - Writing

    /// Saves the objects that a working copy's connection has collected, in one transaction.
    ///
    /// - Parameter schema: `main` if the connection's own file has them.
    /// - Returns: the number of objects.
    func keep(from connection: Connection, in schema: String = "temp", run: String) throws -> Int64 {
        let count = try namingHolders { try write(objectsOf: connection, in: schema, run: run) }
        if count > 0 {
            try system.synchronise(sidecar.quarantine)
            try system.synchronise(sidecar.folder)
        }
        return count
    }

    private func write(objectsOf connection: Connection, in schema: String, run: String) throws -> Int64 {
        var count: Int64 = 0
        var file: Connection?
        var insert: Statement?
        defer { file?.close() }
        let time = system.now.iso8601
        try QuarantinedObject.forEach(on: connection, in: schema) { object in
            if insert == nil {
                let opened = try open(isNew: true)
                try opened.execute("BEGIN IMMEDIATE")
                insert = try opened.prepare(
                    "INSERT INTO quarantine (run, time, entity, key, reason, origin, object) VALUES (?, ?, ?, ?, ?, ?, ?)"
                )
                file = opened
            }
            try insert?.run([
                .text(run), .text(time), .text(object.entity), .integer(object.key), .text(object.reason),
                .text(object.origin), .text(object.object),
            ])
            insert?.reset()
            count += 1
        }
        insert?.finalise()
        try file?.execute("COMMIT")
        return count
    }

    /// Records which entries a working copy's connection has restored, in one transaction.
    func noteRestored(from connection: Connection, run: String) throws {
        var entries: [Int64] = []
        if try connection.hasTable("moult_restored", in: "temp") {
            try connection.forEachRow("SELECT entry FROM temp.moult_restored ORDER BY entry") {
                entries.append($0.integer(0))
            }
        }
        guard !entries.isEmpty else { return }
        let time = system.now.iso8601
        try namingHolders {
            let file = try open(isNew: true)
            defer { file.close() }
            try file.transaction {
                let insert = try file.prepare("INSERT OR REPLACE INTO restoration (entry, run, time) VALUES (?, ?, ?)")
                defer { insert.finalise() }
                for entry in entries {
                    try insert.run([.integer(entry), .text(run), .text(time)])
                    insert.reset()
                }
            }
        }
        try system.synchronise(sidecar.quarantine)
    }

    /// Removes the entries of a run that did not commit.
    func remove(run: String) throws {
        try change { try $0.run("DELETE FROM \($1) WHERE run = ?", [.text(run)]) }
        // The run made the file, which is not needed.
        if try isEmpty() { try system.remove(sidecar.quarantine) }
    }

    private func isEmpty() throws -> Bool {
        try withFile { file in
            try tables(of: file).allSatisfy { try file.integer("SELECT EXISTS (SELECT 1 FROM \($0))") == 0 }
        } ?? false
    }

    /// Makes the list agree with a store that a backup has replaced.
    ///
    /// - Parameter backup: the backup's name.
    func follow(rollbackTo backup: String) throws {
        let undone = try UndoneRuns(RunHistory(sidecar, system).records(), restoring: backup).names
        try withFile { file in
            try file.execute("PRAGMA synchronous = EXTRA")
            try file.transaction {
                try file.execute("CREATE TABLE IF NOT EXISTS undone (run TEXT PRIMARY KEY); DELETE FROM undone")
                for run in undone.sorted() { try file.run("INSERT INTO undone (run) VALUES (?)", [.text(run)]) }
            }
        }
    }

    private func change(_ body: (Connection, _ table: String) throws -> Void) throws {
        // A run that died before it made its tables has kept nothing; an older quarantine has only one of them.
        try withFile { file in
            for table in try tables(of: file) { try body(file, table) }
        }
    }

    private func tables(of file: Connection) throws -> [String] {
        let catalogue = try file.catalogue()
        return ["quarantine", "restoration"].filter { catalogue.table($0) != nil }
    }

    // MARK: - Reading

    /// Calls `body` for each object, oldest first. Leaves out objects that a possibly uncommitted run removed, and
    /// includes objects that it restored.
    package func forEachEntry(_ body: (Entry) throws -> Void) throws { try read("ORDER BY id", [], body) }

    /// Returns the object with a number; nil if there is none.
    package func entry(_ id: Int64) throws -> Entry? {
        var found: Entry?
        try read("AND id = ?", [.integer(id)]) { found = $0 }
        return found
    }

    /// Returns the object that was removed last.
    package func newest() throws -> Entry? {
        var found: Entry?
        try read("ORDER BY id DESC LIMIT 1", []) { found = $0 }
        return found
    }

    /// Returns the number of objects that a run removed.
    package func count(run: String) throws -> Int64 {
        try withFile { file in
            guard try tables(of: file).contains("quarantine") else { return 0 }
            return try file.integer("SELECT count(*) FROM quarantine WHERE run = ?", [.text(run)]) ?? 0
        } ?? 0
    }

    private func read(_ rest: String, _ values: [SQLiteValue], _ body: (Entry) throws -> Void) throws {
        try withFile { file in
            let catalogue = try file.catalogue()
            func has(_ table: String) -> Bool { catalogue.table(table) != nil }
            guard has("quarantine") else { return }
            let unfinished = try countsUnfinished ? nil : Journal.read(sidecar, system)?.run
            let sql = "SELECT id, run, time, entity, key, reason, origin, object FROM quarantine"
            let counts =
                has("undone") ? "run IS NOT ?1 AND run NOT IN (SELECT run FROM undone)" : "run IS NOT ?1"
            let present =
                has("restoration") ? "AND id NOT IN (SELECT entry FROM restoration WHERE \(counts))" : ""
            let given = [SQLiteValue(unfinished)] + values
            try file.forEachRow("\(sql) WHERE \(counts) \(present) \(rest)", given) { row in
                try body(
                    Entry(
                        id: row.integer(0), run: row.text(1) ?? "", time: row.text(2) ?? "",
                        object: QuarantinedObject(
                            entity: row.text(3) ?? "", key: row.integer(4), reason: row.text(5) ?? "",
                            origin: row.text(6) ?? "", object: row.text(7) ?? "{}")))
            }
        }
    }

    // MARK: - The file

    /// Calls `body` with the file and returns its result; nil if there is no file.
    ///
    /// - Throws: `locked`, as `namingHolders(_:)` does.
    @discardableResult
    private func withFile<Result>(_ body: (Connection) throws -> Result) throws -> Result? {
        guard try system.exists(sidecar.quarantine) else { return nil }
        return try namingHolders {
            let file = try open()
            defer { file.close() }
            return try body(file)
        }
    }

    /// - Throws: `locked`, naming the process that reads the file or writes to it.
    private func namingHolders<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MigrationError where error.code == .locked && error.place == sidecar.quarantine {
            let holders = system.holders(of: sidecar.quarantine).map { "process \($0.identifier)" }
            let who = holders.isEmpty ? "another process" : holders.joined(separator: " and ")
            throw MigrationError(
                .locked, "The quarantine is in use by \(who).", place: sidecar.quarantine,
                remedy: "Wait for it to end, or end it, and run the command again.", cause: error.cause)
        }
    }

    private func open(isNew: Bool = false) throws -> Connection {
        if isNew { try sidecar.make(system) }
        let isThere = try system.exists(sidecar.quarantine)
        if !isThere { try system.makeFile(sidecar.quarantine, sidecar.rights) }
        let file = try Connection(
            sidecar.quarantine, mode: .readWrite, busyTimeout: 5_000, followsLinks: false, isProven: true)
        let format = try file.integer("PRAGMA user_version") ?? 0
        guard format <= Self.format else {
            throw MigrationError(
                .unsupported, "The quarantine has format \(format), which this version of Moult does not know.",
                place: sidecar.quarantine, remedy: "Use the version of Moult that wrote it.")
        }
        guard isNew else { return file }
        try file.execute(
            """
            PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;
            BEGIN IMMEDIATE;
            CREATE TABLE IF NOT EXISTS quarantine (
                id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, time TEXT NOT NULL, entity TEXT NOT NULL,
                key INTEGER NOT NULL, reason TEXT NOT NULL, origin TEXT NOT NULL, object TEXT NOT NULL);
            CREATE INDEX IF NOT EXISTS quarantine_run ON quarantine (run);
            CREATE TABLE IF NOT EXISTS restoration (
                entry INTEGER PRIMARY KEY REFERENCES quarantine (id), run TEXT NOT NULL, time TEXT NOT NULL);
            PRAGMA user_version = \(Self.format);
            COMMIT
            """)
        return file
    }
}

/// The runs on a store that moved objects, and whose work a rollback has undone.
struct UndoneRuns {
    let names: Set<String>

    /// - Parameters:
    ///   - runs: the runs on the store, oldest first.
    ///   - backup: the name of the backup that was restored after them.
    init(_ runs: [StoreRun], restoring backup: String) {
        var (all, present): (Set<String>, Set<String>) = ([], [])
        // The runs whose work the store had before each run, which is what the backup of that run holds.
        var states: [(run: StoreRun, present: Set<String>)] = []
        func state(of backup: String) -> Set<String> {
            if let state = states.last(where: { $0.run.backup == backup }) { return state.present }
            // No run made it. Its name begins with the time. If both are of the same second, list the object.
            let time = String(backup.prefix { $0 != "-" })
            let later = states.first { run, _ in
                let end = run.endTime.filter { $0 != "-" && $0 != ":" }
                return run.operation == .quarantine ? end >= time : end > time
            }
            return later?.present ?? present
        }
        for run in runs {
            states.append((run, present))
            guard [.done, .recovered].contains(run.result) else { continue }
            if run.operation == .rollback {
                if let restored = run.restored { present = state(of: restored) }
            } else if run.operation == .quarantine || run.quarantined > 0 {
                all.insert(run.run)
                present.insert(run.run)
            }
        }
        names = all.subtracting(state(of: backup))
    }
}

/// An object that a run removed from a store, as the quarantine keeps it.
public struct QuarantineEntry: Sendable, Hashable, Identifiable {
    /// Its number in the quarantine.
    public package(set) var id: Int64
    /// The name of the run that removed it.
    public package(set) var run: String
    /// When it was removed, in ISO 8601.
    public package(set) var time: String
    package var object: QuarantinedObject

    /// The name of its entity.
    public var entityName: String { object.entity }
    /// The primary key that it had.
    public var key: Int64 { object.key }
    /// The reason why it was removed.
    public var reason: String { object.reason }
    /// The rule or policy that removed it.
    public var origin: String { object.origin }
    /// Its values, as `moult quarantine show --json` prints them.
    public var json: String { object.object }
}

extension SQLiteValue {
    fileprivate init(_ text: String?) { self = text.map(SQLiteValue.text) ?? .null }
}
