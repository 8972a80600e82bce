import MoultBasics
import MoultData
import MoultModel
import TestSupport
import Testing

/// A model that no context has taken in keeps its values in itself.
@Suite struct ModelValueTests {
    private typealias Everything = EveryKind.Everything
    private typealias Part = EveryKind.Part

    init() { ValueTransformer.setValueTransformer(ReversingTransformer.self, forName: "Reversing") }

    private func check<Value: Equatable>(
        _ path: ReferenceWritableKeyPath<Everything, Value>, _ initial: Value, then other: Value,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let model = Everything()
        #expect(model[keyPath: path] == initial, sourceLocation: location)
        model[keyPath: path] = other
        #expect(model[keyPath: path] == other, sourceLocation: location)
    }

    @Test func `numbers keep their value to the end of their range`() {
        check(\.int, 1, then: .min)
        check(\.int8, 2, then: .min)
        check(\.int16, 3, then: .max)
        check(\.int32, 4, then: .min)
        check(\.int64, 5, then: .max)
        check(\.uint, 6, then: .max)
        check(\.uint8, 7, then: .max)
        check(\.uint16, 8, then: .max)
        check(\.uint32, 9, then: .max)
        check(\.uint64, 10, then: .max)
        check(\.double, 1.5, then: -.infinity)
        check(\.float, 2.5, then: .greatestFiniteMagnitude)
        check(\.bool, true, then: false)
        check(\.decimal, Decimal(string: "12.34")!, then: Decimal(string: "-0.00000000000000000001")!)
    }

    /// What tells it without making a number must say what making it says.
    @Test func `a Decimal can be what it can be made of`() {
        var random = SeededGenerator(seed: 38)
        let parts = ["0", "7", "99999999999999999999", "-", ".", "e", "+", " ", "٣", ""]
        for _ in 0..<5000 {
            let digits = (0..<Int.random(in: 0...5, using: &random)).map { _ in parts.randomElement(using: &random)! }
            let value = AttributeValue.decimal(digits.joined())
            #expect(Decimal.canBe(value) == (Decimal(attribute: value) != nil), "\(digits.joined())")
        }
        #expect(!Decimal.canBe(nil) && !Decimal.canBe(.string("1")))
    }

    @Test func `only types as wide as their column can be all that it holds`() {
        let narrow: [any PersistentValue.Type] = [
            Int8.self, Int16.self, Int32.self, UInt8.self, UInt16?.self, UInt32.self, Decimal.self, URL?.self,
        ]
        let wide: [any PersistentValue.Type] = [
            Int.self, Int64?.self, UInt64.self, Double.self, Bool.self, String?.self, Date.self, Data.self, UUID.self,
        ]
        #expect(narrow.allSatisfy { !$0.fillsColumn })
        #expect(wide.allSatisfy { $0.fillsColumn })
    }

