#!/usr/bin/env bash
# Build the collector that builder.yaml describes, once for each manifest, outside the checkout; print where it lies.
# Needs go. With --where it only prints the path, and fails if nothing has been built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
manifest=$PWD/builder.yaml
digest=$(sha256sum "$manifest" | cut -c1-16)
folder="${XDG_CACHE_HOME:-$HOME/.cache}/rop-otel/collector/$digest"
binary="$folder/otelcol"
release=$(sed -n 's/^  version: //p' "$manifest")

if [ ! -x "$binary" ]; then
  if [ "${1-}" = --where ]; then
    echo "no collector has been built; run make collector" >&2
    exit 1
  fi
  PATH="$PATH:/usr/local/go/bin" # where go's own installer puts it
  command -v go >/dev/null || { echo "building the collector needs go (https://go.dev/doc/install)" >&2; exit 2; }
  echo "Building the collector $release into $folder (minutes) ..." >&2
  mkdir -p "$folder"
  made=$(mktemp -d "$folder/building.XXXXXX")
  trap 'rm -rf "$made"' EXIT
  # Few compilers at a time and a low priority: the machine may serve others meanwhile.
  export GOFLAGS="${GOFLAGS:-} -p=2" CGO_ENABLED=0
  (cd "$made" && GOBIN=$made nice go install "go.opentelemetry.io/collector/cmd/builder@v$release") >&2
  sed "s|^dist:|&\n  output_path: $made/sources|" "$manifest" >"$made/builder.yaml"
  nice "$made/builder" --config "$made/builder.yaml" >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log" >&2; exit 1; }
  mv "$made/sources/otelcol" "$binary"
fi
echo "$binary"
