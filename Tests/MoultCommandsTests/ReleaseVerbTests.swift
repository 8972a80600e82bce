import Foundation
import TestSupport
import Testing

/// `moult fixture`, `moult checklist`, the GitHub Action and the hooks of pre-commit.
@Suite("Verbs for a release")
struct ReleaseVerbTests {  // tier: long
    @Test
    func `a fixture of every locked version migrates; an existing one is kept; a seed gives the same rows`() throws {
        let moult = try Tool.besideForumModel()
        let arguments = ["fixture", "Fixtures", "--model", "Forum.xcdatamodeld", "--seed", "7"]
        let made = try moult.run(Tool.path, arguments + ["--rows", "User=2,Tag=4"])
        #expect(made.exit == 0, "\(made)")
        for (version, tags) in [("Forum", nil), ("Forum 2", nil), ("Forum 3", "4\n")] {
            let store = "Fixtures/\(version).sqlite"
            let path = moult.folder.path + "/" + store
            #expect(try SQLiteShell.run(path, "SELECT count(*) FROM ZUSER") == "2\n")
            if let tags { #expect(try SQLiteShell.run(path, "SELECT count(*) FROM ZTAG") == tags) }
            let status = try moult("status", store, "--model", "Forum.xcdatamodeld", "--json")
            #expect(try status.document["version"] as? String == version)
        }
        let rows = "SELECT ZNAME FROM ZUSER ORDER BY Z_PK"
        let before = try SQLiteShell.run(moult.folder.path + "/Fixtures/Forum.sqlite", rows)
        let kept = try moult.run(Tool.path, arguments + ["--json"]).document["fixtures"] as? [[String: any Sendable]]
        #expect(kept?.count == 3 && kept?.allSatisfy { $0["kept"] as? Bool == true } == true)
        try FileManager.default.removeItem(atPath: moult.folder.path + "/Fixtures/Forum.sqlite")
        #expect(try moult.run(Tool.path, arguments + ["--rows", "User=2,Tag=4"]).exit == 0)
        #expect(try SQLiteShell.run(moult.folder.path + "/Fixtures/Forum.sqlite", rows) == before)
        let migrated = try moult("migrate", "Fixtures/Forum.sqlite", "--model", "Forum.xcdatamodeld")
        #expect(migrated.exit == 0, "\(migrated)")
    }

    @Test func `a recipe says how many links and nils there are`() throws {
        let moult = try Tool.besideForumModel()
        func count(_ folder: String, _ sql: String, _ arguments: String...) throws -> String {
            let made = try moult.run(
                Tool.path, ["fixture", folder, "--model", "Forum.xcdatamodeld", "--fill", "6"] + arguments)
            #expect(made.exit == 0, "\(made)")
            return try SQLiteShell.run(moult.folder.path + "/\(folder)/Forum 3.sqlite", sql)
        }
        let empty = "SELECT count(*) FROM ZPOST WHERE ZEDITEDAT IS NULL"
        let unlinked = "SELECT count(*) FROM ZPOST WHERE ZTOPIC IS NULL"
        let most = "SELECT max(n) FROM (SELECT count(*) AS n FROM ZPOST GROUP BY ZTOPIC)"
        #expect(try count("A", empty, "--nils", "0") == "0\n")
        #expect(try count("B", empty, "--nils", "100") == "6\n")
        #expect(try count("C", unlinked, "--links", "0") == "6\n")
        #expect(try count("D", unlinked, "--links", "2") == "0\n")
        #expect(try count("D", most) == "2\n")
        for folder in ["A", "B", "C", "D"] {
            let valid = try moult("validate", "\(folder)/Forum 3.sqlite", "--model", "Forum.xcdatamodeld")
            #expect(valid.exit == 0, "\(valid)")
        }
        let wrong = try moult("fixture", "E", "--model", "Forum.xcdatamodeld", "--nils", "101")
        #expect(wrong.exit == 2 && !FileManager.default.fileExists(atPath: moult.folder.path + "/E"), "\(wrong)")
    }

    @Test(arguments: ["junk", "other", "link"])
    func `what is no store of the version is not kept in place of one`(kind: String) throws {
        let moult = try Tool.besideForumModel()
        let path = moult.folder.path + "/Fixtures/Forum 2.sqlite"
        try FileManager.default.createDirectory(
            atPath: moult.folder.path + "/Fixtures", withIntermediateDirectories: true)
        switch kind {
        case "junk": try "no store".write(toFile: path, atomically: true, encoding: .utf8)
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nothing")
        default:
            let made = try moult(
                "create", "Fixtures/Forum 2.sqlite", "--model", "Forum.xcdatamodeld", "--version", "Forum")
            #expect(made.exit == 0, "\(made)")
        }
        let result = try moult("fixture", "Fixtures", "--model", "Forum.xcdatamodeld")
        #expect(result.exit == 3 && result.errors.contains("is not a store of version Forum 2"), "\(result)")
    }

    @Test func `fixtures are of locked versions, and none is made of a version that has changed since`() throws {
        let moult = try Tool.besideForumModel()
        let newest = moult.folder.path + "/Forum.xcdatamodeld/Forum 3.xcdatamodel"
        let marked = moult.folder.path + "/Forum.xcdatamodeld/.xccurrentversion"
        let mark = try String(contentsOfFile: marked, encoding: .utf8)
        try FileManager.default.moveItem(atPath: newest, toPath: moult.folder.path + "/aside")
        try mark.replacing("Forum 3.", with: "Forum 2.").write(toFile: marked, atomically: true, encoding: .utf8)
        #expect(try moult("lock", "Forum.xcdatamodeld").exit == 0)
        try FileManager.default.moveItem(atPath: moult.folder.path + "/aside", toPath: newest)
        try mark.write(toFile: marked, atomically: true, encoding: .utf8)
        let made = try moult("fixture", "F", "--model", "Forum.xcdatamodeld", "--json").document
        let versions = (made["fixtures"] as? [[String: any Sendable]])?.compactMap { $0["version"] as? String }
        #expect(versions == ["Forum", "Forum 2"])
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        try String(contentsOfFile: contents, encoding: .utf8).replacing("name=\"subject\"", with: "name=\"title\"")
            .write(toFile: contents, atomically: true, encoding: .utf8)
        let refused = try moult("fixture", "G", "--model", "Forum.xcdatamodeld")
        #expect(refused.exit == 3 && refused.errors.contains("released version Forum"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/G"))
    }

    @Test func `the checklist marks what Moult can check, by the lock, lint and a store`() throws {
        let moult = try StoreVerbTests.besideForumStore()
        let arguments = ["checklist", "Forum.xcdatamodeld", "--for", "forum.sqlite", "--check"]
        let open = try moult.run(Tool.path, arguments)
        #expect(open.exit == 1, "\(open)")
        #expect(open.output.contains("- [ ] Lock the released versions: `moult lock Forum.xcdatamodeld`."), "\(open)")
        #expect(open.output.contains("- [x] forum.sqlite can be migrated: Forum → Forum 2 → Forum 3."), "\(open)")
        #expect(open.output.contains("- [ ] Make a backup of forum.sqlite"), "\(open)")
        #expect(try moult("lock", "Forum.xcdatamodeld").exit == 0)
        #expect(try moult("backup", "create", "forum.sqlite").exit == 0)
        let done = try moult.run(Tool.path, arguments)
        #expect(done.exit == 0, "\(done)")
        #expect(done.output.contains("- [x] forum.sqlite has 1 backup."), "\(done)")
        // The model of the forum has what CloudKit does not support.
        try "{\"profiles\": [\"cloudkit\"]}".write(
            toFile: moult.folder.path + "/moult.json", atomically: true, encoding: .utf8)
        let cloud = try moult.run(Tool.path, arguments)
        #expect(
            cloud.exit == 1 && cloud.output.contains("moult lint Forum.xcdatamodeld --profile cloudkit"), "\(cloud)")
        for title in ["Before the release", "During the rollout", "After the release", "In an emergency"] {
            #expect(done.output.contains("## \(title)\n"))
        }
    }

