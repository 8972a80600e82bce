import MoultModel
import Testing

@Suite struct ExpressionRoundTripTests {  // tier: long
    @Test func `a printed predicate is read as the same tree`() throws {
        var wrong: [String] = []
        for seed in UInt64(0)..<1500 {
            var sampler = ExpressionSampler(seed: seed)
            let predicate = sampler.predicate()
            let read = try Predicate(parsing: predicate.format)
            // Strings are equal to others that only look like them; their bytes are not.
            if read != predicate || !read.format.utf8.elementsEqual(predicate.format.utf8) {
                wrong.append(predicate.format)
            }
        }
        #expect(wrong == [])
    }

    @Test func `a printed expression is read as the same tree`() throws {
        var wrong: [String] = []
        for seed in UInt64(0)..<1500 {
            var sampler = ExpressionSampler(seed: seed)
            let expression = sampler.expression()
            let read = try Expression(parsing: expression.format)
            if read != expression || !read.format.utf8.elementsEqual(expression.format.utf8) {
                wrong.append(expression.format)
            }
        }
        #expect(wrong == [])
    }

    @Test func `an argument is read as its literal is`() throws {
        for seed in UInt64(0)..<1000 {
            var sampler = ExpressionSampler(seed: seed)
            let value =
                seed % 5 == 0 ? ExpressionValue.collection([sampler.value(), sampler.value()]) : sampler.value()
            let predicate = try Predicate(
                parsing: "x IN %@ AND %K != %@",
                arguments: [
                    .value(value), .keyPath("a.in"), .value(value),
                ])
            #expect(try Predicate(parsing: predicate.format) == predicate, "\(seed): \(predicate.format)")
            #expect(predicate.format.contains("a.#in != "))
        }
    }

    @Test func `what is printed for values without a literal of their own is as Foundation prints it`() throws {
        #expect(Expression.constant(.boolean(true)).format == "1")
        #expect(Expression.constant(.collection([.integer(1), .null])).format == "{1, nil}")
        #expect(Expression.constant(.real(.nan)).format == "CAST(\"nan\", \"NSNumber\")")
        #expect(Expression.constant(.integer(.min)).format == "-9223372036854775808")
    }
}
