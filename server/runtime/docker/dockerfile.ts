/** Host files that RUN steps of a user's Dockerfile can read, from an image that exists only for this build. */
export interface HostMounts {
  image: string
  ca: boolean
  npmrc: boolean
}

/** A memory file system in every step, so that no mount point is left in a layer. */
const mountFolder = '/dev/shm/homeport'

const generationArgument = 'HOMEPORT_CACHE_GENERATION'

const headerLine = '# Built by Homeport.'

/** The platform's additions to a Dockerfile. */
export interface DockerfileAdditions {
  mounts: HostMounts | null
  /** Of the project's build cache; null when it was never cleared. */
  generation: string | null
}

/**
 * Prepares a user's Dockerfile for the build. A `# syntax=` line is removed, because it would let the source choose the frontend. With `mounts`,
 * every RUN step can read the host's certificates and registry settings while it runs; this needs BuildKit. With `generation`, RUN steps match only
 * cached ones of the same generation.
 */
export function prepareDockerfile(text: string, { mounts, generation }: DockerfileAdditions): string {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const escape = parseEscape(lines)
  // Directives end at the first other line. `escape` is kept; other directives become comments.
  const head = [...(escape === '\\' ? [] : ['# escape=`']), headerLine]
  return [...head, ...(mounts || generation !== null ? addToStages(lines, escape, mounts, generation) : lines)].join('\n')
}

/**
 * A Dockerfile with these labels in one instruction, because the classic builder adds a step for each label of a request: before the last COPY or ADD of
 * the last stage, so that the step comes from the cache when only the source has changed. At the end if the stage has none, or a LABEL after it, which
 * could replace these. null: nothing can be appended, because the last instruction continues or there is none.
 */
export function addLabels(prepared: string, labels: Record<string, string>): string | null {
  const lines = prepared.split('\n')
  const label = `LABEL ${Object.entries(labels)
    .map(([key, value]) => `${key}=${JSON.stringify(value).replaceAll('$', '\\$')}`)
    .join(' ')}`
  let copy = -1
  let isOpen = true
  for (const { index, instruction, isStart, isEnd } of readInstructions(lines, parseEscape(lines))) {
    if (isStart && (instruction === 'FROM' || instruction === 'LABEL')) copy = -1
    if (isStart && (instruction === 'COPY' || instruction === 'ADD')) copy = index
    if (instruction !== '') isOpen = !isEnd
  }
  if (isOpen) return null
  return copy === -1 ? `${prepared}\n${label}\n` : lines.toSpliced(copy, 0, label).join('\n')
}

const addedLine = new RegExp(
  `^(?:ARG (?:(NODE_EXTRA_CA_CERTS|npm_config_userconfig)=${mountFolder}/|${generationArgument}=)|LABEL homeport\\.instance=)`,
)

/** The line of the user's file for a line of the built file. */
export function toUserLine(built: string, line: number): number {
  const before = built.split('\n').slice(0, line)
  const head = before.indexOf(headerLine) + 1
  return Math.max(1, line - head - before.filter((text) => addedLine.test(text)).length)
}

/** Whether a Dockerfile needs BuildKit. */
export const needsBuildKit = (text: string): boolean =>
  /^\s*(RUN\s+(--\w|.*<<-?["']?\w)|COPY\s+(--(link|chmod|exclude|parents)|.*<<-?["']?\w)|ADD\s+--(link|chmod|checksum|keep-git-dir))/im.test(text)

function parseEscape(lines: string[]): string {
  for (const line of lines) {
    const directive = /^\s*#\s*(\w+)\s*=\s*(\S+)\s*$/.exec(line)
    if (!directive) break
    if (directive[1]!.toLowerCase() === 'escape' && directive[2] === '`') return '`'
  }
  return '\\'
}

function addToStages(lines: string[], escape: string, mounts: HostMounts | null, generation: string | null): string[] {
  const files = [...(mounts?.ca ? ['ca.crt'] : []), ...(mounts?.npmrc ? ['npmrc'] : [])]
  const flags = files.map((name) => ` --mount=type=bind,from=${mounts?.image},source=/${name},target=${mountFolder}/${name}`).join('')
  // An ARG of a stage is visible to its RUN steps and is not part of the image.
  const settings = [
    ...(generation === null ? [] : [`ARG ${generationArgument}=${generation}`]),
    ...(mounts?.ca ? [`ARG NODE_EXTRA_CA_CERTS=${mountFolder}/ca.crt`] : []),
    ...(mounts?.npmrc ? [`ARG npm_config_userconfig=${mountFolder}/npmrc`] : []),
  ]
  const result: string[] = []
  for (const { line, instruction, isStart, isEnd } of readInstructions(lines, escape)) {
    result.push(isStart && instruction === 'RUN' ? line.replace(/^(\s*[A-Za-z]+)(\s|$)/, `$1${flags}$2`) : line)
    if (instruction === 'FROM' && isEnd) result.push(...settings)
  }
  return result
}

/** A line of a Dockerfile; `instruction` is the upper-case name of the one that it belongs to, '' for a comment or an empty line outside of one. */
interface DockerfileLine {
  index: number
  line: string
  instruction: string
  isStart: boolean
  /** The instruction ends with this line. */
  isEnd: boolean
}

function* readInstructions(lines: string[], escape: string): Generator<DockerfileLine> {
  let heredocs: string[] = []
  let isContinued = false
  let instruction = ''
  for (const [index, line] of lines.entries()) {
    if (heredocs.length > 0) {
      if (line.replace(/^\t+/, '').trimEnd() === heredocs[0]) heredocs.shift()
      yield { index, line, instruction, isStart: false, isEnd: heredocs.length === 0 }
      continue
    }
    const isComment = /^\s*#/.test(line)
    if (isComment || line.trim() === '') {
      yield { index, line, instruction: isContinued ? instruction : '', isStart: false, isEnd: !isContinued }
      continue
    }
    const isStart = !isContinued
    if (isStart) instruction = /^\s*([A-Za-z]+)/.exec(line)?.[1]?.toUpperCase() ?? ''
    if (instruction === 'RUN' || instruction === 'COPY' || instruction === 'ADD')
      heredocs = [...line.matchAll(/<<-?(["']?)([A-Za-z_]\w*)\1/g)].map((match) => match[2]!)
    isContinued = line.trimEnd().endsWith(escape)
    yield { index, line, instruction, isStart, isEnd: !isContinued && heredocs.length === 0 }
  }
}
