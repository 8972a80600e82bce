import Foundation
import MoultData

/// The models of the group "models": those of the group "objects", as an app declares them.
enum ModelsData {
    @Model final class Item {
        #Index<Item>([\.createdAt], [\.title])
        var amount: Decimal
        var count: Int32
        var createdAt: Date
        var identifier: UUID
        var isDone: Bool
        var note: String?
        var payload: Data
        var price: Double
        var rank: Int16
        var title: String
        var owner: Owner?

        init(_ values: ItemValues, owner: Owner?) {
            amount = values.amount
            count = values.count
            createdAt = values.createdAt
            identifier = values.identifier
            isDone = values.isDone
            note = values.note
            payload = values.payload
            price = values.price
            rank = values.rank
            title = values.title
            self.owner = owner
        }
    }

    @Model final class Owner {
        var name: String
        @Relationship(inverse: \Item.owner) var items: [Item] = []

        init(name: String) { self.name = name }
    }

    @Model final class School {
        var name: String
        @Relationship(inverse: \Student.school) var students: [Student] = []

        init(name: String) { self.name = name }
    }

    @Model final class Course {
        var name: String
        @Relationship(inverse: \Student.courses) var students: [Student] = []

        init(name: String) { self.name = name }
    }

    @Model final class Student {
        var name: String
        var age: Int
        var school: School?
        var courses: [Course] = []

        init(name: String, age: Int) { (self.name, self.age) = (name, age) }
    }

    /// What one item is made of; the same that ``ObjectsData`` gives.
    struct ItemValues {
        let amount: Decimal
        let count: Int32
        let createdAt: Date
        let identifier: UUID
        let isDone: Bool
        let note: String?
        let payload: Data
        let price: Double
        let rank: Int16
        let title: String

        init(_ row: Int) {
            let bytes = withUnsafeBytes(of: UInt64(row).littleEndian) { Array($0) }
            amount = Decimal(row * 7919 % 1_000_000) + Decimal(row % 100) / 100
            count = Int32(row)
            createdAt = Date(
                timeIntervalSinceReferenceDate: Double(row * 104_729 % 1_000_000_000)
                    + (row.isMultiple(of: 2) ? 0 : 0.5))
            identifier = (bytes + bytes).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            isDone = row.isMultiple(of: 2)
            note = row.isMultiple(of: 3) ? nil : "A note of some words about item \(row)"
            payload = Data(bytes + bytes + bytes + bytes + bytes)
            price = Double(row * 31 % 1_000_000) / 7
            rank = Int16(row % 1000)
            title = ObjectsData.title(row)
        }
    }

    static func container(at path: String) throws -> ModelContainer {
        try ModelContainer(for: Item.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
    }

    /// A store with the owners and no items.
    static func makeStore(at path: String) throws {
        let context = ModelContext(try container(at: path))
        for owner in 0..<ObjectsData.owners {
            context.insert(Owner(name: "owner \(1000 + owner)"))
            // One by one, so that their keys are in the order of their names.
            try context.save()
        }
    }
}
