import CoreData
import Foundation
import SwiftData

extension Comparison {
    /// SwiftData makes a store of the first version, with objects; Moult migrates it to the model inside an empty store of
    /// the second; SwiftData opens it with the second version's types, and finds the objects.
    func swiftData() -> Check {
        attempt(.swiftData, "Voyages") {
            let store = try folder().appendingPathComponent("voyages.store")
            try Self.make(store, Voyages.First.types, Voyages.First.fill)
            let model = try folder().appendingPathComponent("second.store")
            try Self.make(model, Voyages.Second.types) { _ in }
            _ = try moult(["migrate", store.path, "--model", model.path, "--accept-losses"])
            let dumped = try moult(["dump", store.path, "--json"]).split(separator: "\n").map { line in
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            }
            let container = try ModelContainer(
                for: Schema(Voyages.Second.types), configurations: [ModelConfiguration(url: store)])
            let context = ModelContext(container)
            let voyages = try context.fetch(FetchDescriptor<Voyages.Second.Voyage>())
            let legs = try context.fetch(FetchDescriptor<Voyages.Second.Leg>())
            var differences: [Difference] = []
            /// Compares a property of all objects of an entity: as the dump has it, and as SwiftData gives it.
            func compare(_ entity: String, _ property: String, _ theirs: [Any?]) {
                let mine = dumped.filter { $0["entity"] as? String == entity }.map { row in
                    (row["values"] as? [String: Any])?[property]
                }
                let (left, right) = (mine.map(plain).sorted(), theirs.map(plain).sorted())
                guard left != right else { return }
                differences.append(
                    Difference(.value, "\(entity).\(property)", moult: "\(left)", apple: "\(right)"))
            }
            func plain(_ value: Any?) -> String {
                switch value {
                case nil, is NSNull: "NULL"
                // The number of objects at the other end.
                case let list as [Any]: "\(list.count)"
                case .some(let value): "\(StoreObjects.loose(value))"
                }
            }
            compare("Voyage", "code", voyages.map(\.code))
            compare("Voyage", "title", voyages.map(\.title))
            compare("Voyage", "distance", voyages.map(\.distance))
            compare("Voyage", "note", voyages.map(\.note))
            compare("Voyage", "isOver", voyages.map(\.isOver))
            compare("Voyage", "harbour.name", voyages.map(\.harbour.name))
            compare("Voyage", "harbour.longitude", voyages.map(\.harbour.longitude))
            compare("Voyage", "weather.wind", voyages.map(\.weather?.wind))
            compare("Voyage", "weather.text", voyages.map { $0.weather.flatMap(\.text) })
            compare("Voyage", "rating", voyages.map(\.rating.rawValue))
            compare("Voyage", "mood.calm", voyages.map { $0.mood == .calm ? "calm" : nil })
            compare("Voyage", "photo", voyages.map(\.photo))
            compare("Voyage", "legs", voyages.map(\.legs))
            compare("Leg", "number", legs.map(\.number))
            // A dump has the archive of an array: what it holds is what the first version was filled with.
            let tags = voyages.map { Int($0.code.dropFirst()).map { $0 % 4 } }
            for (voyage, count) in zip(voyages, tags) where voyage.tags.count != count {
                differences.append(
                    Difference(.value, "Voyage.tags", moult: "\(count ?? 0) tags", apple: "\(voyage.tags.count) tags"))
            }
            return (differences, dumped.count)
        }
    }

    /// The hashes in a store that SwiftData made, beside those that Moult computes from the model inside it.
    func question(_ store: URL, named name: String) -> (check: Check, hashes: [String: String]) {
        var found: [String: String] = [:]
        let check = attempt(.hashes, "SwiftData: \(name)") {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: store, options: nil)
            let apple = (metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
                .mapValues { $0.base64EncodedString() }
            for (entity, hash) in apple { found["\(name): \(entity)"] = hash }
            let printed = try moult(["hash", store.path, "--json", "--experimental"])
            let document = try JSONSerialization.jsonObject(with: Data(printed.utf8)) as? [String: Any]
            let version = (document?["versions"] as? [String: Any])?.values.first as? [String: Any]
            let mine = version?["entities"] as? [String: String] ?? [:]
            let names = Set(mine.keys).union(apple.keys).sorted()
            return (
                names.filter { mine[$0] != apple[$0] }.map {
                    Difference(.hash, $0, moult: mine[$0] ?? "missing", apple: apple[$0] ?? "missing")
                }, names.count
            )
        }
        return (check, found)
    }

    /// Makes a store of types with SwiftData, and closes it.
    static func make(
        _ store: URL, _ types: [any PersistentModel.Type], _ fill: (ModelContext) -> Void
    ) throws {
        let container = try ModelContainer(for: Schema(types), configurations: [ModelConfiguration(url: store)])
        let context = ModelContext(container)
        fill(context)
        try context.save()
    }
}