    @Test func `texts, bytes, dates and identifiers keep their value`() {
        check(\.string, "text", then: "")
        check(\.date, Date(timeIntervalSinceReferenceDate: 12), then: .distantPast)
        check(\.data, Data([1, 2]), then: Data())
        check(\.uuid, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), then: UUID())
        check(\.url, URL(fileURLWithPath: "/tmp"), then: URL(string: "https://example.com/a?b=c")!)
        check(\.default, "reserved", then: "other")
        check(\.inferred, 7, then: 8)
    }

    @Test func `enums, structs and collections keep their value`() {
        check(\.status, .draft, then: .done)
        check(\.level, .high, then: .low)
        check(\.outcome, .failed(reason: "rain"), then: .pending)
        check(\.place, .init(name: "here", latitude: 1), then: .init(name: "", latitude: -.infinity))
        check(\.strings, ["a", "é"], then: [])
        check(\.numbers, [1, -2], then: [.max])
        check(\.counts, ["a": 1], then: [:])
        #expect(Everything().places.map(\.name) == ["there"])
        #expect(Everything().places.first?.latitude.isNaN == true)
    }

    @Test func `optional properties begin as nil and take any value`() {
        check(\.optionalInt, nil, then: 1)
        check(\.optionalString, nil, then: "")
        check(\.optionalStatus, nil, then: .done)
        check(\.optionalPlace, nil, then: .init(name: "", latitude: 0))
        check(\.optionalInt, nil, then: nil)
    }

    @Test func `a transformer makes the data of a value`() throws {
        check(\.reversed, Reversed("abc"), then: Reversed(""))
        check(\.named, nil, then: Reversed("x"))
        let model = Everything()
        #expect(model._$ownValues.first?.attribute("reversed") == .transformable(Array("cba".utf8)))
    }

    @Test func `lists of strings and numbers are keyed archives, other values JSON`() {
        let values = Everything()._$ownValues.first
        for key in ["strings", "numbers"] {
            guard case .transformable(let bytes)? = values?.attribute(key) else {
                Issue.record("\(key) is not kept")
                continue
            }
            #expect(bytes.starts(with: Array("bplist00".utf8)))
        }
        #expect(values?.attribute("counts") == .binary(Array(#"{"a":1}"#.utf8)))
        #expect(values?.attribute("status.status") == .string("draft"))
        #expect(values?.attribute("level.level") == .integer(1))
        #expect(values?.attribute("place.name") == .string("here") && values?.attribute("place") == nil)
        #expect(values?.attribute("uint64") == .integer(10))
    }

    @Test func `models hang together before any context knows them`() {
        let whole = Everything()
        let parts = [Part(name: "a"), Part(name: "b")]
        whole.parts = parts
        whole.parts.append(Part(name: "c"))
        #expect(whole.parts.map(\.name) == ["a", "b", "c"])
        #expect(whole.parts.first === parts.first)
        whole.partner = whole
        #expect(whole.partner === whole)
        whole.partner = nil
        #expect(whole.partner == nil && whole.spares == nil)
        whole.spares = Set(parts)
        #expect(whole.spares == Set(parts))
    }

    @Test func `observers hear of a change of what they read, and of nothing else`() {
        let model = Everything()
        let heard = Heard()
        withObservationTracking {
            _ = model.string
        } onChange: {
            heard.count += 1
        }
        model.int = 2
        #expect(heard.count == 0)
        model.string = "other"
        #expect(heard.count == 1)
        withObservationTracking {
            _ = model.parts
        } onChange: {
            heard.count += 1
        }
        Everything.schemaMetadata.properties.first { $0.name == "parts" }?.noteChange(model)
        #expect(heard.count == 2)
    }

    /// Only ever touched by one test's own thread.
    private final class Heard: @unchecked Sendable { var count = 0 }

    @Test func `what cannot be encoded is refused, and the old value stays`() {
        let model = Stubborn(value: .init(isBroken: false))
        model.value = .init(isBroken: true)
        #expect(!model.value.isBroken)
        #expect(model._$ownValues.first?.refusals["value"]?.code == .wrongType)
        model.value = .init(isBroken: false)
        #expect(model._$ownValues.first?.refusals.isEmpty == true)
    }

    @Test func `values are read and set by key path`() {
        let model = Everything()
        model.setValue(forKey: \.string, to: "by key")
        model.setValue(forKey: \.partner, to: model)
        #expect(model.string == "by key" && model.getValue(forKey: \.string) == "by key" && model.partner === model)
        let guarded = Guarded()
        guarded.setValue(forKey: \.count, to: 7)
        #expect(guarded.count == 7)
        guarded.setValue(forKey: \.twice, to: 1)
        #expect(guarded._$ownValues.first?.refusals.values.map(\.code) == [.modelInvalid])
    }

    @Test func `what a class says of itself is made once`() {
        #expect(Guarded.defaults == 0)
        let names = (0..<3).map { _ in Guarded.schemaMetadata.name }
        #expect(names == ["Guarded", "Guarded", "Guarded"])
        #expect(Guarded.schemaMetadata.propertiesByName["count"]?.keyPath == \Guarded.count)
    }

    @Test func `an object of no context has no changes and is not deleted`() {
        #expect(!Part(name: "a").hasChanges && !Part(name: "a").isDeleted)
    }

    @Test func `a model is itself and has an identity of its own`() {
        let (one, two) = (Part(name: "a"), Part(name: "a"))
        #expect(one == one && one != two)
        #expect(one.id == one.persistentModelID && one.id != two.id && one.id.storeIdentifier == nil)
        #expect(Identified().id == "mine")
    }
}

@Model final class Stubborn {
    struct Value: Codable {
        var isBroken: Bool
        init(isBroken: Bool) { self.isBroken = isBroken }
        func encode(to encoder: any Encoder) throws {
            guard !isBroken else { throw CocoaError(.coderInvalidValue) }
            var container = encoder.singleValueContainer()
            try container.encode(isBroken)
        }
        init(from decoder: any Decoder) throws { isBroken = try decoder.singleValueContainer().decode(Bool.self) }
    }
    var value: Value
    init(value: Value) { self.value = value }
}

@Model final class Guarded {
    static let defaults = 0
    private(set) var count = 0
    var twice: Int { count * 2 }
    init() {}
}

@Model final class Identified {
    var id = "mine"
    init() {}
}
