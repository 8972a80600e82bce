import MoultBasics
import MoultModel
import Testing

/// The expected values are those of FIPS 180-4 and RFC 4648.
@Suite struct DigestTests {
    @Test func `sha 256 of abc`() {
        #expect(
            Digest.sha256(Array("abc".utf8)).hexadecimal
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
    ])
    func `base 64`(text: String, expected: String) {
        #expect(Array(text.utf8).base64 == expected)
    }
}
