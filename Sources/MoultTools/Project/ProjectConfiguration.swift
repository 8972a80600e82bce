import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultModelFiles

/// The settings of a project in `moult.json`, so that they need not be repeated on the command line.
///
/// The file is searched for in the current directory and the folders above it, up to the root of the repository. The
/// command line takes precedence over it.
package struct ProjectConfiguration: Sendable {
    package static let fileName = "moult.json"

    /// The path of the file.
    package let path: String
    /// The path of the model. Relative paths in the file start at its folder.
    package private(set) var model: String?
    package private(set) var answers: String?
    package private(set) var rules: String?
    package private(set) var backups: String?
    package private(set) var profiles: [LintRule.Profile] = []
    /// The severities that replace those of the rules, by the code of the rule; nil turns a rule off.
    package private(set) var severities: [String: Finding.Severity?] = [:]
    /// The losses that the project accepts, as `Entity.property` or `Entity`.
    package private(set) var acceptedLosses: [String] = []
    /// The rules for `anonymise`.
    package private(set) var standIns = StandInRules()

    /// The line of each key, for messages.
    private let lines: [[String]: Int]

    /// Finds the configuration, starting at the current directory; returns nil if there is none.
    ///
    /// - Parameter named: the value of `--config`: a path, or `none` to read no file.
    /// - Throws: `usage` with the line of an invalid configuration; `fileNotFound` if `named` does not exist.
    package static func found(_ named: String?, _ system: some System = POSIXSystem()) throws -> ProjectConfiguration? {
        if named == "none" { return nil }
        if let named { return try ProjectConfiguration(json: try system.read(named), path: named) }
        var path = fileName
        var folder = try system.resolve(".")
        while true {
            // Reading refuses a folder or a FIFO of this name.
            if let status = try system.status(of: path) {
                // A file above the current directory that belongs to another user must not configure this project.
                let isTrusted = path == fileName || [0, system.user].contains(status.owner) || system.user == 0
                if isTrusted { return try ProjectConfiguration(json: try system.read(path), path: path) }
            } else if try system.isLink(path), try system.status(of: folder)?.owner == system.user {
                throw MigrationError(
                    .usage, "\(path) is a link to a file that is not there.", place: path,
                    remedy: "Correct or remove the link. \(option: .config("none")) reads no configuration.")
            }
            guard folder != "/", try !system.exists(Path.join(folder, ".git")) else { return nil }
            folder = Path.folder(of: folder)
            path = "../" + path
        }
    }
}

// MARK: - Reading

extension ProjectConfiguration {
    private static let keys = [
        "format", "model", "answers", "rules", "backups", "profiles", "severities", "acceptedLosses", "anonymise",
    ]

    /// - Throws: `usage` with the line of invalid JSON, an unknown key or a value of the wrong type.
    package init(json bytes: [UInt8], path: String) throws {
        self.path = path
        let document = try JSONValue(parsing: bytes, place: path, code: .usage)
        lines = JSONKeyLines(bytes).lines
        guard let members = document.members else { throw wrong("It should be an object.", at: []) }
        for member in members { try read(member.key, member.value) }
    }

    private mutating func read(_ key: String, _ value: JSONValue) throws {
        switch key {
        case "format":
            guard value.integer == 1 else {
                throw wrong("The format is not 1, so a newer version of Moult may have written it.", at: [key])
            }
        case "model": model = try file(key, value)
        case "answers": answers = try file(key, value)
        case "rules": rules = try file(key, value)
        case "backups": backups = try file(key, value)
        case "profiles":
            profiles = try texts(key, value).map { text in
                guard let profile = LintRule.Profile(rawValue: text) else {
                    throw wrong(
                        "There is no profile \(text)." + hint(text, LintRule.Profile.allCases.map(\.rawValue)),
                        at: [key])
                }
                return profile
            }
        case "severities":
            guard let members = value.members else { throw wrong("\(key) should be an object.", at: [key]) }
            for member in members { try readSeverity(member) }
        case "anonymise": standIns = try StandInRules(value, place: "\(path):\(lines[[key]] ?? 1)")
        case "acceptedLosses": acceptedLosses = try texts(key, value)
        default: throw wrong("There is no setting \(key)." + hint(key, Self.keys), at: [key])
        }
    }

    private mutating func readSeverity(_ member: JSONValue.Member) throws {
        let place = ["severities", member.key]
        guard let rule = LintRule.named(member.key) else {
            throw wrong("There is no rule \(member.key)." + hint(member.key, LintRule.all.map(\.code)), at: place)
        }
        guard let word = member.value.string, word == "off" || Finding.Severity(rawValue: word) != nil else {
            throw wrong("The severity of \(rule.code) should be error, warning, note or off.", at: place)
        }
        severities[rule.code] = .some(Finding.Severity(rawValue: word))
    }

    private func file(_ key: String, _ value: JSONValue) throws -> String {
        guard let text = value.string, !text.isEmpty else { throw wrong("\(key) should be a path.", at: [key]) }
        let folder = Path.folder(of: path)
        return text.hasPrefix("/") || folder == "." ? text : Path.join(folder, text)
    }

