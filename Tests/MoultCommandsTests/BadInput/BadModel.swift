import Foundation
import MoultModel
import MoultModelFiles
import TestSupport
import Testing

/// A model that cannot be used: what it is, and what is said of it.
struct BadModel: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var code = "modelInvalid"
    let says: String
    /// Makes it beside the example model; returns what `--model` names.
    let make: @Sendable (_ folder: String) throws -> String

    static let all =
        [
            BadModel(testDescription: "a missing path", code: "fileNotFound", says: "nothing at the model's path") {
                _ in
                "Missing.xcdatamodeld"
            },
            BadModel(testDescription: "a folder without models", code: "modelNotFound", says: "no version") { folder in
                try FileManager.default.createDirectory(atPath: folder + "/empty", withIntermediateDirectories: false)
                return "empty"
            },
            BadModel(testDescription: "a file of another kind", code: "modelNotFound", says: "not a model") { folder in
                try Data("text".utf8).write(to: URL(fileURLWithPath: folder + "/notes.txt"))
                return "notes.txt"
            },
            xml("XML that does not parse", says: "not a well-formed", "</model>", with: "</modal>"),
            xml("XML that is cut", says: "it ends inside", "    <entity name=\"User\"", with: "<!--", andCut: true),
            xml(
                "an inverse that names another", says: "inverse", "inverseName=\"threads\"",
                with: "inverseName=\"parent\""),
            xml(
                "an inverse that is not there", says: "is not a relationship of", "inverseName=\"subforums\"",
                with: "inverseName=\"children\""),
            xml(
                "an unknown parent", says: "is not in the model", "<entity name=\"User\"",
                with: "<entity name=\"User\" parentEntity=\"Person\""),
            xml(
                "an entity above itself", says: "its own ancestor", "<entity name=\"User\"",
                with: "<entity name=\"User\" parentEntity=\"User\""),
            xml("an unknown type", says: "Integer 31", "Integer 32", with: "Integer 31"),
        ] + [
            mom("a .mom that is cut", says: "damaged") { $0.prefix($0.count / 2) },
            mom("a .mom of zeros", says: "neither binary nor") { Array(repeating: 0, count: $0.count)[...] },
            mom("a .mom that is no model", says: "no managed object model") { bytes in
                // The same length, so that the archive stays sound.
                String(decoding: bytes, as: UTF8.self).contains("NSEntities") ? replaced(bytes)[...] : []
            },
        ]

    private static func replaced(_ bytes: [UInt8]) -> [UInt8] {
        let (old, new) = (Array("NSEntities".utf8), Array("NSSomething".utf8.prefix(10)))
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: old) }) else { return [] }
        return Array(bytes[..<place] + new + bytes[(place + old.count)...])
    }

    /// The example model with a text of its last version replaced, and all behind that left out where it is cut.
    private static func xml(
        _ name: String, says: String, _ old: String, with new: String, andCut isCut: Bool = false
    ) -> BadModel {
        BadModel(testDescription: name, says: says) { folder in
            let path = folder + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let range = try #require(text.range(of: old))
            let changed = text.replacingCharacters(in: range, with: new)
            try (isCut ? String(text[..<range.lowerBound]) : changed).write(
                toFile: path, atomically: true, encoding: .utf8)
            return "Forum.xcdatamodeld"
        }
    }

    private static func mom(
        _ name: String, says: String, _ change: @escaping @Sendable ([UInt8]) -> ArraySlice<UInt8>
    ) -> BadModel {
        BadModel(
            testDescription: name, code: says.contains("no managed") ? "modelInvalid" : "propertyListInvalid",
            says: says
        ) { folder in
            let versions = try ModelVersions(contentsOf: folder + "/Forum.xcdatamodeld")
            let compiled = try #require(versions.versions.first).model.compiled()
            try Data(change(compiled)).write(to: URL(fileURLWithPath: folder + "/Forum.mom"))
            return "Forum.mom"
        }
    }
}
