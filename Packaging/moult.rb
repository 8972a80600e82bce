# A formula for Homebrew. It has not been tried: nobody has built Moult on a Mac yet.
class Moult < Formula
  desc "Schema migrations for Core Data and SwiftData stores"
  homepage "https://example.org/moult" # the repository of Moult
  url "https://example.org/moult.git", tag: "v0.2.0"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on xcode: ["16.0", :build]
  depends_on "expat"
  depends_on "libmicrohttpd"
  depends_on "openssl@3"

  def install
    %w[moult moult-browse].each do |product|
      system "swift", "build", "--disable-sandbox", "--configuration", "release", "--product", product
      bin.install ".build/release/#{product}"
    end
    system bin/"moult", "manual", "--out", man1
    generate_completions_from_executable(bin/"moult", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/moult --version")
  end
end
