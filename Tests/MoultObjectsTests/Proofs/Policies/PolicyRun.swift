import Foundation
import TestSupport

@testable import MoultObjects

/// Random writes by three contexts that learn nothing of each other, as in three processes, each save with another merge
/// policy. Plain values say what each context sees, and what the file has, by the table of policies in Objects.md.
final class PolicyRun {
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private typealias Writer = WritingContext<ObjectContext, Object>

    private let office: Office
    private let writers: [Writer]
    private var random: MoultObjects.SeededGenerator
    private var stored: [Int: Writer.Stored] = [:]
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
        note(writer, "insert \(made)")
        let object = try office.person("p\(made)", writer.context)
        try object.setAttribute("age", .integer(Int64(made)))
        try object.setAttribute("height", .double(Double(made)))
        writer.held[made] = object
        writer.inserted[made] = ["age": made, "height": made]
    }

    /// - Parameter condition: which of the objects that the writer sees may be picked.
    private func pick(_ writer: Writer, where condition: (Int) -> Bool = { _ in true }) -> (key: Int, object: Object)? {
        let key = writer.seen(in: stored).keys.filter(condition).sorted().randomElement(using: &random)
        return key.flatMap { key in writer.held[key].map { (key, $0) } }
    }

    private func change(_ writer: Writer) throws {
        guard let (key, object) = pick(writer) else { return }
        made += 1
        let property = Bool.random(using: &random) ? "age" : "height"
        note(writer, "change \(property) of \(key) to \(made)")
        try object.setAttribute(property, property == "age" ? .integer(Int64(made)) : .double(Double(made)))
        writer.change(property, of: key, to: made)
    }

    /// Of an object that has no other changes.
    private func delete(_ writer: Writer) throws {
        guard let (key, object) = pick(writer, where: { writer.own[$0] == nil }) else { return }
        note(writer, "delete \(key)")
        try writer.context.delete(object)
        writer.delete(key)
    }

    private func rollback(_ writer: Writer) {
        note(writer, "rollback")
        writer.context.rollback()
        writer.giveUpChanges()
    }

    /// Reads one object again: its changes stay, or are given up.
    private func refresh(_ writer: Writer) throws {
        let picked = pick(writer) { writer.inserted[$0] == nil && stored[$0] != nil }
        guard let (key, object) = picked else { return }
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
        let inConflict = writer.conflicts(with: stored)
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
        writer.saveInserted(to: &stored)
        writer.endChanges()
        try compareFile()
    }

    private func settleDeletion(of key: Int, _ writer: Writer, _ policy: MergePolicy) {
        guard let now = stored[key] else { return writer.forget(key) }
        let isConflict = now.version != writer.base[key]?.version
        if isConflict && (policy == .mergeByPropertyStoreTrump || policy == .rollback) {
            writer.base[key] = now
        } else {
            stored[key] = nil
            writer.forget(key)
        }
    }

    private func settleChange(of key: Int, _ writer: Writer, _ policy: MergePolicy) {
        // What is gone cannot be changed.
        guard let now = stored[key], let base = writer.base[key], let own = writer.own[key] else {
            return writer.forget(key)
        }
        var row = now.row.merging(own) { $1 }
        if now.version != base.version {
            switch policy {
            case .mergeByPropertyStoreTrump:
                row = now.row.merging(own.filter { now.row[$0.key] == base.row[$0.key] }) { $1 }
            case .mergeByPropertyObjectTrump: break
            case .overwrite: row = base.row.merging(own) { $1 }
            case .rollback, .error: row = now.row
            }
        }
        if row != now.row { stored[key] = Writer.Stored(row: row, version: now.version + 1) }
        writer.base[key] = stored[key]
    }

    // MARK: - What is seen

    /// Fetches everything and holds it.
    private func look(_ writer: Writer) throws {
        for object in try writer.context.fetch(ObjectFetch(entityName: "Person")) {
            writer.held[try key(of: object)] = object
        }
        writer.fetchAll(of: stored)
        try compare(writer)
    }

    private func key(of object: Object) throws -> Int {
        guard case .string(let name) = try object.attribute("name"), let key = Int(name.dropFirst()),
            name == "p\(key)"
        else {
            throw Difference(description: "\(object.id) has another name")
        }
        return key
    }

    private func compare(_ writer: Writer) throws {
        var rows: [Int: Writer.Row] = [:]
        for object in try writer.context.fetch(ObjectFetch(entityName: "Person")) {
            guard case .integer(let age) = try object.attribute("age"),
                case .double(let real) = try object.attribute("height"), let height = Int(exactly: real),
                rows.updateValue(["age": Int(age), "height": height], forKey: try key(of: object)) == nil
            else { throw Difference(description: "\(writer.name) has \(object.id) twice, or without values") }
        }
        let expected = writer.seen(in: stored)
        guard rows == expected else {
            throw Difference(description: "\(writer.name) sees \(rows), not \(expected)")
        }
        guard writer.context.hasChanges == writer.hasChanges else {
            throw Difference(description: "\(writer.name) has changes: \(!writer.hasChanges), not \(writer.hasChanges)")
        }
    }

    /// The rows of the file, as the sqlite3 shell reads them.
    private func compareFile() throws {
        let rows = try office.sql("SELECT ZNAME, ZAGE, ZHEIGHT FROM ZPERSON ORDER BY Z_PK")
            .split(separator: "\n").map(String.init).sorted()
        let expected = stored.map { key, stored in
            "p\(key)|\(stored.row["age"] ?? -1)|\(Double(stored.row["height"] ?? -1))"
        }
        guard rows == expected.sorted() else {
            throw Difference(description: "the file has \(rows), not \(expected.sorted())")
        }
    }
}
