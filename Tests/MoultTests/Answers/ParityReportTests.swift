import MoultBasics
import MoultModel
import Testing

@testable import Moult

@Suite("The report of a comparison with Apple's frameworks")
struct ParityReportTests {
    private func report(_ checks: String) throws -> ParityReport {
        let text = """
            {"format":1,"coreData":"Apple's","system":"macOS 15","moult":"moult 0.2.0","checks":[\(checks)],
            "hashes":{"a Set: S":"AAAA"}}
            """
        return try ParityReport(Array(text.utf8), place: "parity.json")
    }

    @Test func `each kind is a row with its sums, and a difference is a row that no text of it can break`() throws {
        let found = try report(
            """
            {"kind":"opens","subject":"A","compared":3,"differences":[]},
            {"kind":"opens","subject":"B","compared":4,"differences":[],"error":"no\\nway"},
            {"kind":"objects","subject":"A","compared":5,"differences":[
            {"kind":"value","place":"E/p1.x","moult":"a|b","apple":"c\\nd"}]}
            """)
        #expect(!found.isEqual)
        #expect(
            found.lines == [
                "Core Data: Apple's, macOS 15. moult 0.2.0.", "",
                "| check | made | compared | equal | differ | could not be made |", "|---|---|---|---|---|---|",
                "| opens | 2 | 7 | 1 | 0 | 1 |", "| objects | 1 | 5 | 0 | 1 | 0 |", "", "**opens: B**", "", "no way",
                "",
                "**objects: A**", "", "| what | where | Moult | Apple |", "|---|---|---|---|",
                "| value | E/p1.x | a\\|b | c d |", "", "| version hash of | Core Data's |", "|---|---|",
                "| a Set: S | `AAAA` |",
            ])
    }

    @Test func `a run that found nothing is equal`() throws {
        #expect(try report("{\"kind\":\"opens\",\"subject\":\"A\",\"compared\":3,\"differences\":[]}").isEqual)
    }

    @Test(arguments: [
        "", "[]", "{\"format\":2,\"checks\":[]}", "{\"format\":1,\"checks\":[]}",
        "{\"format\":1,\"coreData\":\"\",\"system\":\"\",\"moult\":\"\",\"checks\":[{}]}",
    ])
    func `what is no report is refused with its name`(_ text: String) {
        let error = #expect(throws: MigrationError.self) { try ParityReport(Array(text.utf8), place: "parity.json") }
        #expect(error?.code == .usage && error?.place.contains("parity.json") == true)
    }
}
