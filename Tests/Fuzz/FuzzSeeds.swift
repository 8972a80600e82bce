import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultTools
import TestSupport

/// Sound inputs to begin with: what the project's own writers make, and real files where the corpus is present.
enum FuzzSeeds {
    /// Large inputs slow every run down and hold nothing that small ones do not.
    private static let greatestSize = 24 << 10
    private static let greatestStore = 96 << 10
    private static let greatestCount = 48

    /// - Returns: how many files were written.
    static func write(for reader: FuzzReader, into folder: String) throws -> Int {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let seeds = try made(for: reader) + found(for: reader) + real(for: reader)
        for (number, seed) in seeds.enumerated() {
            try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(number)"))
        }
        return seeds.count
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The versions of the example model.
    static func forum() throws -> ModelVersions {
        try ModelVersions(contentsOf: packageRoot.path + "/Examples/Forum.xcdatamodeld")
    }

    /// The inputs that a run has found a fault by, kept in the project: `Found/READER/…`.
    static func found(for reader: FuzzReader) throws -> [[UInt8]] {
        let kept = folder.appendingPathComponent("Found/\(reader.rawValue)").path
        guard FileManager.default.fileExists(atPath: kept) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: kept).sorted().map { name in
            try Array(Data(contentsOf: URL(fileURLWithPath: "\(kept)/\(name)")))
        }
    }

    // MARK: Made

    static func made(for reader: FuzzReader) throws -> [[UInt8]] {
        let models = try [RichModel.model(), archivable()] + forum().versions.map(\.model)
        switch reader {
        case .xml: return try models.map { try Array($0.xmlContents().utf8) }
        case .elements: return [elements()]
        // Only Apple's compiler writes whole ones; this is what its newest begins with, and sections without content.
        case .optimised:
            let signature = "momv2$[]77y234078nf3490324nfauh7kf77y7pjfauy72-918reiaprehuhfrew"
            return [Array(signature.utf8) + [UInt8](repeating: 0, count: 512)]
        case .compiled: return models.compactMap { try? $0.compiled() }
        case .modelCache: return models.compactMap { try? $0.modelCache() }
        case .json: return models.map { Array($0.json.compact.utf8) }
        case .propertyList: return models.compactMap { try? $0.compiled() } + [elements(), Array(everyElement.utf8)]
        case .metadata:
            return try [230, 866, 1526].flatMap { framework in
                try forum().versions.map { try StoreCreator($0, framework: framework).metadata.propertyList }
            }
        case .lock: return [Array(lock.utf8)]
        case .answers: return [Array(answers.utf8)]
        case .expression: return expressions.map { Array($0.utf8) }
        case .store: return try [230, 1526].map(store)
        case .mapping: return [mapping()]
        case .compiledMapping: return [compiledMapping()]
        case .rules: return [Array(rules.utf8)]
        case .cloudKit:
            let needed = try models.map { Array(CloudKitSchemaFile(try CloudKitRequirements($0).schema).text.utf8) }
            return needed + [Array(cloudKit.utf8)]
        case .app: return try [app("ZIP_DEFLATED"), app("ZIP_STORED")]
        case .plan, .journal, .runs, .manifest, .archive, .quarantine, .quarantinedObject, .writeAheadLog, .salvage,
            .fleet:
            return try besides(for: reader)
        }
    }

    /// A schema with everything that the language has.
    private static let cloudKit = """
        DEFINE SCHEMA // a comment
        CREATE ROLE Keeper; -- another
        /* and one more */
        RECORD TYPE "cloudkit.share" ( "cloudkit.title" STRING, );
        RECORD TYPE A (
            list LIST<STRING> QUERYABLE, hidden ENCRYPTED BYTES, place LOCATION, n NUMBER PREFERRED AS INT64,
            "grant" ASSET SORTABLE SEARCHABLE, other REFERENCE, GRANT READ, WRITE TO "_world", GRANT CREATE TO Keeper
        );
        """

    /// What an archive has a place for, with an enum and a struct inside of a struct.
    private static func archivable() throws -> ManagedObjectModel {
        let leaf = AttributeDescription(name: "kind", type: .string)
        let attributes =
            RichModel.everyType.filter { $0.type != .composite } + [
                .init(
                    name: "kind", type: .composite, elements: [leaf], userInfo: ["EnumType": "1", "enum": "a,b"]),
                .init(
                    name: "owner", type: .composite, isOptional: false,
                    elements: [
                        leaf, .init(name: "home", type: .composite, elements: [.init(name: "x", type: .double)]),
                    ]),
            ]
        return try ManagedObjectModel(entities: [
            EntityDescription(name: "Thing", attributes: attributes, fetchIndexes: [RichModel.index]),
            EntityDescription(
                name: "Post", superentityName: "Thing",
                attributes: [
                    .init(name: "title", type: .string, validation: .init(minimum: "1", regularExpression: "[a-z]+")),
                    .init(name: "body", type: .string, derivation: .init(expression: "canonical:(title)")),
                ],
                relationships: [
                    .init(name: "parent", destinationEntityName: "Post", inverseName: "answers"),
                    .init(
                        name: "answers", destinationEntityName: "Post", inverseName: "parent", maxCount: 0,
                        isOrdered: true),
                ],
                fetchedProperties: [RichModel.fetchedProperty], userInfo: ["k": "v"]),
            EntityDescription(name: "Answer"),
        ])
    }

