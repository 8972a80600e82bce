import Foundation
import MoultBasics
import MoultModel

/// Objects through an `ObjectContext`, a `ModelContext` and an `NSManagedObjectContext`, beside Python's sqlite3 and
/// peewee on the same tables.
extension Benchmarks {
    /// What Moult's side goes through, as its child process is called.
    enum ObjectLayer: String {
        case objects
        /// SwiftData's own words over them.
        case models
        /// Core Data's own names over them.
        case names
    }

    /// Who does the work. The names of figures contain these.
    enum ObjectSide: String, CaseIterable {
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

    /// A piece of work: its name in a figure and in a table, and how many objects it is about if not all.
    private struct Work {
        let work: String
        let name: String
        let title: String
        var count: Int?
        /// Whether its memory has a bound.
        var isOfMemory = false
    }

    private static let works = [
        Work(work: "insert", name: "insert", title: "insert N objects", isOfMemory: true),
        Work(work: "fetch", name: "fetch", title: "fetch N objects", isOfMemory: true),
        Work(
            work: "lookup", name: "1,000 fetches by an indexed value", title: "1,000 fetches by an indexed value",
            count: 1000),
        Work(work: "scan", name: "fetch by a predicate, sorted", title: "fetch by a predicate, sorted"),
        Work(work: "update", name: "update", title: "update N objects", isOfMemory: true),
        Work(work: "to_one", name: "walk to-one", title: "walk N to-one"),
        Work(work: "to_one_ahead", name: "walk to-one, read ahead", title: "walk N to-one, read ahead"),
        Work(work: "to_many", name: "walk to-many", title: "walk 1,000 to-many"),
    ]

    /// Without optimisation an object takes many times as long as a row.
    private var objectRows: Int { settings.isSmall ? max(settings.rows / 4, 1000) : min(settings.rows, 100_000) }
    private var script: String { "Benchmarks/Python/objects.py" }

    /// A small run leaves out peewee.
    private var sides: [ObjectSide] { settings.isSmall ? [.moult, .sqlite] : ObjectSide.allCases }

    func objects(_ layer: ObjectLayer) throws -> [Figure] {
        if !settings.isSmall, (try? Command("/usr/bin/python3", ["-c", "import peewee"]).run()) == nil {
            skip("/usr/bin/python3 has no peewee; Scripts/prerequisites --benchmarks installs it")
            return []
        }
        let empty = "\(folder)/\(layer)-empty.sqlite"
        try Command.child(layer.rawValue, "make", empty).run()
        // Copies are of the file alone.
        try Command.shell(empty, "PRAGMA wal_checkpoint(TRUNCATE)").run()
        let full = try fill(empty, layer)
        // Few rows have no price that the predicate finds.
        let works = Self.works.filter { !settings.isSmall || $0.work != "scan" }
        return try works.flatMap { work in
            figures(of: work, layer, try measure(work.work, layer, from: work.work == "insert" ? empty : full))
        } + [try relational(layer)]
    }

    /// Students with a school and three courses each, made and saved in one go, beside as many objects without links.
    private func relational(_ layer: ObjectLayer) throws -> Figure {
        var times: [String: [Double]] = [:]
        var contents: Set<String> = []
        try rounds { round in
            let works = ["relational", "flat"]
            for work in round.isMultiple(of: 2) ? works : works.reversed() {
                let store = "\(folder)/\(work).sqlite"
                defer { removeStore(store) }
                times[work, default: []].append(try run(.moult, work, layer, store).number("run"))
                if work == "relational" { contents.insert(try links(store)) }
            }
        }
        let students = SchoolsData.Counts(objectRows).students
        guard contents == ["\(students)|\(students)|\(3 * students)\n"] else {
            throw MigrationError(.internal, "The students have other links: \(contents.sorted())", remedy: "")
        }
        return Figure(
            name: "students, schools and courses / as many objects without links", rows: objectRows,
            ours: times["relational", default: []], theirs: times["flat", default: []])
    }

    /// The students, those with a school, and the pairs of students and courses.
    private func links(_ store: String) throws -> String {
        let join = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'"
        let table = try Command.shell(store, join).run().output.filter { $0 != "\n" }
        return try Command.shell(
            store, "SELECT count(*), count(ZSCHOOL), (SELECT count(*) FROM \(table.quotedName)) FROM ZSTUDENT"
        ).run().output
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
    private func measure(_ work: String, _ layer: ObjectLayer, from store: String) throws -> [ObjectSide: Measured] {
        var results: [ObjectSide: Measured] = [:]
        var contents: Set<String> = []
        try rounds { round in
            for offset in sides.indices {
                let side = sides[(round + offset) % sides.count]
                let copy = folder + "/objects-\(side.rawValue).sqlite"
                try FileManager.default.copyItem(atPath: store, toPath: copy)
                sync()
                let json = try run(side, work, layer, copy)
                results[side, default: Measured()].seconds.append(json.number("run"))
                results[side]?.peaks.append(json.number("peak") / 1_048_576)
                contents.insert(try checksum(copy))
                removeStore(copy)
            }
        }
        guard contents.count == 1 else {
            throw MigrationError(.internal, "\(work) left different rows: \(contents.sorted())", remedy: "")
        }
        return results
    }

    @discardableResult
    private func run(_ side: ObjectSide, _ work: String, _ layer: ObjectLayer, _ store: String) throws -> JSONValue {
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

    private func figures(of work: Work, _ layer: ObjectLayer, _ results: [ObjectSide: Measured]) -> [Figure] {
        guard let ours = results[.moult] else { return [] }
        let count = Double(work.count ?? objectRows)
        let rates = sides.compactMap { side in
            results[side].map {
                "\(side.name) \((count / $0.seconds.median).decimals(0))/s, \($0.peaks.median.decimals(0)) MiB"
            }
        }
        let title = work.title.replacingOccurrences(of: "N", with: Quantity.count(objectRows))
        note("\(layer): \(title): \(rates.joined(separator: "; "))")
        var figures = sides.filter { $0 != .moult }.compactMap { side in
            results[side].map {
                Figure(
                    name: "\(work.name) / \(side.name) (speed)", rows: objectRows, ours: ours.seconds,
                    theirs: $0.seconds, isSpeed: true,
                    details: ["count": [count], "peak": ours.peaks, "their peak": $0.peaks],
                    words: ["title": title])
            }
        }
        if work.isOfMemory {
            figures.append(
                Figure(name: "\(work.name): peak memory", rows: objectRows, ours: ours.peaks, unit: .mebibytes))
        }
        return figures
    }
}
