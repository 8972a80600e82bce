import Foundation
import MoultData
import MoultObjects
import TestSupport

/// Does random operations to a context and to plain values, and compares them.
final class WarehouseRun {
    private typealias Box = Warehouse.Box
    private typealias Item = Warehouse.Item
    private typealias Mark = Warehouse.Mark

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    /// Where the models are kept.
    enum Place: CaseIterable, Sendable {
        case sqlite
        /// A data store that writes JSON.
        case json
        /// A data store that has a SQLite store of its own.
        case wrapped
    }

    private let folder: ScratchFolder
    private let url: URL
    private let place: Place
    private var random: MoultObjects.SeededGenerator
    private var container: ModelContainer
    private var context: ModelContext
    private var saved = WarehouseContents()
    private var now = WarehouseContents()
    private var made = 0
    private var boxes: [Int: Box] = [:]
    private var items: [Int: Item] = [:]
    private var marks: [Int: Mark] = [:]
    private(set) var log: [String] = []
    private(set) var comparisons = 0

    init(seed: UInt64, in place: Place = .sqlite) throws {
        self.place = place
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/warehouse.store")
        random = MoultObjects.SeededGenerator(seed: seed)
        container = try Self.open(url, place)
        context = ModelContext(container)
    }

    private static func open(_ url: URL, _ place: Place) throws -> ModelContainer {
        let schema = Schema(versionedSchema: Warehouse.self)
        return switch place {
        case .sqlite: try ModelContainer(for: schema, configurations: .init(url: url))
        case .json: try ModelContainer(for: schema, configurations: [JSONStoreConfiguration(fileURL: url)])
        case .wrapped: try ModelContainer(for: schema, configurations: [CountingConfiguration(inner: .init(url: url))])
        }
    }

    func run(_ count: Int) throws {
        for _ in 0..<count {
            try step(Int.random(in: 0..<100, using: &random))
            if Int.random(in: 0..<12, using: &random) == 0 { try compare(context, now) }
        }
        try save()
        try compare(context, saved)
        guard place == .json else { return try compareFile() }
        try compare(ModelContext(Self.open(url, place)), saved)
        try compareEnds()
    }

    private func step(_ die: Int) throws {
        switch die {
        case 0..<8: insertBox()
        case 8..<24: insertItem()
        case 24..<30: insertMark()
        case 30..<50: changeItem()
        case 50..<55: changeBox()
        case 55..<65: moveItem()
        case 65..<69: fillBox()
        case 69..<78: markItem()
        case 78..<81: fillMark()
        case 81..<84: deleteItem()
        case 84..<86: deleteBox()
        case 86..<88: deleteMark()
        case 88..<89: try deleteByPredicate()
        case 89..<95: try save()
        case 95..<98: try rollback()
        default: try reopen()
        }
    }

    private func note(_ line: String) { log.append(line) }

    private func newKey() -> Int {
        made += 1
        return made
    }

    private func pick<Value>(_ values: [Int: Value]) -> (Int, Value)? {
        guard let key = values.keys.sorted().randomElement(using: &random), let value = values[key] else { return nil }
        return (key, value)
    }

    private func some(_ keys: some Collection<Int>, _ most: Int) -> [Int] {
        Array(keys.sorted().shuffled(using: &random).prefix(Int.random(in: 0...most, using: &random)))
    }

