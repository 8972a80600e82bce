import Foundation
import Testing

@testable import ForumReader

@Suite("Texts of a forum")
struct HTMLTests {
    @Test(arguments: [
        ("Tom &amp; Jerry", "Tom & Jerry"), ("&amp;lt;b&amp;gt;", "&lt;b&gt;"), ("&amp;amp;lt;", "&amp;lt;"),
        ("a &lt; b &amp;&amp; b &gt; c", "a < b && b > c"), ("&#38;lt;", "&lt;"), ("R&D at AT&T", "R&D at AT&T"),
        ("Caf&eacute; &#8212; caf&#xE9;", "Café — café"), ("it&#146;s", "it’s"),
        ("&#0;&#xD800;", "\u{FFFD}\u{FFFD}"),
        ("&nosuch; &; &#; &#x; &", "&nosuch; &; &#; &#x; &"), ("🐦&amp;🐦", "🐦&🐦"), ("", ""),
    ])
    func `a character reference is decoded once, and what it gives is not decoded again`(text: String, expected: String)
    { #expect(HTMLEntities.decoded(text) == expected) }

    @Test func `decoding agrees with Python's html.unescape on references that both know`() throws {
        var texts: [String] = []
        for first in ["&", "&amp;", "&lt;", "&#38;", "&#x26;"] {
            for second in ["lt;", "amp;lt;", "#60;", "gt", "quot;x", ";", "#x3c;&gt;"] { texts.append(first + second) }
        }
        texts.removeAll { $0.contains("gt") && !$0.contains("gt;") }
        let expected = try Python.lines("import html", "html.unescape(line)", texts)
        #expect(texts.map(HTMLEntities.decoded) == expected)
    }

    @Test(
        arguments: [
            ("<b>kept</b>", "<b>kept</b>"), ("<SCRIPT\nsrc=x>alert('<b>')</SCRIPT >tail", "tail"),
            ("<iframe src=x><b>ad</b></iframe>tail", "tail"),
            ("<b>open <i>and</b> closed", "<b>open <i>and</i></b> closed"),
            ("<u onclick=\"x()\">kept</u>", "<u>kept</u>"), ("a < b", "a &lt; b"), ("x<!-- <b> -->y", "xy"),
            (
                "<a href='https://a.example/?q=\"&amp;x'>link</a>",
                "<a href=\"https://a.example/?q=&quot;&amp;x\">link</a>"
            ),
            ("<a href=' java\nscript:x()'>link</a>", "<a>link</a>"), ("<script>never closed", nil),
            ("<scr<script>ipt>x</script>", "ipt&gt;x"), ("<img src=x onerror=y>", nil), ("  ", nil), ("", nil),
            ("<svg><b>in</b><svg></svg></svg>out", "out"), ("</b>stray</p>", "stray"),
            ("<svg><svg></svg><b>in</b></svg>out", "out"), ("<b>x</i>y</b>z", "<b>xy</b>z"),
            ("1<br>2<BR/>3", "1<br>2<br>3"),
            ("<style>b{}</style>&lt;script&gt;", "&lt;script&gt;"), ("<b", nil), ("<", "&lt;"), ("</>x", "x"),
        ] as [(String, String?)])
    func `titles keep basic formatting and nothing that runs or frames`(html: String, expected: String?) {
        #expect(HTMLCleaner.clean(html) == expected)
    }

    @Test func `Python's parser sees only basic formatting in a cleaned title, whatever went in`() throws {
        let parts = [
            "<script>", "</script>", "<SCRIPT\n", "<iframe src=\"", "\">", "'", "</iframe", ">", "<", "<b>", "</b>",
            "<i",
            " onload=x", "<!--", "-->", "&lt;", "&", "a", "<a href=", "https://x.example", "javascript:", "<svg>",
            "<p>",
            "</", "/>", "<plaintext>", "<style>", "\n", "=",
        ]
        var generator = SplitMix(seed: 20)
        let titles = (0..<4000).map { _ in
            (0..<Int.random(in: 1...9, using: &generator)).map { _ in parts.randomElement(using: &generator)! }.joined()
        }
        let cleaned = titles.compactMap(HTMLCleaner.clean)
        #expect(cleaned.count > 1000)
        let faults = try Python.lines(Python.titleCheck, "check(line)", cleaned)
        for (title, fault) in zip(cleaned, faults) where !fault.isEmpty { Issue.record("\(title): \(fault)") }
        for title in cleaned { #expect(HTMLCleaner.clean(title) == title) }
    }

    @Test(
        arguments: [
            ("https://a.example/1.png", .kept), ("http://a.example/1.png", .upgraded), (" HTTPS://a.example/ ", .kept),
            ("http://a.example:80/1", .upgraded), ("http://a.example:8080/1", .dropped), ("https:///1.png", .dropped),
            ("https://", .dropped), ("ftp://a.example/1", .dropped), ("//a.example/1", .dropped), ("1.png", .dropped),
            ("javascript:alert(1)", .dropped), ("", .dropped), ("https://a b", .dropped),
        ] as [(String, AvatarKind)])
    func `an avatar stays over https, is asked for over https where it was http, and goes where nobody could show it`(
        address: String, kind: AvatarKind
    ) {
        let avatar = Avatar(address)
        switch avatar {
        case .kept: #expect(kind == .kept)
        case .upgraded: #expect(kind == .upgraded)
        case .dropped: #expect(kind == .dropped)
        }
        #expect(avatar.url.map { $0.scheme?.lowercased() == "https" && $0.host?.isEmpty == false } ?? true)
    }

    enum AvatarKind { case kept, upgraded, dropped }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
