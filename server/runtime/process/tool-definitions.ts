import { readFileSync } from 'node:fs'
import { platform } from 'node:os'
import type { ToolName } from '../../contract/build-plan.ts'

/** How a tool of the machine is found, and what it needs. */
export interface ToolDefinition {
  label: string
  /** Names of its main program, the usual one first. */
  programs: string[]
  /** Folders besides the PATH. `~` is the home folder, `*` any name. */
  folders: string[]
  /** Arguments with which the program prints its version. */
  version_arguments: string[]
  /** Reads the output; by default the first version in it. undefined: this program cannot be used. */
  parse?(output: string): { version: string; root?: string; file?: string } | undefined
  /** The tool is one file, without its own folder. */
  is_file?: true
  /** The end of “Install ...”. */
  how_to_install: string
  /** Installed from the npm registry when the machine does not have it. */
  package?: { version: string; find(): { name: string; path: string } | undefined }
  /** Variables of builds and apps. `root` is the folder of the tool. */
  createVariables?(root: string, file: string, memory_mb: number): Record<string, string>
  /** Variables of builds. `cache` is a folder that persists for later builds of the project. */
  createBuildVariables?(cache: string, home: string): Record<string, string>
}

const windowsSuffix = platform() === 'win32' ? '.exe' : ''

const pythonProbe = [
  'import sys, importlib.util as u',
  'print("%d.%d.%d" % sys.version_info[:3])',
  'print(sys.base_prefix)',
  'print(getattr(sys, "_base_executable", sys.executable))',
  'print("venv" if u.find_spec("ensurepip") and u.find_spec("venv") else "none")',
].join('\n')

