import Dispatch
import MoultBasics
import MoultCommands
import MoultTesting
import MoultTools

// Started by `moult browse`, with what it is to show as one JSON document.

func say(_ text: String, on stream: Int32) { _ = text.withCString { write(stream, $0, strlen($0)) } }

/// Returns the secret of a fixed address, so that a bookmark works after a restart; nil, with a word about it, if this
/// user has no folder to keep it in.
func keptSession(_ port: UInt16) -> String? {
    do {
        let home = Environment.value("HOME").map { $0 + "/.local/state" }
        guard let folder = Environment.value("XDG_STATE_HOME") ?? home else { return nil }
        return try KeptSession.secret(port: port, in: folder)
    } catch {
        let words = (error as? MigrationError).map { "\($0.message) \($0.remedy)" } ?? "\(error)"
        say("The address cannot be a bookmark. \(words)\n", on: STDERR_FILENO)
        return nil
    }
}

/// Opens an address in the browser of this user, and says so if that does not work.
func openInBrowser(_ address: String) {
    #if canImport(Darwin)
        let program = "/usr/bin/open"
    #else
        let program = "xdg-open"
    #endif
    guard let opener = try? ChildProgram(program, [address]) else {
        return say(
            "No browser was opened: there is no \(program) here. Open the address yourself.\n", on: STDERR_FILENO)
    }
    DispatchQueue.global().async {
        guard (try? opener.wait()) != 0 else { return }
        say("No browser was opened: \(program) has failed. Open the address yourself.\n", on: STDERR_FILENO)
    }
}

do {
    let argument = CommandLine.arguments.dropFirst().first ?? ""
    let purpose = "moult-browse serves the page of moult browse, which starts it."
    if ["--help", "-h", "help"].contains(argument) {
        say("\(purpose)\n\nUsage: moult browse STORE [options]\nSee `moult browse --help`.\n", on: STDOUT_FILENO)
        exit(0)
    }
    guard let document = try? JSONValue(parsing: Array(argument.utf8), place: "the argument", code: .usage),
        var settings = Site.Settings(document)
    else { throw MigrationError(.usage, purpose, remedy: "Run `moult browse STORE`, or `moult browse --help`.") }
    let models = settings.models
    settings.words = CommandWords(store: settings.store, model: models)
    signal(SIGPIPE, SIG_IGN)
    let wait = Interruption.heard()
    let port = UInt16(clamping: document["port"]?.integer ?? 0)
    let listening = try ListeningSocket(port: port)
    if port > 0 { settings.session = keptSession(port) }
    let opens = document["opens"]?.bool == true
    // Both can be seen by others: the arguments of the program that opens the address, and a cookie sent to whoever
    // listens at the port later.
    let peer = opens || settings.session != nil ? Peer(port: listening.port) : nil
    let host = "127.0.0.1:\(listening.port)"
    let address: String
    let server: Server
    let finish: @Sendable () async -> Void
    if try POSIXSystem().status(of: settings.store)?.kind == .folder {
        let site = FolderSite(settings, host: host) { CommandWords(store: $0, model: $1) }
        address = await site.entrance
        server = try Server(listening, peer: peer) { await site.respond(to: $0) }
        finish = { await site.finish() }
    } else {
        let site = Site(settings, host: host)
        address = await site.entrance
        server = try Server(listening, peer: peer) { await site.respond(to: $0) }
        finish = { await site.finish() }
    }
    let bookmark = settings.session == nil ? nil : "http://\(host)/"
    let words =
        document["isJSON"]?.bool == true
        ? JSONValue.object([
            .init("format", 1), .init("address", .string(address)),
            .init("allowsChanges", .bool(settings.allowsChanges)), .init("bookmark", JSONValue(bookmark)),
        ]).compact
        : "Open this address in a browser; it works once. Control-C ends the page.\n\(address)"
            + (bookmark.map { "\nAfter that, the same browser can open \($0), also after a restart with this port." }
                ?? "")
    say(words + "\n", on: STDOUT_FILENO)
    if opens { openInBrowser(address) }

    wait()
    // A run that is under way leaves the store as it was, or the new one.
    await finish()
    server.stop()
    exit(0)
} catch let error as MigrationError {
    say("moult: \(error.message)\n  \(error.remedy)\n", on: STDERR_FILENO)
    exit(error.exitCode)
}
