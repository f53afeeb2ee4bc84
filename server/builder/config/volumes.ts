import { posix } from 'node:path'
import { volumeNameMessage, volumeNamePattern } from '../../contract/homeport-yaml.ts'
import type { Position } from './config-failure.ts'
import type { ConfigContext, ServiceDraft } from './service-draft.ts'
import { inspectPath, resolveSourcePath } from './source-paths.ts'
import { explainNearest } from './nearest-name.ts'
import { quote } from './yaml-tree.ts'

/** A mount of a file, as written: `source` is a volume's name, a path, or null for a volume without a name. */
export interface MountInput {
  kind: 'volume' | 'bind'
  source: string | null
  target: string
  is_read_only: boolean
  at: Position
}

const modes = new Set(['ro', 'rw', 'z', 'Z', 'cached', 'delegated', 'consistent', 'nocopy'])

/** Parses `SOURCE:TARGET[:MODE]` or `TARGET`. undefined, with a problem, for anything else. */
export function parseMount(text: string, at: Position, label: string, { log }: ConfigContext): MountInput | undefined {
  const parts = text.split(':')
  const hint = 'Write NAME:/path or NAME:/path:ro for a volume, and ./path:/path for files of the source.'
  if (/^[A-Za-z]:(\\|\/[^:]*:)/.test(text) || text.startsWith('\\\\')) {
    log.reject(at, `${label}: ${quote(text)} is a path of this machine.`, hostPathHint)
    return undefined
  }
  const [first = '', target, mode = '', ...rest] = parts
  const options = mode === '' ? [] : mode.split(',')
  if (text.trim() === '' || first === '' || target === '' || rest.length > 0 || options.some((option) => !modes.has(option))) {
    log.reject(at, `${label}: ${quote(text)} is not a volume.`, hint)
    return undefined
  }
  if (target === undefined) return { kind: 'volume', source: null, target: first, is_read_only: false, at }
  const kind = /^[./~]/.test(first) || first.includes('/') || first.includes('\\') ? 'bind' : 'volume'
  return { kind, source: first, target, is_read_only: options.includes('ro'), at }
}

const hostPathHint = 'An app sees no path of this machine. Use a volume (NAME:/path), or add the files to the source.'
const engineSocket = /(^|\/)(docker|podman|containerd|crio|buildkitd)\.sock$/
/** Files that set the time zone of a container. */
const clockFiles = new Set(['/etc/localtime', '/etc/timezone'])
const forbiddenTargets = /^\/(proc|sys|dev)(\/|$)/

/** Adds a mount to a service: as a volume, or as a copy of files of the source. */
export async function addMount(draft: ServiceDraft, mount: MountInput, context: ConfigContext): Promise<void> {
  const { config } = draft
  const { log } = context
  const label = `services.${config.name}.volumes`
  const target = posix.normalize(mount.target)
  const isPlain = mount.target.startsWith('/') && target !== '/' && !/[\p{Cc}\u2028\u2029,]/u.test(target) && target.length <= 500
  if (!isPlain || mount.target.split('/').includes('..') || forbiddenTargets.test(target)) {
    log.reject(mount.at, `${label}: ${quote(mount.target)} cannot be a path of a volume.`, 'Use an absolute path in the container, such as /data.')
    return
  }
  const path = target.replace(/\/$/, '')
  if (config.volumes.some((one) => one.path === path)) {
    log.reject(mount.at, `${label}: ${quote(path)} is used twice.`, 'Give each volume its own path.')
    return
  }
  if (mount.kind === 'bind') await addBind(draft, { ...mount, target: path }, label, context)
  else if (mount.source === null) addAnonymous(draft, path, mount.at, label, context)
  else if (!volumeNamePattern.test(mount.source))
    log.reject(mount.at, `${label}: ${quote(mount.source)} is not a name. ${volumeNameMessage}`, 'Rename the volume.')
  else if (!context.volumes.has(mount.source))
    log.reject(
      mount.at,
      `${label}: ${quote(mount.source)} is not in the file’s volumes.`,
      context.volumes.size === 0 ? `Add volumes: { ${mount.source}: {} } to the file.` : explainNearest(mount.source, [...context.volumes]),
    )
  else config.volumes.push({ name: mount.source, path, is_read_only: mount.is_read_only })
}

async function addBind(draft: ServiceDraft, mount: MountInput, label: string, context: ConfigContext): Promise<void> {
  const { config } = draft
  const { log } = context
  const source = mount.source ?? ''
  const { at } = mount
  if (engineSocket.test(source)) {
    log.reject(
      at,
      `${label}: ${quote(source)} is the socket of the container engine, which controls this machine.`,
      'Remove the line: apps get no access to the engine.',
    )
    return
  }
  if (clockFiles.has(source) && mount.is_read_only) {
    log.note(at, `${label}: ${source} has no effect. A service uses UTC, or the zone in its variable TZ.`)
    return
  }
  if (/^[/~]/.test(source)) {
    log.reject(at, `${label}: ${quote(source)} is a path of this machine.`, hostPathHint)
    return
  }
  const resolved = resolveSourcePath(source, at, label, context)
  if (resolved === undefined) return
  const kind = await inspectPath(resolved, at, label, context)
  if (kind === undefined) return
  const isEmptyFolder = kind === 'folder' && (await context.source.list(resolved)).every((name) => name.startsWith('.git') || name === '.keep')
  if (kind === 'missing' && looksLikeFile(resolved)) {
    log.reject(at, `${label}: ${quote(source)} is not in the source.`, 'Add the file to the repository.')
    return
  }
  if (kind === 'missing' || isEmptyFolder) {
    const name = nameVolume(resolved, context)
    config.volumes.push({ name, path: mount.target, is_read_only: mount.is_read_only })
    log.note(at, `${label}: ${source} is not in the source, so ${mount.target} is the volume ${name}.`)
  } else if (config.source.kind === 'build' && kind === 'folder' && !mount.is_read_only) {
    log.note(at, `${label}: ${source} has no effect, because the service is built from the source: its image has the files that the build copies.`)
  } else {
    config.source.files.push({ source: resolved, path: mount.target })
    const warning = mount.is_read_only ? '' : '; what the service changes there is lost with the next version'
    log.note(at, `${label}: ${source} is copied to ${mount.target}${warning}.`)
  }
}

/** A volume without a name keeps data of an image. In a build it usually protects node_modules from a mount, which has no effect here. */
function addAnonymous(draft: ServiceDraft, path: string, at: Position, label: string, context: ConfigContext): void {
  const { config } = draft
  if (config.source.kind === 'build') {
    context.log.note(at, `${label}: ${path} without a name has no effect. Write NAME:${path} to keep its files.`)
    return
  }
  const name = nameVolume(`${config.name}${path}`, context)
  config.volumes.push({ name, path, is_read_only: false })
  context.log.note(at, `${label}: ${path} is the volume ${name}.`)
}

function nameVolume(path: string, { volumes }: ConfigContext): string {
  const name =
    path
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 55) || 'data'
  return volumes.has(name) ? `${name}-folder` : name
}

const looksLikeFile = (path: string): boolean =>
  /\.(ya?ml|conf|config|json|toml|ini|sh|sql|env|cfg|xml|properties|pem|crt|cert|key|cnf|[cm]?js|ts|py|rb|lua|php|html|txt|list|template|tmpl|toml|Caddyfile)$|(^|\/)(Caddyfile|Dockerfile|Makefile|\.env[^/]*)$/i.test(
    path,
  )
