import Foundation
import MoultData

/// The models of the random operations. A key tells objects apart in the reference; nothing makes it unique.
enum Warehouse: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Box.self, Item.self, Mark.self] }

    @Model final class Box {
        var key: Int
        @Attribute(.unique) var code: String
        var label: String?
        @Relationship(deleteRule: .cascade, inverse: \Item.box) var items: [Item] = []

        init(key: Int, code: String, label: String?) {
            self.key = key
            self.code = code
            self.label = label
        }
    }

    @Model final class Item {
        var key: Int
        var title: String
        var weight: Double?
        var packed: Date
        var box: Box?
        var marks: [Mark] = []

        init(key: Int, title: String, weight: Double?, packed: Date, box: Box?) {
            self.key = key
            self.title = title
            self.weight = weight
            self.packed = packed
            self.box = box
        }
    }

    @Model final class Mark {
        var key: Int
        var name: String
        var items: [Item] = []

        init(key: Int, name: String) {
            self.key = key
            self.name = name
        }
    }
}

/// What the store should hold, as plain values.
struct WarehouseContents: Equatable {
    struct Box: Equatable {
        var key: Int
        var code: String
        var label: String?
    }

    struct Item: Equatable {
        var title: String
        var weight: Double?
        var packed: Date
        /// The place of its box in `boxes`.
        var box: Int?
        var marks: Set<Int>
    }

    /// By the order in which they were made, which is no property of theirs.
    var boxes: [Int: Box] = [:]
    var items: [Int: Item] = [:]
    var marks: [Int: String] = [:]

    mutating func deleteBox(_ number: Int) {
        boxes[number] = nil
        items = items.filter { $0.value.box != number }
    }

    mutating func deleteMark(_ key: Int) {
        marks[key] = nil
        for item in items.keys { items[item]?.marks.remove(key) }
    }

    /// What a save makes of boxes with the same code: the first stays, with the values of the last.
    mutating func uniteBoxes() {
        for (_, same) in Dictionary(grouping: boxes.keys, by: { boxes[$0]?.code ?? "" }) where same.count > 1 {
            let numbers = same.sorted()
            let (first, last) = (numbers[0], numbers[numbers.count - 1])
            boxes[first] = boxes[last]
            for other in numbers.dropFirst() {
                boxes[other] = nil
                for item in items.keys where items[item]?.box == other { items[item]?.box = first }
            }
        }
    }

    /// A line for each object, relationships by key from either end.
    var lines: Set<String> {
        var lines: Set<String> = []
        for (number, box) in boxes {
            let own = items.filter { $0.value.box == number }.keys.sorted()
            lines.insert("box \(box.key) \(box.code) \(box.label ?? "-") \(own)")
        }
        for (key, item) in items {
            let box = item.box.flatMap { boxes[$0]?.key }.map { "\($0)" } ?? "-"
            let weight = item.weight.map { "\($0)" } ?? "-"
            lines.insert(
                "item \(key) \(item.title) \(weight) \(item.packed.timeIntervalSinceReferenceDate) \(box) "
                    + "\(item.marks.sorted())")
        }
        for (key, name) in marks {
            let own = items.filter { $0.value.marks.contains(key) }.keys.sorted()
            lines.insert("mark \(key) \(name) \(own)")
        }
        return lines
    }
}

extension ModelContext {
    /// The same lines, of what the context shows.
    func warehouseLines() throws -> Set<String> {
        var lines: Set<String> = []
        for box in try all(Warehouse.Box.self) {
            lines.insert("box \(box.key) \(box.code) \(box.label ?? "-") \(box.items.map(\.key).sorted())")
        }
        for item in try all(Warehouse.Item.self) {
            let (box, weight) = (item.box.map { "\($0.key)" } ?? "-", item.weight.map { "\($0)" } ?? "-")
            lines.insert(
                "item \(item.key) \(item.title) \(weight) \(item.packed.timeIntervalSinceReferenceDate) \(box) "
                    + "\(item.marks.map(\.key).sorted())")
        }
        for mark in try all(Warehouse.Mark.self) {
            lines.insert("mark \(mark.key) \(mark.name) \(mark.items.map(\.key).sorted())")
        }
        return lines
    }
}
