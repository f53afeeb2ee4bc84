import type { DockerfilePlan } from '../contract/build-plan.ts'
import { DetectFailure } from './detect-failure.ts'
import { readFirst, joinInside, type SourceFolder } from './source-folder.ts'

export interface DockerfileOptions {
  target: string | null
  arguments: Record<string, string>
}

/** Plans the Dockerfile in the app's folder, or the one at `path`; null when the folder has none. */
export async function planDockerfile(
  source: SourceFolder,
  app: string,
  path: string | null = null,
  options: DockerfileOptions = { target: null, arguments: {} },
): Promise<{ work: DockerfilePlan; why: string[] } | null> {
  const text = path === null ? null : await source.read(path)
  if (path !== null && text === null)
    throw new DetectFailure(`The source has no file “${path}”.`, 'Fix the path of the Dockerfile in the configuration file.')
  const file = text === null ? await readFirst(source, app, ['Dockerfile', 'dockerfile', 'Containerfile']) : { name: path ?? '', text }
  if (!file) return null
  const port = findExposedPort(file.text)
  const why = [`${file.name} found in ${app === '.' ? 'the source' : app}: it is built without changes`]
  why.push(port === null ? 'It exposes no port: the app must listen on PORT' : `It exposes port ${port}`)
  return {
    work: { kind: 'dockerfile', context_directory: app, dockerfile: path ?? joinInside(app, file.name), text: null, ignored: [], port, ...options },
    why,
  }
}

/** The first TCP port that the last stage exposes. Names of ARG and ENV with a default are replaced by the default. */
export function findExposedPort(dockerfile: string): number | null {
  const variables = new Map<string, string>()
  let port: number | null = null
  for (const line of dockerfile.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const [, instruction = '', rest = ''] = line.match(/^\s*([a-z]+)\s+(.*)$/i) ?? []
    const name = instruction.toUpperCase()
    if (name === 'FROM') port = null
    if (name === 'ARG' || name === 'ENV') {
      for (const [, key = '', quoted, plain] of rest.matchAll(/([A-Za-z_]\w*)(?:=|\s+)(?:"([^"]*)"|(\S+))/g))
        variables.set(key, quoted ?? plain ?? '')
    }
    if (name !== 'EXPOSE' || port !== null) continue
    const filled = rest.replace(
      /\$\{?([A-Za-z_]\w*)(?::-(\d+))?\}?/g,
      (_, key: string, fallback: string | undefined) => variables.get(key) ?? fallback ?? '',
    )
    const found = filled.split(/\s+/).find((word) => /^\d+(\/tcp)?$/i.test(word))
    const number = found ? Number.parseInt(found, 10) : 0
    if (number > 0 && number < 65536) port = number
  }
  return port
}
