import Foundation
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultStore
import TestSupport

extension OperationRun {
    /// The file by itself: sound for Moult's own validation and SQLite, with the objects that the reference holds for
    /// a reader that shares no code, and no file of external data too many or too few.
    func checkFile() throws {
        let copy = try ScratchFolder()
        let store = try copy.copyStore(path)
        let audit = try StoreAudit(store, model: model, full: true)
        if let finding = audit.findings.first(where: { $0.severity > .note }) {
            throw Mismatch(description: "validation finds \(finding.code) at \(finding.place): \(finding.message)")
        }
        let objects = try witnessed(store)
        let differences = objects.differences(from: stored)
        guard differences.isEmpty else {
            throw Mismatch(description: "witness / reference:\n  " + differences.joined(separator: "\n  "))
        }
    }

    private func witnessed(_ store: String) throws -> Reference {
        let lines = try Witness.lines(of: store).map { $0.split(separator: " ").map(String.init) }
        let all = lines.map { words in
            (
                words[0], words[1],
                Dictionary(
                    words.dropFirst(2).map { word in
                        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                        return (String(parts[0]), String(parts[1]))
                    }, uniquingKeysWith: { first, _ in first })
            )
        }
        func ref(_ fields: [String: String]) -> Int { Int(fields["ref"]?.dropFirst(2) ?? "") ?? 0 }
        let refs = Dictionary(
            all.map { ("\($0.0)/\($0.1)", ref($0.2)) }, uniquingKeysWith: { first, _ in first })
        var result = Reference()
        for (entity, _, fields) in all {
            var record = Reference.Record(entity: entity)
            for attribute in Company.attributes(of: entity) {
                let stored = self.stored.records[ref(fields)]?.values[attribute.name]
                // The text that the witness prints stands for the value.
                let text = fields[attribute.name] ?? ""
                record.values[attribute.name] = text == "-" ? nil : text == stored?.witnessText ? stored : .string(text)
            }
            for link in Company.links(of: entity) {
                let names = (fields[link.name] ?? "-").dropFirst(2).split(separator: ",").map(String.init)
                record.links[link.name] = names.map { refs[$0] ?? 0 }
            }
            result.records[ref(fields)] = record
        }
        return result
    }
}
