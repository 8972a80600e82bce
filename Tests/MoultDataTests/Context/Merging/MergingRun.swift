import Foundation
import MoultData
import MoultObjects
import MoultSQLite
import TestSupport

/// The model of the random writes. A key tells objects apart in the reference; nothing makes it unique.
enum Merging: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Note.self] }

    @Model final class Note {
        var key: Int
        var title: String
        var amount: Int

        init(key: Int, title: String, amount: Int) {
            (self.key, self.title, self.amount) = (key, title, amount)
        }
    }
}

/// Random writes by the main context of a container, by a second context of it, and by a container of its own as another
/// process has it, all with unsaved changes at the same time. Plain values say what each of them must see:
///
/// - A context sees its own changes, over the values that it read.
/// - What a context of the container saves, the other takes over, except for what it changed itself: property by property
///   in the main context, object by object in the other.
/// - So a save of the main context writes its own changes over what the other context saved. Otherwise a save fails if an
///   object that was changed or deleted in it was saved or deleted elsewhere since it was read; then nothing is saved.
/// - After a rollback, all objects are as the store has them.
@MainActor final class MergingRun {
    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private typealias Writer = WritingContext<ModelContext, Merging.Note>

    private let folder: ScratchFolder
    private let url: URL
    private let container: ModelContainer
    private let main: Writer
    private let second: Writer
    /// Another process has a store of its own open, and a new context for each piece of work.
    private let otherContainer: ModelContainer
    private var other: Writer
    private var random: MoultObjects.SeededGenerator
    private var stored: [Int: Writer.Stored] = [:]
    private var made = 0
    private var log: [String] = []
    /// How often each thing happened that the rules are about.
    private(set) var counts: [String: Int] = [:]

