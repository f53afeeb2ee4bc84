import { toUserLine } from './dockerfile.ts'
import { BuildFailure, CommandFailure } from '../runtime.ts'
import { createUnavailableFailure } from '../unavailable-failure.ts'

export interface PreparedDockerfile {
  /** Path in the source; null for a generated Dockerfile. */
  name: string | null
  /** The user's text, and the text that is built. */
  text: string
  built: string
}

/** Explains why a Dockerfile did not build, with the line of the user's file if it is known. */
export function explainDockerfileFailure(file: PreparedDockerfile, message: string, memory_mb: number): BuildFailure {
  const exit = /(?:exit code:|non-zero code:) (\d+)/.exec(message)?.[1]
  if (exit === '137')
    return new BuildFailure(
      'out_of_memory',
      `A step of the Dockerfile was killed, most likely because it exceeded the build memory limit of ${memory_mb} MB.`,
      'Reduce the memory use of the build, or raise the build memory limit.',
    )
  if (/no space left on device/.test(message))
    return new BuildFailure(
      'storage_full',
      'Docker has no disk space left.',
      'Free up space for Docker (`docker system df` shows what uses it), then deploy again.',
    )
  if (/unknown parent image ID|layer does not exist|failed to get (?:layer|digest) |unable to find image "sha256:/.test(message))
    return new LostLayerFailure('build_failed', 'Docker removed a cached layer while this build used it.', 'Deploy again.', new Error(message))
  const line = findFailedLine(file, message)
  const name = file.name ?? 'Generated Dockerfile'
  const where = line === undefined ? name : `${name}, line ${line}`
  if (exit !== undefined) {
    // Users do not know the lines of a generated file.
    const command = file.name === null ? file.text.split('\n')[(line ?? 0) - 1]?.replace(/^RUN /, '') : undefined
    return command === undefined
      ? new CommandFailure('build_failed', `${where}: the step ended with exit code ${exit}.`, 'Fix that step.')
      : new CommandFailure(
          'build_failed',
          `\`${command}\` ended with exit code ${exit}.`,
          'Run the same command in a fresh checkout to reproduce the error.',
        )
  }
  const image = parseFailedImage(message)
  if (image !== undefined) {
    const from = findImageInstruction(file.text, image)
    // The Dockerfile contains the image name that its author knows, registry included.
    const named = from && (image === null || !from.image.includes('$')) ? from.image : (image ?? undefined)
    const subject = `${from ? `${name}, line ${from.line}` : name}: the base image${named ? ` ${named}` : ''}`
    return new BaseImageFailure(
      named,
      subject,
      createUnavailableFailure('build_failed', { what: subject, registry: 'its registry', error: message, remedy: '' }),
    )
  }
  const missingPath = parseMissingFile(message)
  if (line !== undefined && missingPath !== undefined)
    return new BuildFailure(
      'build_failed',
      `${where}: ${missingPath} is not in the source, or .dockerignore excludes it.`,
      'Fix the path, or commit the file.',
    )
  const plain = message
    .replace(/^.*dockerfile parse error(?: on)? line \d+: /, '')
    .replace(/^failed to solve(?: with frontend \S+)?: |failed to create LLB definition: /g, '')
    .trim()
  return new BuildFailure(
    'build_failed',
    `${where}: ${plain.slice(0, 500)}.`,
    'Fix the Dockerfile. Run `docker build` on your machine to reproduce the error.',
  )
}

/** The layer belonged to an image that was removed at the same time. Another build does not find it in the cache. */
export class LostLayerFailure extends BuildFailure {}

/** A base image that is not available. `image` is undefined when the error does not name it. */
export class BaseImageFailure extends BuildFailure {
  readonly image: string | undefined
  /** The start of its message. */
  readonly subject: string
  constructor(image: string | undefined, subject: string, { code, message, hint, cause }: BuildFailure) {
    super(code, message, hint, cause)
    this.image = image
    this.subject = subject
  }
}

/** The base image in an error message; null if the message names none, undefined if it is about another problem. */
function parseFailedImage(message: string): string | null | undefined {
  const named =
    /(?:manifest for|access denied for|metadata for|failed to solve:) (?:docker\.io\/(?:library\/)?)?([\w./-]+(?::[\w.-]+)?(?:@\S+)?)(?:: | not found|, |$)/.exec(
      message,
    )?.[1]
  if (named && !/cache key/.test(message)) return named
  const [, registry = '', repository, tag] = /(?:https?:\/\/([\w.:[\]-]+))?\/v2\/(?:library\/)?([\w./-]+)\/manifests\/([\w.-]+)/.exec(message) ?? []
  const host = registry.endsWith('docker.io') || registry === '' ? '' : `${registry}/`
  if (repository !== undefined) return `${host}${repository}:${tag}`
  const isAboutRegistry =
    /^Get "?https?:|pulling from host|dial tcp|toomanyrequests|no basic auth|unauthorized|failed to (?:authorize|do request)|registry/
  return isAboutRegistry.test(message) ? null : undefined
}

/** The instruction that uses this image as a base or copies from it, or the only one with an image. */
function findImageInstruction(text: string, image: string | null): { line: number; image: string } | undefined {
  const stages = new Set<string>()
  const found: { line: number; image: string }[] = []
  for (const { name, rest, line } of parseInstructions(text)) {
    const copied = name === 'COPY' ? /--from=(\S+)/.exec(rest)?.[1] : undefined
    if (copied !== undefined && !/^\d+$/.test(copied) && !stages.has(copied.toLowerCase())) found.push({ line, image: copied })
    if (name !== 'FROM') continue
    const [base = '', , stage] = rest.split(/\s+/).filter((word) => word !== '' && !word.startsWith('--'))
    if (!stages.has(base.toLowerCase()) && base !== 'scratch') found.push({ line, image: base })
    if (stage) stages.add(stage.toLowerCase())
  }
  // The host of an error may be that of a mirror.
  const names = image === null ? [] : [image, image.slice(image.indexOf('/') + 1)]
  return (
    found.find((one) => names.includes(one.image) || names.includes(`${one.image}:latest`)) ??
    (new Set(found.map((one) => one.image)).size === 1 ? found[0] : undefined)
  )
}

function findFailedLine({ text, built }: PreparedDockerfile, message: string): number | undefined {
  const parsed = /parse error(?: on)? line (\d+)/.exec(message)?.[1]
  if (parsed !== undefined) return toUserLine(built, Number(parsed))
  const command = /(?:\/bin\/sh -c )(.+?)(?:\]: exit code|' returned a non-zero|" did not complete)/s.exec(message)?.[1]
  const missingPath = parseMissingFile(message)
  const found = parseInstructions(text).find(({ name, rest }) => {
    if (command !== undefined) return name === 'RUN' && stripQuoting(rest).endsWith(stripQuoting(command))
    return (
      missingPath !== undefined &&
      (name === 'COPY' || name === 'ADD') &&
      rest.split(/[\s",[\]]+/).some((word) => word.replace(/^\.?\//, '') === missingPath)
    )
  })
  return found?.line
}

/** The path that COPY or ADD did not find, relative to the build context. */
function parseMissingFile(message: string): string | undefined {
  const path = /"\/?([^"]+)": not found|"\/?([^"]+)" not found|stat \/?(\S+): (?:file does not exist|no such file)/.exec(message)
  return path?.[1] ?? path?.[2] ?? path?.[3]
}

/** Removes characters that Docker changes when it quotes a command. */
const stripQuoting = (command: string): string => command.replace(/[\s\\"'`]/g, '')

/** Instructions with their first line; instructions over several lines are joined. */
function parseInstructions(text: string): { name: string; rest: string; line: number }[] {
  const found: { name: string; rest: string; line: number }[] = []
  let isContinued = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const end = line.trimEnd()
    const part = end.replace(/[\\`]$/, '')
    const last = found.at(-1)
    if (isContinued && last) last.rest += ` ${part}`
    else found.push({ name: /^\s*(\w+)/.exec(part)?.[1]?.toUpperCase() ?? '', rest: part.replace(/^\s*\w+\s*/, ''), line: index + 1 })
    isContinued = /[\\`]$/.test(end)
  }
  return found
}
