import Foundation
import MoultBasics
import MoultModel

/// Objects through an `ObjectContext`, and models through a `ModelContext`, beside Python's sqlite3 and peewee on the
/// same tables.
extension Benchmarks {
    /// What Moult's side goes through, as its child process is called.
    enum ObjectLayer: String {
        case objects
        /// SwiftData's own words over them.
        case models
    }

    private enum Side: String, CaseIterable {
        case moult
        case sqlite = "sqlite3"
        /// Objects made, read and saved one by one, as objects of a context are.
        case peewee
        case peeweeBulk = "peewee-bulk"

        var name: String {
            switch self {
            case .moult: "Moult"
            case .sqlite: "sqlite3"
            case .peewee: "peewee, one by one"
            case .peeweeBulk: "peewee in bulk"
            }
        }
    }

    private struct Measured {
        var seconds: [Double] = []
        var peaks: [Double] = []
    }

    /// What is done, with what to call it, the rows that it is a rate of, and the speed that is asked of it.
    private var works: [(work: String, name: String, count: Int, goal: Double?)] {
        let rows = objectRows
        return [
            ("insert", "insert \(rows) objects", rows, 3), ("fetch", "fetch \(rows) objects", rows, 3),
            ("lookup", "1000 fetches by an indexed value", 1000, nil),
            ("scan", "fetch by a predicate, sorted", rows, nil), ("update", "update \(rows) objects", rows, nil),
            ("to_one", "walk \(rows) to-one", rows, nil),
            ("to_one_ahead", "walk \(rows) to-one, read ahead", rows, nil), ("to_many", "walk 1000 to-many", rows, nil),
        ]
    }

    private var objectRows: Int { min(settings.rows, 100_000) }
    private var script: String { "Benchmarks/Python/objects.py" }

    func objects(_ layer: ObjectLayer) throws -> [Figure] {
        guard (try? Command("/usr/bin/python3", ["-c", "import peewee"]).run()) != nil else {
            note("SKIPPED: /usr/bin/python3 has no peewee; Scripts/prerequisites --benchmarks installs it")
            return []
        }
        let empty = "\(folder)/\(layer)-empty.sqlite"
        try Command.child(layer.rawValue, "make", empty).run()
        let full = try fill(empty, layer)
        var figures: [Figure] = []
        for work in works {
            // What a bound is set on is measured twice as often.
            let results = try measure(
                work.work, layer, from: work.work == "insert" ? empty : full,
                rounds: work.goal == nil ? settings.rounds : settings.rounds * 2 + 1)
            figures += self.figures(of: work, layer, results)
        }
        return figures
    }

    /// The store that everything but the insertion starts from.
    private func fill(_ empty: String, _ layer: ObjectLayer) throws -> String {
        let full = "\(folder)/\(layer)-full.sqlite"
        try FileManager.default.copyItem(atPath: empty, toPath: full)
        try run(.sqlite, "insert", layer, full)
        try Command.shell(full, "PRAGMA wal_checkpoint(TRUNCATE)").run()
        return full
    }

    /// All sides in each round, who begins changing from round to round; each on a copy of its own.
    private func measure(
        _ work: String, _ layer: ObjectLayer, from store: String, rounds count: Int
    ) throws -> [Side: Measured] {
        var results: [Side: Measured] = [:]
        var contents: Set<String> = []
        try rounds(count) { round in
            let sides = Side.allCases
            for offset in sides.indices {
                let side = sides[(round + offset) % sides.count]
                let copy = folder + "/objects-\(side.rawValue).sqlite"
                try FileManager.default.copyItem(atPath: store, toPath: copy)
                sync()
                let json = try run(side, work, layer, copy)
                results[side, default: Measured()].seconds.append(json.number("run"))
                results[side]?.peaks.append(json.number("peak") / 1_048_576)
                contents.insert(try checksum(copy))
                for suffix in ["", "-wal", "-shm"] { _ = try? FileManager.default.removeItem(atPath: copy + suffix) }
            }
        }
        guard contents.count == 1 else {
            throw MigrationError(.internal, "\(work) left different rows: \(contents.sorted())", remedy: "")
        }
        return results
    }

    @discardableResult
    private func run(_ side: Side, _ work: String, _ layer: ObjectLayer, _ store: String) throws -> JSONValue {
        let rows = String(objectRows)
        if side == .moult { return try Command.child(layer.rawValue, work, store, rows).run().json }
        return try Command("/usr/bin/python3", [script, side.rawValue, work, store, rows]).run().json
    }

    /// What every side must have left in the table.
    private func checksum(_ store: String) throws -> String {
        try Command.shell(
            store,
            """
            SELECT count(*), max(Z_PK), sum(Z_OPT), sum(ZAMOUNT), sum(ZCOUNT), sum(ZCREATEDAT), sum(ZISDONE),
                round(sum(ZPRICE)), sum(ZRANK), sum(length(ZNOTE)), sum(length(ZTITLE)), sum(length(ZPAYLOAD)),
                sum(ZOWNER * ZCOUNT), min(hex(ZIDENTIFIER)), max(hex(ZIDENTIFIER)) FROM ZITEM;
            SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'
            """
        ).run().output
    }

    private func figures(
        of work: (work: String, name: String, count: Int, goal: Double?), _ layer: ObjectLayer,
        _ results: [Side: Measured]
    ) -> [Figure] {
        guard let ours = results[.moult] else { return [] }
        let rate = { (seconds: [Double]) in "\((Double(work.count) / seconds.median).decimals(0))/s" }
        let others = Side.allCases.filter { $0 != .moult }
        let rates = Side.allCases.compactMap { side in
            results[side].map { "\(side.name) \(rate($0.seconds)), \($0.peaks.median.decimals(0)) MiB" }
        }
        note("\(layer): \(work.name): \(rates.joined(separator: "; "))")
        return others.compactMap { side in
            results[side].map {
                Figure(
                    name: "\(layer): \(work.name) / \(side.name) (speed)", ours: ours.seconds, theirs: $0.seconds,
                    bound: side == .peewee ? work.goal.map { .speedAtLeast($0) } ?? .speed : .speed)
            }
        }
    }
}
