import FieldNotes
import Foundation
import Testing

@Suite struct FieldNotesTests {
    @Test func journal() throws {
        let journal = try Journal()
        let day = Date(timeIntervalSinceReferenceDate: 0)
        try journal.record("Swift", count: 3, at: "Harbour", on: day)
        try journal.record("Swift", count: 4, at: "Harbour", on: day)
        try journal.record("Heron", count: 1, at: "Marsh", on: day)
        #expect(try journal.totals(at: "Harbour") == ["Swift": 7])
    }

    @Test func thermometer() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let thermometer = try Thermometer(url: folder.appendingPathComponent("Thermometer.sqlite"))
        for degrees in [12.5, -3, 7] { try thermometer.note(degrees, at: "Summit") }
        try thermometer.note(30, at: "Beach")
        #expect(try thermometer.readings(at: "Summit") == [-3, 7, 12.5])
    }
}