    private func texts(_ key: String, _ value: JSONValue) throws -> [String] {
        let texts = value.array?.compactMap(\.string)
        guard let texts, texts.count == value.array?.count else {
            throw wrong("\(key) should be a list of strings.", at: [key])
        }
        return texts
    }

    private func hint(_ text: String, _ known: [String]) -> String {
        Suggestion.nearest(to: text, among: known).map { " Did you mean \($0)?" }
            ?? " There are: \(known.joined(separator: ", "))."
    }

    /// Returns an error at the line of a key.
    package func wrong(_ message: String, at key: [String]) -> MigrationError {
        MigrationError(
            .usage, message, place: "\(path):\(lines[key] ?? 1)",
            remedy: "Correct the file. Its settings are: \(Self.keys.joined(separator: ", ")).")
    }
}

/// The line of each key in a JSON document, for messages about a file that the user has written.
struct JSONKeyLines {
    /// The lines by the path of keys, such as `["severities", "SHAPE003"]`, counted from 1.
    private(set) var lines: [[String]: Int] = [:]

    /// - Parameter bytes: a document that has already been parsed.
    init(_ bytes: [UInt8]) {
        var line = 1
        var path: [String] = []
        /// The number of keys that lead to each open object; nil for a list.
        var open: [Int?] = []
        var place = 0
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"): open.append(path.count)
            case UInt8(ascii: "["): open.append(nil)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let depth = open.popLast() ?? nil { path = Array(path.prefix(depth)) }
            case UInt8(ascii: "\""):
                let end = Self.end(of: place, in: bytes)
                let next = bytes[end...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
                if next == UInt8(ascii: ":"), let depth = open.last ?? nil {
                    let text = try? JSONValue(parsing: Array(bytes[place..<end]), place: "", code: .usage).string
                    path = path.prefix(depth) + [text ?? ""]
                    lines[path] = line
                }
                place = end - 1
            default: break
            }
            place += 1
        }
    }

    /// Returns the position after a string.
    private static func end(of start: Int, in bytes: [UInt8]) -> Int {
        var place = start + 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }
}

/// A new `moult.json` for a project, and a lock file for its model.
package struct NewProject: ToolAnswer {
    private let path: String
    private let bundle: ModelBundle
    private let profiles: [LintRule.Profile]
    /// Whether this call locked the versions.
    private let locks: Bool

    /// - Throws: `wouldReplace` if the file exists.
    package static func check(_ path: String) throws {
        guard try !POSIXSystem().exists(path) else {
            throw MigrationError(
                .wouldReplace, "\(path) exists. Nothing was written.", place: path,
                remedy: "Edit it, or remove it first.")
        }
    }

    /// Locks the versions of a model that is not locked yet, then writes the configuration.
    package init(_ bundle: ModelBundle, profiles: [LintRule.Profile], at path: String) throws {
        try Self.check(path)
        (self.path, self.bundle, self.profiles) = (path, bundle, profiles)
        locks = bundle.lock?.versions(of: bundle.path) == nil
        let settings: JSONValue = .object(
            [.init("model", .string(bundle.path))]
                + (profiles.isEmpty ? [] : [.init("profiles", JSONValue(profiles.map(\.rawValue)))]))
        // Write the lock first, so that a model with a moult.json is always locked.
        if locks { try LockReport.pin(bundle) }
        try StagedPath.replace([(path, Array((settings.indented + "\n").utf8))], .byUmask, POSIXSystem())
    }

    private var lockPath: String { ModelLock.path(besideModelAt: bundle.path) }

    package var document: JSONValue {
        [
            "format": 1, "path": .string(path), "model": .string(bundle.path),
            "profiles": JSONValue(profiles.map(\.rawValue)), "lock": .string(lockPath),
            "versions": JSONValue(bundle.versions.map(\.name)),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        [
            "Wrote \(path.printable): the model is \(bundle.path.printable).",
            locks
                ? "Locked \(Quantity.count(bundle.versions.count, "version")) in \(lockPath.printable)."
                : "\(lockPath.printable) has the model already, and stays as it is.",
            String(advice: "Commit both files. Then run \(.lint)."),
        ]
    }

    // MARK: - Models

    /// Folders that contain third-party code or build products.
    private static let skipped: Set<String> = [
        "Pods", "Carthage", "node_modules", "DerivedData", "build", "SourcePackages",
    ]

    /// Returns the models in a folder and its subfolders.
    package static func models(in folder: String, depth: Int = 0) throws -> [String] {
        let system = POSIXSystem()
        guard depth <= 8, let names = try? system.list(folder) else { return [] }
        return try names.flatMap { name -> [String] in
            let path = folder == "." ? name : Path.join(folder, name)
            guard !name.hasPrefix("."), !skipped.contains(name), try !system.isLink(path),
                try system.status(of: path)?.kind == .folder
            else { return [] }
            return name.hasSuffix(".xcdatamodeld") ? [path] : try models(in: path, depth: depth + 1)
        }
    }
}
