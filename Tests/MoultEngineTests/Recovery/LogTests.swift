import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import TestSupport
import Testing

@Suite("The log of a store")
struct LogTests {
    @Test func `a name with control characters does not steer the terminal of who reads the log`() throws {
        let fixture = try EngineFixture(rows: 1)
        let sidecar = StoreRecords(store: try POSIXSystem().resolve(fixture.store))
        try sidecar.make(POSIXSystem())
        let name = "Item\u{1B}[2J\u{9B}31m\u{202E}\r\nnext"
        MigrationLog(sidecar).append("Values of \(name) are deleted.")
        MigrationLog(sidecar).append(
            "It failed: ", MigrationError(.usage, "No \(name).", place: name, remedy: "Rename \(name)."))
        let text = try String(contentsOfFile: sidecar.log, encoding: .utf8)
        let steering = text.unicodeScalars.filter {
            ($0.value < 0x20 || (0x7F...0x9F).contains($0.value)) && $0 != "\n"
        }
        #expect(steering.isEmpty && !text.contains("\u{202E}"), "\(text.debugDescription)")
        #expect(text.contains("Item\\u{1B}[2J") && text.split(separator: "\n").count == 2, "\(text.debugDescription)")
    }
}
