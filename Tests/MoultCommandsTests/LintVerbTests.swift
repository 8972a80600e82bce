import Foundation
import TestSupport
import Testing

/// `moult lint` as scripts and services call it.
@Suite("Lint on the command line")
struct LintVerbTests {
    private static let title = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
    private static let required = "<attribute name=\"title\" attributeType=\"Integer 16\"/>"

    /// A tool beside `App.xcdatamodeld`, whose versions have one entity each.
    private func besideApp(_ properties: String...) throws -> Tool {
        let moult = Tool(folder: try ScratchFolder())
        for (number, text) in properties.enumerated() {
            try write("<entity name=\"Post\">\n\(text)\n</entity>", version: number + 1, moult)
        }
        return moult
    }

    private func write(_ xml: String, version: Int, _ moult: Tool) throws {
        let name = version == 1 ? "App" : "App \(version)"
        let folder = "\(moult.folder.path)/App.xcdatamodeld/\(name).xcdatamodel"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "<model>\n\(xml)\n</model>\n".write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        try SchemaFiles.markNewest(inBundle: moult.folder.path + "/App.xcdatamodeld")
    }

    private func commit(_ moult: Tool) throws {
        let made = try moult.shell(
            "git init -q && git add -A && git -c user.name=T -c user.email=t@example.com commit -q -m Release")
        try #require(made.exit == 0, "\(made)")
    }

    private func lint(_ moult: Tool, _ arguments: String...) throws -> Tool.Result {
        try moult.run(Tool.path, ["lint", "App.xcdatamodeld"] + arguments)
    }

