import MoultBasics
import MoultCommands
import MoultTools

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

// Started by `moult browse`, with what it is to show as one JSON document.

func say(_ text: String, on stream: Int32) { _ = text.withCString { write(stream, $0, strlen($0)) } }

do {
    let document = try JSONValue(
        parsing: Array((CommandLine.arguments.dropFirst().first ?? "").utf8), place: "the argument", code: .usage)
    guard var settings = Site.Settings(document) else {
        throw MigrationError(
            .usage, "moult-browse is started by another program.", remedy: "Run moult browse STORE in its place.")
    }
    settings.words = CommandWords(store: settings.store, model: settings.models)
    signal(SIGPIPE, SIG_IGN)
    let wait = Interruption.heard()
    let listening = try ListeningSocket(port: UInt16(clamping: document["port"]?.integer ?? 0))
    let site = Site(settings, host: "127.0.0.1:\(listening.port)")
    let server = try Server(site, listening)
    let address = await site.entrance
    let words =
        document["isJSON"]?.bool == true
        ? JSONValue.object([
            .init("format", 1), .init("address", .string(address)),
            .init("allowsChanges", .bool(settings.allowsChanges)),
        ]).compact
        : "Open this address in a browser; it works once. Control-C ends the page.\n\(address)"
    say(words + "\n", on: STDOUT_FILENO)

    wait()
    // A run that is under way leaves the store as it was, or the new one.
    await site.finish()
    server.stop()
    exit(0)
} catch let error as MigrationError {
    say("moult: \(error.message)\n  \(error.remedy)\n", on: STDERR_FILENO)
    exit(error.exitCode)
}
