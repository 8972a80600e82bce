import Foundation
import MoultTools
import TestSupport
import Testing

@Suite("The picture of the model on the page")
struct ModelPageTests {
    @Test func `a slider leads through the versions, each with what it has changed`() async throws {
        let forum = try ForumStore()
        let visit = try await Visit.begun(forum.settings())
        let own = try await visit.get("/model")
        #expect(own.contains("min=\"0\" max=\"2\" value=\"0\"") && own.contains("aria-valuetext=\"Forum\""))
        #expect(own.contains("data-source=\"/picture.svg?kind=model\"") && own.contains(">Thread</bdi>"))
        // The versions of the overview lead there.
        #expect(try await visit.get("/").contains("<a href=\"/model?version=Forum%203\">"))
        for target in ["/model?place=2", "/model?version=Forum%203"] {
            let page = try await visit.get(target)
            #expect(page.contains("value=\"2\"") && page.contains("what has changed since <bdi>Forum 2</bdi>"))
            #expect(page.contains("kind=version&amp;version=Forum%203&amp;from=Forum%202"))
            #expect(page.contains("<bdi>Topic</bdi>") && !page.contains("<bdi>Thread</bdi>"))
        }
        let first = try await visit.get("/model?place=0")
        #expect(first.contains("kind=version&amp;version=Forum\"") && !first.contains("has changed since"))
        for wrong in ["place=3", "place=-1", "place=x", "version=Nothing", "version=Forum&from=Nothing"] {
            #expect(await visit.send("GET", "/model?\(wrong)").status == 422, "\(wrong)")
        }
        #expect(await visit.send("GET", "/picture.svg?kind=version&version=Nothing").status == 422)
    }

    @Test func `a store without a model beside it has no slider`() async throws {
        let forum = try ForumStore()
        var settings = forum.settings()
        settings.models = nil
        let page = try await Visit.begun(settings).get("/model")
        #expect(!page.contains("type=\"range\"") && page.contains("<figure class=\"picture\""))
    }

    @Test(.enabled(if: ChildProcess.hasGraphviz))
    func `the entities of a picture lead to their own pages, with the same versions`() async throws {
        let forum = try ForumStore()
        let visit = try await Visit.begun(forum.settings())
        func picture(_ query: String) async throws -> String {
            let response = await visit.send("GET", "/picture.svg?kind=\(query)")
            try #require(response.status == 200, "\(response.text)")
            return response.text
        }
        let model = try await picture("model")
        #expect(model.matches(of: /xlink:href="\/model\?entity=[A-Za-z]+"/).count == 4)
        let version = try await picture("version&version=Forum%203&from=Forum")
        #expect(version.contains("/model?entity=Tag&amp;version=Forum%203&amp;from=Forum\""))
        // Added, renamed, and an entity that has not changed since.
        #expect(version.contains("+ viewCount") && version.contains("» body") && version.contains("title"))
        let part = try await picture("version&entity=Tag&version=Forum%203&from=Forum")
        #expect(part.contains(">Tag</text>") && part.contains(">Topic</text>") && !part.contains(">body</text>"))
    }
}
