#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A copy of this process that does one piece of work and ends, read through pipes in place of its standard streams.
///
/// It shares what this process has read already, and nothing that it does reaches this process but what it prints and
/// how it ends. It dies with this process. It has one thread: neither side may rely on Dispatch's or Swift's own threads
/// in it.
package final class ForkedProcess {
    /// The end of a process: its exit code or signal, and the resources that it used.
    package struct End: Sendable, Hashable {
        /// The exit code; nil if a signal ended it.
        package var exit: Int32?
        package var signal: Int32?
        /// Bytes of memory that it had at most.
        package var peakMemory: Int64
        /// Seconds that it computed.
        package var processorSeconds: Double
    }

    package let identifier: Int32
    /// The start of what it printed, and the end of what it said on standard error.
    package private(set) var output: [UInt8] = []
    package private(set) var errors: [UInt8] = []
    private var streams: (output: Int32, errors: Int32)
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    private static let (outputLimit, errorLimit) = (4 << 20, 1 << 14)

    private init(_ identifier: Int32, _ streams: (Int32, Int32)) {
        (self.identifier, self.streams) = (identifier, streams)
    }

    deinit { for stream in [streams.output, streams.errors] where stream >= 0 { close(stream) } }

    /// Forks. In the copy `body` runs, and what it returns is the exit code.
    ///
    /// - Parameter memory: bytes of data that it may have; more of them are refused to it.
    /// - Throws: `inputOutput` if the system makes no further process.
    package static func start(memory: Int64? = nil, _ body: () async -> Int32) async throws -> ForkedProcess {
        let (output, errors) = (try pipe(), try pipe())
        let parent = getpid()
        let identifier = forked()
        if identifier == 0 {
            become(child: parent, output.writes, errors.writes, memory)
            _exit(await body())
        }
        let number = errno
        for end in [output.writes, errors.writes] { close(end) }
        let process = ForkedProcess(identifier, (output.reads, errors.reads))
        guard identifier > 0 else { throw MigrationError.system("start", "a process", error: number) }
        return process
    }

    /// `man 2 fork`, which Darwin's module for Swift marks as unavailable.
    private static func forked() -> pid_t {
        #if canImport(Darwin)
            typealias Call = @convention(c) () -> pid_t
            // RTLD_DEFAULT
            guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: -2), "fork") else {
                errno = ENOSYS
                return -1
            }
            return unsafeBitCast(symbol, to: Call.self)()
        #else
            return fork()
        #endif
    }

    private static func pipe() throws -> (reads: Int32, writes: Int32) {
        var ends: [Int32] = [0, 0]
        #if canImport(Glibc)
            let result = Glibc.pipe(&ends)
        #else
            let result = Darwin.pipe(&ends)
        #endif
        guard result == 0 else { throw MigrationError.system("make", "a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    private static func become(child parent: pid_t, _ output: Int32, _ errors: Int32, _ memory: Int64?) {
        // Control-C is for the parent, which passes it on.
        setpgid(0, 0)
        // The thread that has forked may be one of Dispatch's, which leave every signal to others.
        var signals = sigset_t()
        sigemptyset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        dieWithParent()
        // It may have died before that.
        if getppid() != parent { _exit(1) }
        let nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, STDIN_FILENO)
        dup2(output, STDOUT_FILENO)
        dup2(errors, STDERR_FILENO)
        #if os(Linux)
            // Where memory runs out, the kernel ends the work and not the one that gives it out.
            _ = try? POSIXSystem().append(Array("500".utf8), to: "/proc/self/oom_score_adj")
            // `man 2 setrlimit`, RLIMIT_DATA.
            if let memory {
                var limit = rlimit(rlim_cur: rlim_t(clamping: memory), rlim_max: rlim_t(clamping: memory))
                setrlimit(__rlimit_resource_t(2), &limit)
            }
        #endif
    }

    /// `man 2 prctl`, PR_SET_PDEATHSIG, which Glibc's module for Swift does not have.
    private static func dieWithParent() {
        #if os(Linux)
            typealias Call = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
            guard let symbol = dlsym(nil, "prctl") else { return }
            _ = unsafeBitCast(symbol, to: Call.self)(1, UInt(SIGKILL), 0, 0, 0)
        #endif
    }

    /// Runs this very program from its start, in place of this process.
    ///
    /// - Returns: only if that cannot be done.
    package static func restart(_ arguments: [String]) {
        let words = (Array(CommandLine.arguments.prefix(1)) + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        #if os(Linux)
            execv("/proc/self/exe", words)
        #else
            execvp(words[0], words)
        #endif
    }

    // MARK: - Waiting

    /// Waits until one of them has said something or has ended, at most so long; reads what they have said.
    package static func wait(for processes: [ForkedProcess], milliseconds: Int32) {
        var polled = processes.flatMap { process in
            [process.streams.output, process.streams.errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        }
        guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return }
        for process in processes { process.read() }
    }

    private func read() {
        streams.output = drain(streams.output) { output += $0.prefix(max(0, Self.outputLimit - output.count)) }
        streams.errors = drain(streams.errors) { piece in
            errors += piece
            if errors.count > 2 * Self.errorLimit { errors.removeFirst(errors.count - Self.errorLimit) }
        }
    }

    /// - Returns: -1 where the stream has ended, and is closed.
    private func drain(_ stream: Int32, _ take: (ArraySlice<UInt8>) -> Void) -> Int32 {
        guard stream >= 0 else { return -1 }
        while true {
            #if canImport(Glibc)
                let count = Glibc.read(stream, &buffer, buffer.count)
            #else
                let count = Darwin.read(stream, &buffer, buffer.count)
            #endif
            if count > 0 {
                take(buffer[..<count])
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                return stream
            } else {
                close(stream)
                return -1
            }
        }
    }

    /// Returns the end of the process; nil while it runs.
    package func ended() -> End? {
        read()
        let isSilent = streams.output < 0 && streams.errors < 0
        var (status, usage): (Int32, rusage) = (0, rusage())
        var found: pid_t
        // Its streams end with it, so that there is nothing to wait for long.
        repeat { found = wait4(identifier, &status, isSilent ? 0 : WNOHANG, &usage) } while found < 0 && errno == EINTR
        guard found == identifier else {
            return found < 0 ? End(exit: nil, signal: nil, peakMemory: 0, processorSeconds: 0) : nil
        }
        read()
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        #if os(Linux)
            let memory = Int64(usage.ru_maxrss) * 1024
        #else
            let memory = Int64(usage.ru_maxrss)
        #endif
        let signal = status & 0x7f
        return End(
            exit: signal == 0 ? status >> 8 & 0xff : nil, signal: signal == 0 ? nil : signal, peakMemory: memory,
            processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }

    /// Bytes of memory that it has now; nil where the system does not tell.
    package var memory: Int64? {
        guard let bytes = try? POSIXSystem().read("/proc/\(identifier)/statm", prefix: 200) else { return nil }
        let fields = bytes.split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int64(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Asks it to stop as soon as that is safe.
    package func terminate() { kill(identifier, SIGTERM) }

    package func end() { kill(identifier, SIGKILL) }
}
