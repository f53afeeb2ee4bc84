import { runtimeStage } from './go.ts'
import { joinDockerfile, type Language, parseMinorVersion, readAny, requireAny, requireAtLeast, requireVersion, startWith } from './language.ts'

/** Rust with Cargo: the package's binary, or the workspace member that has one. */
export const rust: Language = async (app) => {
  const manifest = await app.read('Cargo.toml')
  if (manifest === null) return null
  const toolchain = await readAny(app, ['rust-toolchain.toml', 'rust-toolchain'])
  const pinned = parseMinorVersion(toolchain)
  const minimum = parseMinorVersion(/^rust-version\s*=\s*"([^"]+)/m.exec(manifest)?.[1])
  const version = pinned ?? minimum ?? '1'
  const binary = /\[\[bin\]\][^[]*?^name\s*=\s*"([^"]+)/m.exec(manifest)?.[1] ?? /^\[package\][^[]*?^name\s*=\s*"([^"]+)/m.exec(manifest)?.[1]
  const isWorkspace = /^\[workspace\]/m.test(manifest)
  const isVendored = app.names.includes('vendor/')
  const lock = app.names.includes('Cargo.lock')
  const build = app.build_command ?? `cargo build --release${lock ? ' --locked' : ''}`
  const isRocket = /^rocket\s*=/m.test(manifest)
  // Without the source, dependencies are a separate layer.
  const dependencies =
    !hasDependencies(manifest) || isWorkspace || isVendored || app.build_command !== null || !app.names.includes('src/')
      ? null
      : [
          `COPY ${lock ? 'Cargo.toml Cargo.lock' : 'Cargo.toml'} ./`,
          `RUN mkdir src && echo 'fn main() {}' > src/main.rs && touch src/lib.rs && (${build} || true) && rm -rf src target/release/deps/${(binary ?? '').replaceAll('-', '_')}*`,
        ]
  // Cargo compares modification times, and the source is older than the placeholder that it replaces.
  const touch = dependencies ? 'find src -name "*.rs" -exec touch {} + && ' : ''
  const isImage = app.target.kind === 'image'
  const output = isImage ? '/image/usr/local/bin' : app.target.output
  const programs = isImage ? '/usr/local/bin' : output
  const collect = `find target/release -maxdepth 1 -type f -executable -exec cp {} ${output}/ \\;`
  const start = app.procfile ?? `${isRocket ? 'env ROCKET_PORT=$PORT ' : ''}${binary ?? `"$(ls ${programs} | head -n 1)"`}`
  return {
    framework: 'rust',
    explanation: [`Rust app found (Cargo.toml): Rust ${version}`, `Build: ${build}`],
    dockerfile: joinDockerfile(
      `FROM rust:${version}-bookworm AS build`,
      'WORKDIR /image/app',
      dependencies,
      'COPY . .',
      `RUN ${touch}${build} && mkdir -p ${output} && ${collect} && rm -rf target && chown -R 1000:1000 .`,
      '',
      runtimeStage,
      isRocket ? 'ENV ROCKET_ADDRESS=0.0.0.0' : null,
      startWith(start),
      // One instruction, because each takes a container of its own.
      'COPY --from=build /image /',
    ),
    ignored: ['target', '.env', 'node_modules'],
    steps: {
      tools: [
        pinned !== null
          ? requireVersion('rust', pinned, 'rust-toolchain')
          : minimum !== null
            ? requireAtLeast('rust', minimum, 'Cargo.toml')
            : requireAny('rust'),
      ],
      install: null,
      build: `${build} && mkdir -p ${output} && ${collect}`,
      start,
      program_directories: [output],
      ...(isRocket ? { variables: { ROCKET_ADDRESS: app.target.host } } : {}),
      discarded: ['target'],
    },
  }
}

/** Whether a section of dependencies, except those of tests, has an entry. */
function hasDependencies(manifest: string): boolean {
  let isInside = false
  return manifest.split('\n').some((line) => {
    const section = /^\s*\[+([^\]]+)\]/.exec(line)?.[1]
    if (section === undefined) return isInside && /^\s*[\w"']/.test(line)
    isInside = /^(.*\.)?(build-)?dependencies$/.test(section)
    return /^(.*\.)?(build-)?dependencies\./.test(section)
  })
}
