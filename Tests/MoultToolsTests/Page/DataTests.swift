import Foundation
import Moult
import MoultTools
import TestSupport
import Testing

@Suite("Binary data, SQL and files on the page")
struct DataTests {
    /// The smallest picture of each kind that a reader accepts, or its beginning.
    private static let pictures: [(String, [UInt8])] = [
        (
            "image/png",
            [UInt8](
                Data(
                    base64Encoded:
                        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
                ) ?? Data())
        ),
        ("image/jpeg", [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8)),
        ("image/gif", Array("GIF89a\u{1}\u{0}".utf8)),
        ("image/webp", Array("RIFF\u{24}\u{0}\u{0}\u{0}WEBPVP8 ".utf8)),
    ]

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    @Test(arguments: Array(Self.pictures.indices), [false, true])
    func `a picture is shown, from the row and from external storage, and runs nothing`(
        place: Int, isExternal: Bool
    ) async throws {
        let (type, bytes) = Self.pictures[place]
        let forum = try ForumStore(count: 3)
        let name = "5A3C9A70-1B1D-4E52-9A0B-3D6F4C0A7E11"
        if isExternal {
            let folder = forum.folder.path + "/.forum_SUPPORT/_EXTERNAL_DATA"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let cell = isExternal ? "02" + hex(Array(name.utf8)) + "00" : "01" + hex(bytes)
        _ = try forum.sql("UPDATE ZUSER SET ZAVATAR = x'\(cell)' WHERE Z_PK = 2")
        let visit = try await Visit.begun(forum.settings())
        let source = "/data?entity=User&amp;key=2&amp;attribute=avatar"
        #expect(try await visit.get("/objects?entity=User").contains("<img class=\"thumbnail\" src=\"\(source)\""))
        #expect(try await visit.get("/object?entity=User&key=2").contains("<img class=\"photo\" src=\"\(source)\""))
        let response = await visit.send("GET", "/data?entity=User&key=2&attribute=avatar")
        #expect(response.status == 200 && response.body == bytes)
        #expect(response.header("Content-Type") == type && response.header("Content-Disposition") == "inline")
        let policy = try #require(response.header("Content-Security-Policy"))
        #expect(policy.contains("default-src 'none'") && policy.contains("sandbox") && !policy.contains("'self'"))
        #expect(response.header("X-Content-Type-Options") == "nosniff")
    }

    @Test(arguments: [
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "<html>", "BM", "\u{0}\u{1}",
    ])
    func `other bytes are a file to save, never a page`(text: String) async throws {
        let forum = try ForumStore(count: 3)
        _ = try forum.sql("UPDATE ZUSER SET ZAVATAR = x'01\(hex(Array(text.utf8)))' WHERE Z_PK = 2")
        let visit = try await Visit.begun(forum.settings())
        #expect(!(try await visit.get("/object?entity=User&key=2")).contains("<img"))
        let response = await visit.send("GET", "/data?entity=User&key=2&attribute=avatar")
        #expect(response.body == Array(text.utf8))
        #expect(response.header("Content-Type") == "application/octet-stream")
        #expect(response.header("Content-Disposition") == "attachment; filename=\"User-2-avatar.bin\"")
    }

    @Test func `a file of external storage that is missing, or leads out of its folder, is not read`() async throws {
        let forum = try ForumStore(count: 3)
        _ = try forum.sql(
            "UPDATE ZUSER SET ZAVATAR = x'02\(hex(Array("AAAA".utf8)))00' WHERE Z_PK = 1; "
                + "UPDATE ZUSER SET ZAVATAR = x'02\(hex(Array("../../forum.sqlite".utf8)))00' WHERE Z_PK = 2")
        let visit = try await Visit.begun(forum.settings())
        #expect(try await visit.get("/object?entity=User&key=1").contains("external storage is missing"))
        #expect(await visit.send("GET", "/data?entity=User&key=1&attribute=avatar").status == 422)
        #expect(!(await visit.send("GET", "/data?entity=User&key=2&attribute=avatar")).text.contains("SQLite format"))
        for wrong in [
            "key=2&attribute=name", "key=2&attribute=Z_PK", "key=2&attribute=nothing", "key=99&attribute=avatar",
        ] {
            #expect(await visit.send("GET", "/data?entity=User&\(wrong)").status == 422, "\(wrong)")
        }
    }

    @Test func `SQL runs over the views, and changes nothing`() async throws {
        let forum = try ForumStore(count: 30)
        let before = try forum.sql(".sha3sum")
        let visit = try await Visit.begun(forum.settings(allowsChanges: true))
        func page(_ sql: String) async throws -> String {
            try await visit.get("/sql?sql=\(sql.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")")
        }
        let count = try forum.sql("SELECT count(*) FROM ZPOST p JOIN ZUSER u ON u.Z_PK = p.ZAUTHOR WHERE u.Z_PK < 9")
        let counted = try await page("SELECT count(*) AS n FROM Post JOIN User ON User.Z_PK = author WHERE author < 9")
        #expect(counted.contains("<bdi>n</bdi>") && counted.contains("<td class=\"number\">\(count)</td>"))
        let pinned = try await page("SELECT isPinned, subject FROM Thread ORDER BY 2, Z_PK LIMIT 1")
        let subject = try forum.sql("SELECT ZSUBJECT FROM ZTHREAD ORDER BY 1, Z_PK LIMIT 1")
        #expect(pinned.contains("<bdi class=\"text\">\(subject)</bdi>"))
        for wrong in [
            "DELETE FROM ZPOST", "SELECT 1; DROP TABLE ZPOST", "PRAGMA user_version = 7", "SELEC", "VACUUM", "BEGIN",
            "WITH a AS (SELECT 1) UPDATE ZUSER SET ZNAME = 'x' RETURNING Z_PK", "ATTACH ':memory:' AS x",
            "SELECT nope FROM Post",
        ] {
            #expect(try await page(wrong).contains("role=\"alert\""), "\(wrong)")
        }
        #expect(try await page("SELECT 1").contains("<td class=\"number\">1</td>"))
        let first = try await page("")
        #expect(first.contains("Forum") && !first.contains("<h2>"))
        let many = try await page(
            "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 2000) SELECT '<b>' || n AS x FROM a"
        )
        #expect(
            many.contains("The first 1,000 rows") && many.contains("&lt;b&gt;1000") && !many.contains("&lt;b&gt;1001"))
        #expect(try forum.sql(".sha3sum") == before)
    }