export const toolDefinitions: Record<ToolName, ToolDefinition> = {
  python: {
    label: 'Python',
    programs: ['python3', ...['3.14', '3.13', '3.12', '3.11', '3.10', '3.9'].map((version) => `python${version}`)],
    folders: ['~/.pyenv/versions/*/bin', '~/.asdf/installs/python/*/bin', '~/.local/share/mise/installs/python/*/bin'],
    version_arguments: ['-c', pythonProbe],
    // Debian packages the modules that create a virtual environment separately.
    parse(output) {
      const [version = '', root = '', file = '', venv] = output.trim().split(/\r?\n/)
      return venv === 'venv' && !version.startsWith('2.') ? { version, root, file } : undefined
    },
    how_to_install: 'Python with its venv module (Debian and Ubuntu: python3 and python3-venv)',
    createVariables: (_root, file) => ({ PYTHON: file }),
    createBuildVariables: (cache) => ({ PIP_CACHE_DIR: `${cache}/pip`, UV_CACHE_DIR: `${cache}/uv`, UV_PYTHON_DOWNLOADS: 'never' }),
  },
  uv: {
    label: 'uv',
    programs: ['uv'],
    folders: ['~/.local/bin', '~/.cargo/bin'],
    version_arguments: ['--version'],
    is_file: true,
    how_to_install: 'uv',
  },
  go: {
    label: 'Go',
    programs: ['go'],
    folders: [
      '/usr/local/go/bin',
      '~/sdk/*/bin',
      '~/.asdf/installs/golang/*/go/bin',
      '~/.local/share/mise/installs/go/*/bin',
      '~/.goenv/versions/*/bin',
    ],
    version_arguments: ['version'],
    how_to_install: 'Go (Debian and Ubuntu: golang-go)',
    createVariables: (_root, _file, memory_mb) => ({ GOMEMLIMIT: `${Math.floor(memory_mb * 0.9)}MiB` }),
    createBuildVariables: (cache) => ({
      GOPATH: `${cache}/go`,
      GOMODCACHE: `${cache}/go/pkg/mod`,
      GOCACHE: `${cache}/go-build`,
      GOTOOLCHAIN: 'local',
      // Module files are read-only by default, which would keep the cache from being removed.
      GOFLAGS: '-modcacherw -buildvcs=false',
    }),
  },
  rust: {
    label: 'Rust',
    programs: ['cargo'],
    folders: ['~/.rustup/toolchains/*/bin'],
    version_arguments: ['--version'],
    how_to_install: 'Rust with rustup (Debian and Ubuntu: cargo)',
    createBuildVariables: (cache) => ({ CARGO_HOME: `${cache}/cargo` }),
  },
  ruby: {
    label: 'Ruby',
    programs: ['ruby'],
    folders: [
      '~/.rbenv/versions/*/bin',
      '~/.asdf/installs/ruby/*/bin',
      '~/.local/share/mise/installs/ruby/*/bin',
      '~/.rubies/*/bin',
      '/opt/rubies/*/bin',
    ],
    version_arguments: ['-e', 'puts RUBY_VERSION'],
    how_to_install: 'Ruby (Debian and Ubuntu: ruby-full)',
  },
  bundler: {
    label: 'Bundler',
    programs: ['bundle'],
    folders: [
      '~/.rbenv/versions/*/bin',
      '~/.asdf/installs/ruby/*/bin',
      '~/.local/share/mise/installs/ruby/*/bin',
      '~/.rubies/*/bin',
      '/opt/rubies/*/bin',
    ],
    version_arguments: ['--version'],
    how_to_install: 'Bundler (gem install bundler; Debian and Ubuntu: ruby-bundler)',
  },
  php: {
    label: 'PHP',
    programs: ['php'],
    folders: ['~/.phpenv/versions/*/bin', '~/.asdf/installs/php/*/bin'],
    version_arguments: ['-r', 'echo PHP_VERSION;'],
    how_to_install: 'PHP (Debian and Ubuntu: php-cli and the extensions of the app)',
  },
  composer: {
    label: 'Composer',
    programs: ['composer'],
    folders: ['~/.local/bin', '~/bin'],
    version_arguments: ['--version', '--no-ansi', '--no-interaction'],
    is_file: true,
    how_to_install: 'Composer (Debian and Ubuntu: composer)',
    createBuildVariables: (cache, home) => ({
      COMPOSER_CACHE_DIR: `${cache}/composer`,
      COMPOSER_HOME: `${home}/.composer`,
      COMPOSER_NO_INTERACTION: '1',
    }),
  },
  java: {
    label: 'Java',
    programs: ['javac'],
    folders: [
      '/usr/lib/jvm/*/bin',
      '/Library/Java/JavaVirtualMachines/*/Contents/Home/bin',
      '~/.sdkman/candidates/java/*/bin',
      '~/.jdks/*/bin',
      '~/.asdf/installs/java/*/bin',
      '~/.local/share/mise/installs/java/*/bin',
    ],
    version_arguments: ['-version'],
    how_to_install: 'a JDK (Debian and Ubuntu: default-jdk)',
    createVariables: (root, _file, memory_mb) => ({ JAVA_HOME: root, JAVA_TOOL_OPTIONS: `-XX:MaxRAM=${memory_mb}m -XX:MaxRAMPercentage=75` }),
    // Java takes the home folder from the list of users and not from HOME.
    createBuildVariables: (cache, home) => ({
      MAVEN_OPTS: `-Duser.home=${home} -Dmaven.repo.local=${cache}/maven`,
      MAVEN_USER_HOME: `${cache}/maven-wrapper`,
      GRADLE_USER_HOME: `${cache}/gradle`,
      GRADLE_OPTS: `-Duser.home=${home}`,
    }),
  },
  maven: {
    label: 'Maven',
    programs: ['mvn'],
    folders: ['~/.sdkman/candidates/maven/*/bin', '/opt/maven/bin'],
    version_arguments: ['-v'],
    how_to_install: 'Maven (Debian and Ubuntu: maven), or add the wrapper mvnw to the source',
  },
  gradle: {
    label: 'Gradle',
    programs: ['gradle'],
    folders: ['~/.sdkman/candidates/gradle/*/bin', '/opt/gradle/bin'],
    version_arguments: ['--version'],
    parse: (output) => withVersion(/^Gradle (\S+)/m.exec(output)?.[1]),
    how_to_install: 'Gradle, or add the wrapper gradlew to the source',
  },
  dotnet: {
    label: '.NET',
    programs: ['dotnet'],
    folders: ['~/.dotnet', '/usr/local/share/dotnet', '/usr/lib/dotnet', '/usr/share/dotnet'],
    version_arguments: ['--list-sdks'],
    parse: (output) => withVersion(/^(\S+)/m.exec(output.trim().split('\n').at(-1) ?? '')?.[1]),
    how_to_install: 'the .NET SDK',
    createVariables: (root) => ({ DOTNET_ROOT: root }),
    createBuildVariables: (cache, home) => ({ NUGET_PACKAGES: `${cache}/nuget`, DOTNET_CLI_HOME: home }),
  },
  elixir: {
    label: 'Elixir',
    programs: ['elixir'],
    folders: ['~/.asdf/installs/elixir/*/bin', '~/.local/share/mise/installs/elixir/*/bin'],
    version_arguments: ['--short-version'],
    how_to_install: 'Elixir with Erlang (Debian and Ubuntu: elixir)',
    createBuildVariables: (cache) => ({ MIX_HOME: `${cache}/mix`, HEX_HOME: `${cache}/hex` }),
  },
  deno: {
    label: 'Deno',
    programs: ['deno'],
    folders: ['~/.deno/bin'],
    version_arguments: ['--version'],
    is_file: true,
    how_to_install: 'Deno',
    package: { version: '2', find: findDenoPackage },
  },
  bun: {
    label: 'Bun',
    programs: ['bun'],
    folders: ['~/.bun/bin'],
    version_arguments: ['--version'],
    is_file: true,
    how_to_install: 'Bun',
    package: { version: '1', find: findBunPackage },
    createBuildVariables: (cache) => ({ BUN_INSTALL_CACHE_DIR: `${cache}/bun` }),
  },
}

const withVersion = (version: string | undefined) => (version === undefined ? undefined : { version })

/** The npm packages with the binaries of Deno and Bun; undefined on a system without one. */
function findDenoPackage(): { name: string; path: string } | undefined {
  const arch = process.arch === 'arm64' ? 'arm64' : process.arch === 'x64' ? 'x64' : undefined
  const system = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[platform() as string]
  if (arch === undefined || system === undefined) return undefined
  return { name: `@deno/${system}-${arch}${system === 'linux' ? '-glibc' : ''}`, path: `deno${windowsSuffix}` }
}

function findBunPackage(): { name: string; path: string } | undefined {
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch === 'x64' ? 'x64' : undefined
  const system = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[platform() as string]
  if (arch === undefined || system === undefined) return undefined
  return {
    name: `@oven/bun-${system}-${arch}${system === 'linux' && arch === 'x64' && !hasAvx2() ? '-baseline' : ''}`,
    path: `bin/bun${windowsSuffix}`,
  }
}

/** Bun has a build for older processors. */
function hasAvx2(): boolean {
  try {
    return /\bavx2\b/.test(readFileSync('/proc/cpuinfo', 'utf8'))
  } catch {
    return true
  }
}
