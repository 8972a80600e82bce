import Foundation
import TestSupport

/// The objects of a store as `Tests/Witness/dump.py` reads them, which shares no code with Moult.
struct WitnessStore: Equatable {
    typealias Object = [String: String]
    /// By entity and key.
    var objects: [String: [Int: Object]] = [:]

    struct Failure: Error, CustomStringConvertible { let description: String }

    init(_ path: String) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Witness/dump.py").path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script, path]
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: complaint) }
        for line in text.split(separator: "\n") {
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
