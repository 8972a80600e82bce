import Foundation
import MoultTools
import TestSupport
import Testing

@Suite("Lists of objects")
struct ListTests {
    @Test(arguments: [
        ("Post", "writtenAt", "ZWRITTENAT"), ("Post", "text", "ZTEXT"), ("Post", "Z_PK", "Z_PK"),
        ("User", "email", "ZEMAIL"), ("User", "name", "ZNAME"), ("Thread", "isPinned", "ZISPINNED"),
        ("Post", "author", "(SELECT ZNAME FROM ZUSER u WHERE u.Z_PK = ZAUTHOR)"),
        ("Forum", "parent", "(SELECT ZTITLE FROM ZFORUM f WHERE f.Z_PK = ZFORUM.ZPARENT)"),
    ])
    func `a list is sorted by a column over all of its pages, with equal values by key`(
        entity: String, column: String, value: String
    ) async throws {
        let forum = try ForumStore(count: 130)
        // Equal values and missing ones stand where pages meet.
        _ = try forum.sql(
            "UPDATE ZUSER SET ZEMAIL = NULL WHERE Z_PK % 2; UPDATE ZUSER SET ZNAME = 'same' WHERE Z_PK BETWEEN 20 AND 90;"
                + "UPDATE ZPOST SET ZAUTHOR = NULL WHERE Z_PK % 3 = 0; UPDATE ZPOST SET ZWRITTENAT = 5 WHERE Z_PK > 40")
        let visit = try await Visit.begun(forum.settings())
        let table = "Z\(entity.uppercased())"
        let list = "/objects?entity=\(entity)&sort=\(column)"
        let ascending = try forum.keys("SELECT Z_PK FROM \(table) ORDER BY \(value), Z_PK")
        #expect(try await visit.allKeys(list) == ascending && ascending.count == 130)
        #expect(try await visit.allKeys(list + "&order=descending") == ascending.reversed())
        #expect(try await visit.allKeysBackwards(list) == ascending)
        #expect(try await visit.allKeysBackwards(list + "&order=descending") == ascending.reversed())
    }

