import Foundation
import MoultCoreData
import TestSupport
import Testing

@testable import ForumReader

@Suite("Example Forum")
struct ForumMigrationTests {  // tier: long
    @Test func `titles are decoded just once, as Python decodes them`() throws {
        let forum = try ForumStore()
        let query = "SELECT ZTITLE FROM ZTHREAD ORDER BY Z_PK"
        let before = try forum.rows(forum.old, query)
        let after = try forum.rows(forum.new, query)
        #expect(after == (try Python.lines("import html", "html.unescape(line)", before)))
        #expect(after.contains("How to write &lt;b&gt;"))
    }

    @Test func `unread posts are never less than none, nothing is pinned, and a date that was there stays`() throws {
        let forum = try ForumStore()
        #expect(
            try forum.rows(forum.new, "SELECT Z_PK, ZTOTALUNREADPOSTS, ZISPINNED FROM ZTHREAD ORDER BY 1")
                == forum.rows(forum.old, "SELECT Z_PK, max(0, ZNUMBEROFPOSTS - ZSEENPOSTS), 0 FROM ZTHREAD ORDER BY 1"))
        #expect(try forum.rows(forum.new, "SELECT count(*) FROM ZTHREAD WHERE ZTOTALUNREADPOSTS > 0") != ["0"])
        #expect(try forum.rows(forum.old, "SELECT count(*) FROM ZTHREAD WHERE ZNUMBEROFPOSTS < ZSEENPOSTS") != ["0"])
        let dates = "SELECT Z_PK, ZLASTMODIFIEDDATE FROM ZTHREAD WHERE Z_PK IN "
        let dated = try forum.rows(forum.old, "SELECT Z_PK FROM ZTHREAD WHERE ZLASTMODIFIEDDATE NOT NULL")
            .joined(separator: ",")
        #expect(try forum.rows(forum.new, dates + "(\(dated))") == forum.rows(forum.old, dates + "(\(dated))"))
        let fresh = try forum.rows(
            forum.new, "SELECT DISTINCT ZLASTMODIFIEDDATE FROM ZTHREAD WHERE Z_PK NOT IN (\(dated))")
        let now = try #require(fresh.first.flatMap(Double.init))
        #expect(fresh.count == 1)
        #expect(forum.span.contains(now))
    }

    @Test func `the tool is killed in the middle, whatever time its policy asks for`() throws {
        let forum = try ForumStore()
        let result = try forum.tool("test", "--kill", "4", "old.sqlite")
        #expect(result.exit == 0, "\(result.output)")
        #expect(result.output.contains("ZTHREAD.ZLASTMODIFIEDDATE"))
        #expect(result.output.contains("broken 0 times"))
    }

    @Test func `a thread's author is the one user of that userID, and an unknown one leaves only the userID`() throws {
        let forum = try ForumStore()
        #expect(
            try forum.rows(
                forum.new,
                "SELECT t.Z_PK, t.ZAUTHORUSERID, u.ZUSERID FROM ZTHREAD t LEFT JOIN ZUSER u ON u.Z_PK = t.ZAUTHOR ORDER BY 1"
            )
                == forum.rows(
                    forum.old,
                    """
                    SELECT Z_PK, ZAUTHORUSERID, (SELECT max(ZUSERID) FROM ZUSER WHERE ZUSERID = ZAUTHORUSERID)
                    FROM ZTHREAD ORDER BY 1
                    """))
        #expect(
            try forum.rows(forum.new, "SELECT ZAUTHORUSERID, ZAUTHOR FROM ZTHREAD WHERE ZAUTHORUSERID = '4711'") == [
                "4711|"
            ])
    }

    @Test func `one user of three rows has the newest values, and every post of the three`() throws {
        let forum = try ForumStore()
        let row = try forum.rows(
            forum.new,
            """
            SELECT ZUSERNAME, ZFIRSTNAME, ZLASTNAME, ZADMINISTRATOR, ZMODERATOR, replace(ZCUSTOMTITLEHTML, char(10), '~'),
            ZREGDATE = \(ForumSample.day(40).timeIntervalSinceReferenceDate),
            ZLASTMODIFIEDDATE = \(ForumSample.day(900).timeIntervalSinceReferenceDate), a.ZURL
            FROM ZUSER u JOIN ZAVATAR a ON a.Z_PK = u.ZAVATAR OR a.ZUSER = u.Z_PK WHERE ZUSERID = '23'
            """)
        #expect(
            row == [
                "Jeffrey of Yore|Jeffrey|Yore|0|1|<b>New~ title</b> <i>indeed</i>|1|1|https://forum.example/new.png"
            ])
        let posts = "SELECT count(*) FROM ZPOST p JOIN ZUSER u ON u.Z_PK = p.ZAUTHOR WHERE u.ZUSERID = '23'"
        #expect(try forum.rows(forum.new, posts) == forum.rows(forum.old, posts))
        #expect(try forum.rows(forum.new, "SELECT count(*) FROM ZUSER GROUP BY ZUSERID HAVING count(*) > 1") == [])
        #expect(
            try forum.rows(forum.new, "SELECT count(*) FROM ZUSER")
                == forum.rows(forum.old, "SELECT count(DISTINCT ZUSERID) FROM ZUSER"))
    }

    @Test func `titles of users are clean, and avatars are objects of their own where somebody can show them`() throws {
        let forum = try ForumStore()
        #expect(try forum.rows(forum.new, "SELECT ZCUSTOMTITLEHTML FROM ZUSER WHERE ZUSERID = '77'") == ["<u>kept</u>"])
        #expect(
            try forum.rows(forum.new, "SELECT DISTINCT ZADMINISTRATOR, ZMODERATOR FROM ZUSER WHERE ZUSERID <> '23'")
                == ["0|0"])
        let avatars = try forum.rows(
            forum.new,
            "SELECT ZURL FROM ZAVATAR JOIN ZUSER u ON u.ZAVATAR = ZAVATAR.Z_PK OR ZAVATAR.ZUSER = u.Z_PK ORDER BY u.ZUSERID + 0"
        )
        #expect(
            avatars == ["https://forum.example/new.png"] + (1...20).map { "https://forum.example/avatars/\($0).png" })
        #expect(try forum.rows(forum.new, "SELECT count(*) FROM ZAVATAR") == ["21"])
        #expect(
            try forum.rows(
                forum.new,
                "SELECT DISTINCT ZFIRSTNAME, ZLASTNAME FROM ZUSER WHERE ZUSERID > '1000' AND ZUSERID < '2' ORDER BY 1")
                == ["Ada|Lovelace", "Grace Brewster|Hopper", "Plato|"])
    }

    @Test func `the report counts what became of every user, and what was dropped or changed`() throws {
        let forum = try ForumStore()
        #expect(
            forum.output.contains(
                "UserMigrationPolicy: 26 of User: 23 kept, 2 merged, 1 quarantined; The user has no userID.: 1; "
                    + "avatars dropped: 2; avatars upgraded to https: 1; custom titles cleaned: 2"))
        #expect(forum.output.contains("ThreadMigrationPolicy: 60 of Thread: 60 kept; authors unknown: 1"))
    }

    @Test func `the user without a userID is in the quarantine with every value, and named in the report`() throws {
        let forum = try ForumStore()
        #expect(try forum.rows(forum.new, "SELECT count(*) FROM ZUSER WHERE ZUSERNAME = 'nobody'") == ["0"])
        let list = try forum.tool("quarantine", "list", "forum.sqlite")
        #expect(list.exit == 0)
        #expect(list.output.contains("The user has no userID."))
    }

    @Test func `an empty userID is none`() throws {
        let forum = try ForumStore { context in
            try context.insertNewObject(forEntityName: "User").setValue("", forKey: "userID")
        }
        #expect(try forum.rows(forum.new, "SELECT count(*) FROM ZUSER WHERE ZUSERID = ''") == ["0"])
        #expect(forum.output.contains("2 quarantined; The user has no userID.: 2"))
    }

    @Test func `rows of one user in any number and order become what a slow reading of the rule says`() throws {
        var expected: [String: [String: String]] = [:]
        let forum = try ForumStore { context in
            var rows: [String: [(date: Double?, values: [String: String], registered: Double?)]] = [:]
            for number in 0..<120 {
                let userID = "u\(number * 7 % 13)"
                let (a, b) = (number * 31 % 17, number * 13 % 11)
                let date = number % 6 == 0 ? nil : Double(a % 5) * 1000
                var values: [String: String] = [:]
                if a % 3 != 0 { values["username"] = "name\(number)" }
                if b % 4 == 0 { values["customTitleHTML"] = "title\(number)" }
                let registered = b % 3 == 0 ? nil : Double(b) * 500
                rows[userID, default: []].append((date, values, registered))
                let user = try context.insertNewObject(forEntityName: "User")
                try user.setValue(userID, forKey: "userID")
                for (key, value) in values { try user.setValue(value, forKey: key) }
                try user.setValue(date.map(Date.init(timeIntervalSinceReferenceDate:)), forKey: "lastModifiedDate")
                try user.setValue(registered.map(Date.init(timeIntervalSinceReferenceDate:)), forKey: "regdate")
                // Keys follow the order of making.
                try context.save()
            }
            for (userID, rows) in rows { expected[userID] = Self.reference(rows) }
        }
        let query =
            "SELECT ZUSERID, ifnull(ZUSERNAME, ''), ifnull(ZCUSTOMTITLEHTML, ''), ifnull(CAST(ZREGDATE AS INTEGER), '') FROM ZUSER WHERE ZUSERID LIKE 'u%'"
        let found = try forum.rows(forum.new, query).map { $0.components(separatedBy: "|") }
        #expect(found.count == 13)
        for row in found {
            let user = try #require(expected[row[0]])
            #expect([user["username"] ?? "", user["customTitleHTML"] ?? "", user["regdate"] ?? ""] == Array(row[1...]))
        }
    }

    /// Value by value: the one of the latest row that has one, looked for from the end.
    private static func reference(
        _ rows: [(date: Double?, values: [String: String], registered: Double?)]
    ) -> [String: String] {
        var user: [String: String] = [:]
        for key in ["username", "customTitleHTML"] {
            var best: (date: Double, value: String)?
            for row in rows {
                guard let value = row.values[key] else { continue }
                let date = row.date ?? -1
                if best == nil || date >= best!.date { best = (date, value) }
            }
            user[key] = best?.value
        }
        user["regdate"] = rows.compactMap(\.registered).min().map { String(Int($0)) }
        return user
    }
}

