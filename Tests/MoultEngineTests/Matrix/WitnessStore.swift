import Foundation
import TestSupport

/// The objects of a store as `Tests/Witness/dump.py` reads them, which shares no code with Moult.
struct WitnessStore: Equatable {
    typealias Object = [String: String]
    /// By entity and key.
    var objects: [String: [Int: Object]] = [:]

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// - Parameter model: a file for a store without a model cache.
    init(_ path: String, model: String? = nil) throws {
        for line in try Witness.lines(of: path, model: model) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count >= 2, let key = Int(words[1]) else { throw Failure(description: "strange line: \(line)") }
            var object: Object = [:]
            for word in words.dropFirst(2) {
                guard let mark = word.firstIndex(of: "=") else { continue }
                object[String(word[..<mark])] = String(word[word.index(after: mark)...])
            }
            objects[String(words[0]), default: [:]][key] = object
        }
    }
}

extension WitnessStore {
    var keys: [String: Set<Int>] { objects.mapValues { Set($0.keys) } }

    /// Every object with its links, each written as the attributes of the object it leads to, in an order that does
    /// not depend on keys.
    var withoutKeys: [String] {
        let all = objects.flatMap { entity, objects in objects.map { (entity, $0.key, $0.value) } }
        let signatures = Dictionary(
            uniqueKeysWithValues: all.map { entity, key, object in
                ("\(entity)/\(key)", "\(entity){\(Self.text(object.filter { !Self.isLink($0.value) }))}")
            })
        return all.map { entity, _, object in
            let links = object.filter { Self.isLink($0.value) }.mapValues { value in
                value.dropFirst(2).split(separator: ",").map { signatures[String($0)] ?? "?" }.sorted().joined()
            }
            return "\(entity) \(Self.text(object.filter { !Self.isLink($0.value) })) \(Self.text(links))"
        }.sorted()
    }

    private static func isLink(_ value: String) -> Bool { value.hasPrefix("o:") || value.hasPrefix("m:") }

    private static func text(_ values: [String: String]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
