import Foundation
import MoultTools
import TestSupport
import Testing

/// The exports of real stores, read by Python alone: no bytes are base64 or `x'…'` that hold JSON, or an archive or property
/// list whose classes are all known.
@Suite("Readable exports of real stores", .enabled(if: Corpus.isAvailable))
struct ReadableCorpusTests {  // tier: long
    private static let search = """
        import base64, csv, glob, json, os, plistlib, re, sys
        csv.field_size_limit(10 ** 9)
        known = {'NSArray', 'NSMutableArray', 'NSDictionary', 'NSMutableDictionary', 'NSString', 'NSMutableString', 'NSDate',
            'NSData', 'NSMutableData', 'NSUUID', 'NSURL', 'NSSet', 'NSMutableSet', 'NSOrderedSet', 'NSNull'}
        def readable(b):
            try: return isinstance(json.loads(b), (list, dict))
            except Exception: pass
            try: a = plistlib.loads(b)
            except Exception: return False
            if not isinstance(a, dict) or '$archiver' not in a: return True
            names = [o['$classname'] for o in a['$objects'] if isinstance(o, dict) and '$classname' in o]
            return all(n in known for n in names)
        def look(place, name, text):
            b = b''
            if re.fullmatch(r"x'[0-9a-f]*'", text): b = bytes.fromhex(text[2:-1])
            elif len(text) % 4 == 0 and re.fullmatch(r'[A-Za-z0-9+/]+={0,2}', text): b = base64.b64decode(text)
            if len(b) > 1 and readable(b): print(place, name, text[:60])
        def walk(place, name, value):
            if isinstance(value, str): look(place, name, value)
            elif isinstance(value, list): [walk(place, name, v) for v in value]
            elif isinstance(value, dict): [walk(place, name, v) for v in value.values()]
            parts = name.split('.')
            if len(parts) > 1 and parts[-1] == parts[-2]: print(place, name, 'is named twice')
        rows = 0
        for f in glob.glob(sys.argv[1] + '/*/*.jsonl'):
            for line in open(f):
                rows += 1
                for k, v in json.loads(line).items(): walk(f, k, v)
        for f in glob.glob(sys.argv[1] + '/*/*.csv'):
            for row in csv.DictReader(open(f, newline='')):
                rows += 1
                for k, v in row.items(): look(f, k, v)
        print('ROWS', rows)
        """

    @Test func `nothing that can be read is left as base64`() throws {
        let folder = try ScratchFolder()
        for (number, store) in CorpusStores.distinct.enumerated() {
            let own = try ScratchFolder()
            let path = try own.copyStore(store)
            for format in [ExportWriter.Format.csv, .jsonl] {
                _ = try ExportWriter(format).write(
                    path, .init(), versions: nil, to: "\(folder.path)/\(format.rawValue)-\(number)")
            }
        }
        let run = try ChildProcess.run("python3", ["-c", Self.search, folder.path])
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(run.exit == 0 && lines.count == 1, "\(run.output.prefix(4_000))")
        let rows = lines.last.flatMap { Int($0.dropFirst(5)) } ?? 0
        print("EXPORTED: \(rows) rows")
        #expect(rows > (Corpus.isSmall ? 100 : 10_000))
    }
}
