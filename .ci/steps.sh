# The parts that `.ci/run` and `.ci/nightly` share: both source this file in the repository's root.
set -euo pipefail

# Nothing is built twice here, and a line in a backtrace is enough.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only

step() { printf '\n== %s\n' "$*"; }

# Runs `cargo test ... -- FILTERS`, or fails if one of the filters matches no test.
filtered() {
  local all command=() filter
  while [[ $1 != -- ]]; do
    command+=("$1")
    shift
  done
  shift
  all=$("${command[@]}" -- --list)
  for filter in "$@"; do
    if [[ $filter != --skip ]] && ! grep -qF -- "$filter" <<<"$all"; then
      echo "no test matches the filter \`$filter\`" >&2
      return 1
    fi
  done
  "${command[@]}" -- "$@"
}

install_packages() {
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Installs those of these packages whose program is missing.
need() {
  local tool missing=()
  for tool in "$@"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if ((${#missing[@]})); then
    step "install ${missing[*]}"
    install_packages "${missing[@]}"
  fi
}

# What only tests use takes long to optimize.
release=()
for crate in fancy-regex fraction jsonschema num-bigint proptest referencing; do
  release+=(--config "profile.release.package.$crate.opt-level=0")
done