    @Test func `a query and a list are saved as CSV and JSON, whole and in order`() async throws {
        let forum = try ForumStore(count: 120)
        _ = try forum.sql("UPDATE ZPOST SET ZAUTHOR = CASE WHEN Z_PK % 5 THEN 1 + Z_PK % 9 END")
        let visit = try await Visit.begun(forum.settings())
        let sql = "SELECT%20Z_PK,%20name%20FROM%20User%20ORDER%20BY%20name%20DESC,%20Z_PK"
        let csv = await visit.send("GET", "/sql.csv?sql=\(sql)")
        #expect(csv.header("Content-Disposition") == "attachment; filename=\"query.csv\"")
        #expect(csv.header("Content-Type") == "text/csv; charset=utf-8")
        let keys = try forum.keys("SELECT Z_PK FROM ZUSER ORDER BY ZNAME DESC, Z_PK")
        let lines = csv.text.split(separator: "\n")
        #expect(lines.first == "Z_PK,name")
        #expect(lines.dropFirst().compactMap { Int64($0.prefix { $0 != "," }) } == keys)
        let json = try JSONSerialization.jsonObject(
            with: Data(await visit.send("GET", "/sql.json?sql=\(sql)").text.utf8))
        let rows = try #require((json as? [String: Any])?["rows"] as? [[Any]])
        #expect(
            rows.compactMap { $0.first as? Int }.map(Int64.init) == keys
                && (json as? [String: Any])?["format"] as? Int == 1)
        #expect(await visit.send("GET", "/sql.csv?sql=DELETE%20FROM%20ZPOST").status == 422)

        // All objects that match, not those of a page alone, in the order of the list.
        let list = "entity=Post&on=author&is=any&value=&sort=writtenAt&order=descending"
        let found = try forum.keys("SELECT Z_PK FROM ZPOST WHERE ZAUTHOR > 0 ORDER BY ZWRITTENAT DESC, Z_PK DESC")
        #expect(found.count > 50)
        let objects = try await visit.send("GET", "/objects.jsonl?\(list)").text.split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
        }
        #expect(objects.compactMap { $0["Z_PK"] as? Int }.map(Int64.init) == found)
        #expect(Set(objects.flatMap(\.keys)).isSuperset(of: ["Z_PK", "text", "writtenAt", "author", "thread"]))
        let some = await visit.send("GET", "/objects.csv?\(list)&column=writtenAt").text.split(separator: "\n")
        #expect(some.first == "Z_PK,writtenAt" && some.count == found.count + 1)
        let whole = await visit.send("GET", "/objects.csv?entity=User").text
        let versions = try Project(models: forum.models).versions
        var exported = ""
        _ = try ExportReport.write(
            forum.path, ExportSelection(entities: ["User"]), .csv, isExact: false, versions: versions
        ) {
            exported += $0
            return true
        }
        #expect(whole == exported && whole.count > 1_000)
    }
}
