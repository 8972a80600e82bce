import Foundation

enum Cuisine: String, Codable, CaseIterable, Identifiable {
    case italian, swiss, thai, other
    var id: Self { self }
}

enum Difficulty: Int, Codable, Comparable {
    case easy = 1
    case medium, hard
    static func < (lhs: Difficulty, rhs: Difficulty) -> Bool { lhs.rawValue < rhs.rawValue }
}

struct Nutrition: Codable, Hashable {
    var calories: Int = 0
    var protein: Double = 0
    var isVegan = false
}

struct Timing: Codable, Equatable {
    var preparation: TimeInterval
    var cooking: TimeInterval
    var resting: TimeInterval?
    var total: TimeInterval { preparation + cooking + (resting ?? 0) }
}

struct Step: Codable, Hashable, Identifiable {
    var id = UUID()
    var text: String
    var minutes: Int?
}

enum Unit: String, Codable, CaseIterable { case gram, milliliter, piece }

struct Amount: Codable, Hashable, CustomStringConvertible {
    var value: Double
    var unit: Unit
    var description: String { "\(value.formatted()) \(unit.rawValue)" }
    static func * (lhs: Amount, rhs: Double) -> Amount { Amount(value: lhs.value * rhs, unit: lhs.unit) }
}

enum Contact: Codable, Equatable {
    case phone(String)
    case post(street: String, city: String)
    case none
}
