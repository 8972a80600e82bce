import Foundation
import MoultBasics
import MoultModel
import Synchronization

/// `Tests/Witness/dump.py`, which reads stores without any of Moult's code.
package enum Witness {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Witness").standardizedFileURL.path

    fileprivate static let script = folder + "/dump.py"

    private static let idle = Mutex<[Session]>([])

    /// What it prints of a store: a line for each object. `model` is a file for a store without a model cache.
    ///
    /// Sessions stay for those who ask next, where starting one for each store would take longest.
    package static func lines(of store: String, model: String? = nil) throws -> [String] {
        let session = try idle.withLock { $0.popLast() } ?? Session()
        let lines = try session.lines(of: store, model: model)
        idle.withLock { $0.append(session) }
        return lines
    }
}

extension Witness {
    /// A witness that stays and reads store after store, for one caller at a time.
    private final class Session: @unchecked Sendable {
        private let process: ChildProcess

        init() throws {
            process = try ChildProcess("python3", [Witness.script, "-"], output: .readOutputOnly, feeds: true)
        }

        func lines(of store: String, model: String?) throws -> [String] {
            let question = store + (model.map { "\t" + $0 } ?? "") + "\n"
            try process.write(question)
            var text: [UInt8] = []
            while text != Array("\n".utf8), !text.suffix(2).elementsEqual("\n\n".utf8) {
                let bytes = process.readSome()
                guard !bytes.isEmpty else { throw Failure(description: "\(store): the witness has gone") }
                text += bytes
            }
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
            if let complaint = lines.last, complaint.hasPrefix("! ") {
                throw Failure(description: "\(store): \(complaint)")
            }
            return lines
        }
    }
}

extension AttributeValue {
    /// The value as the witness prints it.
    package var witnessText: String {
        func bits(_ number: Double) -> String {
            let digits = String(number.bitPattern, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return switch self {
        case .integer(let number): "i:\(number)"
        case .boolean(let truth): "b:\(truth ? 1 : 0)"
        case .double(let number): "f:\(bits(number))"
        case .date(let seconds): "d:\(bits(seconds))"
        case .decimal(let digits): "n:\(digits)"
        case .string(let text): "s:\(Array(text.utf8).hexadecimal)"
        case .uri(let text): "u:\(Array(text.utf8).hexadecimal)"
        case .uuid(let bytes): "U:\(bytes.hexadecimal)"
        case .binary(let bytes), .transformable(let bytes): "x:\(bytes.hexadecimal)"
        }
    }
}

extension ManagedObjectModel {
    /// The model as the witness reads it for a store that carries none: every entity with what it inherits.
    package var witnessText: String {
        let sorted = entities.sorted { superentities(of: $0).count < superentities(of: $1).count }
        var lines = sorted.map { "entity \($0.name) \($0.superentityName ?? "")" }
        for entity in sorted {
            for attribute in attributes(of: entity) where attribute.isStored {
                let external = attribute.allowsExternalBinaryDataStorage ? 1 : 0
                lines.append("attribute \(entity.name) \(attribute.name) \(attribute.type.rawValue) \(external)")
            }
            for relationship in relationships(of: entity) where !relationship.isTransient {
                let flags = [relationship.isToMany, relationship.isOrdered].map { $0 ? "1" : "0" }
                let words = [
                    entity.name, relationship.name, relationship.destinationEntityName, relationship.inverseName ?? "-",
                ]
                lines.append("relationship " + (words + flags).joined(separator: " "))
            }
        }
        return lines.joined(separator: "\n")
    }
}
