import Glibc
import MoultModel
import MoultReport
import Synchronization

/// Where a verb writes: its result on standard output, everything said on the way on standard error.
package final class Console: Sendable {
    /// One of the two standard streams.
    package struct Stream: Sendable {
        let descriptor: Int32
        package let isTerminal: Bool
        package let style: TextStyle

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
            isTerminal = isatty(descriptor) == 1
            let mayColour = Environment.value("NO_COLOR") == nil && Environment.value("TERM") != "dumb"
            style = TextStyle(hasColour: isTerminal && mayColour)
        }

        /// How many columns the terminal has; eighty where it does not say.
        package var columns: Int {
            var size = winsize()
            return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
        }
    }

    /// Whether a person may type.
    package static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    package let output: Stream
    package let errors: Stream
    /// Whether the verb prints JSON.
    package let isJSON: Bool
    private let pending = Mutex<[UInt8]>([])
    private let closed = Mutex(false)

    package init(isJSON: Bool) {
        self.isJSON = isJSON
        output = Stream(STDOUT_FILENO)
        errors = Stream(STDERR_FILENO)
    }

    /// Whether nobody reads standard output any more, as after `| head`.
    package var isClosed: Bool { closed.withLock { $0 } }

    /// A verb's result: the document with `--json`, else the lines.
    package func print(_ document: @autoclosure () -> JSONValue, _ lines: (TextStyle) -> [String]) {
        isJSON ? line(document().compact) : self.lines(lines(output.style))
    }

    package func lines(_ lines: [String]) { lines.forEach(line) }

    /// One line on standard output; it leaves when the buffer is full or at the end.
    package func line(_ text: String) {
        let isFull = pending.withLock { bytes in
            bytes += text.utf8
            bytes.append(UInt8(ascii: "\n"))
            return bytes.count >= 1 << 16
        }
        if isFull { flush() }
    }

    /// One line on standard error, at once.
    package func say(_ text: String) { sayRaw(text + "\n") }

    /// Findings on standard error; notes are left out.
    package func say(_ findings: [Finding]) {
        for finding in findings where finding.severity > .note {
            finding.lines(style: errors.style).forEach(say)
        }
    }

    /// Text on standard error as it is, for a line that is drawn again and again.
    package func sayRaw(_ text: String) {
        flush()
        Self.write(Array(text.utf8), to: errors.descriptor)
    }

    package func flush() {
        let bytes = pending.withLock { bytes in
            defer { bytes.removeAll(keepingCapacity: true) }
            return bytes
        }
        if !Self.write(bytes, to: output.descriptor) { closed.withLock { $0 = true } }
    }

    /// - Returns: false when the reader is gone or the disk is full.
    @discardableResult
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR && errno != EAGAIN { return false }
        }
        return true
    }
}
