import Foundation
import TestSupport
import Testing

/// What `Scripts/prerequisites --readers` installs, and the official schema of SARIF.
private enum PullRequestTools {
    static let bin = packageRoot.appendingPathComponent(".build/readers/bin").path

    static let areInstalled: Bool = {
        if FileManager.default.isExecutableFile(atPath: bin + "/sarif") { return true }
        print("SKIPPED: no pre-commit and sarif-tools in .build/readers; Scripts/prerequisites --readers installs them")
        return false
    }()

    /// `MOULT_SCHEMAS` names its folder.
    static let schema: String? = {
        let folder = ProcessInfo.processInfo.environment["MOULT_SCHEMAS"] ?? "../shared/schemas"
        let path = URL(fileURLWithPath: folder, relativeTo: packageRoot).appendingPathComponent("sarif-2.1.0.json").path
        if FileManager.default.fileExists(atPath: path) { return path }
        print("SKIPPED: no schema at \(path); set MOULT_SCHEMAS to check SARIF by the official schema")
        return nil
    }()
}

/// The tools that read what Moult prints for a pull request: pre-commit, sarif-tools, and the official schema of SARIF.
@Suite("Tools of pull requests", .enabled(if: PullRequestTools.areInstalled))
struct PullRequestToolTests {  // tier: long
    /// The tool in a repository whose model is locked and committed.
    private func repository() throws -> Tool {
        var moult = try Tool.besideForumModel()
        moult.environment["HOME"] = moult.folder.path + "/.git"
        moult.environment["GIT_AUTHOR_NAME"] = "T"
        moult.environment["GIT_AUTHOR_EMAIL"] = "t@example.com"
        moult.environment["GIT_COMMITTER_NAME"] = "T"
        moult.environment["GIT_COMMITTER_EMAIL"] = "t@example.com"
        let made = try moult.shell("git init -q -b main && moult init && git add -A && git commit -qm A")
        try #require(made.exit == 0, "\(made)")
        return moult
    }

    /// Edits a released version of the model.
    private func edit(_ moult: Tool) throws {
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        try String(contentsOfFile: contents, encoding: .utf8).replacing("name=\"subject\"", with: "name=\"title\"")
            .write(toFile: contents, atomically: true, encoding: .utf8)
    }

    @Test func `the pre-commit hook stops the edit of a released version, and passes everything else`() throws {
        let moult = try repository()
        // A repository of hooks with Moult's own list of them.
        let hooks = try ScratchFolder()
        try FileManager.default.copyItem(
            atPath: packageRoot.appendingPathComponent(".pre-commit-hooks.yaml").path,
            toPath: hooks.path + "/.pre-commit-hooks.yaml")
        let tool = Tool(folder: hooks, environment: moult.environment)
        let made = try tool.shell("git init -q && git add -A && git commit -qm A && git rev-parse HEAD")
        try #require(made.exit == 0, "\(made)")
        let revision = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try """
        repos:
          - repo: \(hooks.path)
            rev: \(revision)
            hooks:
              - id: moult-lint
              - id: moult-lock-check
        """.write(toFile: moult.folder.path + "/.pre-commit-config.yaml", atomically: true, encoding: .utf8)
        func shell(_ line: String) throws -> Tool.Result {
            try moult.shell("PATH='\(PullRequestTools.bin)':\"$PATH\"; \(line)")
        }
        let installed = try shell("pre-commit install && git add -A && git commit -qm Hooks")
        #expect(installed.exit == 0, "\(installed)")
        try "text".write(toFile: moult.folder.path + "/notes.txt", atomically: true, encoding: .utf8)
        let other = try shell("git add -A && git commit -qm Notes")
        #expect(other.exit == 0 && other.errors.contains("(no files to check)Skipped"), "\(other)")
        try edit(moult)
        let red = try shell("git add -A && git commit -qm Edit")
        #expect(red.exit == 1 && red.errors.contains("[OPEN001] Released version edited"), "\(red)")
        let manual = try shell("pre-commit run moult-lock-check --all-files --hook-stage manual")
        #expect(manual.exit == 1 && manual.output.contains("released-version-changed"), "\(manual)")
        let undone = try shell(
            "git checkout -q HEAD -- . && echo >> moult.json && git add -A && git commit -qm Configuration")
        #expect(undone.exit == 0 && undone.errors.contains("Passed"), "\(undone)")
    }