    // MARK: Where people work

    /// The commands of the steps in `action.yml`, with the variables that each gets.
    private static func steps() throws -> [(run: String, variables: [String: String])] {
        let text = try String(contentsOf: packageRoot.appendingPathComponent("action.yml"), encoding: .utf8)
        return text.components(separatedBy: "- name: ").dropFirst().map { step in
            var run = ""
            var variables: [String: String] = [:]
            for line in step.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                if line.hasPrefix("run: '") { run = String(line.dropFirst("run: '".count).dropLast()) }
                guard let value = line.range(of: ": ${{ inputs.") else { continue }
                let input = line[value.upperBound...].prefix { $0 != " " }
                variables[String(line[..<value.lowerBound])] = String(input)
            }
            return (run, variables)
        }
    }

    /// Runs the steps as GitHub would, in a folder with a repository.
    private func action(_ moult: Tool, _ inputs: [String: String]) throws -> [Tool.Result] {
        let folder = moult.folder.path
        var results: [Tool.Result] = []
        for step in try Self.steps() {
            var tool = moult
            tool.environment = [
                "GITHUB_ACTION_PATH": packageRoot.path, "GITHUB_PATH": folder + "/.git/added-path",
                "GITHUB_STEP_SUMMARY": folder + "/.git/summary", "GITHUB_BASE_REF": "", "HOME": folder + "/.git",
                "GITHUB_OUTPUT": folder + "/.git/output", "GITHUB_REF": "", "RUNNER_TOOL_CACHE": folder + "/.git/tools",
            ]
            tool.environment.merge(moult.environment) { $1 }
            for (variable, input) in step.variables { tool.environment[variable] = inputs[input] ?? "" }
            let path = (try? String(contentsOfFile: folder + "/.git/added-path", encoding: .utf8)) ?? ""
            let folders = path.split(separator: "\n").map { "'\($0)':" }.joined()
            results.append(
                try tool.run("/bin/bash", ["-eo", "pipefail", "-c", "PATH=\(folders)\"$PATH\"; \(step.run)"]))
        }
        return results
    }

    private func repository() throws -> Tool {
        let moult = try Tool.besideForumModel()
        let made = try moult.shell(
            "git init -q -b main && moult init && git add -A && git -c user.name=T -c user.email=t@example.com commit -qm A"
        )
        try #require(made.exit == 0, "\(made)")
        return moult
    }

    @Test func `the action finds moult, passes a sound model, and fails for an edit of a released version`() throws {
        let moult = try repository()
        let inputs = ["moult": Tool.path, "since": "main"]
        let sound = try action(moult, inputs)
        #expect(sound.count == 3 && sound.allSatisfy { $0.exit == 0 }, "\(sound)")
        let summary = moult.folder.path + "/.git/summary"
        #expect(
            try String(contentsOfFile: summary, encoding: .utf8).hasPrefix(
                "### moult lint Forum.xcdatamodeld: no findings"))
        let contents = moult.folder.path + "/Forum.xcdatamodeld/Forum.xcdatamodel/contents"
        try String(contentsOfFile: contents, encoding: .utf8).replacing("name=\"subject\"", with: "name=\"title\"")
            .write(toFile: contents, atomically: true, encoding: .utf8)
        let red = try action(moult, inputs)
        #expect(red.map(\.exit) == [0, 0, 1], "\(red)")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/.git/.gitconfig"))
        #expect(
            red.last?.output.contains("::error file=Forum.xcdatamodeld/Forum.xcdatamodel/contents") == true, "\(red)")
        #expect(try String(contentsOfFile: summary, encoding: .utf8).contains("| error | OPEN001 |"))
        let wrong = try action(moult, inputs.merging(["since": "release"]) { $1 })
        #expect(wrong.map(\.exit) == [0, 0, 2], "\(wrong)")
        let missing = try action(moult, ["moult": "/nothing/moult"])
        #expect(missing.first?.exit == 2, "\(missing)")
    }

    @Test func `the action reads a repository of another user, and changes no configuration of git`() throws {
        var moult = try repository()
        moult.environment["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
        let results = try action(moult, ["moult": Tool.path, "since": "main"])
        #expect(results.map(\.exit) == [0, 0, 0], "\(results)")
        #expect(!FileManager.default.fileExists(atPath: moult.folder.path + "/.git/.gitconfig"))
    }

    @Test func `the action posts one comment, and the next run replaces it`() throws {
        var moult = try repository()
        let script = """
            import http.server, json, os, subprocess, sys, threading
            comments, calls = [{"id": n, "body": "other"} for n in range(1, 103)], []
            class Handler(http.server.BaseHTTPRequestHandler):
                def answer(self):
                    body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                    path, _, query = self.path.partition("?")
                    calls.append(self.command + " " + path + " " + self.headers.get("Authorization", ""))
                    if self.command == "GET":
                        page = int(query.rsplit("page=", 1)[1])
                        reply = comments[(page - 1) * 100 : page * 100]
                    elif self.command == "POST":
                        reply = {"id": 1000 + len(comments), **json.loads(body)}
                        comments.append(reply)
                    else:
                        reply = next(c for c in comments if c["id"] == int(path.rsplit("/", 1)[1]))
                        reply.update(json.loads(body))
                    data = json.dumps(reply).encode()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                do_GET = do_POST = do_PATCH = answer
                def log_message(self, *words):
                    pass
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            os.environ["GITHUB_API_URL"] = "http://127.0.0.1:%d" % server.server_port
            def lint():
                return subprocess.run([sys.argv[1], "lint"], stdout=subprocess.DEVNULL).returncode
            codes = [lint()]
            path = "Forum.xcdatamodeld/Forum.xcdatamodel/contents"
            text = open(path, encoding="utf-8").read()
            open(path, "w", encoding="utf-8").write(text.replace('name="subject"', 'name="title"'))
            codes.append(lint())
            own = [c["body"] for c in comments if c["body"] != "other"]
            print(json.dumps({"codes": codes, "own": own, "calls": calls}))
            """
        moult.environment.merge([
            "GITHUB_REPOSITORY": "o/r", "MOULT_PULL_REQUEST": "7", "MOULT_TOKEN": "secret", "MOULT_LINT_SINCE": "main",
            "GITHUB_STEP_SUMMARY": moult.folder.path + "/.git/summary", "GITHUB_BASE_REF": "",
            "PATH": (Tool.path as NSString).deletingLastPathComponent + ":/usr/bin:/bin",
        ]) { $1 }
        let action = packageRoot.appendingPathComponent("Scripts/action").path
        let run = try moult.run("/usr/bin/env", ["python3", "-c", script, action])
        let result = try #require(
            try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: any Sendable], "\(run)")
        #expect(result["codes"] as? [Int] == [0, 1], "\(run)")
        let own = try #require(result["own"] as? [String])
        #expect(own.count == 1 && own[0].contains("| error | OPEN001 |"), "\(own)")
        let calls = try #require(result["calls"] as? [String])
        let expected = ["GET", "GET", "POST", "GET", "GET", "PATCH"]
        #expect(calls.map { String($0.prefix { $0 != " " }) } == expected, "\(calls)")
        #expect(calls.allSatisfy { $0.contains("/repos/o/r/issues/") && $0.hasSuffix(" Bearer secret") }, "\(calls)")
        // A check does not fail because of its comment.
        moult.environment["GITHUB_API_URL"] = "http://127.0.0.1:1"
        let mute = try moult.run(action, ["lint"])
        #expect(mute.exit == 1 && mute.output.contains("::notice::No comment was posted"), "\(mute)")
    }

    @Test func `the action runs by hand, with a program of another name`() throws {
        let moult = Tool(folder: try ScratchFolder())
        let action = packageRoot.appendingPathComponent("Scripts/action").path
        let made = try moult.shell("printf '#!/bin/sh\\necho \"$@\"\\n' > own && chmod +x own")
        try #require(made.exit == 0, "\(made)")
        for step in ["find", "lint"] {
            let run = try moult.run(
                "/usr/bin/env", ["-i", "PATH=/usr/bin:/bin", "MOULT_PROGRAM=\(moult.folder.path)/own", action, step])
            #expect(run.exit == 0, "\(step): \(run)")
            #expect(step == "find" || run.output.contains("lint --fail-on error --format github"), "\(run)")
        }
    }

    @Test func `the action takes the program of a release, and refuses one with another checksum`() throws {
        var moult = Tool(folder: try ScratchFolder())
        let folder = moult.folder.path
        let made = try moult.shell(
            """
            version=$(sed -n 's/.*static let number = "\\(.*\\)"/\\1/p' \
                '\(packageRoot.path)/Sources/MoultEngine/MoultVersion.swift')
            name=moult-$version-linux-$(uname -m)
            mkdir -p "stage/$name/bin" "releases/v$version"
            printf '#!/bin/sh\necho released\n' > "stage/$name/bin/moult" && chmod +x "stage/$name/bin/moult"
            tar -C stage -c -z -f "releases/v$version/$name.tar.gz" "$name"
            cd "releases/v$version" && sha256sum "$name.tar.gz" > SHA256SUMS
            """)
        try #require(made.exit == 0, "\(made)")
        moult.environment = [
            "GITHUB_ACTION_PATH": packageRoot.path, "GITHUB_PATH": folder + "/path",
            "GITHUB_OUTPUT": folder + "/output",
            "RUNNER_TOOL_CACHE": folder + "/tools", "MOULT_RELEASES": "file://\(folder)/releases",
            "PATH": "/usr/bin:/bin",
        ]
        let action = packageRoot.appendingPathComponent("Scripts/action").path
        let found = try moult.run(action, ["find"])
        #expect(found.exit == 0, "\(found)")
        let path = try String(contentsOfFile: folder + "/path", encoding: .utf8).split(separator: "\n")
        let program = try moult.run(String(try #require(path.last)) + "/moult", [])
        #expect(program.output == "released\n", "\(path)")
        #expect(try moult.shell("rm -r tools && for file in releases/*/*.gz; do echo >> $file; done").exit == 0)
        let wrong = try moult.run(action, ["find"])
        #expect(wrong.exit == 3 && wrong.output.contains("checksum"), "\(wrong)")
        // Without a release there is a key for the cache, and the build follows.
        moult.environment["MOULT_RELEASES"] = "file://\(folder)/nothing"
        #expect(try moult.run(action, ["find"]).exit == 0)
        let output = try String(contentsOfFile: folder + "/output", encoding: .utf8)
        #expect(
            output.contains("key=moult-Linux-") && output.contains("folder=\(folder)/tools/moult-build"), "\(output)")
        try FileManager.default.createDirectory(
            atPath: folder + "/tools/moult-build", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: "/bin/true", toPath: folder + "/tools/moult-build/moult")
        moult.environment["MOULT_BUILD"] = folder + "/tools/moult-build"
        #expect(try moult.run(action, ["build"]).exit == 0)
        let last = try String(contentsOfFile: folder + "/path", encoding: .utf8)
        #expect(last.hasSuffix(folder + "/tools/moult-build\n"))
    }

    @Test func `the hooks of pre-commit run commands that moult has, for the files of a model`() throws {
        let text = try String(
            contentsOf: packageRoot.appendingPathComponent(".pre-commit-hooks.yaml"), encoding: .utf8)
        let entries = text.split(separator: "\n").compactMap { line in
            line.range(of: "  entry: ").map { String(line[$0.upperBound...]) }
        }
        #expect(entries == ["moult lint", "moult lock --check"])
        let moult = try repository()
        for entry in entries { #expect(try moult.shell(entry).exit == 0, "\(entry)") }
        let patterns = text.split(separator: "\n").compactMap { line in
            line.range(of: "  files: '").map { String(line[$0.upperBound...].dropLast()) }
        }
        #expect(patterns.count == 2)
        for pattern in patterns {
            let regex = try Regex(pattern)
            for path in [
                "App.xcdatamodeld/A 2.xcdatamodel/contents", "moult.json", "a/moult.lock",
                "a/B.xcdatamodeld/.xccurrentversion",
            ] {
                #expect(path.firstMatch(of: regex) != nil, "\(path)")
            }
            for path in ["Sources/App.swift", "notmoult.json", "moult.json.txt"] {
                #expect(path.firstMatch(of: regex) == nil, "\(path)")
            }
        }
    }
}
