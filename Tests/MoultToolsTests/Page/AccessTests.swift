import MoultTools
import TestSupport
import Testing

@Suite("Who may see the page")
struct AccessTests {
    private let forum: ForumStore

    init() throws { forum = try ForumStore() }

    @Test func `the address opens the page once, in one browser`() async throws {
        let visit = Visit(forum.settings())
        let entrance = await visit.site.entrance
        let target = String(entrance.dropFirst("http://\(Visit.host)".count))
        #expect(target.hasPrefix("/?token=") && target.count == 8 + 64)
        #expect(await visit.send("GET", "/").status == 403)
        #expect(await visit.send("GET", "/?token=" + String(repeating: "0", count: 64)).status == 403)
        #expect(await visit.send("GET", "/?token=").status == 403)
        // A look ahead does not use it up.
        #expect(await visit.send("HEAD", target).status == 403)
        #expect(await visit.send("GET", target, ["Host": "evil.example:8080"]).status == 403)
        let welcome = await visit.send("GET", target)
        let cookie = try #require(welcome.header("Set-Cookie"))
        #expect(welcome.status == 303 && cookie.hasPrefix("moult-8080="))
        #expect(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(target.suffix(64)))
        #expect(await visit.send("GET", target).status == 403)
        let pair = cookie.split(separator: ";").first.map(String.init)
        #expect(await visit.send("GET", "/", ["Cookie": pair]).status == 200)
        #expect(await visit.send("GET", "/", ["Cookie": "a=b; \(pair ?? ""); c=d"]).status == 200)
        #expect(
            await visit.send("GET", "/", ["Cookie": "moult-8080=" + String(repeating: "0", count: 64)]).status == 403)
        #expect(await visit.send("GET", "/", ["Cookie": "moult-8081=\(pair?.dropFirst(11) ?? "")"]).status == 403)
        let other = Visit(forum.settings())
        #expect(await other.site.entrance != entrance)
    }

    @Test(
        arguments: [
            ("GET", ["Host": "localhost.evil.example"]), ("GET", ["Host": "127.0.0.1"]), ("GET", ["Host": nil]),
            ("GET", ["Cookie": nil]), ("GET", ["Sec-Fetch-Site": "cross-site"]),
            ("GET", ["Sec-Fetch-Site": "same-site"]),
            ("POST", ["Origin": "http://evil.example"]), ("POST", ["Origin": "null"]), ("POST", ["Origin": nil]),
            ("POST", ["Content-Type": "text/plain"]), ("POST", [:]), ("DELETE", [:]), ("OPTIONS", [:]), ("get", [:]),
        ] as [(String, [String: String?])])
    func `a request of another site, or to another name, gets nothing of the store`(
        method: String, changes: [String: String?]
    ) async throws {
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        let body = method == "POST" ? "do=rehearse" : ""
        for target in ["/", "/objects?entity=User", "/do", "/job.json"] {
            let response = await visit.send(method, target, changes, body: body)
            #expect(response.status == 403 || response.status == 405, "\(target) \(response.text)")
            #expect(!response.text.contains("forum") && !response.text.contains("User"), "\(target)")
        }
        #expect(await visit.send("GET", "/").status == 200)
    }

    @Test func `a second header of one name is none`() async throws {
        let visit = Visit(forum.settings())
        let headers = [("Host", Visit.host), ("host", Visit.host)]
        let request = try #require(Request("GET", "/", headers: headers))
        #expect(await visit.site.respond(to: request).status == 403)
    }

    @Test func `a target or a form that is not encoded as it should be is no request`() {
        for target in ["", "*", "http://127.0.0.1:8080/", "/%", "/%4", "/%zz", "/%FF", "/?a=%C3", "/?%GG=1"] {
            #expect(Request("GET", target, headers: []) == nil, "\(target)")
        }
        let form = ("Content-Type", "application/x-www-form-urlencoded")
        #expect(Request("POST", "/do", headers: [form], body: Array("a=%".utf8)) == nil)
        #expect(Request("POST", "/do", headers: [form], body: [UInt8](repeating: 97, count: 64 << 10 + 1)) == nil)
        let request = Request("POST", "/a%2Fb+c?x=1%2B1&x=2&y=a+b&z", headers: [form], body: Array("q=%26%3D".utf8))
        #expect(request?.path == "/a/b+c" && request?.query == ["x": "1+1", "y": "a b", "z": ""])
        #expect(request?.form == ["q": "&="])
    }

    @Test func `no page lets anything in from elsewhere`() async throws {
        let visit = try await Visit.begun(forum.settings())
        for target in ["/", "/style.css", "/script.js", "/nothing", "/picture.svg?kind=model"] {
            let response = await visit.send("GET", target)
            let policy = try #require(response.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe") && !policy.contains("*"))
            #expect(response.header("X-Content-Type-Options") == "nosniff")
            #expect(response.header("Cache-Control") == "no-store")
            #expect(!response.text.contains("https://") && !response.text.contains(" onclick="))
        }
        #expect(await visit.send("GET", "/nothing").status == 404)
    }
}
