/** Files of the host that RUN steps of a user's Dockerfile see, from an image made for this build alone. */
export interface HostMounts {
  image: string
  ca: boolean
  npmrc: boolean
}

/** Memory in every step, so that no stub of a mount is left in a layer. */
const mountFolder = '/dev/shm/homeport'

const headerLine = '# Built by Homeport.'

/**
 * A user's Dockerfile as it is built. Two things are changed, each only where it must be: a `# syntax=` line, which would
 * let the source choose the program that reads it, has no effect; and with `mounts` every RUN step is shown the host's
 * certificates and registry settings for the time that it runs. Needs BuildKit when `mounts` are given.
 */
export function prepareDockerfile(text: string, mounts: HostMounts | null): string {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const escape = parseEscape(lines)
  // Directives end at the first line that is none. `escape` is kept; whatever else follows is but a comment.
  const head = [...(escape === '\\' ? [] : ['# escape=`']), headerLine]
  return [...head, ...(mounts ? addMounts(lines, escape, mounts) : lines)].join('\n')
}

const addedArgument = new RegExp(`^ARG (NODE_EXTRA_CA_CERTS|npm_config_userconfig)=${mountFolder}/`)

/** The line of the user's file for one of the file that is built. */
export function toUserLine(built: string, line: number): number {
  const before = built.split('\n').slice(0, line)
  const head = before.indexOf(headerLine) + 1
  return Math.max(1, line - head - before.filter((text) => addedArgument.test(text)).length)
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

function addMounts(lines: string[], escape: string, mounts: HostMounts): string[] {
  const files = [...(mounts.ca ? ['ca.crt'] : []), ...(mounts.npmrc ? ['npmrc'] : [])]
  const flags = files.map((name) => `--mount=type=bind,from=${mounts.image},source=/${name},target=${mountFolder}/${name}`).join(' ')
  // An argument of a stage is there for its RUN steps and in no image.
  const settings = [
    ...(mounts.ca ? [`ARG NODE_EXTRA_CA_CERTS=${mountFolder}/ca.crt`] : []),
    ...(mounts.npmrc ? [`ARG npm_config_userconfig=${mountFolder}/npmrc`] : []),
  ]
  const result: string[] = []
  let heredocs: string[] = []
  let isContinued = false
  let instruction = ''
  for (const line of lines) {
    if (heredocs.length > 0) {
      result.push(line)
      if (line.replace(/^\t+/, '').trimEnd() === heredocs[0]) heredocs.shift()
      continue
    }
    const isComment = /^\s*#/.test(line)
    if (isComment || (isContinued && line.trim() === '')) {
      result.push(line)
      continue
    }
    if (!isContinued) instruction = /^\s*([A-Za-z]+)/.exec(line)?.[1]?.toUpperCase() ?? ''
    result.push(!isContinued && instruction === 'RUN' ? line.replace(/^(\s*[A-Za-z]+)(\s|$)/, `$1 ${flags}$2`) : line)
    if (instruction === 'RUN' || instruction === 'COPY' || instruction === 'ADD') {
      heredocs = [...line.matchAll(/<<-?(["']?)([A-Za-z_]\w*)\1/g)].map((match) => match[2]!)
    }
    isContinued = line.trimEnd().endsWith(escape)
    if (instruction === 'FROM' && !isContinued) result.push(...settings)
  }
  return result
}