    @Test func `a finding says its rule, its file and line, a sentence, and the XML to paste`() throws {
        let moult = try besideApp("", Self.required)
        let result = try lint(moult)
        #expect(result.exit == 1)
        #expect(result.output.contains("error [INFER005]"))
        #expect(result.output.contains("App.xcdatamodeld/App 2.xcdatamodel/contents:3: Post.title"))
        #expect(
            result.output.contains(
                "    <attribute name=\"title\" attributeType=\"Integer 16\" defaultValueString=\"0\"/>"))
        #expect(result.errors.isEmpty)
        let sound = try lint(try besideApp(Self.title))
        #expect(sound.exit == 0 && sound.output.hasPrefix("No findings in 1 version."), "\(sound)")
    }

    @Test func `--fail-on decides about the exit code, --ignore leaves a rule out`() throws {
        let moult = try besideApp(Self.title, "")
        #expect(try lint(moult).exit == 0)
        #expect(try lint(moult, "--fail-on", "warning").exit == 1)
        #expect(try lint(moult, "--fail-on", "warning", "--ignore", "data002").exit == 0)
    }

    @Test(arguments: [
        (["--ignore", "DATA020"], "There is no rule DATA020"), (["--ignore", "SHAPE03"], "SHAPE03"),
        (["--profile", "cloudkti"], "Did you mean cloudkit?"), (["--fail-on", "warn"], "note, warning, error"),
        (["--format", "xml"], "text, json, sarif, github, markdown"), (["--format", "sarif", "--json"], "exclude"),
        (["--ignore", ""], "There is no rule"), (["--profile", ""], "cloudkit, extension"),
        (["--since", "no-such-revision"], "no-such-revision"),
    ])
    func `a word that is not known is wrong usage with what may have been meant`(arguments: [String], says: String)
        throws
    {
        let moult = try besideApp(Self.title)
        try commit(moult)
        let result = try moult.run(Tool.path, ["lint", "App.xcdatamodeld"] + arguments)
        #expect(result.exit == 2, "\(result)")
        #expect((result.output + result.errors).contains(says), "\(result)")
    }

    @Test func `a released version that is edited is an error against the lock and against a revision`() throws {
        let moult = try besideApp(Self.title)
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        try commit(moult)
        #expect(try lint(moult, "--since", "HEAD").exit == 0)
        try write("<entity name=\"Post\">\n\(Self.required)\n</entity>", version: 1, moult)
        for arguments in [[], ["--since", "HEAD"], ["--lock", "moult.lock"]] {
            let result = try moult.run(Tool.path, ["lint", "App.xcdatamodeld"] + arguments)
            #expect(result.exit == 1 && result.output.contains("[OPEN001]"), "\(result)")
        }
        // A sub-folder is as good a place to stand.
        try FileManager.default.createDirectory(
            atPath: moult.folder.path + "/Tools", withIntermediateDirectories: true)
        let below = try moult.shell(
            "cd Tools && GIT_DIR=.git GIT_INDEX_FILE=.git/index moult lint ../App.xcdatamodeld --since HEAD")
        #expect(below.exit == 1 && below.output.contains("[OPEN001]"), "\(below)")
    }

    @Test func `a new version with an error of lint is not locked, and the first lock is the baseline`() throws {
        let body = Self.title.replacing("\"title\"", with: "\"body\"")
        let baseline = try besideApp(Self.title, body)
        #expect(try lint(baseline).exit == 1)
        #expect(try baseline("lock", "App.xcdatamodeld").exit == 0)
        let moult = try besideApp(Self.title)
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        let lock = moult.folder.path + "/moult.lock"
        let before = try String(contentsOfFile: lock, encoding: .utf8)
        try write("<entity name=\"Post\">\n\(body)\n</entity>", version: 2, moult)
        for arguments in [[], ["--again"]] {
            let refused = try moult.run(Tool.path, ["lock", "App.xcdatamodeld"] + arguments)
            #expect(refused.exit == 1 && refused.output.contains("[INFER001] at Post.body"), "\(refused)")
            #expect(refused.output.contains("moult lint App.xcdatamodeld"), "\(refused)")
        }
        #expect(try String(contentsOfFile: lock, encoding: .utf8) == before)
        #expect(try lint(moult).exit == 1)
        #expect(try moult("answer", "App.xcdatamodeld", "--set", "Post.body=new").exit == 0)
        let locked = try moult("lock", "App.xcdatamodeld")
        #expect(locked.exit == 0 && locked.output.contains("Locked 2 versions"), "\(locked)")
    }

    @Test func `what an edit breaks in the step to a released version is to be undone, and shows no tag`() throws {
        let both = Self.title + Self.title.replacing("\"title\"", with: "\"body\"")
        let moult = try besideApp(Self.title, both)
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        let rating = "<attribute name=\"rating\" attributeType=\"Integer 16\"/>"
        try write("<entity name=\"Post\">\n\(both)\n\(rating)\n</entity>", version: 2, moult)
        let result = try lint(moult)
        #expect(result.output.contains("[OPEN001]") && result.output.contains("[INFER005]"), "\(result)")
        #expect(result.output.contains("App 2 is released: undo the edit (OPEN001)"), "\(result)")
        #expect(!result.output.contains("defaultValueString"), "\(result)")
    }

    @Test func `a version that is locked in the same branch is new since the revision`() throws {
        let moult = try besideApp(Self.title)
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        try commit(moult)
        try write("<entity name=\"Post\"/>", version: 2, moult)
        #expect(try moult("lock", "App.xcdatamodeld").exit == 0)
        #expect(try lint(moult, "--fail-on", "warning").exit == 0)
        let result = try lint(moult, "--since", "HEAD", "--fail-on", "warning")
        #expect(result.exit == 1 && result.output.contains("warning [DATA002]"), "\(result)")
    }

    @Test
    func `SARIF has every rule with help, and each result with a rule, a place and a fingerprint that stays`() throws {
        let moult = try besideApp("", Self.required)
        func results(_ result: Tool.Result) throws -> (rules: [[String: Any]], results: [[String: Any]]) {
            let whole = try #require(
                try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
            #expect(whole["version"] as? String == "2.1.0")
            let run = try #require((whole["runs"] as? [[String: Any]])?.first)
            let driver = (run["tool"] as? [String: Any])?["driver"] as? [String: Any]
            return (
                try #require(driver?["rules"] as? [[String: Any]]), try #require(run["results"] as? [[String: Any]])
            )
        }
        let (rules, found) = try results(try lint(moult, "--format", "sarif"))
        #expect(rules.count > 40 && rules.allSatisfy { ($0["help"] as? [String: Any])?["markdown"] != nil })
        let result = try #require(found.first)
        let index = try #require(result["ruleIndex"] as? Int)
        #expect(rules[index]["id"] as? String == "INFER005" && result["ruleId"] as? String == "INFER005")
        let location = ((result["locations"] as? [[String: Any]])?.first?["physicalLocation"]) as? [String: Any]
        let uri = (location?["artifactLocation"] as? [String: Any])?["uri"] as? String
        #expect(uri == "App.xcdatamodeld/App%202.xcdatamodel/contents")
        #expect((location?["region"] as? [String: Any])?["startLine"] as? Int == 3)
        let fingerprint = (result["partialFingerprints"] as? [String: String])?["moultLint/v1"]
        try write("\n\n<entity name=\"Post\">\n\(Self.required)\n</entity>", version: 2, moult)
        let (_, moved) = try results(try lint(moult, "--format", "sarif"))
        #expect((moved.first?["partialFingerprints"] as? [String: String])?["moultLint/v1"] == fingerprint)
    }

    @Test func `SARIF and GitHub's commands name files from the root of the repository, wherever lint runs`() throws {
        let moult = try besideApp("", Self.required)
        try commit(moult)
        let model = "App.xcdatamodeld/App%202.xcdatamodel/contents"
        for path in ["../App.xcdatamodeld", moult.folder.path + "/App.xcdatamodeld"] {
            let sarif = try moult.shell("mkdir -p Reports && cd Reports && moult lint '\(path)' --format sarif")
            #expect(sarif.exit == 1 && sarif.output.contains("\"uri\": \"\(model)\""), "\(sarif)")
            let commands = try moult.shell("cd Reports && moult lint '\(path)' --format github")
            let start = "::error file=App.xcdatamodeld/App 2.xcdatamodel/contents,"
            #expect(commands.output.hasPrefix(start), "\(commands)")
        }
    }

    @Test func `SARIF of a model outside of the repository is refused: no service finds its files`() throws {
        let moult = try besideApp("", Self.required)
        let result = try moult.shell(
            "mkdir Other && cd Other && git init -q && moult lint ../App.xcdatamodeld --format sarif > out.sarif")
        #expect(result.exit == 2 && result.errors.contains("is outside of"), "\(result)")
        #expect(result.errors.contains("../App.xcdatamodeld"), "\(result)")
        let size = try moult.shell("wc -c < Other/out.sarif")
        #expect(size.output.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
        #expect(try moult.shell("cd Other && moult lint ../App.xcdatamodeld --format json").exit == 1)
    }

    @Test func `of a commit that has the model only in part, nothing is taken for released`() throws {
        let moult = try besideApp(Self.title, Self.title)
        try """
        <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>App 2.xcdatamodel</string></dict></plist>
        """.write(
            toFile: moult.folder.path + "/App.xcdatamodeld/.xccurrentversion", atomically: true, encoding: .utf8)
        try "App 2.xcdatamodel\n".write(
            toFile: moult.folder.path + "/.gitignore", atomically: true, encoding: .utf8)
        try commit(moult)
        let result = try lint(moult, "--since", "HEAD")
        #expect(result.exit == 4 && result.errors.contains("only partly in the commit"), "\(result)")
        #expect(result.errors.contains("/App.xcdatamodeld/.xccurrentversion"), "\(result)")
        // A version whose file was left out, where something else of it was not.
        try FileManager.default.removeItem(atPath: moult.folder.path + "/App.xcdatamodeld/.xccurrentversion")
        let other = try moult.shell(
            "echo contents > .gitignore && touch 'App.xcdatamodeld/App 2.xcdatamodel/layout' && git add -A && git -c user.name=T -c user.email=t@example.com commit -qm B"
        )
        try #require(other.exit == 0, "\(other)")
        let empty = try lint(moult, "--since", "HEAD")
        #expect(empty.exit == 4 && empty.errors.contains("App 2.xcdatamodel has no contents"), "\(empty)")
    }

    @Test func `GitHub's commands, Markdown and JSON name the same finding`() throws {
        let moult = try besideApp("", Self.required)
        let commands = try lint(moult, "--format", "github").output
        #expect(
            commands.hasPrefix("::error file=App.xcdatamodeld/App 2.xcdatamodel/contents,line=3,title=INFER005"))
        #expect(commands.contains("%0A"))
        let page = try lint(moult, "--format", "markdown").output
        #expect(page.contains("| error | INFER005 |") && page.contains("```mermaid"))
        let document = try lint(moult, "--format", "json").document
        let finding = try #require((document["findings"] as? [[String: Any]])?.first)
        #expect(finding["rule"] as? String == "INFER005" && finding["line"] as? Int == 3)
        #expect(try lint(moult, "--json").output == lint(moult, "--format", "json").output)
    }

    @Test
    func `a reference to nothing is a finding at its line, also where the model cannot be read because of it`() throws {
        let author = "<relationship name=\"author\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"User\"/>"
        let inverse =
            "<relationship name=\"next\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Post\" inverseName=\"last\"/>"
        let index = "<fetchIndex name=\"i\"><fetchIndexElement property=\"body\" type=\"Binary\"/></fetchIndex>"
        for property in [author, inverse, index] {
            let result = try lint(try besideApp(property))
            #expect(result.exit == 1 && result.output.contains("[SHAPE002]"), "\(result)")
            #expect(result.output.contains("App.xcdatamodel/contents:3: Post."), "\(result)")
        }
        let ignored = try lint(try besideApp(author), "--ignore", "SHAPE002")
        #expect(ignored.exit == 4, "\(ignored)")
    }

    @Test
    func `merge conflicts, a lock of a later format and another app's store are errors that write nothing`() throws {
        let moult = try besideApp(Self.title)
        let lock = moult.folder.path + "/moult.lock"
        func expect(_ exit: Int32, _ says: String, _ arguments: String...) throws {
            let before = try FileManager.default.subpathsOfDirectory(atPath: moult.folder.path)
            let result = try moult.run(Tool.path, ["lint", "App.xcdatamodeld"] + arguments)
            #expect(result.exit == exit && result.errors.contains(says), "\(result)")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: moult.folder.path) == before)
        }
        try expect(2, "no git repository", "--since", "main")
        try "{\"format\": 99, \"models\": {}}".write(toFile: lock, atomically: true, encoding: .utf8)
        try expect(4, "Use a newer version of Moult.")
        try expect(4, "moult.lock:1\n")
        try "{\n  \"format\": 1,\n<<<<<<< HEAD\n".write(toFile: lock, atomically: true, encoding: .utf8)
        try expect(4, "moult.lock:3\n")
        try expect(4, "The lock file has an unresolved merge conflict.")
        try FileManager.default.removeItem(atPath: lock)
        let other = try StoreVerbTests.besideForumStore()
        try FileManager.default.copyItem(
            atPath: other.folder.path + "/forum.sqlite", toPath: moult.folder.path + "/forum.sqlite")
        // Forum has an entity Post too, so that the store is only of no version.
        try expect(3, "no version of the model", "--store", "forum.sqlite")
        try write("<entity name=\"Car\"/>", version: 1, moult)
        try expect(3, "another app", "--store", "forum.sqlite")
        try write("<<<<<<< HEAD\n<entity name=\"Post\"/>\n=======\n>>>>>>> work", version: 1, moult)
        try expect(4, "unresolved merge conflict")
    }

    @Test func `an answer that fits no question is a finding with the command that removes it`() throws {
        let note = "<attribute name=\"note\" optional=\"YES\" attributeType=\"String\"/>"
        let moult = try besideApp(Self.title, Self.title + note)
        try """
        {"format": 1, "answers": [
          {"from": "App", "to": "App 2", "entity": "Post", "property": "title", "is": "keep"}]}
        """.write(toFile: moult.folder.path + "/App.answers.json", atomically: true, encoding: .utf8)
        let result = try lint(moult)
        #expect(result.exit == 1 && result.output.contains("error [INFER009]"), "\(result)")
        #expect(result.output.contains("moult answer App.xcdatamodeld --forget Post.title"), "\(result)")
        #expect(try moult("answer", "App.xcdatamodeld", "--forget", "Post.title").exit == 0)
        #expect(try lint(moult).exit == 0)
    }

    @Test func `a bundle of several versions that marks none is a warning, until one is marked`() throws {
        let moult = try besideApp(Self.title, "")
        try FileManager.default.removeItem(atPath: moult.folder.path + "/App.xcdatamodeld/.xccurrentversion")
        let result = try lint(moult)
        #expect(result.exit == 0 && result.output.contains("warning [OPEN012]"), "\(result)")
        #expect(result.output.contains("Moult takes App 2; Xcode may choose another one."), "\(result)")
        try SchemaFiles.mark("App 2", inBundle: moult.folder.path + "/App.xcdatamodeld")
        #expect(try !lint(moult).output.contains("OPEN012"))
    }

    @Test func `a repository of another user is refused with the command that allows it`() throws {
        var moult = try besideApp(Self.title)
        try commit(moult)
        moult.environment["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
        let result = try lint(moult, "--since", "HEAD")
        #expect(result.exit == 2 && result.errors.contains("git config --global --add safe.directory"), "\(result)")
    }

    @Test func `without git, --since says so`() throws {
        var moult = try besideApp(Self.title)
        moult.environment["PATH"] = moult.folder.path
        let result = try lint(moult, "--since", "HEAD")
        #expect(result.exit == 2 && result.errors.contains("there is no program git"), "\(result)")
    }

    @Test func `a folder of models may have other JSON files`() throws {
        let moult = try besideApp(Self.title)
        #expect(try moult("schema", "export", "Versions", "--model", "App.xcdatamodeld").exit == 0)
        #expect(try moult.shell("rm -r Versions/*.xcdatamodeld").exit == 0)
        try "{\"name\": \"app\", \"version\": \"1.0.0\"}".write(
            toFile: moult.folder.path + "/Versions/package.json", atomically: true, encoding: .utf8)
        let result = try moult("lint", "Versions")
        #expect(result.exit == 0 && result.output.hasPrefix("No findings in 1 version."), "\(result)")
    }

    @Test func `with a store, a loss says how many objects it concerns`() throws {
        let moult = try besideApp(Self.title, "")
        let made = try moult(
            "create", "app.sqlite", "--model", "App.xcdatamodeld", "--version", "App", "--rows", "Post=7")
        try #require(made.exit == 0, "\(made)")
        let result = try lint(moult, "--store", "app.sqlite")
        #expect(result.output.contains("The store has 7 objects of Post."), "\(result)")
    }

    @Test func `with a store, a finding counts the values that occur twice or are lost, as a plan does`() throws {
        let slug = "<attribute name=\"slug\" optional=\"YES\" attributeType=\"String\"/>"
        let unique = """
            <uniquenessConstraints><uniquenessConstraint><constraint value="slug"/></uniquenessConstraint>\
            </uniquenessConstraints>
            """
        let moult = try besideApp(Self.title + slug, slug + unique)
        let made = try moult(
            "create", "app.sqlite", "--model", "App.xcdatamodeld", "--version", "App", "--rows", "Post=7")
        try #require(made.exit == 0, "\(made)")
        _ = try SQLiteShell.run(
            moult.folder.path + "/app.sqlite",
            "UPDATE ZPOST SET ZSLUG = Z_PK / 2, ZTITLE = CASE WHEN Z_PK < 4 THEN 'a' END")
        let result = try lint(moult, "--store", "app.sqlite")
        #expect(
            result.output.contains(
                "In the store: 3 values of Post.slug, which becomes unique, occur more than once."), "\(result)")
        #expect(result.output.contains("[DATA002]") && result.output.contains("In the store: 3 values"), "\(result)")
    }

    @Test func `with a profile, its rules apply too`() throws {
        let moult = try besideApp("<attribute name=\"title\" attributeType=\"String\"/>")
        #expect(try lint(moult).exit == 0)
        let result = try lint(moult, "--profile", "cloudkit")
        #expect(result.exit == 1 && result.output.contains("[SYNC002]"), "\(result)")
    }
}
