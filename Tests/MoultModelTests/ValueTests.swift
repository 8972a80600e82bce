import MoultBasics
import MoultModel
import Testing

@Suite("Values as JSON")
struct ValueTests {
    @Test(
        arguments: [
            (.integer(.min), "-9223372036854775808"), (.boolean(true), "true"), (.double(0.1), "0.1"),
            (.double(-0.0), "-0.0"), (.double(.nan), "\"NaN\""), (.double(-.infinity), "\"-Infinity\""),
            (.double(1e16), "1e+16"), (.decimal("123.4500"), "\"123.4500\""), (.string("é\"\n"), "\"é\\\"\\n\""),
            (.date(1.5), "\"2001-01-01T00:00:01.500Z\""), (.binary([0xFF, 0]), "\"/wA=\""), (.binary([]), "\"\""),
            (.uri("https://a.b/"), "\"https://a.b/\""), (.transformable([1]), "\"AQ==\""),
            (.uuid(Array(0..<16)), "\"00010203-0405-0607-0809-0A0B0C0D0E0F\""),
        ] as [(AttributeValue, String)])
    func `each type has its form`(value: AttributeValue, json: String) { #expect(value.document.compact == json) }

    @Test func `what cannot be said is an error with its bytes`() {
        #expect(AttributeValue.uuid([1]).document["base64"]?.string == "AQ==")
        #expect(AttributeValue.date(.infinity).document["error"]?.string != nil)
    }
}
