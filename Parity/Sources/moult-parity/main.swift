import Foundation
import Parity

let usage = """
    Compare the stores that Moult makes with what Core Data and SwiftData make of them.

    Usage: moult-parity --moult PROGRAM --models FOLDER --out REPORT.json [--scratch FOLDER]

    PROGRAM is the command moult, FOLDER has .xcdatamodeld bundles. REPORT.json must not exist; moult parity prints it
    as a table. The exit code is 0 if everything is equal, 1 if something differs, 2 for wrong arguments.
    """

func fail(_ message: String, _ code: Int32) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(code)
}

var arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--question", arguments.count == 3 {
    do {
        try Run.makeStore(ofQuestion: arguments[1], at: arguments[2])
        exit(0)
    } catch {
        fail("\(error)", 1)
    }
}
if arguments.contains("--help") {
    print(usage)
    exit(0)
}
var options: [String: String] = [:]
while let name = arguments.first {
    guard ["--moult", "--models", "--out", "--scratch"].contains(name), arguments.count > 1 else { fail(usage, 2) }
    options[name] = arguments[1]
    arguments.removeFirst(2)
}
guard let moult = options["--moult"], let models = options["--models"], let out = options["--out"] else {
    fail(usage, 2)
}
guard !FileManager.default.fileExists(atPath: out) else { fail("\(out) exists. Give --out another name.", 2) }
let scratch =
    options["--scratch"].map { URL(fileURLWithPath: $0) }
    ?? FileManager.default.temporaryDirectory.appendingPathComponent("moult-parity-\(UUID().uuidString)")
do {
    let own = Bundle.main.executablePath ?? CommandLine.arguments[0]
    let run = try Run(moult: moult, models: URL(fileURLWithPath: models), scratch: scratch, own: own)
    let report = try run.report { check in
        print(
            "\(check.isEqual ? "equal  " : "DIFFERS")  \(check.kind.rawValue)  \(check.subject): \(check.compared) compared"
        )
        for difference in check.differences.prefix(5) {
            print(
                "           \(difference.kind.rawValue) \(difference.place): \(difference.moult) / \(difference.apple)")
        }
        if let error = check.error { print("           \(error)") }
    }
    try report.json().write(to: URL(fileURLWithPath: out))
    if options["--scratch"] == nil { try? FileManager.default.removeItem(at: scratch) }
    exit(report.isEqual ? 0 : 1)
} catch {
    fail("\(error)", 1)
}
