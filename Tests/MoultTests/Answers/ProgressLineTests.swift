import Moult
import Testing

@Suite("A line of progress")
struct ProgressLineTests {
    let line = ProgressLine(
        phase: "change", fraction: 0.5, rows: 50_000, totalRows: 100_000, elapsed: 4, elapsedOnRows: 2,
        remaining: 3.5)

    @Test func `has rows, rate and time left`() {
        #expect(line.text == "change: 50 %, 50,000 of 100,000 rows, 25,000 rows/s, 3.5 s left")
    }

    @Test func `has a bar that fits the terminal, and none where there is no room`() {
        for columns in 0...200 {
            #expect(line.bar(columns: columns, style: .plain).columns <= max(0, columns - 1))
        }
        #expect(line.bar(columns: 120, style: .plain).contains("███████████████░░░░░░░░░░░░░░░"))
        #expect(!line.bar(columns: 30, style: .plain).contains("█"))
    }

    @Test func `guesses nothing at the beginning, and takes no harm from nonsense`() {
        #expect(
            ProgressLine(phase: "backup", fraction: 0.001, bytes: 5000, elapsed: 3, remaining: 9).text
                == "backup: 0 %, 5.0 kB")
        #expect(ProgressLine(phase: "copy", fraction: 0.5, elapsed: 3).text == "copy: 50 %")
        #expect(ProgressLine(phase: "x", fraction: .nan, elapsed: .infinity).text == "x: 0 %")
        #expect(ProgressLine(phase: "done", fraction: 7, elapsed: 1).text == "done: 100 %")
    }
}