    @Test func `sarif-tools reads each finding of lint with its rule, level and line`() throws {
        let moult = try repository()
        try edit(moult)
        let written = try moult.shell("moult lint --format sarif > lint.sarif; moult lint --json > lint.json")
        #expect(written.exit == 1, "\(written)")
        let csv = try moult.run(PullRequestTools.bin + "/sarif", ["csv", "-o", "lint.csv", "lint.sarif"])
        #expect(csv.exit == 0, "\(csv)")
        let rows = try moult.run(
            PullRequestTools.bin + "/python",
            ["-c", "import csv, json; print(json.dumps(list(csv.DictReader(open('lint.csv')))))"])
        let table = try #require(
            try JSONSerialization.jsonObject(with: Data(rows.output.utf8)) as? [[String: String]], "\(rows)")
        let read = table.map {
            "\($0["Severity"] ?? "") \($0["Code"] ?? "") \($0["Location"] ?? ""):\($0["Line"] ?? "")"
        }
        let document =
            try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(fileURLWithPath: moult.folder.path + "/lint.json"))) as? [String: Any]
        let findings = try #require(document?["findings"] as? [[String: Any]])
        let printed = findings.map { finding in
            "\(finding["severity"] ?? "") \(finding["rule"] ?? "") \(finding["file"] ?? ""):\(finding["line"] ?? "")"
        }
        #expect(!read.isEmpty && read.sorted() == printed.sorted(), "\(read) \(printed)")
        let summary = try moult.run(PullRequestTools.bin + "/sarif", ["--check", "error", "summary", "lint.sarif"])
        #expect(summary.exit != 0 && summary.output.contains("OPEN001"), "\(summary)")
    }

    @Test(
        .enabled(if: PullRequestTools.schema != nil)
    )
    func `SARIF is valid by the official schema, with findings and without`() throws {
        let moult = try repository()
        let schema = try #require(PullRequestTools.schema)
        let check = """
            import json, jsonschema, sys
            schema, document = (json.load(open(path)) for path in sys.argv[1:])
            jsonschema.Draft4Validator.check_schema(schema)
            errors = list(jsonschema.Draft4Validator(schema).iter_errors(document))
            print(len(document["runs"][0]["results"]), *[error.message for error in errors], sep="\\n")
            """
        func results() throws -> [Substring] {
            _ = try moult.shell("moult lint --profile cloudkit,extension --format sarif > lint.sarif")
            let run = try moult.run(
                PullRequestTools.bin + "/python", ["-c", check, schema, moult.folder.path + "/lint.sarif"])
            try #require(run.exit == 0, "\(run)")
            return run.output.split(separator: "\n")
        }
        let sound = try results()
        #expect(sound.count == 1, "\(sound)")
        try edit(moult)
        let edited = try results()
        #expect(edited.count == 1 && (edited.first.flatMap { Int($0) } ?? 0) > 0, "\(edited)")
        try """
        {"model": "Forum.xcdatamodeld", "exceptions": [
          {"rule": "OPEN001", "place": "Thread", "why": "It was never released."},
          {"rule": "SHAPE003", "place": "Forum 3", "why": "Nothing has it."}]}
        """.write(toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        let excepted = try results()
        #expect(excepted.count == 1 && excepted == edited, "\(excepted)")
        let sarif = try String(contentsOfFile: moult.folder.path + "/lint.sarif", encoding: .utf8)
        #expect(sarif.contains("\"justification\": \"It was never released.\""))
        #expect(sarif.contains("toolConfigurationNotifications"))
    }
}
