import Foundation
import MoultCare
import MoultEngine
import TestSupport

/// `Tests/Witness/pages.py`, which knows the pages of a sound store, damages copies of it and judges what was salvaged.
final class SalvageWitness {
    struct Judgement: Decodable {
        var faults: [String]
        /// Rows that were there.
        var rows: Int
        var read: Int
        var lost: Int
        /// Rows beside the new store, because their pages may be free.
        var aside: Int
        /// Keys that are named lost and never existed, as a part of what one page can hold.
        var surplus: Double
    }

    private struct Damage: Decodable { var done: [String] }
    private struct Gone: Error {}

    private let process: ChildProcess

    init(_ store: String) throws {
        process = try ChildProcess(
            "python3", [Witness.folder + "/pages.py", store], output: .readOutputOnly, feeds: true)
    }

    /// Writes a damaged copy; returns in words what was done.
    func damage(_ kind: String, seed: Int, to path: String) throws -> String {
        let answer: Damage = try ask(["damage": kind, "seed": seed, "to": path])
        return answer.done.joined(separator: ", ")
    }

    func judge(_ report: SalvageReport) throws -> Judgement {
        func pairs(_ ranges: [ClosedRange<Int64>]) -> [[Int64]] { ranges.map { [$0.lowerBound, $0.upperBound] } }
        let tables = Dictionary(
            report.tables.map { ($0.name, ["lost": pairs($0.lostKeys), "partial": pairs($0.partialKeys)]) }
        ) { first, _ in first }
        // An app's own tables have no place in the new store.
        let isWhole = report.isEverythingRead && report.unplaced.allSatisfy { $0.reason == .table }
        var question: [String: Any] = [
            "check": report.store, "tables": tables, "whole": isWhole, "notes": report.notes,
        ]
        question["aside"] = report.aside
        return try ask(question)
    }

    private func ask<Answer: Decodable>(_ question: [String: Any]) throws -> Answer {
        try process.write(String(decoding: JSONSerialization.data(withJSONObject: question), as: UTF8.self) + "\n")
        var bytes: [UInt8] = []
        while bytes.last != UInt8(ascii: "\n") {
            let some = process.readSome()
            guard !some.isEmpty else { throw Gone() }
            bytes += some
        }
        return try JSONDecoder().decode(Answer.self, from: Data(bytes))
    }
}
