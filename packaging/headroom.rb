# Formula for Homebrew on Linux: brew install --build-from-source packaging/headroom.rb
class Headroom < Formula
  desc "Tell before renting a machine whether more machines will help"
  license "Apache-2.0"
  version "0.1.0"
  url "file://#{__dir__}/..", using: :git

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "cli11" => :build
  depends_on "eigen" => :build
  depends_on "nlohmann-json" => :build
  depends_on "protozero" => :build
  depends_on "tomlplusplus" => :build
  depends_on "cpp-httplib"
  depends_on "fmt"
  depends_on "highway"
  depends_on "hwloc"
  depends_on "isa-l"
  depends_on "libyaml"
  depends_on :linux
  depends_on "re2"
  depends_on "simdjson"
  depends_on "sqlite"
  depends_on "zstd"

  def install
    system "cmake", "--preset", "release", "-DHEADROOM_TESTS=OFF"
    system "cmake", "--build", "build/release", "--target", "headroom", "headroom_shell_files"
    system "cmake", "--install", "build/release", "--component", "program", "--prefix", prefix
  end

  test do
    # files that `make install` lays: tests/golden/install.py holds this list against it
    ["bin/headroom", "share/man/man1/headroom.1.gz", "share/man/man1/headroom-plan.1.gz", "share/bash-completion/completions/headroom",
     "share/zsh/vendor-completions/_headroom", "share/fish/vendor_completions.d/headroom.fish",
     "share/doc/headroom/headroom.cdx.json", "share/doc/headroom/licences"].each do |file|
      assert_path_exists prefix/file
    end
    assert_match version.to_s, shell_output("#{bin}/headroom --version")
  end
end