    /// An entity with an attribute, as Xcode 3 archived it.
    private static func elements() -> [UInt8] {
        var builder = KeyedArchive.Builder()
        let type = builder.object(classes: ["XDPMAttribute"], ["_default": builder.leaf(.integer(300))])
        let facts = builder.dictionary([("XD_PAttK_attributeType", type)])
        let stereotype = builder.object(
            classes: ["XDUMLStereotypeImp"], ["XDBucketForOwnedAttributesstorage": facts])
        let stereotypes = builder.dictionary([("attribute", stereotype)])
        let attribute = builder.object(classes: ["XDPMAttribute"], ["XDBucketForStereotypesstorage": stereotypes])
        let attributes = builder.dictionary([("title", attribute)])
        let entity = builder.object(
            classes: ["XDPMEntity"],
            ["_name": builder.string("Book"), "XDBucketForOwnedAttributesstorage": attributes])
        let entities = builder.dictionary([("Book", entity)])
        let package = builder.object(classes: ["XDUMLPackageImp"], ["XDBucketForClassesstorage": entities])
        let root = builder.object(classes: ["XDPMModel"], ["_xd_rootPackage": package])
        return builder.archive(root: root)
    }

    /// A mapping model from a model to itself, as Xcode keeps it.
    private static func mapping() -> [UInt8] {
        let model = elements().base64
        let text = """
            <?xml version="1.0"?><database>
            <object type="XDDEVMAPPINGMODEL" id="z1"><attribute name="sourcemodeldata">\(model)</attribute>
            <attribute name="destinationmodeldata">\(model)</attribute>
            <relationship name="entitymappings" idrefs="z2"></relationship></object>
            <object type="XDDEVENTITYMAPPING" id="z2"><attribute name="sourcename">Book</attribute>
            <attribute name="destinationname">Book</attribute><attribute name="mappingnumber">1</attribute>
            <attribute name="sourcefilterpredicatestring">title != nil</attribute>
            <relationship name="attributemappings" idrefs="z3"></relationship>
            <relationship name="relationshipmappings" idrefs="z4"></relationship></object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name">title</attribute></object>
            <object type="XDDEVRELATIONSHIPMAPPING" id="z4"><attribute name="name">author</attribute>
            <attribute name="sourcemappingname">BookToBook</attribute>
            <attribute name="sourcekeypath">$source.author</attribute></object></database>
            """
        return Array(text.utf8)
    }

    /// An entity mapping with one attribute, as Xcode compiles it.
    private static func compiledMapping() -> [UInt8] {
        var builder = KeyedArchive.Builder()
        let variable = builder.object(classes: ["NSVariableExpression"], ["NSVariable": builder.string("source")])
        let path = builder.object(classes: ["NSKeyPathSpecifierExpression"], ["NSKeyPath": builder.string("title")])
        let value = builder.object(
            classes: ["NSKeyPathExpression"], ["NSOperand": variable, "NSArguments": builder.array([path])])
        let property = builder.object(
            classes: ["NSPropertyMapping"],
            ["NSDestinationPropertyName": builder.string("title"), "NSValueExpression": value])
        let name = builder.string("Book")
        let mapping = builder.object(
            classes: ["NSEntityMapping"],
            [
                "NSMappingName": name, "NSMappingType": .integer(4), "NSSourceEntityName": name,
                "NSDestinationEntityName": name, "NSAttributeMappings": builder.array([property]),
            ])
        let mappings = builder.array([mapping])
        let root = builder.object(classes: ["NSMappingModel"], ["NSEntityMappings": mappings])
        return builder.archive(root: root)
    }

