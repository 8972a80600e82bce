import Foundation
import Moult
import MoultBasics
import MoultModel
import TestSupport
import Testing

/// One store with its model, in a copy for each face.
struct Faces {
    /// The command line, in its folder.
    let tool: Tool
    private let folders: [ScratchFolder]

    /// The store for `Project`.
    var library: String { folders[1].path + "/app.sqlite" }
    /// The store for a container.
    var app: String { folders[2].path + "/app.sqlite" }
    /// The model, the same file by file in every folder.
    var model: String { folders[1].path + "/App.xcdatamodeld" }
    var folder: String { folders[1].path }
    var project: Project { get throws { try Project(models: model) } }

    /// - Parameter made: a folder with `app.sqlite` and `App.xcdatamodeld`.
    init(copying made: ScratchFolder, _ sql: String? = nil) throws {
        folders = try (0..<3).map { _ in
            let folder = try ScratchFolder()
            for name in try FileManager.default.contentsOfDirectory(atPath: made.path) {
                try FileManager.default.copyItem(atPath: "\(made.path)/\(name)", toPath: "\(folder.path)/\(name)")
            }
            if let sql { _ = try SQLiteShell.run(folder.path + "/app.sqlite", sql) }
            return folder
        }
        tool = Tool(folder: folders[0])
    }

    /// Runs a verb on the store, with the model, in the folder of the command line.
    func moult(_ verb: String, _ arguments: String..., isModelNamed: Bool = true, exit: Int32 = 0) throws -> JSONValue {
        let words = verb.split(separator: " ").map(String.init)
        let model = isModelNamed ? ["--model", "App.xcdatamodeld"] : []
        let result = try tool.run(Tool.path, words + arguments + model + ["--json"])
        #expect(result.exit == exit, "\(verb): \(result)")
        let text = result.output.split(separator: "\n").last.map(String.init) ?? result.errors
        return try JSONValue(parsing: Array(text.utf8), place: verb, code: .usage)
    }

    /// What the sqlite3 shell prints of a store's tables and rows. The metadata hold when a store was migrated.
    static func rows(_ store: String) throws -> String {
        try SQLiteShell.run(store, ".dump").split(separator: "\n")
            .filter { !$0.hasPrefix("INSERT INTO Z_METADATA") }.joined(separator: "\n")
    }

    /// Expects the same rows in the copies of the faces that took part, and the same objects.
    func expectSameRows(withApp: Bool = false) throws {
        let rows = try Self.rows(tool.folder.path + "/app.sqlite")
        #expect(try Self.rows(library) == rows)
        if withApp { #expect(try Self.rows(app) == rows) }
        try expectSameObjects(withApp: withApp)
    }

    /// Expects the same objects in the copies, as a program in Python reads them.
    func expectSameObjects(withApp: Bool = false) throws {
        let objects = try Self.objects(tool.folder.path + "/app.sqlite")
        #expect(try Self.objects(library) == objects)
        if withApp { #expect(try Self.objects(app) == objects) }
    }

    /// A line for each object of a store, by `Tests/Witness/dump.py`, which opens a copy.
    static func objects(_ store: String) throws -> [String] {
        let copy = try ScratchFolder()
        return try Witness.lines(of: copy.copyStore(store))
    }

    // MARK: - Answers

    /// Expects the same answer, but for what differs from run to run: names of runs, times, paths.
    func expectSame(_ line: JSONValue, _ call: String) throws {
        let called = try JSONValue(parsing: Array(call.utf8), place: "the call", code: .usage)
        #expect(masked(line).compact == masked(called).compact)
    }

    /// Expects that members of the command line's answer are what a call has returned.
    func expectSame(_ line: JSONValue, _ call: KeyValuePairs<String, JSONValue>) {
        for (key, value) in call {
            #expect(masked(line[key] ?? .null).compact == masked(value).compact, "\(key)")
        }
    }

    private static let volatile: Set<String> = [
        "run", "seconds", "createdAt", "startedAt", "endedAt", "sha256", "phases", "longestUnit", "space", "remedy",
        "mirror", "checksum",
    ]

    private func masked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(
                members.map { member in
                    let isVolatile = Self.volatile.contains(member.key) && member.value != .null
                    return .init(member.key, isVolatile ? "…" : masked(member.value))
                })
        case .array(let elements): .array(elements.map(masked))
        case .string(let text): .string(masked(text))
        default: value
        }
    }

    private func masked(_ text: String) -> String {
        var text = text
        for folder in folders { text = text.replacingOccurrences(of: folder.path + "/", with: "") }
        // The name of a run and of a backup begin with the time; a line of the log has it in brackets.
        for pattern in [
            #"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}"#, #"[0-9]{8}T[0-9]{6}Z"#, #"\[[-0-9T:.]+Z\]"#, #"[0-9.]+ s\."#,
        ] {
            text = text.replacingOccurrences(of: pattern, with: "…", options: .regularExpression)
        }
        return text
    }
}

// MARK: - The stores

extension Faces {
    /// The forum of the examples in its first version, with four objects of each entity.
    static func forum(_ sql: String? = nil) throws -> Faces { try Faces(copying: forumMade.get(), sql) }

    private static let forumMade = Result {
        let tool = Tool(folder: try ScratchFolder())
        let path = tool.folder.path
        try FileManager.default.copyItem(
            atPath: Tool.examples + "/Forum.xcdatamodeld", toPath: path + "/App.xcdatamodeld")
        try FileManager.default.copyItem(atPath: Tool.examples + "/Forum.rules.json", toPath: path + "/rules.json")
        try make(tool, "Forum")
        return tool.folder
    }

    /// Posts in a tree with a title and notes in the first version; the second has neither titles nor notes.
    static func shrinking(_ sql: String? = nil) throws -> Faces { try Faces(copying: shrinkingMade.get(), sql) }

    private static let shrinkingMade = Result {
        let tool = Tool(folder: try ScratchFolder())
        let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
        let note =
            "<entity name=\"Note\"><attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/></entity>"
        func post(_ attributes: String) -> String {
            """
            <entity name="Post"><attribute name="number" optional="YES" attributeType="Integer 64"/>\(attributes)
            <relationship name="parent" optional="YES" maxCount="1" destinationEntity="Post" inverseName="children"/>
            <relationship name="children" optional="YES" toMany="YES" destinationEntity="Post" inverseName="parent"/>
            </entity>
            """
        }
        for (name, entities) in [("1", post(title) + note), ("2", post(""))] {
            let folder = "\(tool.folder.path)/App.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "<model>\(entities)</model>".write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        }
        try make(tool, "1")
        _ = try SQLiteShell.run(
            tool.folder.path + "/app.sqlite", "UPDATE ZPOST SET ZTITLE = 'a', ZPARENT = NULL")
        return tool.folder
    }

    private static func make(_ tool: Tool, _ version: String) throws {
        let made = try tool(
            "create", "app.sqlite", "--model", "App.xcdatamodeld", "--version", version, "--fill", "4")
        guard made.exit == 0 else { throw Tool.NotADocument(output: made.errors) }
    }
}

extension [Finding] {
    /// As the command line prints them, without remedies: those of a library name calls.
    var answer: JSONValue {
        .array(
            map { finding in
                [
                    "code": .string(finding.code), "place": .string(finding.place),
                    "message": .string(finding.message),
                ]
            })
    }
}

extension JSONValue {
    /// The same of the command line's findings.
    var findings: JSONValue {
        .array(
            (array ?? []).map {
                ["code": $0["code"] ?? .null, "place": $0["place"] ?? .null, "message": $0["message"] ?? .null]
            })
    }
}
