import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export type Requirement =
  | 'linux'
  | 'bubblewrap'
  | 'root'
  | 'tmpfs'
  | 'docker'
  | 'language-images'
  | 'service-images'
  | 'registry'
  | 'swarm'
  | 'pebble'
  | 'chromium'
  | 'electron'
  | 'git'
  | 'sshd'
  | 'nss'
  | 'loopback'
  | 'psql'
  | 'python'
  | 'go'
  | 'rust'
  | 'ruby'
  | 'php'
  | 'java'
  | 'elixir'

const results = new Map<Requirement, { ok: boolean; reason: string }>()

/** One line of the file that `HOMEPORT_TEST_LACKS` names. `file` is the absolute path of the test file. */
export interface UnmetRequirement {
  requirement: Requirement
  reason: string
  file: string
}

/**
 * Whether this machine has what a test needs. Each unmet requirement is appended to the file that `HOMEPORT_TEST_LACKS` names, so that the runner can
 * explain skipped tests.
 */
export function requires(requirement: Requirement): { ok: boolean; reason: string } {
  const response = results.get(requirement) ?? checks[requirement]()
  results.set(requirement, response)
  const record = process.env.HOMEPORT_TEST_LACKS
  if (record && !response.ok) {
    const unmet: UnmetRequirement = { requirement, reason: response.reason, file: testFile() }
    appendFileSync(record, `${JSON.stringify(unmet)}\n`)
  }
  return response
}

/** The current test file: from Vitest, or the outermost caller (Playwright). */
function testFile(): string {
  const worker = (globalThis as { __vitest_worker__?: { filepath?: string } }).__vitest_worker__
  if (worker?.filepath) return worker.filepath
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 100
  const callers = [...(new Error().stack ?? '').matchAll(/(?:file:\/\/)?(\/[^\s()]+\.(?:test|spec)\.ts)/g)]
  Error.stackTraceLimit = limit
  return callers.at(-1)?.[1] ?? ''
}

/** Linux accepts all of 127.0.0.0/8; other systems need a second address to be configured. */
const hasLoopbacks = process.platform === 'linux'

