import { userLine } from './docker-file.ts'
import { BuildFailure, CommandFailure } from './runtime.ts'

export interface BuiltFile {
  /** Path in the source. */
  name: string
  /** As the user wrote it, and as it is built. */
  text: string
  built: string
}

/** What the engine says of a Dockerfile that did not build, with the line of the user's file where it can be told. */
export function dockerfileFailure(file: BuiltFile, message: string, memory_mb: number): BuildFailure {
  const exit = /(?:exit code:|non-zero code:) (\d+)/.exec(message)?.[1]
  if (exit === '137')
    return new BuildFailure(
      'out_of_memory',
      `A step of the Dockerfile was killed, most likely for using more than the ${memory_mb} MB of memory that a build may use.`,
      'Make the build need less memory, or give builds more of it.',
    )
  if (/no space left on device/.test(message))
    return new BuildFailure(
      'storage_full',
      'The Docker engine has no space left.',
      'Free space for Docker (`docker system df` shows what takes it), then deploy again.',
    )
  const line = lineOf(file, message)
  const where = line === undefined ? file.name : `${file.name}, line ${line}`
  if (exit !== undefined) return new CommandFailure('build_failed', `${where}: the step ended with exit code ${exit}.`, 'Correct that step.')
  const plain = message
    .replace(/^.*dockerfile parse error(?: on)? line \d+: /, '')
    .replace(/^failed to solve(?: with frontend \S+)?: |failed to create LLB definition: /g, '')
    .trim()
  return new BuildFailure(
    'build_failed',
    `${where}: ${plain.slice(0, 500)}.`,
    'Correct the Dockerfile; `docker build` on your machine says the same.',
  )
}

function lineOf({ text, built }: BuiltFile, message: string): number | undefined {
  const parsed = /parse error(?: on)? line (\d+)/.exec(message)?.[1]
  if (parsed !== undefined) return userLine(built, Number(parsed))
  const command = /(?:\/bin\/sh -c )(.+?)(?:\]: exit code|' returned a non-zero|" did not complete)/s.exec(message)?.[1]
  const path = /"\/?([^"]+)": not found|"\/?([^"]+)" not found|stat \/?(\S+): (?:file does not exist|no such file)/.exec(message)
  const missing = path?.[1] ?? path?.[2] ?? path?.[3]
  const found = instructionsOf(text).find(({ name, rest }) => {
    if (command !== undefined) return name === 'RUN' && bare(rest).endsWith(bare(command))
    return (
      missing !== undefined && (name === 'COPY' || name === 'ADD') && rest.split(/[\s",[\]]+/).some((word) => word.replace(/^\.?\//, '') === missing)
    )
  })
  return found?.line
}

/** Without what engines change when they quote a command. */
const bare = (command: string): string => command.replace(/[\s\\"'`]/g, '')

/** Instructions with the line on which each begins; those over several lines joined. */
function instructionsOf(text: string): { name: string; rest: string; line: number }[] {
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