    private func date() -> Date {
        Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<1_000_000, using: &random)) / 8)
    }

    // MARK: - Insertions

    private func insertBox() {
        let key = newKey()
        let code = "C\(Int.random(in: 0..<20, using: &random))"
        let label = Bool.random(using: &random) ? "label \(key)" : nil
        note("insert box \(key) \(code)")
        let box = Box(key: key, code: code, label: label)
        context.insert(box)
        boxes[key] = box
        now.boxes[key] = .init(key: key, code: code, label: label)
    }

    /// Half of them are inserted by what leads to them.
    private func insertItem() {
        let key = newKey()
        let (title, packed) = ("item \(key)", date())
        let weight = Bool.random(using: &random) ? Double(key) / 4 : nil
        let box = pick(boxes)
        let chosen = some(marks.keys, 2)
        let item = Item(key: key, title: title, weight: weight, packed: packed, box: nil)
        note("insert item \(key) in \(box.map { "\($0.0)" } ?? "-") marked \(chosen)")
        if let box, Bool.random(using: &random) {
            box.1.items.append(item)
        } else {
            item.box = box?.1
            item.marks = chosen.compactMap { marks[$0] }
            context.insert(item)
        }
        item.marks = chosen.compactMap { marks[$0] }
        items[key] = item
        now.items[key] = .init(title: title, weight: weight, packed: packed, box: box?.0, marks: Set(chosen))
    }

    private func insertMark() {
        let key = newKey()
        note("insert mark \(key)")
        let mark = Mark(key: key, name: "mark \(key)")
        context.insert(mark)
        marks[key] = mark
        now.marks[key] = mark.name
    }

    // MARK: - Changes

    private func changeItem() {
        guard let (key, item) = pick(items) else { return }
        note("change item \(key)")
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            item.title += "!"
            now.items[key]?.title += "!"
        case 1:
            item.weight = Bool.random(using: &random) ? 0.5 : nil
            now.items[key]?.weight = item.weight
        default:
            item.packed = date()
            now.items[key]?.packed = item.packed
        }
    }

    private func changeBox() {
        guard let (key, box) = pick(boxes) else { return }
        note("change box \(key)")
        box.label = "label \(made)"
        now.boxes[key]?.label = box.label
    }

    private func moveItem() {
        guard let (key, item) = pick(items) else { return }
        let box = Bool.random(using: &random) ? pick(boxes) : nil
        note("move item \(key) to \(box.map { "\($0.0)" } ?? "-")")
        item.box = box?.1
        now.items[key]?.box = box?.0
    }

    private func fillBox() {
        guard let (key, box) = pick(boxes) else { return }
        let chosen = some(items.keys, 4)
        note("box \(key) has \(chosen)")
        box.items = chosen.compactMap { items[$0] }
        for item in now.items.keys where now.items[item]?.box == key { now.items[item]?.box = nil }
        for item in chosen { now.items[item]?.box = key }
    }

    private func markItem() {
        guard let (key, item) = pick(items) else { return }
        let chosen = some(marks.keys, 3)
        note("item \(key) is marked \(chosen)")
        item.marks = chosen.compactMap { marks[$0] }
        now.items[key]?.marks = Set(chosen)
    }

    private func fillMark() {
        guard let (key, mark) = pick(marks) else { return }
        let chosen = some(items.keys, 4)
        note("mark \(key) has \(chosen)")
        mark.items = chosen.compactMap { items[$0] }
        for item in now.items.keys { now.items[item]?.marks.remove(key) }
        for item in chosen { now.items[item]?.marks.insert(key) }
    }

    // MARK: - Deletions

    private func deleteItem() {
        guard let (key, item) = pick(items) else { return }
        note("delete item \(key)")
        context.delete(item)
        now.items[key] = nil
        items[key] = nil
    }

    private func deleteBox() {
        guard let (key, box) = pick(boxes) else { return }
        note("delete box \(key)")
        context.delete(box)
        now.deleteBox(key)
        boxes[key] = nil
        items = items.filter { now.items[$0.key] != nil }
    }

    private func deleteMark() {
        guard let (key, mark) = pick(marks) else { return }
        note("delete mark \(key)")
        context.delete(mark)
        now.deleteMark(key)
        marks[key] = nil
    }

    private func deleteByPredicate() throws {
        note("delete light items")
        try context.delete(model: Item.self, where: #Predicate { ($0.weight ?? 10) < 1 })
        now.items = now.items.filter { ($0.value.weight ?? 10) >= 1 }
        items = items.filter { now.items[$0.key] != nil }
    }

    // MARK: - Saves

    private func save() throws {
        note("save")
        try context.save()
        now.uniteBoxes()
        saved = now
        try takeModels(context)
        if made.isMultiple(of: 3) { try compare(ModelContext(container), saved) }
    }

    private func rollback() throws {
        note("rollback")
        context.rollback()
        now = saved
        try takeModels(context)
        try compare(context, now)
    }

    private func reopen() throws {
        note("reopen")
        now = saved
        (boxes, items, marks) = ([:], [:], [:])
        container = try Self.open(url, place)
        context = ModelContext(container)
        try takeModels(context)
        try compare(context, now)
    }

    private func takeModels(_ context: ModelContext) throws {
        let numbers = Dictionary(now.boxes.map { ($1.key, $0) }) { first, _ in first }
        boxes = try Dictionary(
            uniqueKeysWithValues: context.all(Box.self).compactMap { box in
                numbers[box.key].map { ($0, box) }
            })
        items = try Dictionary(uniqueKeysWithValues: context.all(Item.self).map { ($0.key, $0) })
        marks = try Dictionary(uniqueKeysWithValues: context.all(Mark.self).map { ($0.key, $0) })
    }

    // MARK: - Comparing

    private func compare(_ context: ModelContext, _ contents: WarehouseContents) throws {
        comparisons += 1
        try differ(try context.warehouseLines(), contents.lines)
    }

    private func differ(_ found: Set<String>, _ expected: Set<String>) throws {
        guard found != expected else { return }
        let (more, less) = (found.subtracting(expected).sorted(), expected.subtracting(found).sorted())
        throw Difference(
            description: "found \(more.prefix(3)), expected \(less.prefix(3)) after:\n"
                + log.suffix(30).joined(separator: "\n"))
    }

    /// Both ends of each relationship stand in the file, read by Foundation's own reader.
    private func compareEnds() throws {
        let objects = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [[String: Any]] ?? []
        func key(_ id: Any?) -> String? {
            ((id as? [String: Any])?["implementation"] as? [String: Any])?["primaryKey"] as? String
        }
        func pairs(_ name: String, _ isForward: Bool) -> Set<String> {
            Set(
                objects.flatMap { object -> [String] in
                    let own = key(object["persistentIdentifier"]) ?? ""
                    let others = (object[name] as? [Any] ?? [object[name] as Any]).compactMap(key)
                    return others.map { isForward ? "\(own) \($0)" : "\($0) \(own)" }
                })
        }
        let (boxed, marked) = (pairs("box", true), pairs("marks", true))
        let filled = Set(
            objects.filter { $0["code"] != nil }.flatMap { box -> [String] in
                (box["items"] as? [Any] ?? []).compactMap(key).map { "\($0) \(key(box["persistentIdentifier"]) ?? "")" }
            })
        let held = pairs("items", false).subtracting(filled)
        try differ(boxed, filled)
        try differ(marked, held)
    }

    /// The file, read by SQLite's own shell.
    private func compareFile() throws {
        let sql = """
            SELECT 'item ' || i.ZKEY || ' ' || i.ZTITLE || ' ' || IFNULL(b.ZKEY, '-') FROM ZITEM i
            LEFT JOIN ZBOX b ON b.Z_PK = i.ZBOX
            UNION ALL SELECT 'box ' || ZKEY || ' ' || ZCODE || ' ' || IFNULL(ZLABEL, '-') FROM ZBOX
            UNION ALL SELECT 'mark ' || ZKEY || ' ' || ZNAME FROM ZMARK
            """
        let found = Set(try SQLiteShell.run(url.path, sql).split(separator: "\n").map(String.init))
        let items = saved.items.map { key, item in
            "item \(key) \(item.title) \(item.box.flatMap { saved.boxes[$0]?.key }.map { "\($0)" } ?? "-")"
        }
        let boxes = saved.boxes.values.map { "box \($0.key) \($0.code) \($0.label ?? "-")" }
        try differ(found, Set(items + boxes + saved.marks.map { "mark \($0.key) \($0.value)" }))
    }
}
