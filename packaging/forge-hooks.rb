class ForgeHooks < Formula
  desc "Guards coding agents: runs your commands before they act"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/forge-hooks-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 darwin-arm64@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/forge-hooks-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 darwin-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/forge-hooks-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 linux-arm64@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/forge-hooks-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 linux-x64@"
    end
  end

  def install
    bin.install "forge-hooks"
    generate_completions_from_executable(bin/"forge-hooks", "completions", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/forge-hooks --version")
  end
end