    init(seed: UInt64) throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/notes.store")
        random = MoultObjects.SeededGenerator(seed: seed)
        container = try Self.open(url)
        otherContainer = try Self.open(url)
        container.mainContext.autosaveEnabled = false
        main = Writer("main", container.mainContext)
        second = Writer("second", ModelContext(container))
        other = Writer("other", ModelContext(otherContainer))
    }

    private static func open(_ url: URL) throws -> ModelContainer {
        try ModelContainer(for: Merging.Note.self, configurations: ModelConfiguration(url: url))
    }

    func run(_ count: Int) throws {
        do {
            for _ in 0..<count {
                let writer = [main, main, second, second, other][Int.random(in: 0..<5, using: &random)]
                try look(writer)
                try step(writer)
                try compare(writer)
            }
        } catch {
            throw Difference(description: "\(error)\n\(log.suffix(25).joined(separator: "\n"))")
        }
    }

    private func note(_ writer: Writer, _ line: String) { log.append("\(writer.name) \(line)") }

    private func count(_ what: String) { counts[what, default: 0] += 1 }

    // MARK: - What is done

    private func step(_ writer: Writer) throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: insert(writer)
        case 4..<12: change(writer)
        case 12..<14: delete(writer)
        case 14..<18: try save(writer)
        default: rollback(writer)
        }
    }

    private func insert(_ writer: Writer) {
        made += 1
        let note = Merging.Note(key: made, title: "title \(made)", amount: made)
        self.note(writer, "insert \(made)")
        writer.context.insert(note)
        writer.held[made] = note
        writer.inserted[made] = ["title": made, "amount": made]
    }

    private func pick(_ writer: Writer) -> (key: Int, note: Merging.Note)? {
        let key = writer.seen(in: stored).keys.sorted().randomElement(using: &random)
        return key.flatMap { key in writer.held[key].map { (key, $0) } }
    }

    private func change(_ writer: Writer) {
        guard let (key, note) = pick(writer) else { return }
        made += 1
        let property = Bool.random(using: &random) ? "title" : "amount"
        self.note(writer, "change \(property) of \(key) to \(made)")
        if property == "title" { note.title = "title \(made)" } else { note.amount = made }
        writer.change(property, of: key, to: made)
    }

    private func delete(_ writer: Writer) {
        guard let (key, note) = pick(writer) else { return }
        self.note(writer, "delete \(key)")
        writer.context.delete(note)
        writer.delete(key)
    }

    private func rollback(_ writer: Writer) {
        note(writer, "rollback")
        writer.context.rollback()
        for key in writer.base.keys {
            writer.base[key] = stored[key]
            if stored[key] == nil { writer.held[key] = nil }
        }
        writer.giveUpChanges()
    }

    // MARK: - Saving

    private func save(_ writer: Writer) throws {
        let conflicts = writer.conflicts(with: stored)
        note(writer, "save, in conflict: \(conflicts.sorted())")
        if !conflicts.isEmpty {
            count("refused")
            do {
                try writer.context.save()
            } catch SwiftDataError.saveConflict {
                // An app that gives up; other apps try again, and are refused again.
                if Bool.random(using: &random) { rollback(writer) }
                return
            }
            throw Difference(description: "the save of \(writer.name) was not refused")
        }
        try writer.context.save()
        try settleSave(writer)
        try compareFile()
        if writer === other {
            count("other process")
            other = Writer("other", ModelContext(otherContainer))
        }
    }

    private func settleSave(_ writer: Writer) throws {
        var updated: Set<Int> = []
        for (key, own) in writer.own where !writer.deleted.contains(key) {
            guard let now = stored[key] else { continue }
            stored[key] = Writer.Stored(row: now.row.merging(own) { $1 }, version: now.version + 1)
            writer.base[key] = stored[key]
            updated.insert(key)
        }
        writer.saveInserted(to: &stored)
        let gone = writer.deleted
        for key in gone {
            stored[key] = nil
            writer.forget(key)
        }
        writer.endChanges()
        guard writer !== other else { return }
        let receiver = writer === main ? second : main
        for key in updated.union(gone) where receiver.base[key] != nil {
            if receiver.isPending(key) { count("merged") }
            let isGoneForBoth = gone.contains(key) && receiver.deleted.contains(key)
            if receiver !== main && receiver.isPending(key) && !isGoneForBoth { continue }
            receiver.base[key] = stored[key]
            if gone.contains(key) { receiver.forget(key) }
        }
        // Reads what it took over, before another process writes again.
        try look(receiver)
    }

    // MARK: - What is seen

    /// Fetches everything and holds it, as an app does that shows a list.
    private func look(_ writer: Writer) throws {
        for note in try writer.context.fetch(FetchDescriptor<Merging.Note>()) { writer.held[note.key] = note }
        writer.fetchAll(of: stored)
        try compare(writer)
    }

    private func compare(_ writer: Writer) throws {
        let fetched = try writer.context.fetch(FetchDescriptor<Merging.Note>(sortBy: [SortDescriptor(\.key)]))
        let seen = fetched.map { ($0.key, row(of: $0)) }
        let rows = writer.seen(in: stored)
        let expected = rows.sorted { $0.key < $1.key }
        for (one, two) in zip(seen, expected) where one.0 != two.key || one.1 != two.value {
            throw Difference(description: "\(writer.name) sees \(one), not \(two)")
        }
        guard seen.count == expected.count else {
            throw Difference(
                description: "\(writer.name) sees \(seen.map(\.0)), not \(expected.map(\.key))")
        }
        for (key, row) in rows {
            guard let note = writer.held[key], self.row(of: note) == row else {
                throw Difference(
                    description: "\(writer.name) holds \(key) with \(writer.held[key]?.title ?? "-"), not \(row)")
            }
        }
        guard writer.context.hasChanges == writer.hasChanges else {
            throw Difference(description: "\(writer.name) has changes: \(!writer.hasChanges), not \(writer.hasChanges)")
        }
    }

    private func row(of note: Merging.Note) -> Writer.Row { row(note.title, note.amount) }

    /// A title that is none of the reference's is no number of it.
    private func row(_ title: String, _ amount: Int) -> Writer.Row {
        let number = Int(title.dropFirst("title ".count)) ?? -1
        return ["title": title == "title \(number)" ? number : -1, "amount": amount]
    }

    /// The rows of the file, read through SQLite alone.
    private func compareFile() throws {
        let connection = try Connection(url.path, mode: .readOnly)
        defer { connection.close() }
        let rows = try connection.rows("SELECT ZKEY, ZTITLE, ZAMOUNT FROM ZNOTE") { row in
            (Int(row.integer(0)), self.row(row.text(1) ?? "", Int(row.integer(2))))
        }
        let file = Dictionary(rows) { first, _ in first }
        guard rows.count == file.count, file == stored.mapValues(\.row) else {
            throw Difference(description: "the file has \(file), not \(stored)")
        }
    }
}
