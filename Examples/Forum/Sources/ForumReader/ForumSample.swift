import Foundation
import MoultCoreData

/// Makes a store of the first version as an old installation might have left it, with everything in it that the
/// migration has to put right.
public struct ForumSample {
    private let context: ManagedObjectContext
    private var forums: [String: ManagedObject] = [:]
    private var users: [ManagedObject] = []

    /// - Throws: `usage` where there is a file already.
    public static func make(at url: URL) throws {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw MigrationError(
                .usage, "There is a file already.", place: url.path, remedy: "Name a path where there is none.")
        }
        let model = try ForumModel.version("ForumReader").model
        let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(at: url)
        let context = ManagedObjectContext(persistentStoreCoordinator: coordinator)
        try context.performAndWait {
            var sample = ForumSample(context: context)
            try sample.addForums()
            try sample.addUsers()
            try sample.addThreads()
            try context.save()
        }
        try coordinator.remove(store)
    }

    private init(context: ManagedObjectContext) { self.context = context }

    private func make(_ entity: String, _ values: [String: any Sendable]) throws -> ManagedObject {
        let object = try context.insertNewObject(forEntityName: entity)
        for (key, value) in values { try object.setValue(value, forKey: key) }
        return object
    }

    /// Midnight, UTC, some days after 1 January 2010.
    static func day(_ number: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: 283_996_800 + Double(number) * 86400)
    }

    // MARK: - Forums

    private mutating func addForums() throws {
        let names = [
            "1": "Main", "44": "Games", "145": "Games by letter", "90": "Loop", "91": "Loop below", "92": "Lost",
        ]
        for (index, (id, name)) in names.sorted(by: { $0.key < $1.key }).enumerated() {
            forums[id] = try make("Forum", ["forumID": id, "name": name, "index": index])
        }
        // 90, 91 and 92 are each other's parents: none of them hangs below Main.
        for (child, parent) in [("44", "1"), ("145", "44"), ("90", "92"), ("91", "90"), ("92", "91")] {
            try forums[child]?.setValue(forums[parent], forKey: "parent")
        }
    }

    // MARK: - Users

    private mutating func addUsers() throws {
        for number in 1...20 {
            users.append(
                try make(
                    "User",
                    [
                        "userID": "\(1000 + number)", "username": "reader\(number)", "regdate": Self.day(number),
                        "realName": ["Ada Lovelace", "Grace Brewster Hopper", "Plato"][number % 3],
                        "avatarURL": "https://forum.example/avatars/\(number).png",
                        "lastModifiedDate": Self.day(500 + number),
                    ]))
        }
        users += try Self.oddUsers.map { try make("User", $0) }
    }

    /// One person three times, one who has no userID, and titles and avatars that cannot stay as they are.
    private static let oddUsers: [[String: any Sendable]] = [
        [
            "userID": "23", "username": "jeffrey", "regdate": day(40), "administrator": false,
            "customTitleHTML": "<b>Old title</b>", "avatarURL": "https://forum.example/old.png",
            "realName": "Jeffrey", "lastModifiedDate": day(600),
        ],
        [
            "userID": "23", "username": "Jeffrey of Yore", "moderator": true,
            "customTitleHTML": "<B>New\n title</B><SCRIPT\nsrc='x'>alert('<b>')</SCRIPT> <i>indeed",
            "avatarURL": "http://forum.example/new.png", "lastModifiedDate": day(900),
        ],
        ["userID": "23", "username": "jeff", "realName": "Jeffrey Yore", "lastModifiedDate": day(700)],
        ["username": "nobody", "lastModifiedDate": day(800)],
        [
            "userID": "77", "username": "framed", "avatarURL": "ftp://forum.example/a.png",
            "customTitleHTML": "<iframe src=\"https://ads.example\"><b>ad</b></iframe><u onclick=\"x()\">kept</u>",
        ],
        ["userID": "78", "username": "hostless", "avatarURL": "https:///a.png"],
    ]

    // MARK: - Threads

    private func addThreads() throws {
        for number in 1...60 {
            let thread = try addThread(number)
            for post in 1...(number % 5 + 1) { try addPost(number * 100 + post, in: thread) }
        }
        // What no thread shows any more.
        for number in 1...3 { try addPost(99_000 + number, in: nil) }
    }

    private static let titles = [
        "Plain", "Tom &amp; Jerry", "How to write &amp;lt;b&amp;gt;", "a &lt; b &amp;&amp; b &gt; c",
        "Caf&eacute; &#8212; caf&#xe9;", "R&D at AT&T",
    ]

    private func addThread(_ number: Int) throws -> ManagedObject {
        let posts = number % 5 + 1
        let thread = try make(
            "Thread",
            [
                "threadID": "\(number)", "title": Self.titles[number % Self.titles.count],
                // The reader has seen more posts than there are where some were deleted.
                "numberOfPosts": number == 7 ? 99 : posts, "seenPosts": number % 4 == 0 ? posts + 3 : number % 3,
                "authorUserID": number % 10 == 0 ? "23" : number == 11 ? "4711" : "\(1000 + number % 20 + 1)",
            ])
        // The others were never given one.
        if number % 2 == 0 { try thread.setValue(Self.day(1000 + number), forKey: "lastModifiedDate") }
        if number != 13 { try thread.setValue(forums[number % 3 == 0 ? "145" : "44"], forKey: "forum") }
        return thread
    }

    private func addPost(_ number: Int, in thread: ManagedObject?) throws {
        let post = try make(
            "Post", ["postID": "\(number)", "innerHTML": "<p>Post \(number)</p>", "postDate": Self.day(number % 1000)])
        try post.setValue(users[number % users.count], forKey: "author")
        try post.setValue(thread, forKey: "thread")
    }
}
