import Foundation
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore
import TestSupport
import Testing

/// The rules that the engine's tests run on ``BrokenForum/smallRows``.
enum ForumRules {
    static func homeless(_ fix: ValidationRule.Fix? = .quarantine) -> ValidationRule {
        ValidationRule(
            "homeless", of: "Topic", .orphan(relationship: "forum"), sentence: "A topic is in no forum.", fix: fix,
            when: [.before, .after])
    }

    static let count = ValidationRule(
        "count", .warning, of: "Forum", .count(attribute: "postCount", equalsCountOf: "topics"), fix: .recount)
    static let ring = ValidationRule(
        "ring", of: "Forum", .noCycle(relationship: "parent"), fix: .nullify(relationship: "parent"))

    static var version: ModelVersion { get throws { try BrokenForum.versions().versions[0] } }
}

extension BrokenForum {
    /// A closed store of ``smallRows``.
    static func closed(_ rows: String = smallRows, history: Bool = false) throws -> BrokenForum {
        let forum = try BrokenForum(rows, history: history)
        forum.close()
        return forum
    }

    var sidecar: StoreRecords { StoreRecords(store: path) }

    func quarantined() throws -> [QuarantineEntry] {
        var entries: [QuarantineEntry] = []
        try Quarantine(sidecar).forEachEntry { entries.append($0) }
        return entries
    }

    /// The shell's hash over all rows of all tables.
    func logicalHash() throws -> String { try shell(".sha3sum --schema") }

    /// Every file of the store's folder with its bytes.
    func files() throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try names.reduce(into: [:]) { files, name in
            var isFolder: ObjCBool = false
            let path = folder.path + "/" + name
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                return
            }
            files[name] = try Data(contentsOf: URL(fileURLWithPath: path))
        }
    }
}
