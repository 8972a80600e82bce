import Moult
import MoultBasics
import MoultModel
import Testing

@Suite struct StoreRequestTests {
    @Test func `a request that was kept asks the same`() throws {
        var request = StoreRequest(
            "a folder/app.sqlite", to: "V2", .migrateInto("new.sqlite"),
            models: StoreRequest.Models(path: "App.xcdatamodeld", order: ["V1", "V2"], mappings: ["a.cdm"]))
        request.options.acceptedLosses = ["Note.text"]
        request.options.budget = .milliseconds(250)
        let kept = try StoreRequest(
            try JSONValue(parsing: Array(try request.document.compact.utf8), place: "", code: .usage), place: "record")
        #expect(kept == request)
        for losses in [AcceptedLosses.all, .none] {
            request.options.acceptedLosses = losses
            #expect(try StoreRequest(try request.document, place: "record") == request)
        }
    }

    @Test func `options that an older record does not name have their defaults`() throws {
        let json = #"{"store": "app.sqlite", "work": {"migrate": {}}, "options": {"allowsCloudKit": true}}"#
        let document = try JSONValue(parsing: Array(json.utf8), place: "record", code: .metadataInvalid)
        let request = try StoreRequest(document, place: "record")
        var options = RunOptions()
        options.allowsCloudKit = true
        #expect(request == StoreRequest("app.sqlite", .migrate, options))
        let wrong = try JSONValue(parsing: Array(#"{"store": 1}"#.utf8), place: "record", code: .metadataInvalid)
        let error = #expect(throws: MigrationError.self) { try StoreRequest(wrong, place: "record") }
        #expect(error?.code == .metadataInvalid && error?.place == "record")
    }

    @Test func `options that exclude each other are refused in pairs`() {
        func conflict(_ work: StoreRequest.Work = .migrate, _ change: (inout RunOptions) -> Void) -> [String] {
            var options = RunOptions()
            change(&options)
            return StoreRequest("app.sqlite", work, options).conflict.map { [$0.0, $0.1] } ?? []
        }
        #expect(conflict { $0.budget = .seconds(1) } == [])
        #expect(conflict { ($0.budget, $0.isInPlace) = (.seconds(1), true) } == ["budget", "isInPlace"])
        #expect(conflict(.migrateInto("b")) { $0.budget = .seconds(1) } == ["budget", "into"])
        #expect(conflict(.migrateInto("b")) { $0.stopsAtEachVersion = true } == ["into", "stopsAtEachVersion"])
        #expect(conflict { ($0.isInPlace, $0.normalises) = (true, true) } == ["isInPlace", "normalises"])
    }

    @Test func `a budget that a program gives wrongly ends no process`() {
        #expect(RunOptions.budget(seconds: .nan) == .zero)
        #expect(RunOptions.budget(seconds: 1e300) == RunOptions.budget(seconds: .infinity))
        #expect(RunOptions.budget(seconds: -.infinity) < .zero)
        #expect(RunOptions.budget(seconds: 0.25) == .milliseconds(250))
    }
}
