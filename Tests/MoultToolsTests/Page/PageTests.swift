import Foundation
import MoultModel
import MoultObjects
import MoultStore
import MoultTools
import TestSupport
import Testing

@Suite("The pages of a store")
struct PageTests {
    @Test func `the pages of an entity are its objects by key, each once, whatever was deleted between`() async throws {
        let forum = try ForumStore(count: 180)
        _ = try forum.sql("DELETE FROM ZPOST WHERE Z_PK % 7 = 0 OR Z_PK BETWEEN 60 AND 120")
        let expected = try forum.sql("SELECT Z_PK FROM ZPOST ORDER BY Z_PK").split(separator: "\n").compactMap {
            Int64($0)
        }
        let visit = try await Visit.begun(forum.settings())
        var (target, found, pages): (String?, [Int64], Int) = ("/objects?entity=Post", [], 0)
        while let address = target {
            let page = try await visit.get(address)
            found += keys(page)
            target = next(page)
            pages += 1
        }
        #expect(found == expected && pages == (expected.count + 49) / 50)
    }

    @Test func `a few objects far apart are found without reading what is between`() async throws {
        let forum = try ForumStore(count: 3)
        _ = try forum.sql("UPDATE ZPOST SET Z_PK = 9000000000000000000 WHERE Z_PK = 3")
        let visit = try await Visit.begun(forum.settings())
        #expect(keys(try await visit.get("/objects?entity=Post")) == [1, 2, 9_000_000_000_000_000_000])
        #expect(keys(try await visit.get("/objects?entity=Post&after=9223372036854775807")) == [])
        let found = try await visit.get("/objects?entity=Post&where=SELF.text%20!=%20NULL&after=2")
        #expect(keys(found) == [9_000_000_000_000_000_000])
    }

    @Test func `a text is found in any attribute, and a predicate finds what it says`() async throws {
        let forum = try ForumStore(count: 60)
        _ = try forum.sql("UPDATE ZUSER SET ZNAME = 'Zoë <b>' WHERE Z_PK IN (7, 55)")
        let visit = try await Visit.begun(forum.settings())
        let found = try await visit.get("/objects?entity=User&find=zOE")
        #expect(keys(found) == [7, 55] && found.contains("Zoë &lt;b&gt;"))
        #expect(keys(try await visit.get("/objects?entity=User&where=name%20BEGINSWITH%20'Zo'&find=55")) == [])
        #expect(keys(try await visit.get("/objects?entity=User&where=name%20BEGINSWITH%20'Zo'")) == [7, 55])
        for wrong in ["name%20=", "nobody%20=%201", "((((", "%3Cscript%3E"] {
            let page = try await visit.get("/objects?entity=User&where=\(wrong)")
            #expect(page.contains("role=\"alert\"") && !page.contains("<script>"))
        }
        let none = try await visit.get("/objects?entity=User&find=no+such+name")
        #expect(none.contains("No object was found."))
    }

    @Test func `an object has its values in their types, and its links lead there and back`() async throws {
        let forum = try ForumStore(count: 30)
        let visit = try await Visit.begun(forum.settings())
        let row = try forum.sql("SELECT Z_PK, ZAUTHOR FROM ZPOST WHERE ZAUTHOR > 0 ORDER BY 1 LIMIT 1").split(
            separator: "|")
        let (post, user) = (row[0], row[1])
        let page = try await visit.get("/object?entity=Post&key=\(post)")
        #expect(page.contains("<a href=\"/object?entity=User&amp;key=\(user)\"><bdi>"))
        let author = try await visit.get("/object?entity=User&key=\(user)")
        #expect(author.contains("href=\"/object?entity=Post&amp;key=\(post)\""))
        #expect(await visit.send("GET", "/object?entity=Post&key=999").status == 422)
        #expect(await visit.send("GET", "/object?entity=Nobody&key=1").status == 422)
        #expect(await visit.send("GET", "/links?entity=Post&key=1&relationship=none").status == 422)
    }

