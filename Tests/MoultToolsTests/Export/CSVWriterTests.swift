import Foundation
import MoultTools
import TestSupport
import Testing

@Suite("CSV")
struct CSVWriterTests {
    @Test func `Python reads every text back, and a formula with an apostrophe in front`() throws {
        let plain = ["a", "", "a,b", "say \"x\"", "two\nlines", "é", "'", "''", "'a", " =1", "a=1", "x\r\ny"]
        let formulas = [
            "=1+2", "+1", "-1", "@x", "\tx", "\rx", "\nx", "\r\nx", "=\u{301}", "\u{FF1D}1", "\u{FF0B}1", "\u{FF0D}1",
            "\u{FF20}1", "'=1", "''-1", "=a,\"b\"",
        ]
        for isExact in [true, false] {
            var writer = CSVWriter(isExact: isExact)
            let line = writer.line((plain + formulas).map { .text($0) })
            let scratch = try ScratchFolder()
            try Data(line.utf8).write(to: URL(fileURLWithPath: scratch.path + "/a.csv"))
            let program = "import csv, json, sys; print(json.dumps(list(csv.reader(open(sys.argv[1], newline='')))))"
            let printed = try ChildProcess.run("python3", ["-c", program, scratch.path + "/a.csv"])
            let rows = try JSONDecoder().decode([[String]].self, from: Data(printed.output.utf8))
            #expect(
                rows.map { $0.map { Array($0.utf8) } } == [
                    (plain + formulas.map { isExact ? $0 : "'" + $0 }).map { Array($0.utf8) }
                ])
            #expect(writer.guarded == (isExact ? 0 : formulas.count))
        }
    }

    @Test func `NULL is empty, an empty text is quoted, numbers are never touched`() {
        var writer = CSVWriter(isExact: false)
        #expect(
            writer.line([.null, .text(""), .integer(-5), .real(-0.5), .blob([1, 255])]) == ",\"\",-5,-0.5,x'01ff'\n")
        #expect(writer.guarded == 0)
    }
}