const checks: Record<Requirement, () => { ok: boolean; reason: string }> = {
  linux() {
    const ok = process.platform === 'linux'
    return {
      ok,
      reason: ok
        ? ''
        : 'no Linux, for which a package can be made around a stand-in for Electron, and where Docker changes the networks of this machine',
    }
  },
  bubblewrap() {
    try {
      const namespaces = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc']
      execFileSync('bwrap', [...namespaces, '/bin/sh', '-c', ':'], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'no bubblewrap that works; install the package bubblewrap, and let this user make user namespaces' }
    }
  },
  root() {
    const ok = process.getuid?.() === 0
    return { ok, reason: ok ? '' : 'not run as root, for whom a database server has to change its user' }
  },
  tmpfs() {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-tmpfs-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
      execFileSync('umount', [folder], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'no small disk can be mounted to be filled up; run as root on Linux, with the right to mount' }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  docker() {
    try {
      // A missing engine fails immediately. A busy one must not count as missing, because skipped tests would count as failed.
      execFileSync('curl', ['-fsS', '--max-time', '30', '--unix-socket', dockerSocket, 'http://docker/_ping'], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'no Docker engine answers; install Docker and start it (CI: test/machine/engine.sh)' }
    }
  },
  'language-images'() {
    try {
      execFileSync('docker', ['image', 'inspect', 'php:8.2-apache-bookworm', 'elixir:1.14', 'oven/bun:1'], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'no base images of other languages; run test/machine/base-images.sh languages' }
    }
  },
  'service-images'() {
    try {
      execFileSync('docker', ['image', 'inspect', 'redis:7-bookworm', 'mariadb:10.11', 'versity/versitygw:v1.7.0', 'registry:2'], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'no images of managed services; run test/machine/base-images.sh services' }
    }
  },
  registry() {
    try {
      execFileSync('docker-registry', ['--version'], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'no registry to pull images from; install the package docker-registry' }
    }
  },
  swarm() {
    const programs = ['dockerd', 'containerd', 'docker-registry', 'ip', 'iptables', 'nsenter', 'curl']
    const folders = (process.env.PATH ?? '').split(':').concat('/usr/sbin', '/sbin')
    const missing = programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
    if (process.platform === 'linux' && process.getuid?.() === 0 && missing.length === 0) return checks.docker()
    const reason = missing.length > 0 ? `${missing.join(', ')} missing` : 'not run as root on Linux'
    return { ok: false, reason: `no swarm can be made of engines of its own: ${reason}; test/machine/engine.sh installs what it needs` }
  },
  pebble() {
    const ok = existsSync('/usr/bin/pebble') && existsSync('/usr/bin/pebble-challtestsrv')
    return { ok, reason: ok ? '' : 'no ACME authority to get certificates from; install the package pebble' }
  },
  chromium() {
    return chromiumPath ? { ok: true, reason: '' } : { ok: false, reason: 'no Chromium found; install the package chromium' }
  },
  electron() {
    const folder = process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(dirname(createRequire(import.meta.url).resolve('electron/package.json')), 'dist')
    const ok = ['electron', 'Electron.app', 'electron.exe'].some((name) => existsSync(join(folder, name)))
    if (!ok) return { ok, reason: 'Electron’s binary is not here; run npx install-electron where its release host can be reached' }
    const hasDisplay = process.platform !== 'linux' || Boolean(process.env.DISPLAY ?? process.env.WAYLAND_DISPLAY)
    return hasDisplay
      ? { ok, reason: '' }
      : { ok: false, reason: 'Electron’s binary is here but no display; run npm test in a desktop session or under xvfb-run' }
  },
  sshd() {
    return existsSync('/usr/sbin/sshd')
      ? { ok: true, reason: '' }
      : { ok: false, reason: 'no ssh server to fetch from; install the package openssh-server' }
  },
  nss() {
    try {
      execFileSync('certutil', ['-H'], { stdio: 'ignore' })
    } catch (error) {
      // `-H` prints the help and exits with 1, so any exit status shows that the program is installed.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
        return { ok: false, reason: 'no certutil to write certificate databases of browsers; install the package libnss3-tools' }
    }
    return { ok: true, reason: '' }
  },
  loopback() {
    return { ok: hasLoopbacks, reason: hasLoopbacks ? '' : 'no second address of loopback (127.0.0.2) to stand for a network; Linux has it' }
  },
  psql() {
    try {
      for (const program of ['psql', 'pg_dump']) execFileSync(program, ['--version'], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'no psql and pg_dump to come from outside; install the package postgresql-client' }
    }
  },
  python: () => findToolchain('Python with venv', 'python3', ['-c', 'import ensurepip'], 'python3 and python3-venv'),
  go: () => findToolchain('Go', 'go', ['version'], 'golang-go'),
  rust: () => findToolchain('Rust', 'cargo', ['--version'], 'cargo'),
  ruby: () =>
    findToolchain(
      'Ruby with Bundler and Rack',
      'ruby',
      ['-e', 'gem "bundler"; gem "rack"; gem "webrick"'],
      'ruby-bundler, ruby-rack and ruby-webrick',
    ),
  php: () => findToolchain('PHP', 'php', ['--version'], 'php-cli'),
  java: () => findToolchain('JDK', 'javac', ['-version'], 'default-jdk-headless'),
  elixir: () => findToolchain('Elixir', 'elixir', ['--short-version'], 'elixir'),
  git() {
    try {
      execFileSync('git', ['--version'], { stdio: 'ignore' })
      return { ok: true, reason: '' }
    } catch {
      return { ok: false, reason: 'git is not installed' }
    }
  },
}

/** A toolchain with which the process runtime builds apps. */
function findToolchain(label: string, program: string, args: string[], packages: string): { ok: boolean; reason: string } {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return { ok: true, reason: '' }
  } catch {
    return { ok: false, reason: `no ${label} to build apps with; install the packages ${packages}` }
  }
}

export const dockerSocket = process.env.DOCKER_HOST?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock'

export const chromiumPath: string | undefined = [
  process.env.HOMEPORT_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path): path is string => path !== undefined && existsSync(path))

const headlessShell = '/usr/bin/chromium-headless-shell'
/** The same browser without a user interface, like Playwright's own download. It is 20 % faster. */
export const headlessShellPath = process.env.HOMEPORT_CHROMIUM === undefined && existsSync(headlessShell) ? headlessShell : undefined

/** The names of all requirements. */
export const requirements = Object.keys(checks) as Requirement[]
