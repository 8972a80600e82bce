import MoultModel

@testable import MoultObjects

/// What a kitchen store should hold, kept in plain dictionaries: the witness of random saves.
///
/// Objects are numbers; each relationship is kept once, from one end.
struct KitchenWorld {
    var kinds: [Int: String] = [:]
    var texts: [Int: String] = [:]
    var ingredientsOf: [Int: [Int]] = [:]
    var tagsOf: [Int: [Int]] = [:]
    var cookOf: [Int: Int] = [:]
    var chiefOf: [Int: Int] = [:]
    var partOf: [Int: Int] = [:]
    var favouriteOf: [Int: Int] = [:]
    var notesOf: [Int: [Int]] = [:]
    var goesWith: [Int: Set<Int>] = [:]

    func all(_ kind: String) -> [Int] {
        kinds.filter { $0.value == kind || (kind == "Dish" && $0.value == "Soup") }.keys.sorted()
    }

    static let textName = ["Dish": "title", "Soup": "title", "Ingredient": "name", "Cook": "name", "Tag": "label"]

    enum Value: Equatable {
        case text(String?)
        case one(Int?)
        case ordered([Int])
        case unordered(Set<Int>)
    }

    /// Every property of an object that the world knows, from both ends.
    func values(of object: Int) -> [String: Value] {
        let kind = kinds[object] ?? ""
        var values: [String: Value] = [:]
        if let name = Self.textName[kind] { values[name] = .text(texts[object]) }
        switch kind {
        case "Dish", "Soup":
            values["ingredients"] = .ordered(ingredientsOf[object] ?? [])
            values["tags"] = .ordered(tagsOf[object] ?? [])
            values["cook"] = .one(cookOf[object])
            values["goesWith"] = .unordered(goesWith[object] ?? [])
        case "Ingredient":
            values["dish"] = .one(ingredientsOf.first { $0.value.contains(object) }?.key)
            values["partOf"] = .one(partOf[object])
            values["parts"] = .unordered(Set(partOf.filter { $0.value == object }.keys))
        case "Cook":
            values["dishes"] = .unordered(Set(cookOf.filter { $0.value == object }.keys))
            values["kitchen"] = .one(chiefOf.first { $0.value == object }?.key)
            values["favourite"] = .one(favouriteOf[object])
            values["notes"] = .ordered(notesOf[object] ?? [])
        case "Kitchen":
            values["chief"] = .one(chiefOf[object])
        case "Tag":
            values["dishes"] = .unordered(Set(tagsOf.filter { $0.value.contains(object) }.keys))
        default: break
        }
        return values
    }

    mutating func remove(_ object: Int) {
        kinds[object] = nil
        texts[object] = nil
        for path in [\KitchenWorld.ingredientsOf, \.tagsOf, \.notesOf] {
            self[keyPath: path][object] = nil
            self[keyPath: path] = self[keyPath: path].mapValues { $0.filter { $0 != object } }
        }
        for path in [\KitchenWorld.cookOf, \.chiefOf, \.partOf, \.favouriteOf] {
            self[keyPath: path][object] = nil
            self[keyPath: path] = self[keyPath: path].filter { $0.value != object }
        }
        goesWith[object] = nil
        goesWith = goesWith.mapValues { $0.filter { $0 != object } }
    }

    // MARK: - A random change

    mutating func change(_ generator: inout some RandomNumberGenerator, next: Int) {
        let objects = kinds.keys.sorted()
        switch Int.random(in: 0..<(objects.count < 12 ? 2 : 12), using: &generator) {
        case 0, 1, 2:
            let kind = ["Dish", "Soup", "Ingredient", "Ingredient", "Cook", "Kitchen", "Tag"].randomElement(
                using: &generator)
            kinds[next] = kind
            if Self.textName[kind ?? ""] != nil { texts[next] = "text \(next)" }
        case 3:
            if let object = objects.randomElement(using: &generator) { remove(object) }
        case 4:
            let named = objects.filter { texts[$0] != nil }
            if let object = named.randomElement(using: &generator) { texts[object] = "changed \(next)" }
        default:
            relink(&generator)
        }
    }

    private mutating func relink(_ generator: inout some RandomNumberGenerator) {
        let dishes = all("Dish")
        let (ingredients, cooks, tags) = (all("Ingredient"), all("Cook"), all("Tag"))
        guard let dish = dishes.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1:
            guard let member = ingredients.randomElement(using: &generator) else { return }
            ingredientsOf = ingredientsOf.mapValues { $0.filter { $0 != member } }
            let place = Int.random(in: 0...(ingredientsOf[dish] ?? []).count, using: &generator)
            ingredientsOf[dish, default: []].insert(member, at: place)
        case 2:
            tagsOf[dish] = tags.filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator)
        case 3:
            cookOf[dish] = Bool.random(using: &generator) ? cooks.randomElement(using: &generator) : nil
        case 4:
            guard let kitchen = all("Kitchen").randomElement(using: &generator) else { return }
            let chief = Bool.random(using: &generator) ? cooks.randomElement(using: &generator) : nil
            chiefOf = chiefOf.filter { $0.value != chief }
            chiefOf[kitchen] = chief
        case 5:
            guard let other = dishes.randomElement(using: &generator) else { return }
            if goesWith[dish, default: []].insert(other).inserted {
                goesWith[other, default: []].insert(dish)
            } else {
                goesWith[dish]?.remove(other)
                goesWith[other]?.remove(dish)
            }
        case 6:
            guard let one = ingredients.randomElement(using: &generator) else { return }
            partOf[one] = Bool.random(using: &generator) ? ingredients.randomElement(using: &generator) : nil
        default:
            guard let cook = cooks.randomElement(using: &generator) else { return }
            favouriteOf[cook] = tags.randomElement(using: &generator)
            let taken = tags.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
            notesOf = notesOf.mapValues { $0.filter { !taken.contains($0) } }
            notesOf[cook, default: []] += taken.shuffled(using: &generator)
        }
    }
}
