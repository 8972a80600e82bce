import Foundation
import MoultExport
import TestSupport
import Testing

@Suite("CSV")
struct CSVWriterTests {
    @Test("Python reads every text back, and a formula with an apostrophe in front")
    func texts() throws {
        let texts = ["a", "", "a,b", "say \"x\"", "two\nlines", "=1+2", "+1", "-1", "@x", "\tx", "\rx", "é", "'"]
        for isExact in [true, false] {
            var writer = CSVWriter(isExact: isExact)
            let line = writer.line(texts.map { .text($0) })
            let scratch = try ScratchFolder()
            try Data(line.utf8).write(to: URL(fileURLWithPath: scratch.path + "/a.csv"))
            let program = "import csv, json, sys; print(json.dumps(list(csv.reader(open(sys.argv[1], newline='')))))"
            let printed = try ChildProcess.run("python3", ["-c", program, scratch.path + "/a.csv"])
            let rows = try JSONDecoder().decode([[String]].self, from: Data(printed.output.utf8))
            let expected = texts.map { text in
                !isExact && ["=", "+", "-", "@", "\t", "\r"].contains(where: text.hasPrefix) ? "'" + text : text
            }
            #expect(rows == [expected])
            #expect(writer.guarded == (isExact ? 0 : 6))
        }
    }

    @Test("NULL is empty, an empty text is quoted, numbers are never touched")
    func values() {
        var writer = CSVWriter(isExact: false)
        #expect(
            writer.line([.null, .text(""), .integer(-5), .real(-0.5), .blob([1, 255])]) == ",\"\",-5,-0.5,x'01ff'\n")
        #expect(writer.guarded == 0)
    }
}
