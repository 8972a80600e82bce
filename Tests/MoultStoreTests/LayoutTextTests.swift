import MoultBasics
import MoultModel
import MoultModelFiles
import MoultSQLite
import TestSupport
import Testing

@testable import MoultStore

/// The texts that public stores outside the corpus show, as the pages on the store format quote them.
@Suite("The texts of a layout")
struct LayoutTextTests {
    private func relationship(
        _ name: String, _ destination: String, _ inverse: String?, toMany: Bool = true, ordered: Bool = false
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name, destinationEntityName: destination, inverseName: inverse, maxCount: toMany ? 0 : 1,
            isOrdered: ordered)
    }

    private func statements(_ text: String, framework: Int = 1526, history: Bool = false) throws -> [String] {
        try statements(ManagedObjectModel(text).entities, framework: framework, history: history)
    }

    private func statements(_ entities: [EntityDescription], framework: Int = 1526, history: Bool = false) throws
        -> [String]
    {
        try StoreLayout(model: ManagedObjectModel(entities: entities), framework: framework, history: history)
            .createStatements
    }

    @Test func `an ordered many-to-many keeps the place of each list beside the pair`() throws {
        let made = try statements(
            """
            Attachment = messages >> Message.attachments
            Message = attachments >> Attachment.messages ordered
            """)
        #expect(
            made.contains(
                "CREATE TABLE Z_1MESSAGES ( Z_1ATTACHMENTS INTEGER, Z_2MESSAGES INTEGER, Z_FOK_1ATTACHMENTS INTEGER, "
                    + "PRIMARY KEY (Z_1ATTACHMENTS, Z_2MESSAGES) )"))
        #expect(
            made.contains("CREATE INDEX Z_1MESSAGES_Z_2MESSAGES_INDEX ON Z_1MESSAGES (Z_2MESSAGES, Z_1ATTACHMENTS)"))
    }

    @Test func `a many-to-many that is its own inverse has a column REFLEXIVE`() throws {
        let made = try statements("Person = friends >> Person.friends")
        #expect(
            made.contains(
                "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )"
            ))
        #expect(made.contains("CREATE INDEX Z_1FRIENDS_REFLEXIVE_INDEX ON Z_1FRIENDS (REFLEXIVE, Z_1FRIENDS)"))
    }

    @Test func `the smallest name below an entity decides which side owns a join table`() throws {
        let made = try statements(
            """
            GenericAlbum = lists >> AlbumList.albums
            Album (GenericAlbum)
            AlbumList = albums >> GenericAlbum.lists
            """)
        #expect(made.contains { $0.hasPrefix("CREATE TABLE Z_2LISTS ( Z_2ALBUMS INTEGER, Z_1LISTS INTEGER") })
    }

    @Test func `two join columns of one entity do not clash`() throws {
        let made = try statements(
            """
            Chat = users >> User.chats
            SystemMessage = users >> User.systemMessages
            User = chats >> Chat.users, systemMessages >> SystemMessage.users
            """)
        #expect(made.contains { $0.contains("Z_1USERS ( Z_1CHATS INTEGER, Z_3USERS INTEGER") })
        #expect(made.contains { $0.contains("Z_2USERS ( Z_2SYSTEMMESSAGES INTEGER, Z_3USERS1 INTEGER") })
    }

    @Test
    func `a clash of names inside one table gives suffixes entity by entity, not in the order of the columns`() throws {
        let made = try statements(
            """
            Setting abstract
            FloatSetting (Setting) = value Double
            IntSetting (Setting) = value Integer64
            """)
        #expect(made.first?.hasSuffix("Z_OPT INTEGER, ZVALUE1 INTEGER, ZVALUE FLOAT )") == true)
    }

    @Test func `an inverse-less ordered to-many keeps key and place in the destination's table`() throws {
        let made = try statements(
            """
            List = items >> Word ordered
            Word = text String
            """)
        #expect(
            made.contains(
                "CREATE TABLE ZWORD ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z1ITEMS INTEGER, "
                    + "Z_FOK_1ITEMS INTEGER, ZTEXT VARCHAR )"))
        #expect(made.contains("CREATE INDEX ZWORD_Z1ITEMS_INDEX ON ZWORD (Z1ITEMS)"))
    }

    @Test func `partial indexes and expressions`() throws {
        let subject = FetchIndexDescription.Element(subject: .property("type"))
        let predicates = [
            ("state != 4", "ZSTATE <> 4"), ("type != nil", "ZTYPE IS NOT NULL"),
            ("type == 0 AND state == -1", "(ZTYPE = 0 AND ZSTATE = -1)"),
            ("state > 1 OR type == nil", "(ZSTATE > 1 OR ZTYPE IS NULL)"),
        ]
        let indexes = predicates.enumerated().map {
            FetchIndexDescription(name: "p\($0)", elements: [subject], partialIndexPredicate: $1.0)
        }
        let byObject = FetchIndexDescription(
            name: "o",
            elements: [
                subject, .init(subject: .expression("self"), isAscending: false), .init(subject: .expression("entity")),
            ])
        var asset = EntityDescription("Asset = state Integer16, type Integer16")
        asset.fetchIndexes = indexes + [byObject]
        let made = try statements([asset])
        for (position, predicate) in predicates.enumerated() {
            #expect(
                made.contains(
                    "CREATE INDEX Z_Asset_p\(position) ON ZASSET (ZTYPE COLLATE BINARY ASC) WHERE \(predicate.1)"))
        }
        #expect(
            made.contains(
                "CREATE INDEX Z_Asset_o ON ZASSET (ZTYPE COLLATE BINARY ASC, Z_PK COLLATE BINARY DESC, Z_ENT COLLATE BINARY ASC)"
            ))
    }

    @Test func `an attribute in a fetch index gets no second index of its own name`() throws {
        func element(_ name: String) -> FetchIndexDescription.Element { .init(subject: .property(name)) }
        let entity = EntityDescription(
            name: "Message",
            attributes: ["alone", "first", "nonce", "second", "sender"].map {
                AttributeDescription(name: $0, type: .string, isIndexed: ["alone", "nonce", "first"].contains($0))
            },
            fetchIndexes: [
                FetchIndexDescription(name: "byNonce", elements: [element("nonce")]),
                FetchIndexDescription(name: "bySender", elements: [element("sender")]),
                FetchIndexDescription(name: "pair", elements: [element("first"), element("second")]),
            ])
        let indexes = try statements([entity]).filter { $0.hasPrefix("CREATE INDEX") }.map {
            String($0.split(separator: " ")[2])
        }
        #expect(
            Set(indexes) == ["Z_Message_alone", "Z_Message_byNonce", "Z_Message_bySender", "Z_Message_pair"])
        #expect(indexes.count == 4)
        // Older frameworks know the switch and the compound index alone.
        let older = try statements([entity], framework: 754).filter { $0.hasPrefix("CREATE INDEX") }.map {
            String($0.split(separator: " ")[2])
        }
        #expect(
            Set(older) == [
                "ZMESSAGE_ZALONE_INDEX", "ZMESSAGE_ZFIRST_INDEX", "ZMESSAGE_ZNONCE_INDEX", "ZMESSAGE_ZSENDER_INDEX",
                "ZMESSAGE_ZFIRST_ZSECOND",
            ])
    }

    private static let place = EntityDescription(
        name: "Place",
        attributes: [
            AttributeDescription(name: "latitude", type: .double),
            AttributeDescription(name: "longitude", type: .double),
        ],
        fetchIndexes: [
            FetchIndexDescription(
                name: "where",
                elements: [
                    .init(subject: .property("latitude"), kind: .rTree),
                    .init(subject: .property("longitude"), kind: .rTree),
                ])
        ])

    @Test func `an R-tree index and its triggers work in plain SQLite`() throws {
        let made = try statements([Self.place])
        #expect(
            made.contains(
                "CREATE VIRTUAL TABLE Z_RT_Place_where USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, "
                    + "ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)"))
        let insert =
            "CREATE TRIGGER Z_RT_Place_where_INSERT AFTER INSERT ON ZPLACE FOR EACH ROW BEGIN INSERT OR REPLACE INTO "
            + "Z_RT_Place_where (Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX) VALUES (NEW.Z_PK, "
            + "NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE) ; END"
        #expect(made.contains(insert))
        let connection = try Connection(":memory:", mode: .create)
        try connection.execute("PRAGMA trusted_schema = ON")
        for statement in made { try connection.execute(statement) }
        try connection.execute("INSERT INTO ZPLACE (Z_PK, ZLATITUDE, ZLONGITUDE) VALUES (1, 2, 3), (2, 50, 60)")
        try connection.execute("UPDATE ZPLACE SET ZLATITUDE = 51 WHERE Z_PK = 2; DELETE FROM ZPLACE WHERE Z_PK = 1")
        let rows = try connection.rows("SELECT Z_PK, ZLATITUDE_MIN FROM Z_RT_Place_where") { [$0.real(0), $0.real(1)] }
        #expect(rows == [[2, 51]])
    }

    @Test func `a derived value through a to-one has four triggers, and now() one`() throws {
        let made = try statements([
            EntityDescription(
                name: "Contact",
                attributes: [
                    AttributeDescription(
                        name: "accountID", type: .string, derivation: .init(expression: "account.serverId")),
                    AttributeDescription(name: "update", type: .date, derivation: .init(expression: "now()")),
                ], relationships: [relationship("account", "Account", nil, toMany: false)]),
            EntityDescription(name: "Account", attributes: [AttributeDescription(name: "serverId", type: .string)]),
        ]).filter { $0.hasPrefix("CREATE TRIGGER") }
        #expect(
            made.first
                == "CREATE TRIGGER Z_DA_ZCONTACT_Contact_accountID_SOURCE_INSERT AFTER INSERT ON ZCONTACT FOR EACH ROW BEGIN "
                + "UPDATE ZCONTACT SET ZACCOUNTID = (SELECT ZSERVERID FROM ZACCOUNT WHERE Z_PK = NEW.ZACCOUNT) WHERE Z_PK = NEW.Z_PK; "
                + "SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZCONTACT', Z_ENT, Z_PK, 'accountID', ZACCOUNTID) "
                + "FROM ZCONTACT WHERE Z_PK = NEW.Z_PK; END")
        #expect(made.count == 5)
        #expect(
            made.last
                == "CREATE TRIGGER Z_DA_ZCONTACT_Contact_update_UPDATE AFTER UPDATE OF Z_OPT ON ZCONTACT FOR EACH ROW BEGIN "
                + "UPDATE ZCONTACT SET ZUPDATE = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK; "
                + "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZCONTACT', Z_ENT, Z_PK, 'update', ZUPDATE) "
                + "FROM ZCONTACT WHERE Z_PK = NEW.Z_PK; END")
    }

    @Test func `a derivation whose trigger is not known gets none, and a finding`() throws {
        let layout = try StoreLayout(
            model: ManagedObjectModel("Note = title String, plain String derived=canonical:(title)"))
        #expect(layout.triggers.isEmpty)
        #expect(layout.findings.map(\.place) == ["Note.plain"])
        #expect(layout.tables.first?.columns.last?.name == "ZTITLE")
    }

    @Test func `frameworks before 865 write uniqueness into the table`() throws {
        let entity = EntityDescription(
            "Country unique=name unique=code+dummy = code Integer16, dummy Integer16, name String")
        #expect(
            try statements([entity], framework: 851).first
                == "CREATE TABLE ZCOUNTRY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCODE INTEGER, ZDUMMY INTEGER, "
                + "ZNAME VARCHAR UNIQUE, CONSTRAINT ZCODE_ZDUMMY UNIQUE (ZCODE, ZDUMMY))")
        #expect(
            try statements([entity], framework: 865).contains(
                "CREATE UNIQUE INDEX Z_Country_UNIQUE_code_dummy ON ZCOUNTRY (ZCODE COLLATE BINARY ASC, ZDUMMY COLLATE BINARY ASC)"
            ))
    }

    @Test func `history keeps as many values of the deleted as its richest entity asks for`() throws {
        let attributes = ["a", "b", "c"].map {
            AttributeDescription(name: $0, type: .string, preservesValueInHistoryOnDeletion: $0 != "b")
        }
        let made = try statements([EntityDescription(name: "A", attributes: attributes)], history: true)
        #expect(
            made.contains {
                $0.hasPrefix("CREATE TABLE ACHANGE")
                    && $0.hasSuffix("ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB )")
            })
        let old = try statements([EntityDescription(name: "A", attributes: attributes)], framework: 851, history: true)
        #expect(!old.contains { $0.contains("ATRANSACTIONSTRING") || $0.contains("ZAUTHORTS") })
        #expect(throws: MigrationError.self) {
            try statements([EntityDescription(name: "A")], framework: 754, history: true)
        }
    }

    @Test func `names that clash as tables, and frameworks nobody saw, are refused; strange names are quoted`() throws {
        #expect(throws: MigrationError.self) {
            try statements([EntityDescription(name: "User"), EntityDescription(name: "user")])
        }
        #expect(throws: MigrationError.self) { try statements([EntityDescription(name: "_Metadata")]) }
        #expect(throws: MigrationError.self) { try statements([EntityDescription(name: "A")], framework: 229) }
        let made = try statements([
            EntityDescription(
                name: "A\"; DROP TABLE B; --", attributes: [AttributeDescription(name: "x)y", type: .string)],
                fetchIndexes: [FetchIndexDescription(name: "it's", elements: [.init(subject: .property("x)y"))])])
        ])
        let connection = try Connection(":memory:", mode: .create)
        for statement in made { try connection.execute(statement) }
        #expect(try connection.columns(of: "ZA\"; DROP TABLE B; --").map(\.name).last == "ZX)Y")
    }

    @Test func `a name in SQL is a whole word, bare or quoted`() {
        let sql = "CREATE INDEX i ON ZPLACE (ZNAMES COLLATE BINARY ASC, \"Z-CODE\")"
        #expect(sql.names("ZNAMES") && sql.names("Z-CODE") && sql.names("ZPLACE"))
        #expect(!sql.names("ZNAME") && !sql.names("ZPLACES"))
    }

    // MARK: - Indexes of sources

    /// Xcode compiles a fetch index of one attribute under another name into that index and one of the attribute's name.
    @Test(arguments: [
        ("property=\"name\" type=\"Binary\" order=\"ascending\"", ["Z_Item_byName", "Z_Item_name"]),
        ("property=\"name\" type=\"Binary\" order=\"descending\"", ["Z_Item_byName"]),
    ])
    func `an attribute with an ascending index of its own in a source has a second one of its name`(
        element: String, expected: [String]
    ) throws {
        func names(_ model: ManagedObjectModel, _ framework: Int = 1_526) throws -> [String] {
            try StoreLayout(model: model, framework: framework).indexes.map(\.name).filter { $0.hasPrefix("Z_Item_") }
                .sorted()
        }
        let source = """
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Item">
            <attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="size" optional="YES" attributeType="Integer 16"/>
            <fetchIndex name="byName"><fetchIndexElement \(element)/></fetchIndex>
            <fetchIndex name="both"><fetchIndexElement property="size" type="Binary" order="ascending"/>
            <fetchIndexElement property="name" type="Binary" order="ascending"/></fetchIndex>
            </entity></model>
            """
        var findings: [Finding] = []
        let model = try ManagedObjectModel(xmlContents: Array(source.utf8), file: "contents", findings: &findings)
        #expect(try names(model) == (expected + ["Z_Item_both"]).sorted())
        // What is compiled of it describes every index itself, and so does the model in a store.
        let compiled = try ManagedObjectModel(modelCache: model.modelCache(), findings: &findings)
        #expect(try names(compiled) == names(model))
        // An archive that describes one has one.
        let plain = try ManagedObjectModel(entities: model.entities)
        #expect(try names(plain) == ["Z_Item_both", "Z_Item_byName"])
    }
}
