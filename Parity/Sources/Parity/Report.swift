import Foundation

/// What a run has found: one JSON file, which `moult parity` turns into a table.
public struct Report: Codable, Sendable {
    public var format = 1
    /// Whose Core Data it was: Apple's, or Moult's own where the comparison is only tried.
    public var coreData: String
    /// The system and its version.
    public var system: String
    /// `moult --version`.
    public var moult: String
    public var checks: [Check] = []
    /// Version hashes that only Core Data knows, in base64, by what they are of.
    public var hashes: [String: String] = [:]

    /// Whether every check was made and found nothing.
    public var isEqual: Bool { checks.allSatisfy(\.isEqual) }

    /// Sorted and indented, so that two reports can be compared as text.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

/// One check of one store.
public struct Check: Codable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Core Data opens the store with its model, without a migration.
        case opens
        /// Core Data's objects are those of `moult dump`.
        case objects
        /// Moult reads what Core Data has saved, and finds the store sound.
        case saves
        /// Core Data migrates the old store to the same tables.
        case migrates
        /// The version hashes are equal.
        case hashes
        /// SwiftData opens the store with its types.
        case swiftData
    }

    public let kind: Kind
    /// The store or the model.
    public let subject: String
    public var differences: [Difference]
    /// How much was compared: objects, rows or entities.
    public var compared: Int
    /// Why the check could not be made.
    public var error: String?

    public var isEqual: Bool { differences.isEmpty && error == nil }
}

/// One thing that the two sides say differently.
public struct Difference: Codable, Sendable, Equatable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case object, value, table, column, index, row, metadata, hash, soundness
    }

    public let kind: Kind
    public let place: String
    public let moult: String
    public let apple: String

    init(_ kind: Kind, _ place: String, moult: String, apple: String) {
        self.kind = kind
        self.place = place
        self.moult = moult
        self.apple = apple
    }
}
