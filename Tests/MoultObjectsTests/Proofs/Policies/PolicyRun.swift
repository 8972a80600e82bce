import Foundation
import TestSupport

@testable import MoultObjects

/// Random writes by three contexts that learn nothing of each other, as in three processes, each save with another merge
/// policy. Plain values say what each context sees, and what the file has, by the table of policies in Objects.md.
final class PolicyRun {
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private struct Row: Equatable {
        var age: Int
        var height: Double
    }

    /// A row with the number of times that it was saved.
    private struct Stored: Equatable {
        var row: Row
        var version: Int
    }

    private struct Own {
        var age: Int?
        var height: Double?

        func over(_ row: Row) -> Row { Row(age: age ?? row.age, height: height ?? row.height) }
    }

    /// A context and what it must see.
    private final class Writer {
        let name: String
        let context: ObjectContext
        var held: [String: Object] = [:]
        /// As it was read.
        var base: [String: Stored] = [:]
        var own: [String: Own] = [:]
        var inserted: [String: Row] = [:]
        var deleted: Set<String> = []

        init(_ name: String, _ context: ObjectContext) { (self.name, self.context) = (name, context) }

        func isPending(_ key: String) -> Bool { own[key] != nil || deleted.contains(key) }

        func forget(_ key: String) {
            (base[key], own[key], held[key]) = (nil, nil, nil)
            deleted.remove(key)
        }
    }

    private let office: Office
    private let writers: [Writer]
    private var random: MoultObjects.SeededGenerator
    private var stored: [String: Stored] = [:]
    private var made = 0
    private var log: [String] = []
    /// How many conflicts there were, by policy.
    private(set) var conflicts: [MergePolicy: Int] = [:]

    init(seed: UInt64) throws {
        office = try Office()
        random = MoultObjects.SeededGenerator(seed: seed)
        writers = [
            Writer("one", office.context), Writer("two", try office.elsewhere()),
            Writer("three", try office.elsewhere()),
        ]
    }

    func run(_ count: Int) throws {
        do {
            for _ in 0..<count {
                let writer = writers[Int.random(in: 0..<3, using: &random)]
                try look(writer)
                try step(writer)
                try compare(writer)
            }
        } catch {
            throw Difference(description: "\(error)\n\(log.suffix(25).joined(separator: "\n"))")
        }
    }

    private func note(_ writer: Writer, _ line: String) { log.append("\(writer.name) \(line)") }

    /// What the writer sees: rows that are gone are not there, unless it has changed them.
    private func seen(_ writer: Writer) -> [String: Row] {
        var rows = writer.inserted
        for (key, read) in writer.base where !writer.deleted.contains(key) {
            guard stored[key] != nil || writer.isPending(key) else { continue }
            rows[key] = writer.own[key]?.over(read.row) ?? read.row
        }
        return rows
    }

    // MARK: - What is done

    private func step(_ writer: Writer) throws {
        switch Int.random(in: 0..<22, using: &random) {
        case 0..<2: try insert(writer)
        case 2..<12: try change(writer)
        case 12..<14: try delete(writer)
        case 14..<18: try save(writer)
        case 18..<20: try refresh(writer)
        default: rollback(writer)
        }
    }

    private func insert(_ writer: Writer) throws {
        made += 1
        let key = "p\(made)"
        note(writer, "insert \(key)")
        let object = try office.person(key, writer.context)
        try object.setAttribute("age", .integer(Int64(made)))
        try object.setAttribute("height", .double(Double(made)))
        writer.held[key] = object
        writer.inserted[key] = Row(age: made, height: Double(made))
    }

    private func change(_ writer: Writer) throws {
        guard let key = seen(writer).keys.sorted().randomElement(using: &random), let object = writer.held[key]
        else { return }
        made += 1
        let changesAge = Bool.random(using: &random)
        note(writer, "change \(changesAge ? "age" : "height") of \(key) to \(made)")
        if changesAge {
            try object.setAttribute("age", .integer(Int64(made)))
        } else {
            try object.setAttribute("height", .double(Double(made)))
        }
        if writer.inserted[key] != nil {
            if changesAge { writer.inserted[key]?.age = made } else { writer.inserted[key]?.height = Double(made) }
        } else if changesAge {
            writer.own[key, default: Own()].age = made
        } else {
            writer.own[key, default: Own()].height = Double(made)
        }
    }

    /// Of an object that has no other changes.
    private func delete(_ writer: Writer) throws {
        let candidates = seen(writer).keys.filter { writer.own[$0] == nil }
        guard let key = candidates.sorted().randomElement(using: &random), let object = writer.held[key] else { return }
        note(writer, "delete \(key)")
        try writer.context.delete(object)
        if writer.inserted.removeValue(forKey: key) != nil {
            writer.held[key] = nil
        } else {
            writer.deleted.insert(key)
        }
    }

    private func rollback(_ writer: Writer) {
        note(writer, "rollback")
        writer.context.rollback()
        for key in writer.inserted.keys { writer.held[key] = nil }
        (writer.inserted, writer.own, writer.deleted) = ([:], [:], [])
    }

