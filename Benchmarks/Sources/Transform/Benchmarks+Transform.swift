import Foundation
import MoultBasics
import MoultModel

/// An app's own code in a migration: a closure beside plain SQL, and a policy beside Python and Django.
extension Benchmarks {
    private var script: String { "Benchmarks/Python/transform.py" }

    /// A store of so many orders, for copies; made once.
    func orders(_ rows: Int) throws -> BenchmarkStore {
        let path = folder + "/orders-\(rows).sqlite"
        if FileManager.default.fileExists(atPath: path) { return BenchmarkStore(path: path, rows: rows) }
        try Command.child("transform", "make", path, String(rows)).run()
        return BenchmarkStore(path: path, rows: rows)
    }

    // MARK: - A closure

    func closure() throws -> [Figure] {
        let store = try orders(settings.rows)
        let sides = ["closure", "expression", "plain"]
        let results = try measure(sides, store, rounds: settings.rounds * 2 + 1, sql: Self.addresses)
        func figure(_ name: String, _ key: String, beside: String) -> Figure {
            Figure(
                name: name, rows: store.rows, ours: results["closure"]?[key] ?? [], theirs: results[beside]?[key] ?? [])
        }
        return [
            // As of the policy: what the migration does to the rows, and its commit.
            figure(
                "closure: change + commit / the SQL expression in the same statement", "done", beside: "expression"),
            figure("closure: change, the statement alone / the same", "change", beside: "expression"),
            figure("closure: change + commit / the sqlite3 shell", "done", beside: "plain"),
            figure("closure: whole / the SQL expression", "run", beside: "expression"),
        ]
    }

    private static let addresses = "SELECT count(*), sum(length(ZADDRESS)), max(ZADDRESS), sum(ZQUANTITY) FROM ZORDER"

    // MARK: - A policy

    func policy() throws -> [Figure] {
        let store = try orders(settings.rows)
        guard (try? Command("/usr/bin/python3", ["-c", "import django"]).run()) != nil else {
            skip("/usr/bin/python3 has no Django; Scripts/prerequisites --benchmarks installs it")
            return []
        }
        let results = try measure(
            ["policy", "update", "insert", "django-create"], store, rounds: settings.rounds, sql: Self.names)
        // The slow way of Django's on a tenth of the rows.
        let small = try orders(max(store.rows / 10, 1))
        let slow = try measure(["policy", "django-update"], small, rounds: 3, sql: Self.names)
        func figure(
            _ name: String, _ key: String, beside: String, _ rows: Int, in results: [String: [String: [Double]]]
        ) -> Figure {
            Figure(
                name: name, rows: rows, ours: results["policy"]?[key] ?? [], theirs: results[beside]?["run"] ?? [],
                isSpeed: true)
        }
        return [
            figure(
                "policy: change + commit / sqlite3 loop of UPDATE (speed)", "done", beside: "update",
                store.rows, in: results),
            figure(
                "policy: change + commit / sqlite3 loop of INSERT (speed)", "done", beside: "insert",
                store.rows, in: results),
            figure(
                "policy: change + commit / Django, bulk_create (speed)", "done", beside: "django-create",
                store.rows, in: results),
            figure(
                "policy: change + commit / Django, bulk_update (speed)", "done", beside: "django-update", small.rows,
                in: slow),
            figure(
                "policy: whole / sqlite3 loop of UPDATE (speed)", "run", beside: "update", store.rows, in: results),
            figure(
                "policy: whole / Django, bulk_create (speed)", "run", beside: "django-create", store.rows,
                in: results),
        ]
    }

    private static let names = """
        SELECT count(*), sum(length(ZFIRST)), sum(length(ZLAST)), max(ZFIRST), min(ZLAST), round(sum(ZTOTAL), 3), \
        sum(ZQUANTITY), sum(length(ZSTREET)) FROM ZORDER
        """

    // MARK: - Measuring

    /// All sides in each round, who begins changing from round to round; each on a copy of its own.
    private func measure(_ sides: [String], _ store: BenchmarkStore, rounds count: Int, sql: String) throws
        -> [String: [String: [Double]]]
    {
        var results: [String: [String: [Double]]] = [:]
        var contents: [String: Set<String>] = [:]
        try rounds(count) { round in
            for offset in sides.indices {
                let side = sides[(round + offset) % sides.count]
                let copy = try store.copy(side)
                defer { BenchmarkStore.remove(copy) }
                for (key, value) in try run(side, copy) { results[side, default: [:]][key, default: []].append(value) }
                contents[try Command.shell(copy, sql).run().output, default: []].insert(side)
            }
        }
        guard contents.count == 1 else {
            throw MigrationError(.internal, "The sides left different rows: \(contents)", remedy: "")
        }
        for side in sides {
            let peak = results[side]?["peak"]?.median ?? 0
            note(
                "\(side), \(store.rows) orders: \((results[side]?["run"]?.median ?? 0).decimals(2)) s, "
                    + "\((peak / 1_048_576).decimals(0)) MiB")
        }
        return results
    }

    private func run(_ side: String, _ store: String) throws -> [String: Double] {
        switch side {
        case "plain":
            let seconds = try Command.shell(store, Self.plainSQL).run().seconds
            return ["run": seconds, "done": seconds, "peak": 0]
        case "closure", "expression", "policy":
            let result = try Command.child("transform", side, store).run()
            let json = try result.json
            return [
                "run": json.number("run"), "change": json.number("change"), "verify": json.number("verify"),
                "done": json.number("change") + json.number("commit"), "peak": json.number("peak"),
            ]
        default:
            let json = try Command("/usr/bin/python3", ["-B", script, side, store]).run().json
            return ["run": json.number("run"), "loop": json.number("loop"), "peak": json.number("peak")]
        }
    }

    /// SQLite's documented way to change a table (lang_altertable, section 7).
    private static let plainSQL = """
        BEGIN;
        CREATE TABLE ZNEW (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZQUANTITY INTEGER, ZDISCOUNT FLOAT,
            ZPLACEDAT TIMESTAMP, ZPRICE FLOAT, ZADDRESS VARCHAR, ZCUSTOMER VARCHAR, ZNOTE VARCHAR);
        INSERT INTO ZNEW SELECT Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZDISCOUNT, ZPLACEDAT, ZPRICE, ZSTREET || ', ' || ZCITY,
            ZCUSTOMER, ZNOTE FROM ZORDER;
        DROP TABLE ZORDER;
        ALTER TABLE ZNEW RENAME TO ZORDER;
        COMMIT;
        PRAGMA wal_checkpoint(TRUNCATE);
        """

    func memoryOfTransforming() throws -> [Figure] {
        let counts = [settings.rows] + (settings.hasLargeStore ? [settings.rows * 10] : [])
        return try counts.flatMap { rows in
            let store = try orders(rows)
            return try ["closure", "policy"].map { side in
                let copy = try store.copy(side)
                defer { BenchmarkStore.remove(copy) }
                let peak = try run(side, copy)["peak"] ?? 0
                return Figure(
                    name: "peak memory (\(side))", rows: rows, ours: [peak / 1_048_576], unit: .mebibytes)
            }
        }
    }
}
