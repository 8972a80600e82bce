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
    /// The paths of the models. Relative paths in the file start at its folder.
    package private(set) var models: [String] = []
    /// Whether the file names its model with `model`, not with a list.
    package private(set) var hasOneModel = false
    package private(set) var answers: String?
    package private(set) var rules: String?
    package private(set) var backups: String?
    package private(set) var profiles: [LintRule.Profile] = []
    /// The severities that replace those of the rules, by the code of the rule; nil turns a rule off.
    package private(set) var severities: [String: Finding.Severity?] = [:]
    /// The losses that the project accepts, as `Entity.property` or `Entity`.
    package private(set) var acceptedLosses: [String] = []
    /// The places at which rules of lint do not apply.
    package private(set) var exceptions: [LintException] = []
    /// The rules for `anonymise`.
    package private(set) var standIns = StandInRules()
    /// The file with the schema of CloudKit's Production environment; nil for none.
    package private(set) var cloudKitSchema: String?
    /// The configuration that is mirrored to CloudKit, if it is not the one that the model marks.
    package private(set) var cloudKitConfiguration: String?

    /// The accepted losses, each with its file and line.
    package var declaredLosses: [(place: String, location: String)] {
        acceptedLosses.enumerated().map { ($1, "\(path):\(lines[["acceptedLosses", String($0)]] ?? 1)") }
    }

    /// The line of each key, for messages.
    private let lines: JSONKeyLines

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
        "format", "model", "models", "answers", "rules", "backups", "profiles", "severities", "exceptions",
        "acceptedLosses", "anonymise", "cloudkit",
    ]

    /// - Throws: `usage` with the line of invalid JSON, an unknown key or a value of the wrong type.
    package init(json bytes: [UInt8], path: String) throws {
        self.path = path
        let document = try JSONValue(parsing: bytes, place: path, code: .usage)
        lines = JSONKeyLines(bytes)
        guard let members = document.members else { throw wrong("It should be an object.", at: []) }
        if document["model"] != nil, document["models"] != nil {
            throw wrong("model and models exclude each other. List every model in models.", at: ["model"])
        }
        for member in members { try read(member.key, member.value) }
        if models.count > 1, answers != nil {
            throw wrong("With several models, the answers of each are next to it. Remove answers.", at: ["answers"])
        }
    }

    private mutating func read(_ key: String, _ value: JSONValue) throws {
        switch key {
        case "format":
            guard value.integer == 1 else {
                throw wrong("The format is not 1, so a newer version of Moult may have written it.", at: [key])
            }
        case "model": (models, hasOneModel) = ([try file(key, value)], true)
        case "models":
            guard let paths = value.array, !paths.isEmpty else {
                throw wrong("models should be a list of paths.", at: [key])
            }
            for (position, path) in paths.enumerated() {
                let path = try file(key, path)
                guard !models.contains(path) else {
                    throw wrong("models names \(path) twice.", at: [key, String(position)])
                }
                models.append(path)
            }
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
        case "exceptions":
            guard let list = value.array else { throw wrong("exceptions should be a list of objects.", at: [key]) }
            exceptions = try list.enumerated().map { try exception($1, at: [key, String($0)]) }
        case "anonymise": standIns = try StandInRules(value, place: "\(path):\(lines[[key]] ?? 1)")
        case "acceptedLosses": acceptedLosses = try texts(key, value)
        case "cloudkit": try readCloudKit(value)
        default: throw wrong("There is no setting \(key)." + hint(key, Self.keys), at: [key])
        }
    }

    private mutating func readCloudKit(_ value: JSONValue) throws {
        let keys = ["schema", "configuration"]
        guard let members = value.members else {
            throw wrong("cloudkit should be an object with \(keys.listed()).", at: ["cloudkit"])
        }
        for member in members {
            guard keys.contains(member.key) else {
                throw wrong(
                    "cloudkit has no setting \(member.key)." + hint(member.key, keys), at: ["cloudkit", member.key])
            }
            guard let text = member.value.string, !text.isEmpty else {
                throw wrong("\(member.key) of cloudkit should be a text.", at: ["cloudkit", member.key])
            }
            if member.key == "schema" { cloudKitSchema = inFolder(text) } else { cloudKitConfiguration = text }
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

    private func exception(_ value: JSONValue, at place: [String]) throws -> LintException {
        let keys = ["rule", "place", "why"]
        guard let members = value.members else {
            throw wrong("An exception should be an object with \(keys.joined(separator: ", ")).", at: place)
        }
        if let unknown = members.first(where: { !keys.contains($0.key) }) {
            throw wrong(
                "An exception has no \(unknown.key)." + hint(unknown.key, keys), at: place + [unknown.key])
        }
        func text(_ key: String) throws -> String {
            guard let text = value[key]?.string, !text.trimmed.isEmpty else {
                let meaning = key == "why" ? "why, the reason as a text" : "\(key), a text"
                throw wrong("An exception needs \(meaning).", at: place + [key])
            }
            return text
        }
        let code = try text("rule")
        guard let rule = LintRule.named(code) else {
            throw wrong("There is no rule \(code)." + hint(code, LintRule.all.map(\.code)), at: place + ["rule"])
        }
        return LintException(
            rule: rule.code, place: try text("place"), why: try text("why"), source: (path, lines[place] ?? 1))
    }

    private func file(_ key: String, _ value: JSONValue) throws -> String {
        guard let text = value.string, !text.isEmpty else {
            throw wrong(key == "models" ? "models should be a list of paths." : "\(key) should be a path.", at: [key])
        }
        return inFolder(text)
    }

    /// Returns a path that is relative to the file's folder as one that is relative to the current directory.
    private func inFolder(_ text: String) -> String {
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
        let near = Suggestion.sentence(for: text, among: known)
        return near.isEmpty ? " There are: \(known.joined(separator: ", "))." : near
    }

    /// Returns an error at the line of a key.
    package func wrong(_ message: String, at key: [String]) -> MigrationError {
        MigrationError(
            .usage, message, place: "\(path):\(lines[key] ?? 1)",
            remedy: "Correct the file. Its settings are: \(Self.keys.joined(separator: ", ")).")
    }
}

/// The line of each key and each element of a list in a JSON document, for messages about a file that the user has
/// written.
struct JSONKeyLines: Sendable {
    /// The lines by the path of keys and positions, such as `["exceptions", "0", "rule"]`, counted from 1.
    private(set) var lines: [[String]: Int] = [:]

    /// - Parameter bytes: a document that has already been parsed.
    init(_ bytes: [UInt8]) {
        var line = 1
        var path: [String] = []
        /// The number of keys that lead to each open object or list, and the position in a list.
        var open: [(depth: Int, position: Int?)] = []
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            if open.last?.position != nil, lines[path] == nil,
                !Self.space.contains(byte), byte != UInt8(ascii: ","), byte != UInt8(ascii: "]")
            {
                lines[path] = line
            }
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"): open.append((path.count, nil))
            case UInt8(ascii: "["):
                open.append((path.count, 0))
                path.append("0")
            case UInt8(ascii: ","):
                guard let list = open.last, let position = list.position else { break }
                open[open.count - 1].position = position + 1
                path = path.prefix(list.depth) + [String(position + 1)]
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let (depth, _) = open.popLast() { path = Array(path.prefix(depth)) }
            case UInt8(ascii: "\""):
                let end = Self.end(of: place, in: bytes)
                let next = bytes[end...].first { !Self.space.contains($0) }
                if next == UInt8(ascii: ":"), let object = open.last, object.position == nil {
                    let text = try? JSONValue(parsing: Array(bytes[place..<end]), place: "", code: .usage).string
                    path = path.prefix(object.depth) + [text ?? ""]
                    lines[path] = line
                }
                place = end - 1
            default: break
            }
            place += 1
        }
    }

    /// The line of a key, or else of what contains it; nil outside of everything.
    subscript(key: [String]) -> Int? { key.isEmpty ? nil : lines[key] ?? self[Array(key.dropLast())] }

    private static let space: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    /// Returns the position after a string.
    private static func end(of start: Int, in bytes: [UInt8]) -> Int {
        var place = start + 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }
}