@Suite("README of the example Forum")
struct ForumReadmeTests {  // tier: long
    @Test
    func `every command ends as the README says, finds what is wrong, repairs it when asked, and goes back`() throws {
        let run = try ExampleRun("Forum")
        let refused = run.output(of: "moult migrate")
        #expect(refused.contains("ThreadMigrationPolicy"))
        #expect(refused.contains("await MoultCommand.main("))
        for found in [
            run.output(of: "forum-reader validate forum.sqlite --rules rules.json    #"),
            run.output(of: "forum-reader validate forum.sqlite --rules rules.json --fix --dry-run"),
        ] {
            for rule in ["forum-below-itself", "post-without-thread", "thread-without-forum", "number-of-posts"] {
                #expect(found.contains(rule))
            }
            #expect(!found.contains("users-are-there"))
        }
        #expect(run.output(of: "forum-reader status", 1).contains("ForumReader 4"))
        #expect(run.output(of: "forum-reader status", 2).contains("version ForumReader, 3 behind"))
        // What was repaired is in the backup that the rollback made.
        let backups = run.folder.path + "/forum.sqlite.moult/backups"
        let last = try #require(
            try FileManager.default.contentsOfDirectory(atPath: backups).filter { $0.contains("ForumReader_4") }.max())
        func rows(_ sql: String) throws -> String { try SQLiteShell.run("\(backups)/\(last)/forum.sqlite", sql) }
        #expect(try rows("SELECT count(*) FROM ZPOST WHERE ZTHREAD IS NULL") == "0\n")
        #expect(try rows("SELECT count(*) FROM ZTHREAD WHERE ZFORUM IS NULL") == "0\n")
        #expect(
            try rows(
                "SELECT count(*) FROM ZTHREAD t WHERE ZNUMBEROFPOSTS <> (SELECT count(*) FROM ZPOST WHERE ZTHREAD = t.Z_PK)"
            )
                == "0\n")
        // Of the cycle one link is cut, and all three forums are still there.
        #expect(try rows("SELECT count(*), count(ZPARENT) FROM ZFORUM WHERE ZFORUMID IN ('90', '91', '92')") == "3|2\n")
    }
}