    @Test(arguments: ["", "&sort=writtenAt", "&where=SELF.text%20!=%20NULL", "&on=author&is=any&value="])
    func `the pages of a list lead to the next, the previous, the first and the last one`(choice: String) async throws {
        let forum = try ForumStore(count: 260)
        _ = try forum.sql(
            "DELETE FROM ZPOST WHERE Z_PK % 7 = 0 OR Z_PK BETWEEN 60 AND 120; UPDATE ZPOST SET ZAUTHOR = 1, ZTEXT = 'x';"
                + "UPDATE ZPOST SET ZWRITTENAT = Z_PK / 9")
        let expected = try forum.keys("SELECT Z_PK FROM ZPOST ORDER BY 1")
        let visit = try await Visit.begun(forum.settings())
        let list = "/objects?entity=Post" + choice
        let first = try await visit.get(list)
        #expect(keys(first) == Array(expected.prefix(50)))
        #expect(link("prev", first) == nil && link("first", first) == nil)
        let second = try await visit.get(try #require(link("next", first)))
        #expect(keys(second) == Array(expected[50..<100]))
        let last = try await visit.get(try #require(link("last", second)))
        #expect(keys(last) == Array(expected.suffix(50)))
        #expect(link("next", last) == nil && link("last", last) == nil)
        let beforeLast = try await visit.get(try #require(link("prev", last)))
        #expect(keys(beforeLast) == Array(expected.suffix(100).prefix(50)))
        #expect(keys(try await visit.get(try #require(link("next", beforeLast)))) == Array(expected.suffix(50)))
        #expect(keys(try await visit.get(try #require(link("prev", second)))) == Array(expected.prefix(50)))
        #expect(keys(try await visit.get(try #require(link("first", last)))) == Array(expected.prefix(50)))
        #expect(try await visit.allKeysBackwards(list) == expected)
        // What is before the first page is the first page.
        let early = try await visit.get("\(list)&before=\(expected[20])")
        #expect(keys(early) == Array(expected.prefix(50)) && link("prev", early) == nil)
    }

    @Test func `a list of one page has no links to others`() async throws {
        let forum = try ForumStore(count: 50)
        let visit = try await Visit.begun(forum.settings())
        for place in ["", "&page=last", "&before=9"] {
            let page = try await visit.get("/objects?entity=Post\(place)")
            #expect(keys(page).count == 50 && !page.contains("aria-label=\"Pages\""), "\(place)")
        }
    }

    @Test func `a head sorts by its column, and once more in the other direction`() async throws {
        let forum = try ForumStore(count: 10)
        let visit = try await Visit.begun(forum.settings())
        let list = try await visit.get("/objects?entity=User")
        #expect(
            list.contains(
                "<th scope=\"col\" aria-sort=\"ascending\"><a href=\"/objects?entity=User&amp;sort=Z_PK&amp;order=descending\">"
            ))
        let name = try #require(list.firstMatch(of: /<a href="([^"]*sort=name[^"]*)"/)?.output.1)
        let sorted = try await visit.get(name.replacingOccurrences(of: "&amp;", with: "&"))
        #expect(keys(sorted) == (try forum.keys("SELECT Z_PK FROM ZUSER ORDER BY ZNAME, Z_PK")))
        #expect(sorted.contains("sort=name&amp;order=descending"))
        // Bytes have no order.
        #expect(!list.contains("sort=avatar"))
        #expect(try await visit.get("/objects?entity=User&sort=avatar").contains("cannot be sorted by avatar"))
        #expect(try await visit.get("/objects?entity=User&sort=nothing").contains("role=\"alert\""))
    }

    @Test(arguments: [
        ("User", [("name", "contains", "AFÉ")], "ZNAME LIKE '%afé%' OR ZNAME LIKE '%afe%'"),
        ("User", [("name", "begins", "caf")], "ZNAME LIKE 'caf%'"),
        ("User", [("name", "begins", "")], "ZNAME IS NOT NULL"),
        ("User", [("name", "eq", "Café")], "ZNAME = 'Café'"),
        ("User", [("name", "ne", "café")], "ZNAME <> 'café'"),
        ("User", [("email", "nil", "")], "ZEMAIL IS NULL"),
        (
            "User", [("email", "any", ""), ("name", "ends", "é")],
            "ZEMAIL IS NOT NULL AND (ZNAME LIKE '%é' OR ZNAME LIKE '%e')"
        ),
        ("Forum", [("position", "ge", "3")], "ZPOSITION >= 3"),
        ("Forum", [("position", "lt", "3.5")], "ZPOSITION < 3.5"),
        ("Thread", [("isPinned", "eq", "yes")], "ZISPINNED = 1"),
        ("Thread", [("isPinned", "ne", "true")], "ZISPINNED <> 1"),
        ("Post", [("author", "eq", "7")], "ZAUTHOR = 7"),
        ("Post", [("author", "nil", "")], "ZAUTHOR IS NULL"),
        (
            "Post", [("author", "contains", "caf")],
            "ZAUTHOR IN (SELECT Z_PK FROM ZUSER WHERE ZNAME LIKE '%caf%' OR ZNAME LIKE '%café%')"
        ),
        ("Post", [("attachment", "any", "")], "ZATTACHMENT IS NOT NULL"),
        ("Post", [("writtenAt", "eq", "2021-09-27")], "date(ZWRITTENAT + 978307200, 'unixepoch') = '2021-09-27'"),
        ("Post", [("writtenAt", "le", "2021")], "strftime('%Y', ZWRITTENAT + 978307200, 'unixepoch') <= '2021'"),
        (
            "Post", [("writtenAt", "gt", "2021-09")],
            "strftime('%Y-%m', ZWRITTENAT + 978307200, 'unixepoch') > '2021-09'"
        ),
    ])
    func `a filter compares a property with a value, and the matches are counted`(
        entity: String, filters: [(String, String, String)], condition: String
    ) async throws {
        let forum = try ForumStore(count: 70)
        // 2021-09-27 07:59:58.707
        _ = try forum.sql(
            "UPDATE ZPOST SET ZWRITTENAT = 654422398.707 WHERE Z_PK IN (3, 44); UPDATE ZPOST SET ZAUTHOR = 7 WHERE Z_PK < 9;"
                + "UPDATE ZFORUM SET ZPOSITION = Z_PK % 7; UPDATE ZUSER SET ZEMAIL = NULL WHERE Z_PK % 2;"
                + "UPDATE ZPOST SET ZAUTHOR = NULL WHERE Z_PK > 60; UPDATE ZUSER SET ZNAME = 'Café' WHERE Z_PK = 7")
        let visit = try await Visit.begun(forum.settings())
        let query = filters.map { name, word, value in
            "&on=\(name)&is=\(word)&value=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }.joined()
        let expected = try forum.keys("SELECT Z_PK FROM Z\(entity.uppercased()) WHERE \(condition) ORDER BY 1")
        let first = try await visit.get("/objects?entity=\(entity)\(query)")
        #expect(!first.contains("role=\"alert\""), "\(first)")
        #expect(try await visit.allKeys("/objects?entity=\(entity)\(query)") == expected && !expected.isEmpty)
        let words = "\(expected.count) \(expected.count == 1 ? "object matches" : "objects match")"
        #expect(first.contains("id=\"count\">\(words)<"), "\(first)")
        // With an order, too.
        let sorted = try await visit.allKeys("/objects?entity=\(entity)\(query)&sort=Z_PK&order=descending")
        #expect(sorted == expected.reversed())
    }

    @Test func `a date is found by the milliseconds that a list shows`() async throws {
        let forum = try ForumStore(count: 5)
        _ = try forum.sql("UPDATE ZPOST SET ZWRITTENAT = 391359124.611 WHERE Z_PK = 2")
        let visit = try await Visit.begun(forum.settings())
        #expect(try await visit.get("/objects?entity=Post").contains("2013-05-27T14:52:04.611Z"))
        let object = try await visit.get("/object?entity=Post&key=2")
        #expect(object.contains("2013-05-27T14:52:04.611Z") && !object.contains("04.61100"))
        #expect(
            keys(try await visit.get("/objects?entity=Post&on=writtenAt&is=eq&value=2013-05-27T14:52:04.611Z")) == [2])
        #expect(keys(try await visit.get("/objects?entity=Post&on=writtenAt&is=eq&value=2013-05-27+14:52")) == [2])
    }

    @Test(
        arguments: [
            ("User", "name", "lt", "x", nil), ("User", "avatar", "eq", "x", "is nil"),
            ("User", "nobody", "eq", "x", "name"),
            ("Forum", "position", "eq", "x", "Give a number"),
            ("Forum", "position", "contains", "1", "operators for numbers"),
            ("Post", "writtenAt", "eq", "yesterday", "2026-01-31"),
            ("Post", "writtenAt", "lt", "2026-13-01", "2026-01-31"),
            ("Thread", "isPinned", "eq", "perhaps", "true or false"),
        ] as [(String, String, String, String, String?)])
    func `a filter that does not fit says what does`(
        entity: String, name: String, word: String, value: String, advice: String?
    ) async throws {
        let forum = try ForumStore(count: 3)
        let visit = try await Visit.begun(forum.settings())
        let page = try await visit.get("/objects?entity=\(entity)&on=\(name)&is=\(word)&value=\(value)")
        #expect(page.contains("role=\"alert\"") == (advice != nil))
        if let advice { #expect(page.contains(advice), "\(page)") }
        #expect(await visit.send("GET", "/objects?entity=\(entity)&on=\(name)&is=what&value=x").status == 422)
    }

    @Test func `columns can be chosen, and those that are empty on a page are hidden and named`() async throws {
        let forum = try ForumStore(count: 60)
        _ = try forum.sql(
            "UPDATE ZUSER SET ZEMAIL = NULL WHERE Z_PK <= 50; UPDATE ZUSER SET ZEMAIL = 'x' WHERE Z_PK > 50")
        let visit = try await Visit.begun(forum.settings())
        func heads(_ page: String) -> [String] {
            let head = page.components(separatedBy: "</thead>")[0].components(separatedBy: "<thead>").last ?? ""
            return head.matches(of: /<bdi>([^<]*)<\/bdi>/).map { String($0.output.1) }
        }
        let first = try await visit.get("/objects?entity=User")
        #expect(!heads(first).contains("email") && heads(first).contains("name"))
        #expect(first.firstMatch(of: /Hidden, because they are empty on this page: [^<]*email/) != nil)
        let second = try await visit.get(try #require(next(first)))
        #expect(heads(second).contains("email"))
        #expect(heads(try await visit.get("/objects?entity=User&empty=show")).contains("email"))
        let chosen = try await visit.get("/objects?entity=User&column=email&column=joinedAt")
        #expect(heads(chosen) == ["Key", "email", "joinedAt"])
        #expect(chosen.contains("<input type=\"checkbox\" name=\"column\" value=\"email\" checked>"))
        // The choice stays with the page.
        #expect(try #require(next(chosen)).contains("column=email&column=joinedAt"))
        #expect(try await visit.get("/objects?entity=User&column=nothing").contains("has no column nothing"))
    }

    @Test func `links name objects by a label, which can be chosen`() async throws {
        let forum = try ForumStore(count: 20)
        _ = try forum.sql(
            "UPDATE ZUSER SET ZNAME = 'Ann <b>', ZEMAIL = 'ann@example.com' WHERE Z_PK = 7; UPDATE ZPOST SET ZAUTHOR = 7 "
                + "WHERE Z_PK = 1; UPDATE ZPOST SET ZAUTHOR = 4711 WHERE Z_PK = 2")
        let visit = try await Visit.begun(forum.settings())
        func link(_ words: String) -> String {
            "<a href=\"/object?entity=User&amp;key=7\"><bdi>\(words)</bdi></a> <small class=\"key\">7</small>"
        }
        for page in ["/objects?entity=Post", "/object?entity=Post&key=1"] {
            #expect(try await visit.get(page).contains(link("Ann &lt;b&gt;")), "\(page)")
        }
        #expect(try await visit.get("/object?entity=Post&key=2").contains("not in the store"))
        let users = try await visit.get("/objects?entity=User")
        #expect(users.contains("chosen by itself: name"))
        _ = try await visit.press("Use", on: users, and: "&label=email")
        #expect(try await visit.get("/objects?entity=Post").contains(link("ann@example.com")))
        let byEmail = try forum.keys(
            "SELECT Z_PK FROM ZPOST ORDER BY (SELECT ZEMAIL FROM ZUSER u WHERE u.Z_PK = ZAUTHOR), Z_PK")
        #expect(try await visit.allKeys("/objects?entity=Post&sort=author") == byEmail)
        _ = try await visit.press("Use", on: users, and: "&label=")
        #expect(try await visit.get("/object?entity=Post&key=1").contains(">User 7</a>"))
        _ = try await visit.press("Use", on: users, and: "&label=-")
        #expect(try await visit.get("/objects?entity=Post").contains(link("Ann &lt;b&gt;")))
        #expect(try await visit.press("Use", on: users, and: "&label=avatar").contains("can name its objects"))
    }

    @Test func `an object is described in Core Data's terms`() async throws {
        let forum = try ForumStore(count: 5)
        _ = try forum.sql("UPDATE ZUSER SET ZEMAIL = NULL, ZAVATAR = NULL WHERE Z_PK = 1; UPDATE ZPOST SET ZAUTHOR = 1")
        let uuid = try forum.sql("SELECT Z_UUID FROM Z_METADATA")
        let visit = try await Visit.begun(forum.settings())
        let user = try await visit.get("/object?entity=User&key=1")
        #expect(user.contains("nil: <bdi>avatar</bdi> <bdi>email</bdi>"))
        #expect(user.contains("<code>x-coredata://\(uuid)/User/p1</code>"))
        let post = try await visit.get("/object?entity=Post&key=1")
        #expect(post.contains("optional to-one User"))
        for page in [user, post, try await visit.get("/object?entity=Thread&key=1")] {
            for word in ["Z_PK", "NULL", "0 or 1", "ISO 8601"] { #expect(!page.contains(word), "\(word)") }
        }
    }
}
