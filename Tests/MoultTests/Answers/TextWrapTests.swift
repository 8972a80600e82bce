import Moult
import Testing

@Suite("Text at the width of a terminal")
struct TextWrapTests {
    @Test(arguments: [20, 33, 40, 79])
    func `lines break at words, and none is longer than the width`(width: Int) {
        let text =
            "  • ZPOST is altered in place: adds Z5_AUTHOR and ZEDITEDAT, renames ZTHREAD to ZTOPIC. Größe, 漢字 and emoji."
        let lines = TextWrap(width: width).lines(text)
        #expect(lines.count > 1)
        #expect(lines.allSatisfy { $0.columns <= width }, "\(lines)")
        #expect(lines.flatMap { $0.split(separator: " ") } == text.split(separator: " "))
        // What follows stands below the text, not below the mark.
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("    ") && !$0.hasPrefix("     ") }, "\(lines)")
    }

    @Test func `a line that fits, and a word that never can, stay as they are`() {
        #expect(TextWrap(width: 10).lines("1234567890") == ["1234567890"])
        #expect(TextWrap(width: 10).lines("") == [""])
        #expect(TextWrap(width: 10).lines("a 12345678901234 b") == ["a", "12345678901234", "b"])
    }

    @Test(arguments: [
        "moult migrate forum.sqlite --model Forum.xcdatamodeld", "moult rollback app.sqlite --to 'Forum 2'",
        "moult backup restore my/store.sqlite 20261128T040118Z-Forum-1", "moult plan 'a b.sqlite' --json",
    ])
    func `a command is never broken, because it is copied`(command: String) {
        for width in 10...60 {
            let lines = TextWrap(width: width).lines("  → Read the sentence and run \(command) as it stands here.")
            #expect(lines.contains { $0.contains(command) }, "\(width): \(lines)")
        }
        let ended = TextWrap(width: 24).lines("Run moult doctor forum.sqlite. The rest is prose that goes on.")
        #expect(ended.count > 1 && ended.allSatisfy { $0.count <= 30 }, "\(ended)")
    }

    @Test func `colours do not count`() {
        let style = TextStyle(hasColour: true, width: 20)
        let text = (1...9).map { style.red("word\($0)") }.joined(separator: " ")
        #expect(TextWrap(width: 20).lines(text).map { $0.split(separator: " ").count } == [3, 3, 3])
    }

    @Test func `a table that is too wide continues its last column, or becomes a list`() {
        var table = TextTable([.left("name"), .left("help")])
        table.add("--model PATH", "The model, or a folder of versions, or a store.")
        table.add("--json", "Short.")
        #expect(
            table.lines(style: TextStyle(hasColour: false, width: 34)) == [
                "name          help", "--model PATH  The model, or a", "              folder of versions,",
                "              or a store.", "--json        Short.",
            ])
        #expect(
            table.lines(style: TextStyle(hasColour: false, width: 24)) == [
                "name  --model PATH", "help  The model, or a", "      folder of", "      versions, or a",
                "      store.", "",
                "name  --json", "help  Short.",
            ])
        #expect(table.lines().count == 3)
        var runs = TextTable([.left("started"), .left("backup")])
        runs.add("2026-11-28", "20261128T040118Z-Forum-1")
        #expect(
            runs.lines(style: TextStyle(hasColour: false, width: 34)) == [
                "started  2026-11-28", "backup   20261128T040118Z-Forum-1",
            ])
    }
}
