import Foundation

/// The command line of moult-simulate.
struct SimulationOptions {
    private(set) var seeds: ClosedRange<UInt64>?
    private(set) var minutes: Double?
    private(set) var steps = 0
    private(set) var profile = Life.Profile.usual
    private(set) var replays: [String] = []
    private(set) var plant: Life.Plant?
    /// Whether a failing life is cut down, and for how many seconds.
    private(set) var shrinks = 120.0
    /// The number of failing lives that ends the run.
    private(set) var mostFailures = 10
    /// Whether every step is printed.
    private(set) var isTracing = false
    /// The folder for the lives that fail.
    private(set) var keeps = "Tests/Simulation/Kept"
    /// The first seed where only a time is given.
    private(set) var first: UInt64 = 1
    /// Which of the seeds this process lives: of so many in a row, the one with this number.
    private(set) var stripe: (number: UInt64, count: UInt64) = (1, 1)
    /// The file of the seeds that have been lived, and the commit that they count for.
    private(set) var ledger: String?
    private(set) var commit = ""

    init(_ arguments: [String]) {
        var words = arguments.dropFirst()
        while let option = words.popFirst() {
            if option == "--trace" {
                isTracing = true
                continue
            }
            guard let value = words.popFirst() else { Self.refuse(option) }
            switch option {
            case "--seed": if let seed = UInt64(value) { seeds = seed...seed } else { Self.refuse(value) }
            case "--seeds":
                let ends = value.split(separator: "-").compactMap { UInt64($0) }
                guard ends.count == 2, ends[0] <= ends[1] else { Self.refuse(value) }
                seeds = ends[0]...ends[1]
            case "--from": first = UInt64(value) ?? 1
            case "--minutes": minutes = Double(value)
            case "--steps": steps = Int(value) ?? 0
            case "--profile":
                guard let known = Life.Profile(rawValue: value) else { Self.refuse(value) }
                profile = known
            case "--replay": replays.append(value)
            case "--plant":
                guard let known = Life.Plant(rawValue: value) else { Self.refuse(value) }
                plant = known
            case "--first": mostFailures = value == "yes" ? 1 : 10
            case "--shrink": shrinks = Double(value) ?? 0
            case "--keep": keeps = value
            case "--stripe":
                let parts = value.split(separator: "/").compactMap { UInt64($0) }
                guard parts.count == 2, parts[0] > 0, parts[0] <= parts[1] else { Self.refuse(value) }
                stripe = (parts[0], parts[1])
            case "--ledger":
                ledger = value
                mostFailures = .max
            case "--commit": commit = value
            default: Self.refuse(option)
            }
        }
        // A line names the commit, and says nothing of what is wrong on purpose.
        if ledger != nil, commit.isEmpty || plant != nil { Self.refuse("--ledger without --commit, or with --plant") }
        if steps == 0 { steps = profile == .usual ? 40 : profile == .rare ? 300 : 25 }
    }

    private static func refuse(_ word: String) -> Never {
        FileHandle.standardError.write(Data("moult-simulate does not know \(word)\n".utf8))
        exit(2)
    }
}