    private static let everyElement = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict><key>a</key><array><integer>-1</integer><real>0.5</real><true/><false/></array>
        <key>b &amp; &#233;</key><date>2001-01-01T00:00:00Z</date><key>c</key><data>AAEC</data>
        <key>d</key><string><![CDATA[<x>]]></string><!-- nothing --><key>e</key><dict/></dict></plist>
        """

    private static let lock = """
        {"format":1,"models":{"Forum.xcdatamodeld":[{"name":"Forum","checksum":"3brcwciKHLRZ7ItXhKSYq8wBwOMZngx78vMtILA2kuk=",
        "fingerprint":"BAUG",        "entities":{"Post":"AAEC AwQF","User":"AAEC AwQF"}}]}}
        """

    private static let answers = """
        {"format":1,"answers":[{"from":"1","to":"2","entity":"Post","property":"body","is":"rename","old":"text"},
        {"from":"2","to":"3","entity":"Thread","is":"new"},
        {"from":"2","to":"3","entity":"User","property":"age","is":"keep"}]}
        """

    private static let rules = """
        {"format":1,"rules":[
        {"name":"a","entity":"Post","predicate":"text != ''","fix":{"set":{"text":"'x'"}},"when":["before"]},
        {"name":"b","severity":"warning","entity":"Topic","orphan":"forum","fix":{"assign":"forum","to":"title == 'x'",
        "orNewWith":{"title":"'x'","position":0}}},{"name":"c","entity":"Forum","noCycle":"parent","fix":{"nullify":"parent"}},
        {"name":"d","entity":"User","minimum":{"ofSource":0.5,"fewer":1,"sourceEntity":"U"},"when":[{"afterStep":"s"}]},
        {"name":"e","entity":"Forum","count":{"attribute":"position","of":"topics","where":"subject != nil"},"fix":"recount"},
        {"name":"f","entity":"Forum","count":{"attribute":"position","equals":"topics.@count + 1"},"fix":"delete"},
        {"name":"g","entity":"User","unique":["name","email"],"fix":"quarantine"},{"name":"h","entity":"User","minimum":1}]}
        """

    private static let expressions = [
        "canonical:(name)", "pages.@count", "now()", "1 + 2 * -x ** 2", "children.@sum.size",
        "FUNCTION(a, \"lowercase:\", 'b')", "{1, 2.5e3, 0xFF}", "$source.name", "TERNARY(a > 1, b, c)",
        "SUBQUERY(items, $i, $i.size > 3).@count", "#index == nil", "name BEGINSWITH[cd] \"A\\n\" AND size > 0",
        "NOT (a IN {1, 2}) OR ANY b.c BETWEEN {0, 9}", "TRUEPREDICATE", "CAST(date, \"NSDate\") >= a[FIRST]",
        "NONE x LIKE \"*y?\" || !(ALL z MATCHES 'q+')", "%K == %@",
    ]

    /// An archive of an app with the compiled example model, by Python.
    private static func app(_ method: String) throws -> [UInt8] {
        let folder = try ScratchFolder()
        let paths = try forum().versions.prefix(2).enumerated().map { number, version in
            let path = "\(folder.path)/\(number).mom"
            try Data(version.model.compiled()).write(to: URL(fileURLWithPath: path))
            return path
        }
        let script = """
            import os, sys, zipfile
            with zipfile.ZipFile(sys.argv[2], "w", getattr(zipfile, sys.argv[1])) as file:
                for path in sys.argv[3:]: file.write(path, "Payload/App.app/App.momd/" + os.path.basename(path))
            """
        let path = folder.path + "/App.ipa"
        let run = try ChildProcess.run("python3", ["-c", script, method, path] + paths)
        return run.exit == 0 ? try Array(Data(contentsOf: URL(fileURLWithPath: path))) : []
    }

    /// A small store of the example model with small pages, so that few bytes of it are empty.
    static func store(framework: Int) throws -> [UInt8] {
        let folder = try ScratchFolder()
        let path = folder.path + "/Forum.sqlite"
        guard let version = try forum().versions.first else { return [] }
        let maker = try StoreCreator(version, framework: framework)
        try maker.make(at: path)
        let writer = try ObjectWriter(store: path, layout: maker.layout)
        try SampleData(count: 3, isHostile: false).fill(writer)
        try writer.finish()
        let connection = try Connection(path, mode: .readWrite)
        try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM")
        connection.close()
        return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    // MARK: Real

    static func real(for reader: FuzzReader) throws -> [[UInt8]] {
        switch reader {
        case .xml: return try files { $0.hasSuffix(".xcdatamodel/contents") }
        case .elements: return try files { $0.hasSuffix(".xcdatamodel/elements") }
        case .compiled: return try files { $0.hasSuffix(".mom") }
        case .optimised: return try files { $0.hasSuffix(".omo") }
        case .propertyList: return try files { $0.hasSuffix(".plist") || $0.hasSuffix(".mom") }
        case .modelCache: return try snapshots().compactMap(\.modelCache).filter { $0.count <= greatestSize }
        case .metadata: return try snapshots().map(\.metadata.propertyList).filter { $0.count <= greatestSize }
        case .store: return try read(Corpus.stores, atMost: greatestStore)
        case .compiledMapping: return try files { $0.hasSuffix(".cdm") }
        default: return []
        }
    }

    private static func files(_ isIncluded: (String) -> Bool) throws -> [[UInt8]] {
        try read(Corpus.paths(where: isIncluded), atMost: greatestSize)
    }

    /// The small ones of the files, each content once, and a number of them spread over all.
    private static func read(_ paths: [String], atMost size: Int) throws -> [[UInt8]] {
        var seen: Set<[UInt8]> = []
        let small = try paths.compactMap { path -> [UInt8]? in
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
            return bytes.count <= size && seen.insert(bytes).inserted ? bytes : nil
        }
        let step = max(1, small.count / greatestCount)
        return stride(from: 0, to: small.count, by: step).map { small[$0] }
    }

    private static func snapshots() throws -> [StoreSnapshot] {
        try Corpus.stores.prefix(greatestCount).map { path in
            try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection) }
        }
    }
}
