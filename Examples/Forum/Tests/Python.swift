import Foundation
import TestSupport

/// Python's own reading of HTML, which shares no code with the example's.
enum Python {
    struct Failure: Error { let message: String }

    /// What the expression gives for each line, as text.
    static func lines(_ setup: String, _ expression: String, _ lines: [String]) throws -> [String] {
        let script = setup + "\nimport sys, json\nprint(json.dumps([\(expression) for line in json.load(sys.stdin)]))"
        let python = try ChildProcess("python3", ["-c", script], output: .readOutputOnly, feeds: true)
        // Python reads all before it prints.
        try python.write(String(decoding: try JSONSerialization.data(withJSONObject: lines), as: UTF8.self))
        python.endInput()
        let answer = Data(python.readToEnd().utf8)
        guard let texts = try JSONSerialization.jsonObject(with: answer) as? [String] else {
            throw Failure(message: "Python gave no list of texts.")
        }
        return texts
    }

    /// What is wrong with a cleaned title; empty for nothing.
    static let titleCheck = """
        from html.parser import HTMLParser
        KEPT = "b i u s em strong small big sub sup p a br".split()
        class Check(HTMLParser):
            def handle_starttag(self, tag, attributes):
                if tag not in KEPT: self.fault = "tag " + tag
                for name, value in attributes:
                    if (tag, name) != ("a", "href") or not value.lower().startswith(("http://", "https://")):
                        self.fault = "attribute " + name
                if tag != "br": self.open.append(tag)
            def handle_endtag(self, tag):
                if not self.open or self.open.pop() != tag: self.fault = "end of " + tag
            def handle_comment(self, text): self.fault = "comment"
            def handle_decl(self, text): self.fault = "declaration"
            def handle_pi(self, text): self.fault = "instruction"
            def unknown_decl(self, text): self.fault = "declaration"
        def check(title):
            reader = Check()
            reader.fault, reader.open = "", []
            reader.feed(title)
            reader.close()
            return reader.fault or ("open: " + reader.open[-1] if reader.open else "")
        """
}
