import Foundation

// moult-fuzz READER FOLDER [OPTION…]   mutates input for one reader until told to stop; keeps what it learns in FOLDER
// moult-fuzz READER FILE               one input again
// moult-fuzz --list                    the readers, one a line
// moult-fuzz --seeds [READER…]         what each reader begins with, and what faults were found by, once; without
//                                      libFuzzer, and without what is no part of the project
//
// The mutating, the coverage and the limits are libFuzzer's, and so are the options. Scripts/fuzz builds and runs it.

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

private let words = CommandLine.arguments
if words.dropFirst() == ["--list"] {
    for reader in FuzzReader.allCases { print(reader.rawValue) }
    exit(0)
}
if words.count >= 2, words[1] == "--seeds" {
    let readers = words.count == 2 ? FuzzReader.allCases : words.dropFirst(2).compactMap(FuzzReader.init)
    for reader in readers {
        do {
            FuzzReader.current = reader
            let inputs = try FuzzSeeds.made(for: reader) + FuzzSeeds.found(for: reader)
            for input in inputs { FuzzReader.tryCurrent(input) }
            print("\(reader.rawValue) \(inputs.count)")
        } catch {
            leave("\(reader.rawValue): the seeds cannot be made: \(error)")
        }
    }
    exit(0)
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
