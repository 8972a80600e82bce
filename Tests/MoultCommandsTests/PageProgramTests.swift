import MoultBasics
import MoultCommands
import Testing

@Suite("The program behind moult browse")
struct PageProgramTests {
    @Test(arguments: [
        ("/usr/bin/moult-browse", "moult"), (".build/debug/moult-tool", "moult"), ("/usr/bin/moult", "moult"),
        ("forum-moult", "forum-moult"),
    ])
    func `remedies name the program that a person starts`(path: String, name: String) {
        #expect(Program.typedName(of: path) == name)
    }

    @Test(arguments: [
        (
            "/home/ann/moult/.build/x86_64-unknown-linux-gnu/debug/moult",
            ["debug/moult-browse", "release/moult-browse"], "swift build --package-path /home/ann/moult --product"
        ),
        (
            "/home/ann/moult/.build/x86_64-unknown-linux-gnu/release/moult",
            ["release/moult-browse", "debug/moult-browse"],
            "swift build -c release --package-path /home/ann/moult --product"
        ),
        (
            "/tmp/my builds/arm64-apple-macosx/release/moult", ["release/moult-browse", "debug/moult-browse"],
            "swift build -c release --scratch-path '/tmp/my builds' --product"
        ),
        ("/usr/bin/moult", ["bin/moult-browse"], "It comes with each package"),
        ("/opt/moult/release/moult", ["release/moult-browse"], "It comes with each package"),
        ("/moult", ["/moult-browse"], "It comes with each package"),
    ])
    func `it is looked for next to the program, in the other build, and in PATH; the advice fits the build`(
        program: String, places: [String], advice: String
    ) {
        let page = PageProgram(startedBy: program)
        #expect(page.places.count == places.count + 1 && page.places.last == "moult-browse")
        for (found, expected) in zip(page.places, places) { #expect(found.hasSuffix(expected), "\(found)") }
        #expect(page.remedy.text().contains(advice), "\(page.remedy)")
    }
}