    /// Reads one object again: its changes stay, or are given up.
    private func refresh(_ writer: Writer) throws {
        let candidates = seen(writer).keys.filter { writer.inserted[$0] == nil && stored[$0] != nil }
        guard let key = candidates.sorted().randomElement(using: &random), let object = writer.held[key] else { return }
        let merges = Bool.random(using: &random)
        note(writer, "refresh \(key), merging \(merges)")
        try writer.context.refresh(object, mergingChanges: merges)
        writer.base[key] = stored[key]
        if !merges { writer.own[key] = nil }
    }

    // MARK: - Saving

    private func save(_ writer: Writer) throws {
        guard let policy = MergePolicy.allCases.randomElement(using: &random) else { return }
        writer.context.mergePolicy = policy
        let touched = Set(writer.own.keys).union(writer.deleted)
        let inConflict = touched.filter { stored[$0]?.version != writer.base[$0]?.version }
        note(writer, "save with \(policy), in conflict: \(inConflict.sorted())")
        conflicts[policy, default: 0] += inConflict.count
        guard policy != .error || inConflict.isEmpty else {
            do {
                try writer.context.save()
            } catch is MergeConflictError {
                return
            }
            throw Difference(description: "the save was not refused")
        }
        try writer.context.save()
        for key in writer.deleted { settleDeletion(of: key, writer, policy) }
        for key in writer.own.keys { settleChange(of: key, writer, policy) }
        for (key, row) in writer.inserted {
            stored[key] = Stored(row: row, version: 1)
            writer.base[key] = stored[key]
        }
        (writer.own, writer.inserted, writer.deleted) = ([:], [:], [])
        try compareFile()
    }

    private func settleDeletion(of key: String, _ writer: Writer, _ policy: MergePolicy) {
        guard let now = stored[key] else { return writer.forget(key) }
        let isConflict = now.version != writer.base[key]?.version
        if isConflict && (policy == .mergeByPropertyStoreTrump || policy == .rollback) {
            writer.base[key] = now
        } else {
            stored[key] = nil
            writer.forget(key)
        }
    }

    private func settleChange(of key: String, _ writer: Writer, _ policy: MergePolicy) {
        // What is gone cannot be changed.
        guard let now = stored[key], let base = writer.base[key], let own = writer.own[key] else {
            return writer.forget(key)
        }
        var row = own.over(now.row)
        if now.version != base.version {
            switch policy {
            case .mergeByPropertyStoreTrump:
                row = now.row
                if let age = own.age, now.row.age == base.row.age { row.age = age }
                if let height = own.height, now.row.height == base.row.height { row.height = height }
            case .mergeByPropertyObjectTrump: break
            case .overwrite: row = own.over(base.row)
            case .rollback, .error: row = now.row
            }
        }
        if row != now.row { stored[key] = Stored(row: row, version: now.version + 1) }
        writer.base[key] = stored[key]
    }

    // MARK: - What is seen

    /// Fetches everything and holds it.
    private func look(_ writer: Writer) throws {
        for object in try writer.context.fetch(ObjectFetch(entityName: "Person")) {
            writer.held[try key(of: object)] = object
        }
        for (key, row) in stored where writer.base[key] == nil { writer.base[key] = row }
        for key in writer.base.keys where stored[key] == nil && !writer.isPending(key) { writer.forget(key) }
        try compare(writer)
    }

    private func key(of object: Object) throws -> String {
        guard case .string(let name) = try object.attribute("name") else {
            throw Difference(description: "\(object.id) has no name")
        }
        return name
    }

    private func compare(_ writer: Writer) throws {
        var rows: [String: Row] = [:]
        for object in try writer.context.fetch(ObjectFetch(entityName: "Person")) {
            guard case .integer(let age) = try object.attribute("age"),
                case .double(let height) = try object.attribute("height"),
                rows.updateValue(Row(age: Int(age), height: height), forKey: try key(of: object)) == nil
            else { throw Difference(description: "\(writer.name) has \(object.id) twice, or without values") }
        }
        let expected = seen(writer)
        guard rows == expected else {
            throw Difference(description: "\(writer.name) sees \(rows), not \(expected)")
        }
        let hasChanges = !writer.own.isEmpty || !writer.inserted.isEmpty || !writer.deleted.isEmpty
        guard writer.context.hasChanges == hasChanges else {
            throw Difference(description: "\(writer.name) has changes: \(!hasChanges), not \(hasChanges)")
        }
    }

    /// The rows of the file, as the sqlite3 shell reads them.
    private func compareFile() throws {
        let rows = try office.sql("SELECT ZNAME, ZAGE, ZHEIGHT FROM ZPERSON ORDER BY ZNAME")
        let expected = stored.sorted { $0.key < $1.key }.map { "\($0.key)|\($0.value.row.age)|\($0.value.row.height)" }
        guard rows == expected.joined(separator: "\n") else {
            throw Difference(description: "the file has\n\(rows)\nnot\n\(expected.joined(separator: "\n"))")
        }
    }
}
