import Foundation
import TestSupport

// moult-fuzz READER FOLDER [OPTION…]   mutates input for one reader until told to stop; keeps what it learns in FOLDER
// moult-fuzz READER FILE               one input again
// moult-fuzz --list                    the readers, one a line
// moult-fuzz --seeds [READER…]         what each reader begins with, what faults were found by, nothing at all, and half of
//                                      each, once; without libFuzzer
// moult-fuzz --mutate SECONDS [READER…]   the same, then mutations of them for so many seconds a reader
//
// Otherwise the mutating, the coverage and the limits are libFuzzer's, and so are the options. Scripts/fuzz builds and runs it.

private typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
private typealias Driver =
    @convention(c) (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Arguments>, Callback) ->
    Int32

/// Ends the process in an orderly way, before anything was fuzzed.
private func leave(_ words: String) -> Never {
    say(words)
    exit(2)
}

/// Tries readers without libFuzzer. The input that ends the process is left as `moult-fuzz-READER` in the folder for temporary
/// files.
private func tryOut(_ names: ArraySlice<String>, seconds: Double) -> Never {
    for reader in names.isEmpty ? FuzzReader.allCases : names.compactMap(FuzzReader.init) {
        FuzzReader.current = reader
        do {
            let kept = FileManager.default.temporaryDirectory.appendingPathComponent("moult-fuzz-\(reader.rawValue)")
            var seeds = try FuzzSeeds.made(for: reader) + FuzzSeeds.found(for: reader)
            if seconds > 0 { seeds += try FuzzSeeds.real(for: reader) }
            var tried = 0
            func attempt(_ bytes: [UInt8]) throws {
                try Data(bytes).write(to: kept)
                // The same limit as Scripts/fuzz gives to a slow machine.
                alarm(60)
                FuzzReader.tryCurrent(bytes)
                alarm(0)
                tried += 1
            }
            try attempt([])
            for seed in seeds {
                try attempt(seed)
                try attempt(Array(seed.prefix(seed.count / 2)))
            }
            let end = Date(timeIntervalSinceNow: seconds)
            var mutation: UInt64 = 0
            while Date() < end {
                try attempt(seeds[Int(mutation % UInt64(seeds.count))].mutated(seed: mutation))
                mutation += 1
            }
            try FileManager.default.removeItem(at: kept)
            print("\(reader.rawValue) \(tried)")
        } catch {
            leave("\(reader.rawValue): the seeds cannot be made: \(error)")
        }
    }
    exit(0)
}

private let words = CommandLine.arguments
if words.dropFirst() == ["--list"] {
    for reader in FuzzReader.allCases { print(reader.rawValue) }
    exit(0)
}
if words.count >= 2, words[1] == "--seeds" {
    tryOut(words.dropFirst(2), seconds: 0)
}
if words.count >= 3, words[1] == "--mutate", let seconds = Double(words[2]) {
    tryOut(words.dropFirst(3), seconds: seconds)
}
guard words.count >= 3, let reader = FuzzReader(rawValue: words[1]) else {
    leave("moult-fuzz READER FOLDER [OPTION…], where READER is one of those that moult-fuzz --list names")
}
// The driver comes with `-sanitize=fuzzer` only; an ordinary build has none, and still compiles all this.
guard let symbol = dlsym(nil, "LLVMFuzzerRunDriver") else {
    leave("This is a build without libFuzzer; Scripts/fuzz makes one with it.")
}

// One file is tried as it is.
private var isFolder: ObjCBool = false
private let exists = FileManager.default.fileExists(atPath: words[2], isDirectory: &isFolder)
if !exists || isFolder.boolValue {
    do {
        let seeds = try FuzzSeeds.write(for: reader, into: words[2])
        say("\(reader.rawValue): \(seeds) seeds")
    } catch {
        leave("\(reader.rawValue): the seeds cannot be made: \(error)")
    }
}
FuzzReader.current = reader
private let drive = unsafeBitCast(symbol, to: Driver.self)
private var passed = ([words[0]] + words.dropFirst(2)).map { strdup($0) } + [nil]
private var count = Int32(passed.count - 1)
exit(
    passed.withUnsafeMutableBufferPointer { buffer in
        guard var arguments = buffer.baseAddress else { return 2 }
        return drive(&count, &arguments) { bytes, length in
            FuzzReader.tryCurrent(Array(UnsafeBufferPointer(start: bytes, count: length)))
            return 0
        }
    })
