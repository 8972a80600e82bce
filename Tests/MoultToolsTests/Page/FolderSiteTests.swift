import Foundation
import MoultTools
import TestSupport
import Testing

@Suite("The page of a folder")
struct FolderSiteTests {
    /// A browser that has opened the page of a folder.
    private func visit(_ settings: Site.Settings) async throws -> (String) async -> Response {
        let site = FolderSite(settings, host: Visit.host) { _, _ in settings.words }
        let entrance = try #require(URLComponents(string: await site.entrance))
        func send(_ target: String, _ cookie: String?) async -> Response {
            let headers = [("Host", Visit.host)] + (cookie.map { [("Cookie", $0)] } ?? [])
            guard let request = Request("GET", target, headers: headers) else { return Response(400, type: "", "") }
            return await site.respond(to: request)
        }
        let welcome = await send("/?" + (entrance.query ?? ""), nil)
        let cookie = welcome.header("Set-Cookie")?.split(separator: ";").first.map(String.init)
        #expect(await send("/", nil).status == 403)
        return { await send($0, cookie) }
    }

    @Test func `a folder is a list of its stores, and each store has its own pages`() async throws {
        let (first, second) = (try ForumStore(count: 3), try ForumStore(count: 9))
        let folder = try ScratchFolder()
        for (name, forum) in [("a", first), ("deep/b", second)] {
            try FileManager.default.createDirectory(atPath: folder.path + "/deep", withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: forum.path, toPath: "\(folder.path)/\(name).sqlite")
        }
        try Data("SQLite format 3\0 and no more".utf8).write(to: URL(fileURLWithPath: folder.path + "/broken.sqlite"))
        try Data("text".utf8).write(to: URL(fileURLWithPath: folder.path + "/notes.txt"))
        var settings = Site.Settings(store: folder.path)
        settings.models = first.models
        let get = try await visit(settings)
        let list = await get("/").text
        let links = list.matches(of: /href="(\/store\/[0-9a-f]{16}\/)"><bdi>([^<]*)</).map {
            (String($0.output.2), String($0.output.1))
        }
        let roots = Dictionary(links) { first, _ in first }
        #expect(Set(roots.keys).isSuperset(of: ["a.sqlite", "deep/b.sqlite"]) && !list.contains("notes.txt"))
        #expect(list.contains("<bdi>Forum</bdi>") && list.contains("behind"))
        for (name, count) in [("a.sqlite", 3), ("deep/b.sqlite", 9)] {
            let root = try #require(roots[name])
            let store = await get(root)
            #expect(store.status == 200 && store.text.contains("\(folder.path)/\(name)"))
            #expect(store.text.contains(" href=\"\(root)plan\"") && !store.text.contains(" href=\"/plan\""))
            #expect(store.text.contains(" src=\"\(root)script.js\""))
            let objects = await get("\(root)objects?entity=Post").text
            #expect(keys(objects.replacingOccurrences(of: root, with: "/")).count == count)
            #expect(
                objects.contains(" action=\"\(root)objects\"")
                    && objects.contains("href=\"http://\(Visit.host)/\">Stores</a>"))
            #expect(await get("\(root)style.css").status == 200)
        }
        #expect(await get("/store/0000000000000000/").status == 404)
        #expect(await get("/plan").status == 404)
        // The address of a store is the same at the next start.
        let again = try await visit(settings)
        #expect(await again(try #require(roots["deep/b.sqlite"])).text.contains("deep/b.sqlite"))
    }

    @Test func `without a model named, each store has the one beside it, and none is called the newest of its own`()
        async throws
    {
        let forum = try ForumStore(count: 1)
        try FileManager.default.createDirectory(atPath: forum.folder.path + "/alone", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: forum.path, toPath: forum.folder.path + "/alone/a.sqlite")
        let get = try await visit(Site.Settings(store: forum.folder.path))
        let list = await get("/").text
        func root(_ name: String) throws -> String {
            let links = list.matches(of: /href="(\/store\/[0-9a-f]{16}\/)"><bdi>([^<]*)</)
            return String(try #require(links.first { $0.output.2 == name }).output.1)
        }
        #expect(list.contains("<td>behind</td>") && !list.contains("<td>current</td>"))
        #expect(await get(try root("forum.sqlite")).text.contains("2 versions behind"))
        #expect(await get(try root("forum.sqlite") + "plan").text.contains("Forum 3"))
        for page in ["", "plan"] {
            let text = await get(try root("alone/a.sqlite") + page).text
            #expect(text.contains("No model was named") && !text.contains("newest") && !text.contains("nothing to do"))
        }
    }

    @Test func `a folder without a store is told from one with a store`() throws {
        let forum = try ForumStore(count: 1)
        let empty = try ScratchFolder()
        #expect(try FolderSite.holdsStore(forum.folder.path))
        #expect(try !FolderSite.holdsStore(empty.path))
    }

    @Test func `the secret of a fixed address is kept where only its user can read it`() throws {
        let folder = try ScratchFolder()
        let state = folder.path + "/.local/state"
        let secret = try KeptSession.secret(port: 8080, in: state)
        #expect(secret.count == 64)
        #expect(try KeptSession.secret(port: 8080, in: state) == secret)
        #expect(try KeptSession.secret(port: 8081, in: state) != secret)
        let file = state + "/moult/browse-8080"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(throws: (any Error).self) { try KeptSession.secret(port: 8080, in: state) }
        // As the remedy says: removed, it is made anew.
        try FileManager.default.removeItem(atPath: file)
        #expect(try KeptSession.secret(port: 8080, in: state) != secret)
    }

    @Test func `a browser with a kept cookie is let in after a restart, and no other`() async throws {
        let forum = try ForumStore(count: 1)
        var settings = forum.settings()
        settings.session = String(repeating: "a", count: 64)
        let cookie = "moult-8080=" + String(repeating: "a", count: 64)
        let site = Site(settings, host: Visit.host)
        func status(_ cookie: String) async throws -> Int {
            let request = try #require(Request("GET", "/", headers: [("Host", Visit.host), ("Cookie", cookie)]))
            return await site.respond(to: request).status
        }
        #expect(try await status(cookie) == 200)
        #expect(try await status(cookie.replacingOccurrences(of: "aa", with: "ab")) == 403)
        let visit = Visit(settings)
        let target = await String(visit.site.entrance.dropFirst("http://\(Visit.host)".count))
        #expect(await visit.send("GET", target).header("Set-Cookie")?.contains("Max-Age=") == true)
        let other = Visit(forum.settings())
        let once = await String(other.site.entrance.dropFirst("http://\(Visit.host)".count))
        #expect(await other.send("GET", once).header("Set-Cookie")?.contains("Max-Age=") == false)
    }
}