    @Test func `long lists of links have pages too`() async throws {
        let forum = try ForumStore(count: 130)
        _ = try forum.sql("UPDATE ZPOST SET ZAUTHOR = 1, ZTHREAD = 1, Z_FOK_THREAD = 1000 - Z_PK")
        let visit = try await Visit.begun(forum.settings())
        func listed(_ page: String) -> [Int] {
            page.matches(of: /<li><a href="\/object\?entity=Post&amp;key=(\d+)"/).compactMap { Int($0.output.1) }
        }
        // By key, and in the order of an ordered relationship.
        for (entity, expected) in [("User", Array(1...130)), ("Thread", Array((1...130).reversed()))] {
            let object = try await visit.get("/object?entity=\(entity)&key=1")
            let more = object.firstMatch(of: /<a href="(\/links[^"]*relationship=posts[^"]*)">More/)?.output.1
            var target = try #require(more?.replacingOccurrences(of: "&amp;", with: "&")) as String?
            var (found, page) = (listed(object), "")
            while let address = target {
                page = try await visit.get(address)
                found += listed(page)
                target = next(page)
            }
            #expect(found == expected, "\(entity)")
            #expect(link("last", page) == nil)
            let first = try await visit.get(try #require(link("first", page)))
            #expect(listed(first) == Array(expected.prefix(50)))
            let last = try await visit.get(try #require(link("last", first)))
            #expect(listed(last) == Array(expected.suffix(50)))
            let middle = try await visit.get(try #require(link("prev", last)))
            #expect(listed(middle) == Array(expected[30..<80]))
            let start = try await visit.get(try #require(link("prev", middle)))
            #expect(listed(start) == Array(expected.prefix(50)) && link("prev", start) == nil)
        }
    }

    @Test func `hostile names and values are text on every page`() async throws {
        let name = "x\"'><script>alert(1)</script><!--&amp;\u{202E}\u{1B}%\\"
        let folder = try ScratchFolder()
        let store = folder.path + "/<img src=x>'\".sqlite"
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: name, attributes: [.init(name: name, type: .string)],
                relationships: [
                    .init(name: "r" + name, destinationEntityName: name, inverseName: "s" + name),
                    .init(name: "s" + name, destinationEntityName: name, inverseName: "r" + name, maxCount: 0),
                ])
        ])
        let maker = try StoreCreator(ModelVersion(names: [name], model: model))
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(count: 5, isHostile: true).fill(writer)
        try writer.finish()
        let table = try SQLiteShell.run(
            store, "SELECT name FROM sqlite_schema WHERE name LIKE 'ZX%' AND type = 'table'"
        )
        .trimmingCharacters(in: .newlines)
        let quoted = "\"" + table.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        let column = try SQLiteShell.run(store, "SELECT name FROM pragma_table_info(\(quoted)) WHERE name LIKE 'ZX%'")
            .trimmingCharacters(in: .newlines).replacingOccurrences(of: "\"", with: "\"\"")
        _ = try SQLiteShell.run(
            store, "UPDATE \(quoted) SET \"\(column)\" = '</bdi><img src=x onerror=alert(1)>' || char(27, 8238, 0)")
        let visit = try await Visit.begun(Site.Settings(store: store))
        let encoded = try #require(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        for target in [
            "/", "/model", "/model?entity=\(encoded)", "/objects?entity=\(encoded)", "/findings", "/history",
            "/backups",
            "/objects?entity=\(encoded)&find=\(encoded)&where=\(encoded)", "/object?entity=\(encoded)&key=1", "/plan",
            "/links?entity=\(encoded)&key=1&relationship=s\(encoded)",
        ] {
            let page = try await visit.get(target)
            #expect(!page.contains("<script>") && !page.contains("<img src=x"), "\(target)")
            #expect(!page.contains("\u{202E}") && !page.contains("\u{1B}") && !page.contains("\u{0}"), "\(target)")
        }
        #expect(try await visit.get("/objects?entity=\(encoded)").contains("&lt;/bdi&gt;&lt;img src=x"))
        let wrong = await visit.send("GET", "/\(encoded)")
        #expect(wrong.status == 404 && !wrong.text.contains("<script>"))
    }

    @Test func `a store is shown while an app writes to it, as it is at that moment`() async throws {
        let forum = try ForumStore()
        let app = try SQLiteProcess(forum.path)
        try app.run("PRAGMA journal_mode = WAL; UPDATE ZUSER SET ZNAME = 'first'")
        let visit = try await Visit.begun(forum.settings())
        #expect(try await visit.get("/object?entity=User&key=1").contains("first"))
        try app.run("UPDATE ZUSER SET ZNAME = 'second'")
        #expect(try await visit.get("/object?entity=User&key=1").contains("second"))
        app.end()
    }

    @Test(.enabled(if: Corpus.isAvailable))
    func `every store of the corpus has its pages`() async throws {
        let stores = Corpus.stores
        let chosen = Corpus.sample(stores, every: 11)
        for original in chosen {
            let folder = try ScratchFolder()
            let store = try folder.copyStore(original)
            let probe = try ReadOnlyStore(store)
            let contents = try StoreContents(probe, in: nil)
            probe.close()
            let visit = try await Visit.begun(Site.Settings(store: store))
            let overview = try await visit.get("/")
            _ = try await visit.get("/model")
            for entity in contents.entities {
                #expect(overview.contains(entity.name), "\(original)")
                let name = entity.name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let page = try await visit.get("/objects?entity=\(name)")
                let numbers = (contents.whole(entity.name) ?? entity).numbers.map(String.init).joined(separator: ",")
                let expected = try SQLiteShell.run(
                    store, "SELECT Z_PK FROM \(entity.table) WHERE Z_ENT IN (\(numbers)) ORDER BY 1 LIMIT 50")
                #expect(
                    keys(page) == expected.split(separator: "\n").compactMap { Int64($0) }, "\(original) \(entity.name)"
                )
                guard let first = keys(page).first else { continue }
                _ = try await visit.get("/object?entity=\(name)&key=\(first)")
            }
        }
    }
}
